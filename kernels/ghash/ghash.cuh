// GHASH, the hash of GCM (SP 800-38D, 6.4): what all its kernels share.
//
// The hash of blocks X_1 .. X_n is X_1 H^n + X_2 H^(n-1) + .. + X_n H in GF(2^128). A message is cut
// into parts that are hashed side by side; each sum is multiplied by the power of H that what
// follows it in the message asks for, and all are added. Exponents follow from lengths: public.
#pragma once
#include "../common/gcm.cuh"
#include "../common/parameters.cuh"

// What `crates/cuda/src/engine/ghash.rs` packs, field by field: addresses, lengths and numbers, all of them
// public. What each kernel does not name it does not read. (It has an external name, without any of
// which the compiler puts a number of its own into the PTX at every run.)
struct HashParameters {
    const Block16 *input;
    Block16 *output;
    u64 blocks;             // of the input
    const Block16 *powers;  // of H, as `ghash_powers` writes them
    u64 units, unit_blocks;
    u64 sums, step;
    const u8 *tail;
    u64 tail_bytes;
    u64 lengths[2];         // in bits, as the last block of a message has them
    u64 flags, padding;
};

namespace {

// Flags of `ghash_finish`.
constexpr u64 FROM_STATE = 1;    // the output has the hash so far
constexpr u64 WITH_LENGTHS = 2;  // the message ends here

// Powers of H: H^(j 256^k) at 256 k + j, and the one that a caller names at the end.
constexpr u32 RADIX = 256, DIGITS = 4, NAMED_POWER = DIGITS * RADIX;

}  // namespace
