// Rung 10: bit-sliced. A thread has 32 blocks, a bit of all of them in a register, and the S-box is a circuit.
// Launch: 256 threads, 0 bytes of dynamic shared memory, keys as bits.
#include "sbox.cuh"

typedef unsigned int u32;
typedef unsigned long long u64;

struct Job {
    const uint4 *input;
    uint4 *output;
    u64 blocks;
    const u32 *table;   // not used
    uint4 nonce;        // the first three words of every counter; the last one is the block's number
    u32 keys[11][128];  // a word for each bit of the round keys, all zeros or all ones
};

__device__ uint4 operator^(uint4 a, uint4 b) {
    return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}

// Exchanges the upper half of `low` with the lower half of `high`, in every piece of twice so many bits.
__device__ void exchange(u32 &low, u32 &high, u32 distance, u32 mask) {
    const u32 l = low, h = high;
    if (distance == 16) {
        low = __byte_perm(l, h, 0x5410), high = __byte_perm(l, h, 0x7632);
    } else if (distance == 8) {
        low = __byte_perm(l, h, 0x6240), high = __byte_perm(l, h, 0x7351);
    } else {
        low = lop3<0xca>(mask, l, h << distance), high = lop3<0xca>(mask, l >> distance, h);
    }
}

// Bit p of row i goes to bit i of row p.
__device__ void transpose(u32 (&rows)[32]) {
#pragma unroll
    for (u32 stage = 0; stage < 5; stage++) {
        const u32 distance = 16 >> stage, mask = 0xffffffff / ((1u << distance) + 1);
#pragma unroll
        for (u32 i = 0; i < 32; i++) {
            if ((i & distance) == 0) exchange(rows[i], rows[i + distance], distance, mask);
        }
    }
}

// Bit b of byte i, which is row i % 4 of column i / 4.
typedef u32 Planes[16][8];

// Row r moves r columns: registers change their names.
__device__ void shift_rows(Planes &s) {
    Planes t;
#pragma unroll
    for (u32 p = 0; p < 128; p++) t[p / 8][p % 8] = s[p / 8][p % 8];
#pragma unroll
    for (u32 p = 0; p < 128; p++) s[p / 8][p % 8] = t[(p / 8 + 4 * (p / 8 % 4)) % 16][p % 8];
}

// With u_r = a_r + a_(r+1), row r becomes 2 u_r + a_(r+1) + u_(r+2). Doubling moves bits up, and adds bit 7 to three.
__device__ void mix_column(u32 (*a)[8]) {
    u32 u[4][8], next[4][8];
#pragma unroll
    for (u32 p = 0; p < 32; p++) u[p / 8][p % 8] = a[p / 8][p % 8] ^ a[(p / 8 + 1) % 4][p % 8];
#pragma unroll
    for (u32 p = 0; p < 32; p++) {
        const u32 r = p / 8, b = p % 8;
        next[r][b] = u[r][(b + 7) % 8] ^ a[(r + 1) % 4][b] ^ u[(r + 2) % 4][b];
        if (b == 1 || b == 3 || b == 4) next[r][b] ^= u[r][7];
    }
#pragma unroll
    for (u32 p = 0; p < 32; p++) a[p / 8][p % 8] = next[p / 8][p % 8];
}

__device__ void add_key(Planes &s, const u32 (&key)[128]) {
#pragma unroll
    for (u32 p = 0; p < 128; p++) s[p / 8][p % 8] ^= key[p];
}

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(256, 1) rung_10(const __grid_constant__ Job job) {
    // A warp takes 1,024 blocks; block k of a thread is number 32 k + lane of them, so that lanes load side by side.
    const u32 lane = threadIdx.x % 32;
    const u64 warps = u64(gridDim.x) * blockDim.x / 32;
    for (u64 warp = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32; warp * 1024 < job.blocks; warp += warps) {
        const u64 first = warp * 1024 + lane;
        Planes s;
        u32(&columns)[4][32] = reinterpret_cast<u32(&)[4][32]>(s);
        const u32 nonce[3] = {job.nonce.x, job.nonce.y, job.nonce.z};
#pragma unroll
        for (u32 p = 0; p < 96; p++) columns[p / 32][p % 32] = 0 - (nonce[p / 32] >> (p % 32) & 1);
#pragma unroll
        for (u32 k = 0; k < 32; k++) columns[3][k] = __byte_perm(u32(first) + 32 * k, 0, 0x0123);
        transpose(columns[3]);
        add_key(s, job.keys[0]);
#pragma unroll 1
        for (u32 round = 1; round <= 10; round++) {
#pragma unroll
            for (u32 i = 0; i < 16; i++) aes_sbox(s[i]);
            shift_rows(s);
            if (round < 10) {
#pragma unroll
                for (u32 c = 0; c < 4; c++) mix_column(s + 4 * c);
            }
            add_key(s, job.keys[round]);
        }
#pragma unroll
        for (u32 c = 0; c < 4; c++) transpose(columns[c]);
#pragma unroll
        for (u32 k = 0; k < 32; k++) {
            const u64 i = first + 32 * k;
            const uint4 stream = make_uint4(columns[0][k], columns[1][k], columns[2][k], columns[3][k]);
            if (i < job.blocks) job.output[i] = job.input[i] ^ stream;
        }
    }
}
// ANCHOR_END: kernel
