// Multiplication by a constant of GF(2^128) as a matrix of bits whose rows are windows of a sequence: it
// costs a few shifts to make, where columns would cost 128 products with x.
//
// Let o_k be bit 127 of x^k h, for negative k as well. What x^127 gains on the way from x^i h to
// x^(i+1) h comes back at bits 0, 1, 2 and 7, and everything else moves by one. So bit j of x^i h is
//
//   j           bit j of x^i h, with k = i - j
//   0           o_(k-1)
//   1           o_(k-1) + o_k
//   2 .. 6      o_(k-1) + o_k + o_(k+1)
//   7 .. 127    o_(k-1) + o_k + o_(k+1) + o_(k+6)
//
// and row j, all i of it, is a window of one of four sequences that starts at -j.
//
// Bytes of a block have their bits in the other order than an element. So rows and columns are in the order
// of memory, where bit m of word w is coefficient 32 w + (m ^ 7): word t of the row of coefficient j is that of the
// window, with the bits of each byte reversed. Sequences are kept from the last bit to the first, which leaves
// bytes to be reversed.
#pragma once
#include "batch.cuh"

namespace {

// A sequence from its last bit on: bit m of it is o_(127-m).
struct Sequence {
    u32 words[8];
};

// `a` times x^by without those beyond x^127; `by` is a constant.
DEVICE Block16 shifted(Block16 a, u32 by) {
    const u32 words[4] = {a.x, a.y, a.z, a.w};
    u32 result[4];
    UNROLL for (u32 i = 0; i < 4; i++) {
        const u32 from = by / 32;
        const u32 high = i >= from ? words[i - from] : 0, low = i > from ? words[i - from - 1] : 0;
        result[i] = by % 32 == 0 ? high : shifted_in(low, high, by % 32);
    }
    return make_uint4(result[0], result[1], result[2], result[3]);
}

// ANCHOR: sequence
// The rows above at i = 0 say h = u (1 + x + x^2 + x^7) modulo x^128, where u_j = o_(-1-j). With
// f = x + x^2 + x^7 the inverse of 1 + f is the product of all 1 + f^(2^n) up to n = 6, since
// 1 + f^128 is 1. From the first 128 on it goes on by o_(k+128) = o_k + o_(k+1) + o_(k+2) + o_(k+7).
DEVICE Sequence sequence(Block16 h) {
    Block16 u = h;
    UNROLL for (u32 n = 0; n < 7; n++) {
        const u32 power = 1u << n;
        Block16 sum = u ^ shifted(u, power);
        if (2 * power < 128) sum = sum ^ shifted(u, 2 * power);
        if (7 * power < 128) sum = sum ^ shifted(u, 7 * power);
        u = sum;
    }
    Sequence made = {{0, 0, 0, 0, u.x, u.y, u.z, u.w}};
    u32(&words)[8] = made.words;
    UNROLL for (u32 i = 0; i < 4; i++) {
        const u32 below = i > 0 ? words[3 + i] : 0, here = words[4 + i];
        words[i] = here ^ xor3(shifted_in(below, here, 1), shifted_in(below, here, 2),
                               shifted_in(below, here, 7));
    }
    // The last seven bits take from the first ones of what they belong to.
    words[0] ^= xor3(words[3] >> 31, words[3] >> 30, words[3] >> 25);
    return made;
}
// ANCHOR_END: sequence

// The four sequences of sums of one power of H, of 256 bits each, from the last bit on.
constexpr u32 KINDS = 4, KIND_WORDS = 8, POWER_WORDS = KINDS * KIND_WORDS;

// Which of them row `j` is a window of.
DEVICE u32 kind_of(u32 j) { return j < 2 ? j : j < 7 ? 2 : 3; }

// Word `i` of the four sequences, of words i - 1, i and i + 1 of o; no row reaches what zeros beyond its ends make.
DEVICE void store_kinds(u32 *power, u32 i, u32 below, u32 here, u32 above) {
    u32 sum = shifted_in(here, above, 31);
    power[i] = sum;
    power[KIND_WORDS + i] = sum ^= here;
    power[2 * KIND_WORDS + i] = sum ^= shifted_in(below, here, 1);
    power[3 * KIND_WORDS + i] = sum ^ shifted_in(below, here, 6);
}

// Word `i` of those of powers one behind the other, of their sequences.
DEVICE void store_kinds(u32 *powers, const u32 *sequences, u32 i) {
    const u32 word = i % KIND_WORDS;
    const u32 below = word > 0 ? sequences[i - 1] : 0;
    const u32 above = word + 1 < KIND_WORDS ? sequences[i + 1] : 0;
    store_kinds(powers + i / KIND_WORDS * POWER_WORDS, word, below, sequences[i], above);
}

// Word t of row 32r + by of a matrix, which starts at bit `by` of word 3 + r - t of the row's sequence.
DEVICE u32 matrix_word(u32 low, u32 high, u32 by) {
    return byte_swap(u32((u64(high) << 32 | low) >> by));
}

// ANCHOR: rows
// Four rows of a matrix, those of bit `lane` of every word: the warp has all of them. A product is a parity
// a row, and a word of it what the lanes vote. Word t of row r is the same for all of one r - t, but for
// r = 0.
struct Rows {
    u32 first[4], others[6];

