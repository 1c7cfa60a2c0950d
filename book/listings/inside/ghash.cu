// Multiplies every block by another one in GF(2^128), as GHASH has it.
// Launch: 512 threads, 0 bytes of dynamic shared memory.
#include <lanecrypt.cuh>

typedef unsigned int u32;
typedef unsigned long long u64;

struct Job {
    const uint4 *input;
    uint4 *output;
    u64 blocks;
    const uint4 *factors;  // as many
};

// ANCHOR: kernel
extern "C" __global__ void __launch_bounds__(512, 1) ghash(const __grid_constant__ Job job) {
    const u64 step = u64(gridDim.x) * blockDim.x;
    for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < job.blocks; i += step) {
        job.output[i] = lanecrypt::ghash_multiply(job.input[i], job.factors[i]);
    }
}
// ANCHOR_END: kernel
