// Round keys of SEED as every kernel takes them.
#pragma once
#include "../common/parameters.cuh"

constexpr u32 SEED_ROUNDS = 16;

// ANCHOR: keys
// Two words a round, in the order in which the direction adds them.
struct SeedKeys {
    u32 rounds[SEED_ROUNDS][2];
};
// ANCHOR_END: keys

typedef Parameters<SeedKeys> SeedParameters;
