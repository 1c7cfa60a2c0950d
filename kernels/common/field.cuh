// GF(2^128) modulo x^128 + x^7 + x^2 + x + 1, as XTS and GCM have it. Everything here is constant-time
// but for exponents, which are public.
//
// An element is four words, the coefficient of 1 in the lowest bit of the first:
//
//   word      x            y             z             w
//   bit       0 ... 31     0 ... 31      0 ... 31      0 ... 31
//   of        1 ... x^31   x^32 ... x^63 x^64 ... x^95 x^96 ... x^127
#pragma once
#include "parameters.cuh"

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

// The bits of 16 with a zero above each: their square as a polynomial.
DEVICE u32 spread(u32 half) {
    half = (half | half << 8) & 0x00ff00ff;
    half = (half | half << 4) & 0x0f0f0f0f;
    half = (half | half << 2) & 0x33333333;
    return (half | half << 1) & 0x55555555;
}

// The square in GF(2^128). What is above bit 127 comes back times x^7 + x^2 + x + 1.
DEVICE Block16 square(Block16 a) {
    const Block16 low = make_uint4(spread(a.x & 0xffff), spread(a.x >> 16), spread(a.y & 0xffff),
                                   spread(a.y >> 16));
    const Block16 high = make_uint4(spread(a.z & 0xffff), spread(a.z >> 16), spread(a.w & 0xffff),
                                    spread(a.w >> 16));
    return low ^ high ^ times_power(high, 1) ^ times_power(high, 2) ^ times_power(high, 7);
}

// The product in GF(2^128), bit by bit of `factor`.
DEVICE Block16 product(Block16 a, Block16 factor) {
    Block16 sum = {};
    ROLLED for (u32 i = 0; i < 128; i++) {
        const u32 take = 0 - (factor.x & 1);
        sum = make_uint4(sum.x ^ (a.x & take), sum.y ^ (a.y & take), sum.z ^ (a.z & take),
                         sum.w ^ (a.w & take));
        a = times_power(a, 1);
        factor = make_uint4(factor.x >> 1 | factor.y << 31, factor.y >> 1 | factor.z << 31,
                            factor.z >> 1 | factor.w << 31, factor.w >> 1);
    }
    return sum;
}
