// LDS of random words of 4 KiB.
// Launch: 1024 threads, 4096 bytes of dynamic shared memory, 2048 steps.
#include "rate.cuh"

extern __shared__ u32 shared[];

extern "C" __global__ void __launch_bounds__(1024) rate_look_up_in_one_copy(const __grid_constant__ Job job) {
    for (u32 i = threadIdx.x; i < NUMBERS; i += blockDim.x) shared[i] = job.numbers[i];
    repeat(job, [&](u32 (&x)[CHAINS], u32 i) { x[i] = look_up(shared, (x[i] ^ other(x, i)) & 4 * (NUMBERS - 1)); });
}
