// Rung 12: both pipes. Of five warps three look up and two are bit-sliced; each takes rows as fast as it is.
// Launch: 640 threads, 147456 bytes of dynamic shared memory, keys as planes.
#include "sbox.cuh"

typedef unsigned int u32;
typedef unsigned long long u64;

struct Job {
    const uint4 *input;
    uint4 *output;
    u64 blocks;
    const u32 *table;   // of 256 columns (2 S(x), S(x), S(x), 3 S(x)), row 0 in the lowest byte
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

__device__ u32 rotate(u32 word, u32 by) { return __funnelshift_l(word, word, by); }

typedef u32 Table;  // the address in shared memory

// The entry of table t for byte i of a word. 32 copies lie side by side, a word of each in every row of the banks,
// so that an entry is 128 bytes. DP4A multiplies byte i by 128 and the other three by 0, and adds all to the address.
__device__ u32 entry(Table table, u32 t, u32 word, u32 i) {
    const u32 address = dp4a(word, 128u << (8 * i), table);
    return *static_cast<const u32 *>(__cvta_shared_to_generic(address + t * 256 * 128));
}

// A column after ShiftRows, SubBytes and MixColumns: row r is from the column r places further on.
__device__ u32 mixed(Table table, u32 a, u32 b, u32 c, u32 d) {
    return entry(table, 0, a, 0) ^ entry(table, 1, b, 1) ^ entry(table, 2, c, 2) ^
           entry(table, 3, d, 3);
}

// The same without MixColumns: byte r is S(x) in the table two further on.
__device__ u32 substituted(Table table, u32 a, u32 b, u32 c, u32 d) {
    return (entry(table, 2, a, 0) & 0xff) ^ (entry(table, 3, b, 1) & 0xff00) ^
           (entry(table, 0, c, 2) & 0xff0000) ^ (entry(table, 1, d, 3) & 0xff000000);
}

__device__ uint4 full_round(Table table, uint4 s, uint4 key) {
    return make_uint4(mixed(table, s.x, s.y, s.z, s.w), mixed(table, s.y, s.z, s.w, s.x),
                      mixed(table, s.z, s.w, s.x, s.y), mixed(table, s.w, s.x, s.y, s.z)) ^ key;
}

__device__ uint4 last_round(Table table, uint4 s, uint4 key) {
    return make_uint4(substituted(table, s.x, s.y, s.z, s.w), substituted(table, s.y, s.z, s.w, s.x),
                      substituted(table, s.z, s.w, s.x, s.y), substituted(table, s.w, s.x, s.y, s.z)) ^ key;
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
extern "C" __global__ void __launch_bounds__(640, 1) rung_12(const __grid_constant__ Job job) {
    __shared__ u32 taken;  // rows
    if (threadIdx.x == 0) taken = 0;
    extern __shared__ u32 shared[];
    for (u32 i = threadIdx.x; i < 4 * 256 * 32; i += blockDim.x) {
        shared[i] = rotate(job.table[i / 32 % 256], 8 * (i / 32 / 256));
    }
    __syncthreads();
    const Table table = Table(__cvta_generic_to_shared(shared + threadIdx.x % 32));

    // What each value of each byte of a number adds to the state after two rounds; the lowest byte also adds the rest.
    uint4 *const sums = reinterpret_cast<uint4 *>(shared + 4 * 256 * 32);
    const auto after_two = [&](u32 number) {
        const uint4 s = full_round(table, counter(job, number) ^ job.keys[0], job.keys[1]);
        return full_round(table, s, job.keys[2]);
    };
    for (u32 i = threadIdx.x; i < 4 * 256; i += blockDim.x) {
        const uint4 s = after_two(i % 256 << (i / 256 * 8));
        sums[i] = i < 256 ? s : s ^ after_two(0);
    }
    __syncthreads();

    const u32 lane = threadIdx.x % 32;
    const bool is_sliced = threadIdx.x / 32 % 5 % 2 == 1;
    for (;;) {
        u32 number = 0;
        if (lane == 0) number = atomicAdd(&taken, 1);
        number = __shfl_sync(0xffffffff, number, 0);
        const u64 row = u64(number) * gridDim.x + blockIdx.x;
        if (row * 256 >= job.blocks) break;
        const uint4 upper = sums[256 + (row & 0xff)] ^ sums[512 + (row >> 8 & 0xff)] ^ sums[768 + (row >> 16 & 0xff)];
        if (is_sliced) {
            u32 words[32];
#pragma unroll
            for (u32 k = 0; k < 8; k++) {
                const uint4 s = sums[32 * k + lane] ^ upper;
                words[k] = s.x, words[8 + k] = s.y, words[16 + k] = s.z, words[24 + k] = s.w;
            }
            sliced_rounds(job, words, 3);
#pragma unroll
            for (u32 k = 0; k < 8; k++) {
                const u64 i = row * 256 + 32 * k + lane;
                const uint4 s = make_uint4(words[k], words[8 + k], words[16 + k], words[24 + k]) ^ job.keys[10];
                if (i < job.blocks) job.output[i] = job.input[i] ^ s;
            }
            continue;
        }
#pragma unroll 1
        for (u32 low = lane; low < 256; low += 32) {
            const u64 i = row * 256 + low;
            if (i >= job.blocks) break;
            const uint4 data = job.input[i];
            uint4 s = sums[low] ^ upper;
            for (u32 round = 3; round < 10; round++) s = full_round(table, s, job.keys[round]);
            s = last_round(table, s, job.keys[10]);
            job.output[i] = data ^ s;
        }
    }
}
// ANCHOR_END: kernel
