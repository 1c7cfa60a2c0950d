// The one parameter block of every bulk kernel, and the counter in it.
#pragma once
#include "word.cuh"

// ANCHOR: parameters
// What `crates/cuda/src/parameters.rs` packs, field by field.
template <class Keys>
struct Parameters {
    const Block16 *input;
    Block16 *output;
    u64 blocks;
    // CTR only: the first counter block as a big-endian integer.
    u64 counter_high;
    u64 counter_low;
    alignas(16) Keys keys;
};
// ANCHOR_END: parameters

// A 128-bit counter: the integer that a counter block is, most significant byte first.
struct Counter {
    u64 high, low;

    DEVICE Counter plus(u64 blocks) const {
        const u64 sum = low + blocks;
        return {high + (sum < low), sum};
    }

    // The block in memory order.
    DEVICE Block16 block() const {
        return make_uint4(byte_swap(u32(high >> 32)), byte_swap(u32(high)),
                          byte_swap(u32(low >> 32)), byte_swap(u32(low)));
    }
};

template <class Keys>
DEVICE Counter first_counter(const Parameters<Keys> &parameters) {
    return {parameters.counter_high, parameters.counter_low};
}

DEVICE Block16 operator^(Block16 left, Block16 right) {
    return make_uint4(left.x ^ right.x, left.y ^ right.y, left.z ^ right.z, left.w ^ right.w);
}

// ANCHOR: ecb_blocks
// Threads of the whole grid and this thread's number among them: block i goes to thread i, so the
// lanes of a warp read and write consecutive 16-byte pieces.
DEVICE u64 grid_threads() { return u64(gridDim.x) * blockDim.x; }
DEVICE u64 grid_thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

// Runs `cipher` on every block, a grid apart; the next block is loaded before it is needed.
template <class Keys, class Cipher>
DEVICE void ecb_blocks(const Parameters<Keys> &parameters, Cipher cipher) {
    const u64 stride = grid_threads();
    u64 i = grid_thread();
    if (i >= parameters.blocks) return;
    Block16 block = parameters.input[i];
    while (true) {
        const u64 next = i + stride;
        Block16 prefetched = block;
        if (next < parameters.blocks) prefetched = parameters.input[next];
        parameters.output[i] = cipher(block);
        if (next >= parameters.blocks) return;
        block = prefetched;
        i = next;
    }
}
// ANCHOR_END: ecb_blocks

// XORs the key stream over every block, a grid apart.
template <class Keys, class Cipher>
DEVICE void ctr_blocks(const Parameters<Keys> &parameters, Cipher cipher) {
    const Counter first = first_counter(parameters);
    for (u64 i = grid_thread(); i < parameters.blocks; i += grid_threads()) {
        const Block16 data = parameters.input[i];
        parameters.output[i] = data ^ cipher(first.plus(i).block());
    }
}
