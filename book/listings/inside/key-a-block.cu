// Encrypts every block under a key of its own, as a search for keys does, or a generator with a seed for each thread.
// Launch: 1024 threads, 131072 bytes of dynamic shared memory.
#include <lanecrypt.cuh>

typedef unsigned int u32;
typedef unsigned long long u64;

struct Job {
    const uint4 *input;
    uint4 *output;
    u64 blocks;
    const u32 *keys;  // one behind the other
    u64 key_bytes;
};

// ANCHOR: kernel
template <u32 bytes, class Tables>
__device__ void every_block(const Tables &tables, const Job &job) {
    const u64 step = u64(gridDim.x) * blockDim.x;
    for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < job.blocks; i += step) {
        u32 key[bytes / 4];
#pragma unroll
        for (u32 k = 0; k < bytes / 4; k++) key[k] = job.keys[i * (bytes / 4) + k];
        uint4 blocks[1] = {job.input[i]};
        lanecrypt::aes_encrypt_under<bytes>(tables, key, blocks);
        job.output[i] = blocks[0];
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) key_a_block(const __grid_constant__ Job job) {
    extern __shared__ __align__(16) unsigned char shared[];
    const lanecrypt::AesTables<> tables(shared);
    if (job.key_bytes == 16) every_block<16>(tables, job);
    else if (job.key_bytes == 24) every_block<24>(tables, job);
    else every_block<32>(tables, job);
}
// ANCHOR_END: kernel
