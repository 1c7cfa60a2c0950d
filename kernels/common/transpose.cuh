// Bit planes: the 32x32 bit-matrix transpose that turns 32 blocks into them and back, and the
// planes of consecutive numbers.
#pragma once
#include "word.cuh"

// Exchanges between two rows the bits that lie `distance` apart:
//   low = [A|B], high = [C|D]  ->  low = [A|C], high = [B|D]   (least significant bits first)
// Runs of 8 and 16 bits move with one byte permutation a row, the others with a shift and a
// three-input select.
template <u32 distance>
DEVICE void exchange(u32 &low, u32 &high) {
    const u32 l = low, h = high;
    if (distance == 16) {
        low = __byte_perm(l, h, 0x5410);
        high = __byte_perm(l, h, 0x7632);
    } else if (distance == 8) {
        low = __byte_perm(l, h, 0x6240);
        high = __byte_perm(l, h, 0x7351);
    } else {
        constexpr u32 mask = 0xffffffffu / ((1u << distance) + 1);
        low = lop3<0xca>(mask, l, h << distance);
        high = lop3<0xca>(mask, l >> distance, h);
    }
}

template <u32 distance>
DEVICE void exchange_rows(u32 (&rows)[32]) {
    UNROLL for (u32 i = 0; i < 32; i++) {
        if ((i & distance) == 0) exchange<distance>(rows[i], rows[i + distance]);
    }
}

// Bit p of row l goes to bit l of row p.
DEVICE void transpose32(u32 (&rows)[32]) {
    exchange_rows<16>(rows);
    exchange_rows<8>(rows);
    exchange_rows<4>(rows);
    exchange_rows<2>(rows);
    exchange_rows<1>(rows);
}

// Bit j of the numbers 0 .. 31, as a plane.
DEVICE constexpr u32 number_plane(u32 j) {
    return j == 0 ? 0xaaaaaaaa : j == 1 ? 0xcccccccc : j == 2 ? 0xf0f0f0f0
         : j == 3 ? 0xff00ff00 : 0xffff0000;
}

// A word full of bit `bit` of `word`.
DEVICE u32 spread_bit(u32 word, u32 bit) { return u32(int(word << (31 - bit)) >> 31); }
