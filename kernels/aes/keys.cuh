// Round keys of AES as every kernel takes them.
#pragma once
#include "../common/block.cuh"

// ANCHOR: keys
// Key additions between the first and the last that AES-256 has.
constexpr u32 MAX_MIDDLE = 13;

// Round keys, the ones of AES-128 and AES-192 leaving the end of `middle` unused, so that every
// index into them is a constant. A column is a little-endian word.
struct AesKeys {
    Block16 first;
    Block16 middle[MAX_MIDDLE];
    Block16 last;
    u32 rounds;
    u32 padding[3];
};
// ANCHOR_END: keys

// ANCHOR: mixed_keys
// The same for kernels that are bit-sliced in part: bit p of column c of a key in `middle` as byte c of
// plane p, full of it.
struct MixedKeys {
    AesKeys aes;
    u32 planes[MAX_MIDDLE][32];
};
// ANCHOR_END: mixed_keys
