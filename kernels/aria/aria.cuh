// ARIA (RFC 5794) on 32-bit words, P1's second form, over any way to look up.
#pragma once
#include "../common/cached_ctr.cuh"
#include "../common/four_tables.cuh"
#include "keys.cuh"
#include "tables.cuh"

// ANCHOR: boxes
// S1, S2 and their inverses side by side. Table t has the output in all bytes but t: byte t of the
// sum of four look-ups is then the sum of the other three, the diffusion inside a word.
struct AriaBoxes {
    static DEVICE u32 packed(u32 x) { return ARIA_SBOXES.entries[x]; }
    template <u32 t>
    static DEVICE u32 expand(u32 packed) {
        constexpr u32 selector = t == 0 ? 0x0004 : t == 1 ? 0x1141 : t == 2 ? 0x2422 : 0x4333;
        return __byte_perm(packed, 0, selector);
    }
};
// ANCHOR_END: boxes

// The sum of the look-ups of a word's bytes, with a key. Byte j has S-box j in odd rounds, j + 2 in
// even ones, where the word comes out rotated by two bytes.
template <bool is_odd, class Tables>
DEVICE u32 substitute(const Tables &tables, u32 word, u32 key) {
    constexpr u32 turn = is_odd ? 0 : 2;
    const u32 three = xor3(tables.template look_up<(0 + turn) % 4>(word, 0),
                           tables.template look_up<(1 + turn) % 4>(word, 1),
                           tables.template look_up<(2 + turn) % 4>(word, 2));
    return xor3(three, tables.template look_up<(3 + turn) % 4>(word, 3), key);
}

// Every word becomes the sum of three; its own inverse.
DEVICE Block16 mix_words(Block16 t) {
    return make_uint4(xor3(t.x, t.y, t.z), xor3(t.x, t.z, t.w), xor3(t.x, t.y, t.w),
                      xor3(t.y, t.z, t.w));
}

constexpr u32 SWAP_PAIRS = 0x2301, SWAP_HALVES = 0x1032, REVERSE = 0x0123;

// ANCHOR: diffuse
// The rest of the diffusion: words, bytes of the words, words. In even rounds the words have come
// rotated by two bytes, which the permutations of bytes undo.
template <bool is_odd>
DEVICE Block16 diffuse(Block16 t) {
    t = mix_words(t);
    if (is_odd) {
        t.y = __byte_perm(t.y, 0, SWAP_PAIRS);
        t.z = __byte_perm(t.z, 0, SWAP_HALVES);
        t.w = __byte_perm(t.w, 0, REVERSE);
    } else {
        t.x = __byte_perm(t.x, 0, SWAP_HALVES);
        t.y = __byte_perm(t.y, 0, REVERSE);
        t.w = __byte_perm(t.w, 0, SWAP_PAIRS);
    }
    return mix_words(t);
}
// ANCHOR_END: diffuse

template <bool is_odd, class Tables>
DEVICE Block16 full_round(const Tables &tables, Block16 s, Block16 key) {
    return diffuse<is_odd>(make_uint4(
        substitute<is_odd>(tables, s.x, key.x), substitute<is_odd>(tables, s.y, key.y),
        substitute<is_odd>(tables, s.z, key.z), substitute<is_odd>(tables, s.w, key.w)));
}

// The S-boxes of an even round on a word, without diffusion: table j + 2 has its output in byte j.
template <class Tables>
DEVICE u32 last_word(const Tables &tables, u32 word) {
    const u32 low = __byte_perm(tables.template look_up<2>(word, 0),
                                tables.template look_up<3>(word, 1), 0x0050);
    const u32 high = __byte_perm(tables.template look_up<0>(word, 2),
                                 tables.template look_up<1>(word, 3), 0x7200);
    return __byte_perm(low, high, 0x7610);
}

