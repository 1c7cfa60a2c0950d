// Camellia (RFC 3713) on the device, over any way to look up.
#pragma once
#include "../common/cached_ctr.cuh"
#include "../common/four_tables.cuh"
#include "keys.cuh"
#include "tables.cuh"

// ANCHOR: boxes
// SBOX1 .. SBOX4 side by side, and the words that S-box and P make of them: named by which byte,
// from the left, holds which output.
struct CamelliaBoxes {
    static DEVICE u32 packed(u32 x) { return CAMELLIA_SBOXES.entries[x]; }
    template <u32 t>
    static DEVICE u32 expand(u32 packed) {
        constexpr u32 selector = t == 0 ? 0x0004    // 1110
                               : t == 1 ? 0x4111    // 0222
                               : t == 2 ? 0x2422    // 3033
                                        : 0x3343;   // 4404
        return __byte_perm(packed, 0, selector);
    }
};
// ANCHOR_END: boxes

// The halves (s0, s1) and (s2, s3).
struct CamelliaState {
    u32 s0, s1, s2, s3;
};

DEVICE u32 rotate_right_byte(u32 word) { return __byte_perm(word, 0, 0x0321); }

// ANCHOR: add_f
// Adds F of the half (a, b) to the half (c, d).
template <class Tables>
DEVICE void add_f(const Tables &tables, u32 a, u32 b, u32 &c, u32 &d, const u32 (&key)[2]) {
    a ^= key[0];
    b ^= key[1];
    const u32 left = xor3(tables.template look_up<0>(a, 3), tables.template look_up<1>(a, 2),
                          tables.template look_up<2>(a, 1)) ^ tables.template look_up<3>(a, 0);
    const u32 right = xor3(tables.template look_up<1>(b, 3), tables.template look_up<2>(b, 2),
                           tables.template look_up<3>(b, 1));
    const u32 both = xor3(right, tables.template look_up<0>(b, 0), left);
    c ^= both;
    d = xor3(d, both, rotate_right_byte(left));
}
// ANCHOR_END: add_f

DEVICE void fl_layer(CamelliaState &s, const u32 (&key)[4]) {
    s.s1 ^= rotate_left(s.s0 & key[0], 1);
    s.s0 ^= s.s1 | key[1];
    s.s2 ^= s.s3 | key[3];
    s.s3 ^= rotate_left(s.s2 & key[2], 1);
}

// Round `i` of all, counted from 0.
template <class Tables>
DEVICE void round(const Tables &tables, CamelliaState &s, u32 i, const CamelliaKeys &keys) {
    if (i % 2 == 0) add_f(tables, s.s0, s.s1, s.s2, s.s3, keys.rounds[i]);
    else add_f(tables, s.s2, s.s3, s.s0, s.s1, keys.rounds[i]);
}

DEVICE CamelliaState start(Block16 block, const CamelliaKeys &keys) {
    return {byte_swap(block.x) ^ keys.start[0], byte_swap(block.y) ^ keys.start[1],
            byte_swap(block.z) ^ keys.start[2], byte_swap(block.w) ^ keys.start[3]};
}

// ANCHOR: remaining_rounds
// The rounds from number `done` on, unrolled, so that every key word is a constant-bank operand.
template <u32 done, class Tables>
DEVICE Block16 remaining_rounds(const Tables &tables, CamelliaState s, const CamelliaKeys &keys) {
    UNROLL for (u32 i = done; i < 3 * GROUP_ROUNDS; i++) {
        if (i == GROUP_ROUNDS) fl_layer(s, keys.layers[0]);
        if (i == 2 * GROUP_ROUNDS) fl_layer(s, keys.layers[1]);
        round(tables, s, i, keys);
    }
    if (keys.groups > 3) {
        fl_layer(s, keys.layers[2]);
        UNROLL for (u32 i = 3 * GROUP_ROUNDS; i < 4 * GROUP_ROUNDS; i++) round(tables, s, i, keys);
    }
    return make_uint4(byte_swap(s.s2 ^ keys.end[0]), byte_swap(s.s3 ^ keys.end[1]),
                      byte_swap(s.s0 ^ keys.end[2]), byte_swap(s.s1 ^ keys.end[3]));
}
// ANCHOR_END: remaining_rounds

template <class Tables>
DEVICE Block16 cipher(const Tables &tables, Block16 block, const CamelliaKeys &keys) {
    return remaining_rounds<0>(tables, start(block, keys), keys);
}

// The first three rounds of the counters of a chunk, but for what byte 14 changes: round 1 does not
// read it, in round 2 one look-up does, whose word changes three bytes of either word of round 3's
// input. Seven look-ups of 24 are left, the others are done once.
template <class Tables>
struct CachedRounds {
    u32 word2;         // of round 2's second input word, byte 14 still to be added
    u32 s0, s1;        // after round 2, less what that look-up adds
    u32 s2, s3;        // after round 1, byte 14 still to be added to s3
    u32 left3, right3; // of round 3, the look-ups of the bytes that do not change

    DEVICE CachedRounds(const Tables &tables, Counter counter, const CamelliaKeys &keys) {
        CamelliaState s = start(counter.block(), keys);
        round(tables, s, 0, keys);
        s2 = s.s2;
        s3 = s.s3;
        word2 = s3 ^ keys.rounds[1][1];
        round(tables, s, 1, keys);
        const u32 change = tables.template look_up<3>(word2, 1);
        s0 = s.s0 ^ change;
        s1 = s.s1 ^ change;
        left3 = tables.template look_up<2>(s0 ^ keys.rounds[2][0], 1);
        right3 = tables.template look_up<3>(s1 ^ keys.rounds[2][1], 1);
    }

    // The whole cipher on the counter whose byte 14 is `byte14`.
    DEVICE Block16 operator()(const Tables &tables, u32 byte14, const CamelliaKeys &keys) const {
        const u32 change = tables.template look_up<3>(word2 ^ byte14 << 8, 1);
        CamelliaState s = {s0 ^ change, s1 ^ change, s2, s3 ^ byte14 << 8};
        const u32 a = s.s0 ^ keys.rounds[2][0], b = s.s1 ^ keys.rounds[2][1];
        const u32 left = xor3(tables.template look_up<0>(a, 3), tables.template look_up<1>(a, 2),
                              left3) ^ tables.template look_up<3>(a, 0);
        const u32 right = xor3(tables.template look_up<1>(b, 3), tables.template look_up<2>(b, 2),
                               right3);
        const u32 both = xor3(right, tables.template look_up<0>(b, 0), left);
        s.s2 ^= both;
        s.s3 = xor3(s.s3, both, rotate_right_byte(left));
        return remaining_rounds<3>(tables, s, keys);
    }
};

template <class Tables>
DEVICE void ecb(const CamelliaParameters &parameters, const Tables &tables) {
    ecb_blocks(parameters, [&](Block16 block) { return cipher(tables, block, parameters.keys); });
}

template <class Tables>
DEVICE void ctr(const CamelliaParameters &parameters, const Tables &tables) {
    ctr_blocks(parameters, [&](Block16 block) { return cipher(tables, block, parameters.keys); });
}

template <class Tables>
DEVICE void keystream(const CamelliaParameters &parameters, const Tables &tables) {
    keystream_blocks(parameters,
                     [&](Block16 block) { return cipher(tables, block, parameters.keys); });
}
