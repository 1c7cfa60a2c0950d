// HIGHT (ISO/IEC 18033-3) over any representation of bytes: one text for every kernel.
#pragma once
#include "keys.cuh"

// `Operations` works on X0 .. X7 of one or more blocks at once. Its type `Byte` is one of them, and
// its functions change the first operand by the second and byte `b` of key word `w` (see keys.cuh):
//
//   xor_f0(x, y, w, b)        x ^= F0(y) + key
//   add_f1(x, y, w, b)        x += F1(y) ^ key        subtract_f1: the inverse
//   add_key_byte, subtract_key_byte, xor_key_byte(x, w, b)
//
// A round renames: X(j) of round i + 1 is X(j - 1) of round i, every second one changed on the way.
// Eight rounds, which a loop's body has, bring the names back, so that no byte is moved.
constexpr u32 BODY = 8;

// The place of X(j) in round `i`.
DEVICE constexpr u32 place(u32 j, u32 i) { return (j + 8 - i % 8) % 8; }

// ANCHOR: round
// Round `first + i`, where `first` is a multiple of the body's and `i` a constant, or its inverse.
template <bool encrypts, class Operations>
DEVICE void round(const Operations &o, typename Operations::Byte (&x)[8], u32 first, u32 i) {
    const u32 w = first + i;
    UNROLL for (u32 j = 0; j < 8; j += 4) {
        if (encrypts) o.add_f1(x[place(j + 1, i)], x[place(j, i)], w, j / 2);
        else o.subtract_f1(x[place(j + 1, i)], x[place(j, i)], w, j / 2);
        o.xor_f0(x[place(j + 3, i)], x[place(j + 2, i)], w, j / 2 + 1);
    }
}
// ANCHOR_END: round

// ANCHOR: cipher
// Encrypts: X(j) is P(j) at first. The last round does not rename, so that afterwards C(j) lies in
// the place of X(j) in round 31.
template <class Operations>
DEVICE void encrypt(const Operations &o, typename Operations::Byte (&x)[8]) {
    UNROLL for (u32 j = 0; j < 8; j += 4) {
        o.add_key_byte(x[j], WHITENING, j / 2);
        o.xor_key_byte(x[j + 2], WHITENING, j / 2 + 1);
    }
    ROLLED for (u32 first = 0; first < HIGHT_ROUNDS; first += BODY) {
        UNROLL for (u32 i = 0; i < BODY; i++) round<true>(o, x, first, i);
    }
    UNROLL for (u32 j = 0; j < 8; j += 4) {
        o.add_key_byte(x[place(j, 31)], WHITENING + 1, j / 2);
        o.xor_key_byte(x[place(j + 2, 31)], WHITENING + 1, j / 2 + 1);
    }
}

// Decrypts: the place of X(j) in round 31 is C(j) at first, and afterwards P(j) is X(j).
template <class Operations>
DEVICE void decrypt(const Operations &o, typename Operations::Byte (&x)[8]) {
    UNROLL for (u32 j = 0; j < 8; j += 4) {
        o.subtract_key_byte(x[place(j, 31)], WHITENING + 1, j / 2);
        o.xor_key_byte(x[place(j + 2, 31)], WHITENING + 1, j / 2 + 1);
    }
    ROLLED for (u32 rest = HIGHT_ROUNDS; rest > 0; rest -= BODY) {
        UNROLL for (u32 i = BODY; i > 0; i--) {
            round<false>(o, x, rest - BODY, i - 1);
        }
    }
    UNROLL for (u32 j = 0; j < 8; j += 4) {
        o.subtract_key_byte(x[j], WHITENING, j / 2);
        o.xor_key_byte(x[j + 2], WHITENING, j / 2 + 1);
    }
}
// ANCHOR_END: cipher

// Where a direction finds its input and leaves its output: the place of byte j of the block as the
// standard numbers them (P0, C0 rightmost).
template <bool encrypts>
DEVICE constexpr u32 input_place(u32 j) { return encrypts ? j : place(j, 31); }
template <bool encrypts>
DEVICE constexpr u32 output_place(u32 j) { return encrypts ? place(j, 31) : j; }

template <bool encrypts, class Operations>
DEVICE void run(const Operations &o, typename Operations::Byte (&x)[8]) {
    if (encrypts) encrypt(o, x);
    else decrypt(o, x);
}
