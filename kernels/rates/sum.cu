// IADD: a sum.
// Launch: 1024 threads, 0 bytes of dynamic shared memory, 2048 steps.
#include "rate.cuh"

extern "C" __global__ void __launch_bounds__(1024) rate_sum(const __grid_constant__ Job job) {
    const Words words(job);
    repeat(job, [&](u32 (&x)[CHAINS], u32 i) { asm volatile("add.u32 %0, %0, %1;" : "+r"(x[i]) : "r"(words.first)); });
}
