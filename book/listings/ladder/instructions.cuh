// Two instructions that CUDA C++ has no operator for, and the same in C++ for the host.
#pragma once

// The sum of the products of their bytes, and `sum`.
__device__ unsigned dp4a(unsigned left, unsigned right, unsigned sum) {
#ifdef __CUDACC__
    asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(left), "r"(right));
#else
    for (unsigned i = 0; i < 32; i += 8) sum += (left >> i & 0xff) * (right >> i & 0xff);
#endif
    return sum;
}

// Any function of three bits, bit by bit: `table` is its value on (a, b, c) = (0xF0, 0xCC, 0xAA).
template <unsigned table>
__device__ unsigned lop3(unsigned a, unsigned b, unsigned c) {
    unsigned result = 0;
#ifdef __CUDACC__
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(table));
#else
    for (unsigned i = 0; i < 8; i++) {
        if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    }
#endif
    return result;
}
