// LOP3 and DP4A in turn.
// Launch: 1024 threads, 0 bytes of dynamic shared memory, 2048 steps.
#include "rate.cuh"

extern "C" __global__ void __launch_bounds__(1024) rate_logic_and_dp4a(const __grid_constant__ Job job) {
    const Words words(job);
    repeat(job, [&](u32 (&x)[CHAINS], u32 i) {
        if (i % 2 == 0) {
            lop3(x[i], words);
        } else {
            x[i] = dp4a(x[i], job.odd, words.first);
        }
    });
}
