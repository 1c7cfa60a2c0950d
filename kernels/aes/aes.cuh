// AES by T-tables on the device, over any way to look up.
#pragma once
#include "keys.cuh"
#include "tables.cuh"

DEVICE_TABLE Bytes256 SBOX = make_sbox();
DEVICE_TABLE Bytes256 INV_SBOX = invert(make_sbox());
DEVICE_TABLE Words256 ENCRYPT_TABLE = make_round_table(make_sbox(), ENCRYPT_COLUMN);
DEVICE_TABLE Words256 DECRYPT_TABLE = make_round_table(invert(make_sbox()), DECRYPT_COLUMN);

// ANCHOR: round_column
// A column of a full round: adds what table r has for the byte in row r.
template <class Tables>
DEVICE u32 round_column(const Tables &tables, u32 a, u32 b, u32 c, u32 d, u32 key) {
    return xor3(xor3(tables.template look_up<0>(a), tables.template look_up<1>(b),
                     tables.template look_up<2>(c)),
                tables.template look_up<3>(d), key);
}

// Makes every column by `column`, which gets the columns that its rows 0 to 3 come from: row r is
// taken from r columns to the right in encryption, to the left in decryption.
template <bool encrypts, class MakeColumn>
DEVICE Block16 shifted_columns(Block16 s, Block16 key, MakeColumn column) {
    if (encrypts) {
        return make_uint4(column(s.x, s.y, s.z, s.w, key.x), column(s.y, s.z, s.w, s.x, key.y),
                          column(s.z, s.w, s.x, s.y, key.z), column(s.w, s.x, s.y, s.z, key.w));
    }
    return make_uint4(column(s.x, s.w, s.z, s.y, key.x), column(s.y, s.x, s.w, s.z, key.y),
                      column(s.z, s.y, s.x, s.w, key.z), column(s.w, s.z, s.y, s.x, key.w));
}

template <class Tables>
DEVICE Block16 full_round(const Tables &tables, Block16 state, Block16 key) {
    return shifted_columns<Tables::ENCRYPTS>(
        state, key, [&](u32 a, u32 b, u32 c, u32 d, u32 column_key) {
            return round_column(tables, a, b, c, d, column_key);
        });
}

template <class Tables>
DEVICE Block16 last_round(const Tables &tables, Block16 state, Block16 key) {
    return shifted_columns<Tables::ENCRYPTS>(
        state, key, [&](u32 a, u32 b, u32 c, u32 d, u32 column_key) {
            return tables.substitute(a, b, c, d) ^ column_key;
        });
}
// ANCHOR_END: round_column

// ANCHOR: remaining_rounds
// The rounds from number `done` on, unrolled, of blocks side by side; the two tests of the key size are
// the same for the whole grid and cost next to nothing.
template <u32 done, class Tables, u32 count>
DEVICE void remaining_rounds(const Tables &tables, Block16 (&states)[count], const AesKeys &keys) {
    const auto round = [&](u32 i) {
        UNROLL for (u32 k = 0; k < count; k++) {
            states[k] = full_round(tables, states[k], keys.middle[i]);
        }
    };
    UNROLL for (u32 i = done; i < 9; i++) round(i);
    if (keys.rounds > 10) {
        round(9), round(10);
        if (keys.rounds > 12) round(11), round(12);
    }
    UNROLL for (u32 k = 0; k < count; k++) states[k] = last_round(tables, states[k], keys.last);
}

// The same of one block.
template <u32 done, class Tables>
DEVICE Block16 remaining_rounds(const Tables &tables, Block16 state, const AesKeys &keys) {
    Block16 states[1] = {state};
    remaining_rounds<done>(tables, states, keys);
    return states[0];
}
// ANCHOR_END: remaining_rounds

template <class Tables>
DEVICE Block16 cipher(const Tables &tables, Block16 block, const AesKeys &keys) {
    return remaining_rounds<0>(tables, block ^ keys.first, keys);
}
