// Round keys of LEA as every kernel takes them.
#pragma once
#include "../common/parameters.cuh"

constexpr u32 LEA_MOST_ROUNDS = 32;

// ANCHOR: keys
// Six words a round, in the order in which the direction takes them, and how many rounds there are.
struct LeaKeys {
    u32 rounds[LEA_MOST_ROUNDS][6];
    u32 count;  // 24, 28 or 32
    u32 padding[3];
};
// ANCHOR_END: keys

typedef Parameters<LeaKeys> LeaParameters;
