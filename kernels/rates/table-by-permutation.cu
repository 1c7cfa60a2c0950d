// The same with addresses by PRMT, and one LOP3 more.
// Launch: 1024 threads, 65536 bytes of dynamic shared memory, 2048 steps.
#include "rate.cuh"

extern __shared__ u32 shared[];

extern "C" __global__ void __launch_bounds__(1024) rate_table_by_permutation(const __grid_constant__ Job job) {
    fill_table(shared, job, 64);
    const u32 bank = threadIdx.x % 32 * 4;
    repeat<8>(job, [&](u32 (&x)[CHAINS], u32 i) {
        const u32 a = __byte_perm(x[i], bank, 0x7714), b = __byte_perm(other(x, i), bank, 0x7724);
        x[i] ^= look_up(shared, a) ^ look_up(shared, b);
        x[i] ^= x[(i + 5) % CHAINS] & x[(i + 6) % CHAINS];
    });
}
