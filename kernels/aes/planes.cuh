// The rounds of bit-sliced AES but for ShiftRows: a register has bit b of the bytes in row r. Which
// column and which block a bit of it is of is the layout's business.
#pragma once
#include "../common/word.cuh"
#include "sbox.cuh"

// By row and bit.
typedef u32 RowPlanes[4][8];

DEVICE u32 (&as_square(RowPlanes &planes))[32] { return reinterpret_cast<u32 (&)[32]>(planes); }

template <bool encrypts>
DEVICE void substitute(RowPlanes &state) {
    UNROLL for (u32 r = 0; r < 4; r++) {
        if (encrypts) aes_sbox(state[r]);
        else aes_inv_sbox(state[r]);
    }
}

// Doubling moves bit b - 1 to bit b, and adds bit 7 where the modulus 0x11b has a bit.
DEVICE constexpr bool reduces(u32 b) { return b == 1 || b == 3 || b == 4; }

// ANCHOR: mix_columns
// MixColumns and the round key. With u_r = a_r + a_(r+1), row r is 2 u_r + a_(r+1) + u_(r+2). From
// bit 7 down, so that few words are alive at a time: bit b takes bits b and b - 1 of u.
//
// A function of three bits has room for the key beside the sum of two where bit 7 is added; elsewhere
// the sum of three fills it, and `key.add` may be whatever is cheapest.
template <class Key>
DEVICE void mix_columns(RowPlanes &a, const Key &key) {
    u32 top[4], here[4];
    UNROLL for (u32 r = 0; r < 4; r++) here[r] = top[r] = a[r][7] ^ a[(r + 1) % 4][7];
    UNROLL for (u32 i = 0; i < 8; i++) {
        const u32 b = 7 - i;
        u32 below[4], sums[4];
        UNROLL for (u32 r = 0; r < 4; r++) {
            below[r] = b == 0 ? top[r] : a[r][b - 1] ^ a[(r + 1) % 4][b - 1];
        }
        UNROLL for (u32 r = 0; r < 4; r++) {
            const u32 next = a[(r + 1) % 4][b], opposite = here[(r + 2) % 4];
            sums[r] = reduces(b) ? xor3(xor3(opposite, next, key.word(r, b)), below[r], top[r])
                                 : key.add(xor3(opposite, next, below[r]), r, b);
        }
        UNROLL for (u32 r = 0; r < 4; r++) a[r][b] = sums[r], here[r] = below[r];
    }
}
// ANCHOR_END: mix_columns

// InvMixColumns is MixColumns after adding 4(a_r + a_(r+2)) to every row.
DEVICE void prepare_inverse(RowPlanes &a) {
    UNROLL for (u32 r = 0; r < 2; r++) {
        u32 x[8];
        UNROLL for (u32 b = 0; b < 8; b++) x[b] = a[r][b] ^ a[r + 2][b];
        const u32 fourfold[8] = {x[6],        x[6] ^ x[7],             x[0] ^ x[7], x[1] ^ x[6],
                                 xor3(x[2], x[6], x[7]), x[3] ^ x[7], x[4],        x[5]};
        UNROLL for (u32 b = 0; b < 8; b++) {
            a[r][b] ^= fourfold[b];
            a[r + 2][b] ^= fourfold[b];
        }
    }
}
