// CBC and CFB decryption, in which every block needs the block of ciphertext before it.
//
// In place that block may have been overwritten. A warp has a contiguous range of blocks and keeps
// what it still needs, so that only the one block before its range can be lost, to another warp: the
// host has saved those blocks where output and input are the same memory.
#pragma once
#include "parameters.cuh"

// The IV: the mode's first two words, in memory order.
template <class Keys>
DEVICE void read_iv(const Parameters<Keys, Block16> &parameters, Block16 &iv) {
    const u64 first = parameters.mode0, second = parameters.mode1;
    iv = make_uint4(u32(first), u32(first >> 32), u32(second), u32(second >> 32));
}
template <class Keys>
DEVICE void read_iv(const Parameters<Keys, Block8> &parameters, Block8 &iv) {
    iv = make_uint2(u32(parameters.mode0), u32(parameters.mode0 >> 32));
}

// ANCHOR: before_range
// The block of ciphertext before the first of this warp's range, which is one of the data. The mode's
// third word is the address of the saved ones, from that of the second warp on, or zero where the
// input is not overwritten.
template <class Keys, class Block>
DEVICE Block before_range(const Parameters<Keys, Block> &parameters, u64 first) {
    Block block;
    const Block *saved = reinterpret_cast<const Block *>(parameters.mode2);
    if (first == 0) read_iv(parameters, block);
    else block = saved ? saved[grid_warp() - 1] : parameters.input[first - 1];
    return block;
}
// ANCHOR_END: before_range

// The block before block `i`, for warps that go through their range from its end, so that nobody but
// another warp has overwritten it. `is_first` says that `i` begins the range.
template <class Keys, class Block>
DEVICE Block previous_block(const Parameters<Keys, Block> &parameters, u64 i, bool is_first) {
    return is_first ? before_range(parameters, i) : parameters.input[i - 1];
}

// The lane before this one, that of lane 0 being the last.
DEVICE u32 lane_before() { return (threadIdx.x + WARP - 1) % WARP; }

// ANCHOR: chained_blocks
// Stores `work(previous, block)` for every block and the one before it. A lane has it from its
// neighbour, lane 0 from what the last lane had 32 blocks ago; the next block is loaded before it is
// needed.
template <class Keys, class Block, class Work>
DEVICE void chained_blocks(const Parameters<Keys, Block> &parameters, Work work) {
    const Range<WARP> range(parameters.blocks);
    const u64 end = min(range.first + range.length, parameters.blocks);
    if (range.first >= end) return;
    const u32 lane = threadIdx.x % WARP;
    Block before = before_range(parameters, range.first);
    u64 i = range.first + lane;
    Block block = {};
    if (i < end) block = parameters.input[i];
    while (true) {
        const u64 next = i + WARP;
        Block prefetched = block;
        if (next < end) prefetched = parameters.input[next];
        const Block neighbour = from_lane(block, lane_before());
        if (i < end) parameters.output[i] = work(lane == 0 ? before : neighbour, block);
        if (next - lane >= end) return;  // all lanes at once
        before = neighbour;
        block = prefetched;
        i = next;
    }
}
// ANCHOR_END: chained_blocks

// The modes by a cipher's function `cipher(tables, block, keys)`.
template <class Keys, class Block, class Tables>
DEVICE void cbc_decrypt(const Parameters<Keys, Block> &parameters, const Tables &tables) {
    chained_blocks(parameters, [&](Block previous, Block block) {
        return previous ^ cipher(tables, block, parameters.keys);
    });
}

template <class Keys, class Block, class Tables>
DEVICE void cfb_decrypt(const Parameters<Keys, Block> &parameters, const Tables &tables) {
    chained_blocks(parameters, [&](Block previous, Block block) {
        return block ^ cipher(tables, previous, parameters.keys);
    });
}
