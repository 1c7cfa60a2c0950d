// Round keys of DES and of triple DES as every kernel takes them.
#pragma once
#include "../common/parameters.cuh"

constexpr u32 DES_ROUNDS = 16;
constexpr u32 MAX_PASSES = 3;

// ANCHOR: keys
// The keys of one round, six bits a byte, for the S-boxes in the order in which rotations of the
// right half bring their inputs into bytes:
//
//   even   S8 in byte 0, S6, S4, S2     input: the half rotated left by 1
//   odd    S1 in byte 0, S7, S5, S3     input: the half rotated left by 5
struct RoundKey {
    u32 even, odd;
};

// One pass for DES, three for triple DES, each with its round keys in the order in which it adds
// them: which cipher it is, and which direction, is all in these keys.
struct DesKeys {
    RoundKey rounds[MAX_PASSES * DES_ROUNDS];
    u32 passes;
    u32 padding[3];
};
// ANCHOR_END: keys

typedef Parameters<DesKeys, Block8> DesParameters;
