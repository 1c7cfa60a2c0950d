// Encrypts or decrypts in constant time, eight blocks of a warp's 256 in each thread.
// Launch: 512 threads, 0 bytes of dynamic shared memory.
#include <lanecrypt.cuh>

typedef unsigned int u32;
typedef unsigned long long u64;

struct Job {
    const uint4 *input;
    uint4 *output;
    u64 blocks;
    const u32 *table;  // not used
    u64 decrypts;
};

constexpr lanecrypt::AesKeys KEYS = lanecrypt::aes_round_keys(
    {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c});
__constant__ const lanecrypt::AesSlicedKeys ENCRYPTION = lanecrypt::aes_sliced_keys(KEYS);
__constant__ const lanecrypt::AesSlicedKeys DECRYPTION =
    lanecrypt::aes_sliced_keys(lanecrypt::aes_inverse_round_keys(KEYS));

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(512, 1) bit_sliced(const __grid_constant__ Job job) {
    const u64 warps = u64(gridDim.x) * blockDim.x / 32;
    for (u64 row = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32; row * 256 < job.blocks; row += warps) {
        const u64 first = row * 256 + threadIdx.x % 32;
        uint4 blocks[8] = {};
#pragma unroll
        for (u32 k = 0; k < 8; k++) {
            if (first + 32 * k < job.blocks) blocks[k] = job.input[first + 32 * k];
        }
        if (job.decrypts) lanecrypt::aes_decrypt_sliced(DECRYPTION, blocks);
        else lanecrypt::aes_encrypt_sliced(ENCRYPTION, blocks);
#pragma unroll
        for (u32 k = 0; k < 8; k++) {
            if (first + 32 * k < job.blocks) job.output[first + 32 * k] = blocks[k];
        }
    }
}
// ANCHOR_END: kernel
