// Round keys of Camellia as every kernel takes them.
#pragma once
#include "../common/parameters.cuh"

constexpr u32 GROUP_ROUNDS = 6;
constexpr u32 MAX_GROUPS = 4;

// ANCHOR: keys
// Words are the standard's, most significant byte first. Three groups of six rounds for 128-bit
// keys, four for the others, with an FL layer between two groups; all keys in the order in which
// the direction adds them.
struct CamelliaKeys {
    u32 start[4];                               // kw1, kw2
    u32 rounds[MAX_GROUPS * GROUP_ROUNDS][2];   // k
    u32 layers[MAX_GROUPS - 1][4];              // ke: FL on the left half, its inverse on the right
    u32 end[4];                                 // kw3, kw4
    u32 groups;
    u32 padding[3];
};
// ANCHOR_END: keys

typedef Parameters<CamelliaKeys> CamelliaParameters;
