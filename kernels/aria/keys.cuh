// Round keys of ARIA as every kernel takes them.
#pragma once
#include "../common/parameters.cuh"

constexpr u32 MAX_ROUNDS = 16;

// ANCHOR: keys
// The first key, those between the rounds, and the last, in the order of the direction. The table
// kernels take the ones between folded: the diffusion is linear, so that a key added after it is
// another key added before it, where a three-input XOR has room for it (`fold` in
// crates/aria/src/cuda.rs). Words are little-endian.
struct AriaKeys {
    Block16 first;
    Block16 middle[MAX_ROUNDS - 1];
    Block16 last;
    u32 rounds;  // 12, 14 or 16
    u32 padding[3];
};
// ANCHOR_END: keys

typedef Parameters<AriaKeys> AriaParameters;
