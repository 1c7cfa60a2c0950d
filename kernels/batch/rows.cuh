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
#pragma once
#include "batch.cuh"

namespace {

// A sequence: bit m of it is o_(m-128).
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
    const u32 low[5] = {__brev(u.w), __brev(u.z), __brev(u.y), __brev(u.x), 0};
    u32 high[4];
    UNROLL for (u32 i = 0; i < 4; i++) {
        high[i] = low[i] ^ xor3(shifted_in(low[i], low[i + 1], 31), shifted_in(low[i], low[i + 1], 30),
                                shifted_in(low[i], low[i + 1], 25));
    }
    // The last seven bits take from the first ones of what they belong to.
    high[3] ^= xor3(high[0] << 31, high[0] << 30, high[0] << 25);
    return {{low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]}};
}
// ANCHOR_END: sequence

// The four sequences of sums, of 256 bits each and a word to read past, of one power of H.
constexpr u32 KINDS = 4, KIND_WORDS = 9, POWER_WORDS = KINDS * KIND_WORDS;

// Which of them row `j` is a window of.
DEVICE u32 kind_of(u32 j) { return j < 2 ? j : j < 7 ? 2 : 3; }

// Word `i` of the four sequences, of words `before`, `here` and `after` of o.
DEVICE void store_kinds(u32 *to, u32 i, u32 before, u32 here, u32 after) {
    u32 sum = shifted_in(before, here, 1);
    to[i] = sum;
    to[KIND_WORDS + i] = sum ^= here;
    to[2 * KIND_WORDS + i] = sum ^= shifted_in(here, after, 31);
    to[3 * KIND_WORDS + i] = sum ^ shifted_in(here, after, 26);
}

// 32 bits of a sequence from bit `at` on.
DEVICE u32 window(const u32 *words, u32 at) {
    const u64 both = u64(words[at / 32 + 1]) << 32 | words[at / 32];
    return u32(both >> at % 32);
}

// ANCHOR: rows
// Four rows of a matrix, those of bits lane, lane + 32 and so on: the warp has all of them. A product
// is a parity a row, and a word of it what the lanes vote.
struct Rows {
    u32 words[4][4];

    DEVICE explicit Rows(const u32 *power) {
        const u32 lane = threadIdx.x % WARP;
        const u32 *usual = power + 3 * KIND_WORDS, *first = power + kind_of(lane) * KIND_WORDS;
        UNROLL for (u32 r = 0; r < 4; r++) {
            UNROLL for (u32 w = 0; w < 4; w++) {
                words[r][w] = window(r == 0 ? first : usual, 128 - lane + 32 * w - 32 * r);
            }
        }
    }

    // The product with an element, which all lanes pass and get.
    DEVICE Block16 times(Block16 a) const {
        u32 result[4];
        UNROLL for (u32 r = 0; r < 4; r++) {
            const u32 sum = (words[r][0] & a.x) ^ (words[r][1] & a.y) ^ (words[r][2] & a.z) ^
                            (words[r][3] & a.w);
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
constexpr u32 SEQUENCE_WORDS = KEPT * 8;

// Copies the sequence of a power, `from` eight words of it, to shared memory as sums; all lanes of the
// warp take part.
DEVICE void load_power(u32 *to, const u32 *from) {
    const u32 lane = threadIdx.x % WARP;
    if (lane < KIND_WORDS) {
        const u32 before = lane > 0 ? from[lane - 1] : 0, here = lane < 8 ? from[lane] : 0;
        const u32 after = lane < 7 ? from[lane + 1] : 0;
        store_kinds(to, lane, before, here, after);
    }
}

}  // namespace
