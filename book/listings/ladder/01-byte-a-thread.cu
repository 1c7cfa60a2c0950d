// Rung 1: a byte per thread. Sixteen threads share a block and exchange its bytes through shared memory.
// Launch: 256 threads, 0 bytes of dynamic shared memory, keys in memory.
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

struct Job {
    const u8 *input;
    u8 *output;
    u64 blocks;
    const u32 *table;  // of 256 columns, which are for the next rungs; then the S-box as bytes
    u8 nonce[16];      // the first twelve bytes of every counter; the last four are the block's number
    const u8 *keys;    // eleven round keys of 16 bytes
};

// Twice a byte in GF(2^8).
__device__ u32 doubled(u32 x) { return (x << 1 ^ (x >> 7) * 0x1b) & 0xff; }

extern "C" __global__ void __launch_bounds__(256) rung_01(const __grid_constant__ Job job) {
    __shared__ u8 bytes[256];  // of sixteen blocks
    const u8 *sbox = reinterpret_cast<const u8 *>(job.table + 256);
    u8 *const block = bytes + threadIdx.x / 16 * 16;
    const u32 i = threadIdx.x % 16, row = i % 4, column = i - row;
    // ShiftRows: what ends in row r of this column comes from r columns further on.
    const auto shifted = [&](u32 r) { return u32(block[(column + 5 * (r % 4)) % 16]); };

    for (u64 start = u64(blockIdx.x) * 16; start < job.blocks; start += u64(gridDim.x) * 16) {
        const u64 number = start + threadIdx.x / 16;
        u32 x = i < 12 ? job.nonce[i] : u32(number) >> (8 * (15 - i)) & 0xff;
        x ^= job.keys[i];
        for (u32 round = 1; round <= 10; round++) {
            block[i] = sbox[x];
            __syncwarp();
            x = shifted(row);
            if (round < 10) {  // MixColumns
                const u32 next = shifted(row + 1);
                x = doubled(x ^ next) ^ next ^ shifted(row + 2) ^ shifted(row + 3);
            }
            __syncwarp();
            x ^= job.keys[16 * round + i];
        }
        if (number < job.blocks) job.output[16 * number + i] = job.input[16 * number + i] ^ x;
    }
}
