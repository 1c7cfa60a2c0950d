// DES by tables that join S-box and permutation, over any way to look up.
#pragma once
#include "keys.cuh"
#include "tables.cuh"

// Exchanges the bits of `low` under `mask` with those of `high` that lie `distance` higher.
template <u32 distance, u32 mask>
DEVICE void swap_bits(u32 &high, u32 &low) {
    const u32 difference = (high >> distance ^ low) & mask;
    low ^= difference;
    high ^= difference << distance;
}

// The initial permutation: five exchanges between the halves.
DEVICE void initial_permutation(u32 &left, u32 &right) {
    swap_bits<4, 0x0f0f0f0f>(left, right);
    swap_bits<16, 0x0000ffff>(left, right);
    swap_bits<2, 0x33333333>(right, left);
    swap_bits<8, 0x00ff00ff>(right, left);
    swap_bits<1, 0x55555555>(left, right);
}

DEVICE void final_permutation(u32 &left, u32 &right) {
    swap_bits<1, 0x55555555>(left, right);
    swap_bits<8, 0x00ff00ff>(right, left);
    swap_bits<2, 0x33333333>(right, left);
    swap_bits<16, 0x0000ffff>(left, right);
    swap_bits<4, 0x0f0f0f0f>(left, right);
}

// ANCHOR: feistel
// f of a half that is kept rotated left by 1. `look_up<t>(word)` gives what byte t % 4 of the word
// contributes: S8, S6, S4, S2 for t = 0 .. 3, then S1, S7, S5, S3.
template <class Tables>
DEVICE u32 add_f(const Tables &tables, u32 left, u32 right, RoundKey key) {
    const u32 even = lop3<0x28>(right, key.even, 0x3f3f3f3f);
    const u32 odd = lop3<0x28>(rotate_left(right, 4), key.odd, 0x3f3f3f3f);
    left = xor3(left, tables.template look_up<0>(even), tables.template look_up<1>(even));
    left = xor3(left, tables.template look_up<2>(even), tables.template look_up<3>(even));
    left = xor3(left, tables.template look_up<4>(odd), tables.template look_up<5>(odd));
    return xor3(left, tables.template look_up<6>(odd), tables.template look_up<7>(odd));
}

// All passes. Between two of them the final and the initial permutation cancel, and what is left
// is the exchange of the halves.
template <class Tables>
DEVICE Block8 cipher(const Tables &tables, Block8 block, const DesKeys &keys) {
    u32 left = byte_swap(block.x), right = byte_swap(block.y);
    initial_permutation(left, right);
    left = rotate_left(left, 1);
    right = rotate_left(right, 1);
    ROLLED for (u32 pass = 0; pass < keys.passes; pass++) {
        const RoundKey *rounds = keys.rounds + pass * DES_ROUNDS;
        UNROLL for (u32 i = 0; i < DES_ROUNDS; i += 2) {
            left = add_f(tables, left, right, rounds[i]);
            right = add_f(tables, right, left, rounds[i + 1]);
        }
        const u32 exchanged = left;
        left = right;
        right = exchanged;
    }
    left = rotate_left(left, 31);
    right = rotate_left(right, 31);
    final_permutation(left, right);
    return make_uint2(byte_swap(left), byte_swap(right));
}
// ANCHOR_END: feistel

template <class Tables>
DEVICE void ecb(const DesParameters &parameters, const Tables &tables) {
    ecb_blocks(parameters, [&](Block8 block) { return cipher(tables, block, parameters.keys); });
}

template <class Tables>
DEVICE void ctr(const DesParameters &parameters, const Tables &tables) {
    ctr_blocks(parameters, [&](Block8 block) { return cipher(tables, block, parameters.keys); });
}
