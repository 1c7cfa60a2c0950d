// Round keys of HIGHT as every kernel takes them.
#pragma once
#include "../common/parameters.cuh"

constexpr u32 HIGHT_ROUNDS = 32;
// Key words: SK(4i) .. SK(4i + 3) in word i, then WK0 .. WK3, then WK4 .. WK7.
constexpr u32 WHITENING = HIGHT_ROUNDS;
constexpr u32 KEY_WORDS = HIGHT_ROUNDS + 2;

// ANCHOR: keys
// Byte b of key word w as four equal bytes: for four lanes at once, and the low one for one.
struct HightKeys {
    u32 bytes[KEY_WORDS][4];
    u32 is_reversed;  // whether blocks have P0 first, as in KISA's source, not P7
    u32 padding[3];
};
// ANCHOR_END: keys

typedef Parameters<HightKeys, Block8> HightParameters;
