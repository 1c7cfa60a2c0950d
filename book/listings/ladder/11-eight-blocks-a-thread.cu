// Rung 11: eight blocks per thread, bit-sliced. A byte of a word is a column, and 32 planes are all of the state.
// Launch: 512 threads, 0 bytes of dynamic shared memory, keys as planes.
#include "sbox.cuh"

typedef unsigned int u32;
typedef unsigned long long u64;

struct Job {
    const uint4 *input;
    uint4 *output;
    u64 blocks;
    const u32 *table;   // not used
    uint4 nonce;        // the first three words of every counter; the last one is the block's number
    uint4 keys[11];     // round keys
    u32 planes[9][32];  // bit b of row r of the keys between the first and the last; byte c is column c's, 0 or 255
};

__device__ uint4 operator^(uint4 a, uint4 b) {
    return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}

// The counter of a block, which ends with the block's number, the highest byte first.
__device__ uint4 counter(const Job &job, u64 number) {
    return make_uint4(job.nonce.x, job.nonce.y, job.nonce.z, __byte_perm(u32(number), 0, 0x0123));
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

// Bit b of row r of eight blocks: bit 8 c + k of a word is of column c of block k.
typedef u32 Planes[4][8];

// Row r moves r columns, which are the bytes of a word.
__device__ void shift_rows(Planes &s) {
#pragma unroll
    for (u32 b = 0; b < 8; b++) {
        s[1][b] = __byte_perm(s[1][b], 0, 0x0321);
        s[2][b] = __byte_perm(s[2][b], 0, 0x1032);
        s[3][b] = __byte_perm(s[3][b], 0, 0x2103);
    }
}

// With u_r = a_r + a_(r+1), row r becomes 2 u_r + a_(r+1) + u_(r+2). Doubling moves bits up, and adds bit 7 to three.
__device__ void mix_columns(Planes &a, const u32 (&key)[32]) {
    Planes u, next;
#pragma unroll
    for (u32 p = 0; p < 32; p++) u[p / 8][p % 8] = a[p / 8][p % 8] ^ a[(p / 8 + 1) % 4][p % 8];
#pragma unroll
    for (u32 p = 0; p < 32; p++) {
        const u32 r = p / 8, b = p % 8;
        next[r][b] = u[r][(b + 7) % 8] ^ a[(r + 1) % 4][b] ^ u[(r + 2) % 4][b] ^ key[p];
        if (b == 1 || b == 3 || b == 4) next[r][b] ^= u[r][7];
    }
#pragma unroll
    for (u32 p = 0; p < 32; p++) a[p / 8][p % 8] = next[p / 8][p % 8];
}

// The rounds from `first` on, but for the last key. Word 8 c + k is column c of block k.
__device__ void sliced_rounds(const Job &job, u32 (&words)[32], u32 first) {
    Planes &s = reinterpret_cast<Planes &>(words);
    transpose(words);
#pragma unroll 1
    for (u32 round = first; round <= 10; round++) {
#pragma unroll
        for (u32 r = 0; r < 4; r++) aes_sbox(s[r]);
        shift_rows(s);
        if (round < 10) mix_columns(s, job.planes[round - 1]);
    }
    transpose(words);
}

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(512, 1) rung_11(const __grid_constant__ Job job) {
    // A warp takes a row of 256 blocks; block k of a thread is number 32 k + lane of it.
    const u64 warps = u64(gridDim.x) * blockDim.x / 32;
    for (u64 row = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32; row * 256 < job.blocks; row += warps) {
        const u64 first = row * 256 + threadIdx.x % 32;
        u32 words[32];
#pragma unroll
        for (u32 k = 0; k < 8; k++) {
            const uint4 s = counter(job, first + 32 * k) ^ job.keys[0];
            words[k] = s.x, words[8 + k] = s.y, words[16 + k] = s.z, words[24 + k] = s.w;
        }
        sliced_rounds(job, words, 1);
#pragma unroll
        for (u32 k = 0; k < 8; k++) {
            const u64 i = first + 32 * k;
            const uint4 s = make_uint4(words[k], words[8 + k], words[16 + k], words[24 + k]) ^ job.keys[10];
            if (i < job.blocks) job.output[i] = job.input[i] ^ s;
        }
    }
}
// ANCHOR_END: kernel
