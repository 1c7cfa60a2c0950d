// The one parameter block of every bulk kernel, the counter in it, and who takes which blocks.
#pragma once
#include "block.cuh"

// ANCHOR: parameters
// What `crates/cuda/src/launch/parameters.rs` packs, field by field. Block is Block16 or Block8.
template <class Keys, class Block = Block16>
struct Parameters {
    const Block *input;
    Block *output;
    u64 blocks;
    // What the mode starts from. CTR: the first counter block as a big-endian integer, its high half,
    // then its low one, which alone blocks of 8 bytes have. What the others keep here is said where
    // it is read: `before_range`, `Masks`.
    u64 mode0, mode1, mode2;
    alignas(16) Keys keys;
};
// ANCHOR_END: parameters

// A counter of 128 bits, the low 64 of which are the one of 8-byte blocks: the integer that a
// counter block is, most significant byte first.
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
    DEVICE Block8 block8() const {
        return make_uint2(byte_swap(u32(low >> 32)), byte_swap(u32(low)));
    }
    DEVICE void write(Block16 &to) const { to = block(); }
    DEVICE void write(Block8 &to) const { to = block8(); }
};

template <class Keys, class Block>
DEVICE Counter first_counter(const Parameters<Keys, Block> &parameters) {
    return {parameters.mode0, parameters.mode1};
}

// ANCHOR: ecb_blocks
// Threads of the whole grid and this thread's number among them: block i goes to thread i, so the
// lanes of a warp read and write consecutive pieces.
DEVICE u64 grid_threads() { return u64(gridDim.x) * blockDim.x; }
DEVICE u64 grid_thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }
DEVICE u64 grid_warp() { return grid_thread() / WARP; }

// Runs `cipher` on every block, a grid apart; the next block is loaded before it is needed.
template <class Keys, class Block, class Cipher>
DEVICE void ecb_blocks(const Parameters<Keys, Block> &parameters, Cipher cipher) {
    const u64 stride = grid_threads();
    u64 i = grid_thread();
    if (i >= parameters.blocks) return;
    Block block = parameters.input[i];
    while (true) {
        const u64 next = i + stride;
        Block prefetched = block;
        if (next < parameters.blocks) prefetched = parameters.input[next];
        parameters.output[i] = cipher(block);
        if (next >= parameters.blocks) return;
        block = prefetched;
        i = next;
    }
}
// ANCHOR_END: ecb_blocks

// XORs the key stream over every block, a grid apart.
template <class Keys, class Block, class Cipher>
DEVICE void ctr_blocks(const Parameters<Keys, Block> &parameters, Cipher cipher) {
    const Counter first = first_counter(parameters);
    for (u64 i = grid_thread(); i < parameters.blocks; i += grid_threads()) {
        const Block data = parameters.input[i];
        Block counter;
        first.plus(i).write(counter);
        parameters.output[i] = data ^ cipher(counter);
    }
}

// The key stream alone, XORed block by block in every thread, which stores only the result: for
// measuring what the cipher costs without the data. The output has a block for every thread.
template <class Keys, class Block, class Cipher>
DEVICE void keystream_blocks(const Parameters<Keys, Block> &parameters, Cipher cipher) {
    const Counter first = first_counter(parameters);
    Block sum = {};
    for (u64 i = grid_thread(); i < parameters.blocks; i += grid_threads()) {
        Block counter;
        first.plus(i).write(counter);
        sum = sum ^ cipher(counter);
    }
    parameters.output[grid_thread()] = sum;
}

// ANCHOR: every_run
// Calls `work(first)` for every run of `run_blocks` blocks that this warp takes, with the number of
// the run's first block. All warps of a thread block make the same passes, the last perhaps beyond
// the end: a loop that the compiler sees to be uniform needs fewer registers. Runs are fewer than 2^32,
// which would be 16 TiB.
template <u32 run_blocks, class Work>
DEVICE void every_run(u64 blocks, Work work) {
    const u32 runs = u32((blocks + run_blocks - 1) / run_blocks);
    const u32 warps = blockDim.x / WARP;
    for (u32 run = blockIdx.x * warps; run < runs; run += gridDim.x * warps) {
        work(u64(run + threadIdx.x / WARP) * run_blocks);
    }
}
// ANCHOR_END: every_run

// ANCHOR: range
// The contiguous range of blocks that this warp has, for modes in which a block needs the one before
// it: as many runs of `run_blocks` for every warp of the grid, so that the ranges of the last warps
// may end behind the data, or begin there. `Launch::range_blocks` on the host is the same.
template <u32 run_blocks>
struct Range {
    u64 length, first;

    DEVICE explicit Range(u64 blocks) {
        const u64 runs = (blocks + run_blocks - 1) / run_blocks, warps = grid_threads() / WARP;
        length = (runs + warps - 1) / warps * run_blocks;
        first = grid_warp() * length;
    }
};
// ANCHOR_END: range

// Overwrites words of shared memory, which keeps what it holds when a kernel ends: expanded keys.
DEVICE void clear_shared(u32 *words, u32 count) {
    __syncthreads();
    for (u32 i = threadIdx.x; i < count; i += blockDim.x) *const_cast<volatile u32 *>(words + i) = 0;
}