    DEVICE explicit Rows(const u32 *power) {
        const u32 by = threadIdx.x % WARP ^ 7;
        const u32 *usual = power + 3 * KIND_WORDS, *its = power + kind_of(by) * KIND_WORDS;
        UNROLL for (u32 t = 0; t < 4; t++) first[t] = matrix_word(its[3 - t], its[4 - t], by);
        UNROLL for (u32 i = 0; i < 6; i++) {
            others[i] = matrix_word(usual[i + 1], usual[i + 2], by);
        }
    }

    DEVICE u32 word(u32 r, u32 t) const { return r == 0 ? first[t] : others[2 + r - t]; }

    // The product with a block, which all lanes pass and get.
    DEVICE Block16 times(Block16 a) const {
        u32 result[4];
        UNROLL for (u32 r = 0; r < 4; r++) {
            const u32 sum = (word(r, 0) & a.x) ^ (word(r, 1) & a.y) ^ (word(r, 2) & a.z) ^
                            (word(r, 3) & a.w);
            result[r] = __ballot_sync(0xffffffff, __popc(sum) & 1);
        }
        return make_uint4(result[0], result[1], result[2], result[3]);
    }
};
// ANCHOR_END: rows

// Rows of a unit, and blocks that a row takes of it.
constexpr u32 ROWS = 16, ROW_BLOCKS = 4, UNIT = ROWS * ROW_BLOCKS;
// Powers of H of which sequences are kept for every message that is hashed by matrices: H^64, H^48, H^32 and
// H^16, which its units are multiplied by, and H.
constexpr u32 POWERS = 4, AT_H = POWERS, KEPT = POWERS + 1;
constexpr u32 SEQUENCE_WORDS = KEPT * KIND_WORDS;

// The sequences of a message, which its number says.
DEVICE u32 *sequences_of(const BatchParameters &parameters, const BatchJob &job) {
    return parameters.sequences + u64(job.sequences) * SEQUENCE_WORDS;
}

// Writes those of the powers of `h`, one after the other: H, H^16, H^32, H^64, each by squaring, and H^48.
DEVICE void write_sequences(u32 *sequences, Block16 h) {
    Block16 power = h, h16 = h, h32 = h;
    ROLLED for (u32 n = 0; n < KEPT; n++) {
        const Sequence made = sequence(power);
        const u32(&words)[KIND_WORDS] = made.words;
        Block16 *to = reinterpret_cast<Block16 *>(sequences + (n < 3 ? AT_H - n : n - 3) * KIND_WORDS);
        to[0] = make_uint4(words[0], words[1], words[2], words[3]);
        to[1] = make_uint4(words[4], words[5], words[6], words[7]);
        if (n == 3) {
            power = product(h16, h32);
            continue;
        }
        ROLLED for (u32 s = 0; s < (n == 0 ? 4 : 1); s++) power = square(power);
        if (n == 0) h16 = power;
        if (n == 1) h32 = power;
    }
}

}  // namespace
