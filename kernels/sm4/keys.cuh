// Round keys of SM4 as every kernel takes them.
#pragma once
#include "../common/parameters.cuh"

constexpr u32 SM4_ROUNDS = 32;

// ANCHOR: keys
// A word a round, in the order in which the direction adds them.
struct Sm4Keys {
    u32 rounds[SM4_ROUNDS];
};
// ANCHOR_END: keys

typedef Parameters<Sm4Keys> Sm4Parameters;