// ANCHOR: remaining_rounds
// The rounds from number `done` (even) on, unrolled, so that every key word is a constant-bank
// operand. The numbers of rounds are even, so the last is an even one.
template <u32 done, class Tables>
DEVICE Block16 remaining_rounds(const Tables &tables, Block16 s, const AriaKeys &keys) {
    UNROLL for (u32 i = done; i < 10; i += 2) {
        s = full_round<true>(tables, s, keys.middle[i]);
        s = full_round<false>(tables, s, keys.middle[i + 1]);
    }
    s = full_round<true>(tables, s, keys.middle[10]);
    if (keys.rounds > 12) {
        s = full_round<false>(tables, s, keys.middle[11]);
        s = full_round<true>(tables, s, keys.middle[12]);
        if (keys.rounds > 14) {
            s = full_round<false>(tables, s, keys.middle[13]);
            s = full_round<true>(tables, s, keys.middle[14]);
        }
    }
    return make_uint4(last_word(tables, s.x), last_word(tables, s.y), last_word(tables, s.z),
                      last_word(tables, s.w)) ^ keys.last;
}
// ANCHOR_END: remaining_rounds

template <class Tables>
DEVICE Block16 cipher(const Tables &tables, Block16 block, const AriaKeys &keys) {
    return remaining_rounds<0>(tables, block ^ keys.first, keys);
}

// The first two rounds of the counters of a chunk, but for what byte 14 changes: one byte of round
// 1's input and, through the diffusion, seven of round 2's, two in each word but the last, which has
// one. Eight look-ups of 32 are left, the others are done once.
template <class Tables>
struct CachedRounds {
    u32 word1;      // of round 1's last input word, byte 14 still to be added
    Block16 input;  // of round 2, less what that byte's S-box output adds
    Block16 sums;   // of round 2, the look-ups of the bytes that do not change, and the key

    // The bytes of every word that the S-box output goes to.
    static constexpr u32 X = 0xff0000ff, Y = 0x0000ffff, Z = 0xff00ff00, W = 0x00ff0000;

    DEVICE CachedRounds(const Tables &tables, Counter counter, const AriaKeys &keys) {
        const Block16 s = counter.block() ^ keys.first;
        word1 = s.w;
        input = full_round<true>(tables, s, keys.middle[0]);
        const u32 output = substituted(tables, 0);
        input = make_uint4(input.x ^ (output & X), input.y ^ (output & Y), input.z ^ (output & Z),
                           input.w ^ (output & W));
        const Block16 key = keys.middle[1];
        sums.x = xor3(tables.template look_up<3>(input.x, 1), tables.template look_up<0>(input.x, 2),
                      key.x);
        sums.y = xor3(tables.template look_up<0>(input.y, 2), tables.template look_up<1>(input.y, 3),
                      key.y);
        sums.z = xor3(tables.template look_up<2>(input.z, 0), tables.template look_up<0>(input.z, 2),
                      key.z);
        sums.w = xor3(tables.template look_up<2>(input.w, 0), tables.template look_up<3>(input.w, 1),
                      tables.template look_up<1>(input.w, 3)) ^ key.w;
    }

    // The S-box output of byte 14, in every byte.
    DEVICE u32 substituted(const Tables &tables, u32 byte14) const {
        return __byte_perm(tables.template look_up<2>(word1 ^ byte14 << 16, 2), 0, 0);
    }

    // The whole cipher on the counter whose byte 14 is `byte14`.
    DEVICE Block16 operator()(const Tables &tables, u32 byte14, const AriaKeys &keys) const {
        const u32 output = substituted(tables, byte14);
        const u32 x = input.x ^ (output & X), y = input.y ^ (output & Y);
        const u32 z = input.z ^ (output & Z), w = input.w ^ (output & W);
        const Block16 s = diffuse<false>(make_uint4(
            xor3(sums.x, tables.template look_up<2>(x, 0), tables.template look_up<1>(x, 3)),
            xor3(sums.y, tables.template look_up<2>(y, 0), tables.template look_up<3>(y, 1)),
            xor3(sums.z, tables.template look_up<3>(z, 1), tables.template look_up<1>(z, 3)),
            sums.w ^ tables.template look_up<0>(w, 2)));
        return remaining_rounds<2>(tables, s, keys);
    }
};

template <class Tables>
DEVICE void ecb(const AriaParameters &parameters, const Tables &tables) {
    ecb_blocks(parameters, [&](Block16 block) { return cipher(tables, block, parameters.keys); });
}

template <class Tables>
DEVICE void ctr(const AriaParameters &parameters, const Tables &tables) {
    ctr_blocks(parameters, [&](Block16 block) { return cipher(tables, block, parameters.keys); });
}
