// A part of a round by tables: two look-ups, their addresses by DP4A, a LOP3.
// Launch: 1024 threads, 32768 bytes of dynamic shared memory, 2048 steps.
#include "rate.cuh"

extern __shared__ u32 shared[];

extern "C" __global__ void __launch_bounds__(1024) rate_table_by_dp4a(const __grid_constant__ Job job) {
    fill_table(shared, job, 32);
    const u32 bank = threadIdx.x % 32 * 4;
    repeat<8>(job, [&](u32 (&x)[CHAINS], u32 i) {
        const u32 a = dp4a(x[i], 0x80u << 8, bank), b = dp4a(other(x, i), 0x80u << 16, bank);
        x[i] ^= look_up(shared, a) ^ look_up(shared, b);
    });
}
