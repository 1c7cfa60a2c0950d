// LOP3: any function of three bits.
// Launch: 1024 threads, 0 bytes of dynamic shared memory, 2048 steps.
#include "rate.cuh"

extern "C" __global__ void __launch_bounds__(1024) rate_logic(const __grid_constant__ Job job) {
    const Words words(job);
    repeat(job, [&](u32 (&x)[CHAINS], u32 i) { lop3(x[i], words); });
}
