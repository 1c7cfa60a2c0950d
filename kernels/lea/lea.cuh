// LEA (KS X 3246) on 32-bit words, a block a thread. Constant-time: nothing is looked up.
#pragma once
#include "keys.cuh"

// ANCHOR: rounds
// A round on words that get another name, not another place: the first is the last of the next round.
template <bool encrypts>
DEVICE void round(u32 a, u32 &b, u32 &c, u32 &d, const u32 (&key)[6]) {
    if (encrypts) {
        d = rotate_left((c ^ key[4]) + (d ^ key[5]), 29);
        c = rotate_left((b ^ key[2]) + (c ^ key[3]), 27);
        b = rotate_left((a ^ key[0]) + (b ^ key[1]), 9);
    } else {
        b = (rotate_left(b, 23) - (a ^ key[0])) ^ key[1];
        c = (rotate_left(c, 5) - (b ^ key[2])) ^ key[3];
        d = (rotate_left(d, 3) - (c ^ key[4])) ^ key[5];
    }
}

// Four rounds, after which every word has its old name.
template <bool encrypts>
DEVICE void four_rounds(Block16 &x, const u32 (*keys)[6]) {
    if (encrypts) {
        round<true>(x.x, x.y, x.z, x.w, keys[0]);
        round<true>(x.y, x.z, x.w, x.x, keys[1]);
        round<true>(x.z, x.w, x.x, x.y, keys[2]);
        round<true>(x.w, x.x, x.y, x.z, keys[3]);
    } else {
        round<false>(x.w, x.x, x.y, x.z, keys[0]);
        round<false>(x.z, x.w, x.x, x.y, keys[1]);
        round<false>(x.y, x.z, x.w, x.x, keys[2]);
        round<false>(x.x, x.y, x.z, x.w, keys[3]);
    }
}
// ANCHOR_END: rounds

// ANCHOR: cipher
// The direction, where other ciphers have their tables.
template <bool encrypts>
struct Direction {};

// A block. All rounds are written out, so that the address of every key word is a constant and the word
// an operand; the number of rounds is asked where the shorter keys end.
template <bool encrypts>
DEVICE Block16 cipher(Direction<encrypts>, Block16 block, const LeaKeys &keys) {
    UNROLL for (u32 i = 0; i < LEA_MOST_ROUNDS; i += 4) {
        if (i >= 24 && i >= keys.count) break;
        four_rounds<encrypts>(block, keys.rounds + i);
    }
    return block;
}
// ANCHOR_END: cipher
