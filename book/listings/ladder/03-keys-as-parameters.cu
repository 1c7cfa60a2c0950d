// Rung 3: keys as parameters. They lie in the constant bank, and instructions read them as operands.
// Launch: 256 threads, 0 bytes of dynamic shared memory, keys as words.
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

typedef const u32 *Table;

// The entry for byte i of a word.
__device__ u32 entry(Table table, u32 word, u32 i) { return table[word >> (8 * i) & 0xff]; }

// A column after ShiftRows, SubBytes and MixColumns: row r is from the column r places further on.
__device__ u32 mixed(Table table, u32 a, u32 b, u32 c, u32 d) {
    return entry(table, a, 0) ^ rotate(entry(table, b, 1), 8) ^ rotate(entry(table, c, 2), 16) ^
           rotate(entry(table, d, 3), 24);
}

// The same without MixColumns: the two bytes in the middle of an entry are S(x).
__device__ u32 substituted(Table table, u32 a, u32 b, u32 c, u32 d) {
    return (entry(table, a, 0) >> 8 & 0xff) ^ (entry(table, b, 1) & 0xff00) ^
           (entry(table, c, 2) & 0xff0000) ^ (entry(table, d, 3) << 8 & 0xff000000);
}

__device__ uint4 full_round(Table table, uint4 s, uint4 key) {
    return make_uint4(mixed(table, s.x, s.y, s.z, s.w), mixed(table, s.y, s.z, s.w, s.x),
                      mixed(table, s.z, s.w, s.x, s.y), mixed(table, s.w, s.x, s.y, s.z)) ^ key;
}

__device__ uint4 last_round(Table table, uint4 s, uint4 key) {
    return make_uint4(substituted(table, s.x, s.y, s.z, s.w), substituted(table, s.y, s.z, s.w, s.x),
                      substituted(table, s.z, s.w, s.x, s.y), substituted(table, s.w, s.x, s.y, s.z)) ^ key;
}

extern "C" __global__ void __launch_bounds__(256) rung_03(const __grid_constant__ Job job) {
    const Table table = job.table;
    const u64 threads = u64(gridDim.x) * blockDim.x;
    for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < job.blocks; i += threads) {
        uint4 s = counter(job, i) ^ job.keys[0];
        for (u32 round = 1; round < 10; round++) s = full_round(table, s, job.keys[round]);
        s = last_round(table, s, job.keys[10]);
        job.output[i] = job.input[i] ^ s;
    }
}
