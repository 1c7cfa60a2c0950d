// GF(2^128) modulo x^128 + x^7 + x^2 + x + 1, as XTS and GCM have it. Everything here is constant-time
// but for exponents, which are public.
//
// An element is four words, the coefficient of 1 in the lowest bit of the first:
//
//   word      x            y             z             w
//   bit       0 ... 31     0 ... 31      0 ... 31      0 ... 31
//   of        1 ... x^31   x^32 ... x^63 x^64 ... x^95 x^96 ... x^127
#pragma once
#include "block.cuh"

// The high word of `high:low` shifted to the left by less than 32.
DEVICE u32 shifted_in(u32 low, u32 high, u32 by) {
    return u32((u64(high) << 32 | low) << by >> 32);
}

// ANCHOR: times_power
// Adds `out`, what a shift moved beyond bit 127, where it comes back: x^128 = x^7 + x^2 + x + 1.
DEVICE Block16 reduced(Block16 a, u32 out) {
    a.x ^= xor3(out, out << 1, out << 2) ^ out << 7;
    a.y ^= xor3(out >> 31, out >> 30, out >> 25);
    return a;
}

// a * x^by for `by` below 32, and for 32, where words only move.
DEVICE Block16 times_power(Block16 a, u32 by) {
    const Block16 moved = make_uint4(shifted_in(0, a.x, by), shifted_in(a.x, a.y, by),
                                     shifted_in(a.y, a.z, by), shifted_in(a.z, a.w, by));
    return reduced(moved, shifted_in(a.w, 0, by));
}
DEVICE Block16 times_x32(Block16 a) {
    return reduced(make_uint4(0, a.x, a.y, a.z), a.w);
}
// ANCHOR_END: times_power

// The element that a polynomial of 256 coefficients is: what is above bit 127 comes back times
// x^7 + x^2 + x + 1.
DEVICE Block16 folded(Block16 low, Block16 high) {
    return low ^ high ^ times_power(high, 1) ^ times_power(high, 2) ^ times_power(high, 7);
}

// The bits of 16 with a zero above each: their square as a polynomial.
DEVICE u32 spread(u32 half) {
    half = (half | half << 8) & 0x00ff00ff;
    half = (half | half << 4) & 0x0f0f0f0f;
    half = (half | half << 2) & 0x33333333;
    return (half | half << 1) & 0x55555555;
}

// The square in GF(2^128).
DEVICE Block16 square(Block16 a) {
    const Block16 low = make_uint4(spread(a.x & 0xffff), spread(a.x >> 16), spread(a.y & 0xffff),
                                   spread(a.y >> 16));
    const Block16 high = make_uint4(spread(a.z & 0xffff), spread(a.z >> 16), spread(a.w & 0xffff),
                                    spread(a.w >> 16));
    return folded(low, high);
}

// ANCHOR: product32
// The product of polynomials of 32 coefficients over GF(2), by products of integers. Ones are taken
// that are four bits apart: there are eight at most, so that of their product every fourth bit is the
// lowest of a sum below 16, and no sum reaches the next.
DEVICE u32 every_fourth(u32 word, u32 first) { return word & 0x11111111u << first; }
DEVICE u64 product32(u32 a, u32 b) {
    u64 result = 0;
    UNROLL for (u32 k = 0; k < 4; k++) {
        u64 sums = 0;
        UNROLL for (u32 i = 0; i < 4; i++) {
            sums ^= u64(every_fourth(a, i)) * every_fourth(b, (k - i) % 4);
        }
        result |= sums & u64(0x1111111111111111) << k;
    }
    return result;
}
// ANCHOR_END: product32

// The product of polynomials of 64 coefficients, three products instead of four.
struct Product64 {
    u64 low, high;

    DEVICE Product64(u64 a, u64 b) {
        const u32 a0 = u32(a), a1 = u32(a >> 32), b0 = u32(b), b1 = u32(b >> 32);
        low = product32(a0, b0), high = product32(a1, b1);
        const u64 middle = product32(a0 ^ a1, b0 ^ b1) ^ low ^ high;
        low ^= middle << 32, high ^= middle >> 32;
    }
};

DEVICE Block16 element_of(u64 low, u64 high) {
    return make_uint4(u32(low), u32(low >> 32), u32(high), u32(high >> 32));
}

// The product in GF(2^128).
DEVICE Block16 product(Block16 a, Block16 b) {
    const u64 a0 = u64(a.y) << 32 | a.x, a1 = u64(a.w) << 32 | a.z;
    const u64 b0 = u64(b.y) << 32 | b.x, b1 = u64(b.w) << 32 | b.z;
    const Product64 low(a0, b0), high(a1, b1), sum(a0 ^ a1, b0 ^ b1);
    const u64 middle0 = sum.low ^ low.low ^ high.low, middle1 = sum.high ^ low.high ^ high.high;
    return folded(element_of(low.low, low.high ^ middle0), element_of(high.low ^ middle1, high.high));
}
