// GHASH, the hash of GCM (SP 800-38D, 6.4): what all its kernels share.
//
// The hash of blocks X_1 .. X_n is X_1 H^n + X_2 H^(n-1) + .. + X_n H in GF(2^128). A message is cut
// into parts that are hashed side by side; each sum is multiplied by the power of H that what
// follows it in the message asks for, and all are added. Exponents follow from lengths: public.
#pragma once
#include "../common/gcm.cuh"
#include "../common/parameters.cuh"

// Blocks of a message's front, at most.
constexpr u32 MOST_FRONT = 4;

// What `crates/cuda/src/engine/ghash.rs` packs, field by field: addresses, lengths and numbers, which are
// public, and at the end what is not. What each kernel does not name it does not read. (It has an external
// name, without any of which the compiler puts a number of its own into the PTX at every run.)
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
    u64 flags;
    const Block16 *state;   // the hash so far
    u64 front_blocks;       // of the message, between that and the blocks of the input
    Block16 *groups;        // for the sums of groups of blocks
    u32 *ticket;            // zero, and zero again in the end
    u64 front[2 * MOST_FRONT];
    u64 mask[2];            // what is added to the hash at its end, to make a tag of it
};

namespace {

// Flags of `ghash_finish`.
constexpr u64 FROM_STATE = 1;    // there is a hash so far
constexpr u64 WITH_LENGTHS = 2;  // the message ends here

// Powers of H: H^(j 256^k) at 256 k + j, and the one that a caller names at the end.
constexpr u32 RADIX = 256, DIGITS = 4, NAMED_POWER = DIGITS * RADIX;

}  // namespace
