// LDS, every lane from its own bank.
// Launch: 1024 threads, 4096 bytes of dynamic shared memory, 2048 steps.
#include "rate.cuh"

extern __shared__ u32 shared[];

extern "C" __global__ void __launch_bounds__(1024) rate_look_up(const __grid_constant__ Job job) {
    // Each word has the address of the next one in its bank, and so of a look-up nothing is left but the load.
    const u32 start = u32(__cvta_generic_to_shared(shared));
    for (u32 i = threadIdx.x; i < NUMBERS; i += blockDim.x) shared[i] = start + (i + 32) % NUMBERS * 4;
    const auto step = [](u32 (&x)[CHAINS], u32 i) {
        u32 next;
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(next) : "r"(x[i]));
        x[i] = next;
    };
    repeat(job, step, 0, start + threadIdx.x % 32 * 4);
}
