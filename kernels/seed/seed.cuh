// SEED (RFC 4269) on the device, over any way to look up.
#pragma once
#include "../common/four_tables.cuh"
#include "keys.cuh"
#include "tables.cuh"

// ANCHOR: boxes
// S0 and S1 side by side. G sums masked outputs: byte r of its result takes byte t of the argument
// through S0 or S1 and mask t + r.
struct SeedBoxes {
    static DEVICE u32 packed(u32 x) { return SEED_SBOXES.entries[x]; }
    template <u32 t>
    static DEVICE u32 expand(u32 packed) {
        constexpr u32 masks = t == 0 ? 0x3fcff3fc : t == 1 ? 0xfc3fcff3
                            : t == 2 ? 0xf3fc3fcf : 0xcff3fc3f;
        return __byte_perm(packed, 0, t % 2 == 0 ? 0x0000 : 0x1111) & masks;
    }
};
// ANCHOR_END: boxes

template <class Tables>
DEVICE u32 g(const Tables &tables, u32 word) {
    return xor3(tables.template look_up<0>(word, 0), tables.template look_up<1>(word, 1),
                tables.template look_up<2>(word, 2)) ^ tables.template look_up<3>(word, 3);
}

// ANCHOR: add_f
// Adds F of the half (c, d) to the half (a, b).
template <class Tables>
DEVICE void add_f(const Tables &tables, u32 &a, u32 &b, u32 c, u32 d, const u32 (&key)[2]) {
    c ^= key[0];
    d = g(tables, xor3(d, key[1], c));
    c = g(tables, c + d);
    d = g(tables, d + c);
    a ^= c + d;
    b ^= d;
}
// ANCHOR_END: add_f

template <class Tables>
DEVICE Block16 cipher(const Tables &tables, Block16 block, const SeedKeys &keys) {
    u32 l0 = byte_swap(block.x), l1 = byte_swap(block.y);
    u32 r0 = byte_swap(block.z), r1 = byte_swap(block.w);
    UNROLL for (u32 i = 0; i < SEED_ROUNDS; i += 2) {
        add_f(tables, l0, l1, r0, r1, keys.rounds[i]);
        add_f(tables, r0, r1, l0, l1, keys.rounds[i + 1]);
    }
    return make_uint4(byte_swap(r0), byte_swap(r1), byte_swap(l0), byte_swap(l1));
}

template <class Tables>
DEVICE void ecb(const SeedParameters &parameters, const Tables &tables) {
    ecb_blocks(parameters, [&](Block16 block) { return cipher(tables, block, parameters.keys); });
}

template <class Tables>
DEVICE void ctr(const SeedParameters &parameters, const Tables &tables) {
    ctr_blocks(parameters, [&](Block16 block) { return cipher(tables, block, parameters.keys); });
}
