// SHF: a shift of two words.
// Launch: 1024 threads, 0 bytes of dynamic shared memory, 2048 steps.
#include "rate.cuh"

extern "C" __global__ void __launch_bounds__(1024) rate_shift(const __grid_constant__ Job job) {
    repeat(job, [&](u32 (&x)[CHAINS], u32 i) { x[i] = __funnelshift_l(x[i], other(x, i), 7); });
}
