// CTR that computes once what many consecutive counters share: the first rounds, but for one byte.
#pragma once
#include "parameters.cuh"

// Counters that a chunk shares all but the low 16 bits of, and those that a thread block takes in
// a step.
constexpr u32 CHUNK = 65536;
constexpr u32 CTR_THREADS = 1024;
constexpr u32 CHUNK_STEPS = CHUNK / CTR_THREADS;
constexpr Unit CACHED_CTR = {CTR_THREADS, CTR_THREADS, true};

// ANCHOR: cached_ctr
// CTR over chunks of 65,536 counters that start at a multiple of 65,536. A slot is a counter's
// distance from the start of the first chunk; a thread block takes a contiguous run of steps of
// 1,024 slots, so that the runs differ by one step at most. A thread keeps byte 15 of its counters
// through a chunk, so that from step to step just byte 14 changes.
//
// `Cached` is made from (tables, counter whose byte 14 is zero, keys), and its object, called with
// (tables, byte 14, keys), gives the key stream. `every_block` is called with the number of each block and with
// what gives its key stream.
template <class Cached, class Keys, class Tables, class EveryBlock>
DEVICE void cached_blocks(const Parameters<Keys> &parameters, const Tables &tables,
                          EveryBlock every_block) {
    const Counter first = first_counter(parameters);
    const u64 skipped = first.low % CHUNK;
    const Counter base = {first.high, first.low - skipped};
    // This thread's place in a step, so that blocks which the lanes of a warp take begin where a line of
    // memory does, wherever counters begin: in all warps but the one in which a step wraps round.
    const u32 place = (threadIdx.x + u32(skipped)) % CTR_THREADS;
    const u64 steps = (parameters.blocks + skipped + CTR_THREADS - 1) / CTR_THREADS;
    const u64 begin = steps / gridDim.x * blockIdx.x + min(u64(blockIdx.x), steps % gridDim.x);
    const u64 end = begin + steps / gridDim.x + (blockIdx.x < steps % gridDim.x);

    for (u64 step = begin; step < end;) {
        const u64 chunk = step / CHUNK_STEPS;
        const u64 chunk_end = min((chunk + 1) * CHUNK_STEPS, end);
        const Cached cached(tables, base.plus(chunk * CHUNK + place % 256), parameters.keys);
        for (; step < chunk_end; step++) {
            const u64 slot = step * CTR_THREADS + place;
            const u64 i = slot - skipped;  // wraps to a huge number before the first block
            if (i >= parameters.blocks) continue;
            const u32 byte14 = u32(slot) >> 8 & 0xff;
            every_block(i, [&] { return cached(tables, byte14, parameters.keys); });
        }
    }
}

template <class Cached, class Keys, class Tables>
DEVICE void cached_ctr(const Parameters<Keys> &parameters, const Tables &tables) {
    cached_blocks<Cached>(parameters, tables, [&](u64 i, auto key_stream) {
        const Block16 data = parameters.input[i];
        parameters.output[i] = data ^ key_stream();
    });
}
// ANCHOR_END: cached_ctr
