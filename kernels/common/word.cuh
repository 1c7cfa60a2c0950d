// The words kernels are written in, and the few intrinsics they use, on the device and on the host.
#pragma once
#include "kernel.cuh"

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// A cipher block of 16 bytes as it lies in memory: four little-endian words, 16-byte aligned.
typedef uint4 Block16;
// One of 8 bytes: two little-endian words, 8-byte aligned.
typedef uint2 Block8;

constexpr u32 WARP = 32;

// Any function of three bits, bit by bit: `table` is its value on (a, b, c) = (0xF0, 0xCC, 0xAA).
template <u32 table>
DEVICE u32 lop3(u32 a, u32 b, u32 c) {
#ifdef __CUDACC__
    u32 result;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(table));
    return result;
#else
    // Sums of products, of so few operations that a compiler inlines them however often: what it is where c is 0, and
    // what c adds. Factor i belongs to the product of the inputs whose bits i has.
    constexpr auto factor = [](u32 inputs) {
        u32 sum = 0;
        for (u32 i = 0; i < 8; i++) sum ^= (i & inputs) == i ? table >> i & 1 : 0;
        return 0 - sum;
    };
    constexpr u32 factors[8] = {factor(0), factor(1), factor(2), factor(3),
                                factor(4), factor(5), factor(6), factor(7)};
    const u32 both = a & b;
    const u32 alone = factors[0] ^ (factors[2] & b) ^ (factors[4] & a) ^ (factors[6] & both);
    const u32 added = factors[1] ^ (factors[3] & b) ^ (factors[5] & a) ^ (factors[7] & both);
    return alone ^ (added & c);
#endif
}

// The address of dynamic shared memory in the 32-bit shared window, and a load from there with a
// constant offset, which becomes part of the instruction.
DEVICE u32 shared_address(const u8 *shared) {
#ifdef __CUDACC__
    return u32(__cvta_generic_to_shared(shared));
#else
    return u32(shared - host::shared_window());
#endif
}

DEVICE u32 load_shared(u32 address, u32 offset) {
#ifdef __CUDACC__
    return *static_cast<const u32 *>(__cvta_shared_to_generic(address + offset));
#else
    return *reinterpret_cast<const u32 *>(host::shared_window() + address + offset);
#endif
}

// The same for a block, and a store.
DEVICE Block16 load_shared_block(u32 address) {
#ifdef __CUDACC__
    return *static_cast<const Block16 *>(__cvta_shared_to_generic(address));
#else
    return *reinterpret_cast<const Block16 *>(host::shared_window() + address);
#endif
}

DEVICE void store_shared_block(u32 address, Block16 block) {
#ifdef __CUDACC__
    *static_cast<Block16 *>(__cvta_shared_to_generic(address)) = block;
#else
    *reinterpret_cast<Block16 *>(host::shared_window() + address) = block;
#endif
}

// The sum of the products of their bytes, and `sum`.
DEVICE u32 dot_bytes(u32 left, u32 right, u32 sum) {
#ifdef __CUDACC__
    u32 result;
    asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(left), "r"(right), "r"(sum));
    return result;
#else
    for (u32 i = 0; i < 4; i++) sum += (left >> 8 * i & 0xff) * (right >> 8 * i & 0xff);
    return sum;
#endif
}

DEVICE u32 xor3(u32 a, u32 b, u32 c) { return lop3<0x96>(a, b, c); }

// Byte `i` of a word; `i` is a constant.
DEVICE u32 byte_of(u32 word, u32 i) { return word >> (8 * i) & 0xff; }

// Every byte full of its top bit.
DEVICE u32 spread_top_bits(u32 word) {
#ifdef __CUDACC__
    u32 result;
    asm("prmt.b32 %0, %1, 0, 0xba98;" : "=r"(result) : "r"(word));
    return result;
#else
    return (word >> 7 & 0x01010101) * 0xff;
#endif
}

// A word full of the top bit of byte `i`, which is a constant.
DEVICE u32 spread_top_bit(u32 word, u32 i) {
#ifdef __CUDACC__
    u32 result;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(result) : "r"(word), "r"(0x8888 | i * 0x1111));
    return result;
#else
    return 0 - (word >> (8 * i + 7) & 1);
#endif
}

DEVICE u32 byte_swap(u32 word) { return __byte_perm(word, 0, 0x0123); }

DEVICE u32 rotate_left(u32 word, u32 by) { return word << by | word >> (32 - by); }

// The same value, of which the compiler does not know that it is the same in every pass of a loop:
// what is made of it is made anew, where keeping it would take too many registers.
DEVICE u32 not_hoisted(u32 word) {
#ifdef __CUDACC__
    asm volatile("" : "+r"(word));
#endif
    return word;
}

// ANCHOR: add_key
// XOR with a word that is all zeros or all ones, off the ALU pipe: x * 1 + 0, or x * -1 - 1. The
// multiplier has a pipe of its own, which bit-sliced code leaves idle.
DEVICE constexpr u32 key_factor(u32 key) { return 2 * key + 1; }
DEVICE u32 add_key(u32 x, u32 key, u32 factor) { return x * factor + key; }
// ANCHOR_END: add_key
