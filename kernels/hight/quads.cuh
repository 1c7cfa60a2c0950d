// Four blocks a thread, in either of P3's two orders of access.
#pragma once
#include "../common/chain.cuh"
#include "keys.cuh"

constexpr u32 QUAD = 4;
constexpr Unit QUAD_A_THREAD = {1, QUAD, false};
constexpr Unit QUAD_A_LANE = {WARP, QUAD * WARP, false};

// ANCHOR: quads
// The numbers of a thread's four blocks in a tile of four blocks for each thread of the block:
//
//   uncoalesced   thread t takes 4t, 4t + 1, 4t + 2, 4t + 3: lanes are 32 bytes apart
//   coalesced     thread t takes t, t + T, t + 2T, t + 3T:   lanes are neighbours
template <bool coalesced>
DEVICE u64 number_in_quad(u64 tile, u32 k) {
    const u64 first = tile * QUAD * blockDim.x;
    return first + (coalesced ? k * blockDim.x + threadIdx.x : QUAD * threadIdx.x + k);
}
// ANCHOR_END: quads

// The bytes of a block in the opposite order, where blocks have P0 first.
DEVICE Block8 in_order(const HightKeys &keys, Block8 block) {
    return keys.is_reversed ? make_uint2(byte_swap(block.y), byte_swap(block.x)) : block;
}

// Calls `cipher(blocks)` for this thread's four blocks of every tile: the data, or its counters.
template <bool coalesced, bool is_ctr, class Cipher>
DEVICE void every_quad(const HightParameters &parameters, Cipher cipher) {
    const u64 blocks = parameters.blocks;
    const u64 tiles = (blocks + QUAD * blockDim.x - 1) / (QUAD * blockDim.x);
    const Counter counter = first_counter(parameters);
    for (u64 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        Block8 data[QUAD] = {}, quad[QUAD];
        UNROLL for (u32 k = 0; k < QUAD; k++) {
            const u64 i = number_in_quad<coalesced>(tile, k);
            if (i < blocks) data[k] = parameters.input[i];
            quad[k] = in_order(parameters.keys, is_ctr ? counter.plus(i).block8() : data[k]);
        }
        cipher(quad);
        UNROLL for (u32 k = 0; k < QUAD; k++) {
            const u64 i = number_in_quad<coalesced>(tile, k);
            const Block8 result = in_order(parameters.keys, quad[k]);
            if (i < blocks) parameters.output[i] = is_ctr ? data[k] ^ result : result;
        }
    }
}

// The same in the 128 blocks that a warp takes at once, where it has a range of its own.
template <bool coalesced>
DEVICE u64 number_in_run(u64 run, u32 k) {
    const u32 lane = threadIdx.x % WARP;
    return run + (coalesced ? k * WARP + lane : QUAD * lane + k);
}

// The blocks before those of `data`; `before` is the one before the run, and becomes its last one. Of
// lane 0 alone it is used.
template <bool coalesced>
DEVICE void previous_blocks(const Block8 (&data)[QUAD], Block8 &before, Block8 (&previous)[QUAD]) {
    const bool is_first = threadIdx.x % WARP == 0;
    UNROLL for (u32 k = 0; k < QUAD; k++) {
        if (!coalesced && k > 0) {
            previous[k] = data[k - 1];
        } else {
            const Block8 neighbour = from_lane(data[coalesced ? k : QUAD - 1], lane_before());
            previous[k] = is_first ? before : neighbour;
            before = neighbour;
        }
    }
}

// CBC or CFB decryption of a warp's range.
template <bool coalesced, bool is_cfb, class Cipher>
DEVICE void chained_quads(const HightParameters &parameters, Cipher cipher) {
    const Range<QUAD * WARP> range(parameters.blocks);
    const u64 end = min(range.first + range.length, parameters.blocks);
    if (range.first >= end) return;
    Block8 before = before_range(parameters, range.first);
    for (u64 run = range.first; run < end; run += QUAD * WARP) {
        Block8 data[QUAD] = {}, previous[QUAD], quad[QUAD];
        UNROLL for (u32 k = 0; k < QUAD; k++) {
            const u64 i = number_in_run<coalesced>(run, k);
            if (i < end) data[k] = parameters.input[i];
        }
        previous_blocks<coalesced>(data, before, previous);
        UNROLL for (u32 k = 0; k < QUAD; k++) {
            quad[k] = in_order(parameters.keys, is_cfb ? previous[k] : data[k]);
        }
        cipher(quad);
        UNROLL for (u32 k = 0; k < QUAD; k++) {
            const u64 i = number_in_run<coalesced>(run, k);
            const Block8 result = in_order(parameters.keys, quad[k]);
            if (i < end) parameters.output[i] = result ^ (is_cfb ? data[k] : previous[k]);
        }
    }
}

// The entry points of a form `Form<encrypts>`, whose object is made once by all threads from
// the keys and the shared memory and then called with four blocks; `chain_launch` is how the modes
// are launched that give a warp a range.
#define HIGHT_QUADS(prefix, launch, chain_launch, coalesced, Form)                               \
    KERNEL(prefix##_ecb_encrypt, launch, HightParameters) {                                      \
        SHARED_TABLES(shared);                                                                   \
        every_quad<coalesced, false>(parameters, Form<true>(parameters.keys, shared));           \
    }                                                                                            \
    KERNEL(prefix##_ecb_decrypt, launch, HightParameters) {                                      \
        SHARED_TABLES(shared);                                                                   \
        every_quad<coalesced, false>(parameters, Form<false>(parameters.keys, shared));          \
    }                                                                                            \
    KERNEL(prefix##_ctr, launch, HightParameters) {                                              \
        SHARED_TABLES(shared);                                                                   \
        every_quad<coalesced, true>(parameters, Form<true>(parameters.keys, shared));            \
    }                                                                                            \
    KERNEL(prefix##_cbc_decrypt, chain_launch, HightParameters) {                                \
        SHARED_TABLES(shared);                                                                   \
        chained_quads<coalesced, false>(parameters, Form<false>(parameters.keys, shared));       \
    }                                                                                            \
    KERNEL(prefix##_cfb_decrypt, chain_launch, HightParameters) {                                \
        SHARED_TABLES(shared);                                                                   \
        chained_quads<coalesced, true>(parameters, Form<true>(parameters.keys, shared));         \
    }
