// The tables of AES, computed by the compiler from the definitions of FIPS 197.
#pragma once
#include "../common/word.cuh"

struct Bytes256 {
    u8 entries[256];
};

struct Words256 {
    u32 entries[256];
};

// Multiplication by x in GF(2^8) modulo 0x11b.
CONSTEXPR u32 times_x(u32 element) { return (element << 1 ^ (element >> 7) * 0x11b) & 0xff; }

CONSTEXPR u32 multiply(u32 left, u32 right) {
    u32 product = 0;
    for (; right != 0; right >>= 1, left = times_x(left)) product ^= (right & 1) * left;
    return product;
}

// SubBytes: the inverse, then b ^ b<<<1 ^ b<<<2 ^ b<<<3 ^ b<<<4 ^ 0x63. Walks the powers of the
// generator 3 and those of its inverse 0xf6 side by side.
CONSTEXPR Bytes256 make_sbox() {
    Bytes256 sbox = {};
    u32 element = 1, inverse = 1;
    for (u32 i = 0; i < 255; i++) {
        const u32 spread = inverse ^ inverse << 1 ^ inverse << 2 ^ inverse << 3 ^ inverse << 4;
        sbox.entries[element] = u8((spread ^ spread >> 8) & 0xff) ^ 0x63;
        element ^= times_x(element);
        inverse = multiply(inverse, 0xf6);
    }
    sbox.entries[0] = 0x63;
    return sbox;
}

CONSTEXPR Bytes256 invert(const Bytes256 &sbox) {
    Bytes256 inverse = {};
    for (u32 i = 0; i < 256; i++) inverse.entries[sbox.entries[i]] = u8(i);
    return inverse;
}

// The column that a byte in row 0 contributes to after S-box and MixColumns, row r in byte r;
// `column` is the first column of the matrix, packed the same way.
CONSTEXPR Words256 make_round_table(const Bytes256 &sbox, u32 column) {
    Words256 table = {};
    for (u32 i = 0; i < 256; i++) {
        u32 word = 0;
        for (u32 row = 0; row < 4; row++) {
            word |= multiply(sbox.entries[i], column >> (8 * row) & 0xff) << (8 * row);
        }
        table.entries[i] = word;
    }
    return table;
}

constexpr u32 ENCRYPT_COLUMN = 0x03010102;
constexpr u32 DECRYPT_COLUMN = 0x0b0d090e;
