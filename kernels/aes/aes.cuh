// AES by T-tables on the device, over any way to look up.
#pragma once
#include "keys.cuh"
#include "tables.cuh"

DEVICE_TABLE Bytes256 SBOX = make_sbox();
DEVICE_TABLE Bytes256 INV_SBOX = invert(make_sbox());
DEVICE_TABLE Words256 ENCRYPT_TABLE = make_round_table(make_sbox(), ENCRYPT_COLUMN);
DEVICE_TABLE Words256 DECRYPT_TABLE = make_round_table(invert(make_sbox()), DECRYPT_COLUMN);

// ANCHOR: round_column
// A column of a full round: row r comes from the column r to the right (encryption) or to the left
// (decryption), and adds what table r has for it.
template <class Tables>
DEVICE u32 round_column(const Tables &tables, u32 a, u32 b, u32 c, u32 d, u32 key) {
    return xor3(xor3(tables.template look_up<0>(a), tables.template look_up<1>(b),
                     tables.template look_up<2>(c)),
                tables.template look_up<3>(d), key);
}
// ANCHOR_END: round_column

template <class Tables>
DEVICE u32 last_column(const Tables &tables, u32 a, u32 b, u32 c, u32 d, u32 key) {
    return tables.substitute(a, b, c, d) ^ key;
}

template <class Tables>
DEVICE Block16 full_round(const Tables &tables, Block16 s, Block16 key) {
    if (Tables::ENCRYPTS) {
        return make_uint4(round_column(tables, s.x, s.y, s.z, s.w, key.x),
                          round_column(tables, s.y, s.z, s.w, s.x, key.y),
                          round_column(tables, s.z, s.w, s.x, s.y, key.z),
                          round_column(tables, s.w, s.x, s.y, s.z, key.w));
    }
    return make_uint4(round_column(tables, s.x, s.w, s.z, s.y, key.x),
                      round_column(tables, s.y, s.x, s.w, s.z, key.y),
                      round_column(tables, s.z, s.y, s.x, s.w, key.z),
                      round_column(tables, s.w, s.z, s.y, s.x, key.w));
}

template <class Tables>
DEVICE Block16 last_round(const Tables &tables, Block16 s, Block16 key) {
    if (Tables::ENCRYPTS) {
        return make_uint4(last_column(tables, s.x, s.y, s.z, s.w, key.x),
                          last_column(tables, s.y, s.z, s.w, s.x, key.y),
                          last_column(tables, s.z, s.w, s.x, s.y, key.z),
                          last_column(tables, s.w, s.x, s.y, s.z, key.w));
    }
    return make_uint4(last_column(tables, s.x, s.w, s.z, s.y, key.x),
                      last_column(tables, s.y, s.x, s.w, s.z, key.y),
                      last_column(tables, s.z, s.y, s.x, s.w, key.z),
                      last_column(tables, s.w, s.z, s.y, s.x, key.w));
}

// ANCHOR: remaining_rounds
// The rounds from number `done` on, unrolled; the two tests of the key size are the same for the
// whole grid and cost next to nothing.
template <u32 done, class Tables>
DEVICE Block16 remaining_rounds(const Tables &tables, Block16 state, const AesKeys &keys) {
    UNROLL for (u32 i = done; i < 9; i++) state = full_round(tables, state, keys.middle[i]);
    if (keys.rounds > 10) {
        state = full_round(tables, state, keys.middle[9]);
        state = full_round(tables, state, keys.middle[10]);
        if (keys.rounds > 12) {
            state = full_round(tables, state, keys.middle[11]);
            state = full_round(tables, state, keys.middle[12]);
        }
    }
    return last_round(tables, state, keys.last);
}
// ANCHOR_END: remaining_rounds

template <class Tables>
DEVICE Block16 cipher(const Tables &tables, Block16 block, const AesKeys &keys) {
    return remaining_rounds<0>(tables, block ^ keys.first, keys);
}
