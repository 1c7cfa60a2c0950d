// SM4 (GB/T 32907) on the device, over any way to look up.
#pragma once
#include "../common/four_tables.cuh"
#include "keys.cuh"
#include "tables.cuh"

// ANCHOR: boxes
// The S-box, then L, of the lowest byte of a word; for another byte it is rotated.
struct Sm4Boxes {
    static DEVICE u32 packed(u32 x) {
        const u32 b = SM4_SBOXES.entries[x];
        return b ^ rotate_left(b, 2) ^ rotate_left(b, 10) ^ rotate_left(b, 18) ^ rotate_left(b, 24);
    }
    template <u32 t>
    static DEVICE u32 expand(u32 packed) {
        return t == 0 ? packed : rotate_left(packed, 8 * t);
    }
};
// ANCHOR_END: boxes

// ANCHOR: add_t
// Adds T of a sum.
template <class Tables>
DEVICE void add_t(const Tables &tables, u32 &to, u32 sum) {
    to = xor3(to, tables.template look_up<0>(sum, 0), tables.template look_up<1>(sum, 1));
    to = xor3(to, tables.template look_up<2>(sum, 2), tables.template look_up<3>(sum, 3));
}

// Two rounds on the words (a, b), which take the sum of the others both.
template <class Tables>
DEVICE void two_rounds(const Tables &tables, u32 &a, u32 &b, u32 c, u32 d, u32 key, u32 next) {
    const u32 others = c ^ d;
    add_t(tables, a, xor3(b, others, key));
    add_t(tables, b, xor3(a, others, next));
}
// ANCHOR_END: add_t

template <class Tables>
DEVICE Block16 cipher(const Tables &tables, Block16 block, const Sm4Keys &keys) {
    Block16 x = swapped(block);
    UNROLL for (u32 i = 0; i < SM4_ROUNDS; i += 4) {
        two_rounds(tables, x.x, x.y, x.z, x.w, keys.rounds[i], keys.rounds[i + 1]);
        two_rounds(tables, x.z, x.w, x.x, x.y, keys.rounds[i + 2], keys.rounds[i + 3]);
    }
    return swapped(make_uint4(x.w, x.z, x.y, x.x));
}

template <class Tables>
DEVICE void ecb(const Sm4Parameters &parameters, const Tables &tables) {
    ecb_blocks(parameters, [&](Block16 block) { return cipher(tables, block, parameters.keys); });
}

template <class Tables>
DEVICE void ctr(const Sm4Parameters &parameters, const Tables &tables) {
    ctr_blocks(parameters, [&](Block16 block) { return cipher(tables, block, parameters.keys); });
}
