// Rung 8: loads ahead. The data is asked for before the rounds, and comes while they run.
// Launch: 1024 threads, 131072 bytes of dynamic shared memory, keys as words.
#include "instructions.cuh"

typedef unsigned int u32;
typedef unsigned long long u64;

struct Job {
    const uint4 *input;
    uint4 *output;
    u64 blocks;
    const u32 *table;   // of 256 columns (2 S(x), S(x), S(x), 3 S(x)), row 0 in the lowest byte
    uint4 nonce;        // the first three words of every counter; the last one is the block's number
    uint4 keys[11];     // round keys
};

__device__ uint4 operator^(uint4 a, uint4 b) {
    return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}

__device__ u32 rotate(u32 word, u32 by) { return __funnelshift_l(word, word, by); }

// The counter of a block, which ends with the block's number, the highest byte first.
__device__ uint4 counter(const Job &job, u64 number) {
    return make_uint4(job.nonce.x, job.nonce.y, job.nonce.z, __byte_perm(u32(number), 0, 0x0123));
}

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

extern "C" __global__ void __launch_bounds__(1024) rung_08(const __grid_constant__ Job job) {
    extern __shared__ u32 shared[];
    for (u32 i = threadIdx.x; i < 4 * 256 * 32; i += blockDim.x) {
        shared[i] = rotate(job.table[i / 32 % 256], 8 * (i / 32 / 256));
    }
    __syncthreads();
    const Table table = Table(__cvta_generic_to_shared(shared + threadIdx.x % 32));
    const u64 threads = u64(gridDim.x) * blockDim.x;
    for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < job.blocks; i += threads) {
        const uint4 data = job.input[i];
        uint4 s = counter(job, i) ^ job.keys[0];
        for (u32 round = 1; round < 10; round++) s = full_round(table, s, job.keys[round]);
        s = last_round(table, s, job.keys[10]);
        job.output[i] = data ^ s;
    }
}
