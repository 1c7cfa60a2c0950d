// Multiplication by a constant of GF(2^128) as a matrix of bits, a word of 32 bits at a time.
#pragma once
#include "ghash.cuh"

namespace {

// H^exponent, for exponents below 2^16, of the powers that `ghash_powers` wrote.
DEVICE Block16 listed_power(const Block16 *powers, u32 exponent) {
    const Block16 low = powers[exponent % RADIX];
    return exponent < RADIX ? low : product(low, powers[RADIX + exponent / RADIX]);
}

// Bit i of the result is bit `bit` of word `to` of the product of `power` and the block that has bit i
// of word `from` alone. Bits of bytes are in the other order in elements.
DEVICE u32 matrix_word(Block16 power, u32 from, u32 to, u32 bit) {
    for (u32 i = 0; i < from; i++) power = times_x32(power);
    u32 result = 0;
    ROLLED for (u32 i = 0; i < 32; i++) {
        result |= (word_of(power, to) >> (bit ^ 7) & 1) << (i ^ 7);
        power = times_power(power, 1);
    }
    return result;
}

}  // namespace
