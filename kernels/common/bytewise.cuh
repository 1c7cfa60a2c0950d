// P1's 8-bit form: sixteen threads work on one block of 16 bytes, a byte each, and exchange bytes
// through shared memory. The sixteen sit in one warp, so they wait for it alone.
#pragma once
#include "chain.cuh"
#include "masks.cuh"

constexpr u32 BLOCK_BYTES = 16;
constexpr Unit BYTE_A_THREAD = {BLOCK_BYTES, 1, false};
// The blocks that a warp has at once, where it has a range of its own.
constexpr u32 WARP_BLOCKS = WARP / BLOCK_BYTES;
constexpr Unit BYTE_A_LANE = {WARP, WARP_BLOCKS, false};

// ANCHOR: exchange
// The bytes of this thread's block, in shared memory, and which of them is this thread's.
struct Exchange {
    u8 *block;
    u32 index;

    // Publishes this thread's byte and takes another one. The threads of a block sit in one warp.
    DEVICE u32 swap(u32 value, u32 from) const {
        block[index] = u8(value);
        __syncwarp();
        const u32 taken = block[from];
        __syncwarp();
        return taken;
    }

    // The sum of what `term(bytes of the block)` reads, once all have published their bytes.
    template <class Term>
    DEVICE u32 sum(u32 value, Term term) const {
        block[index] = u8(value);
        __syncwarp();
        const u32 result = term(block);
        __syncwarp();
        return result;
    }
};
// ANCHOR_END: exchange

// Byte `index` of a key or counter block.
DEVICE u32 key_byte(const Block16 &key, u32 index) {
    const u32 word = index < 8 ? (index < 4 ? key.x : key.y) : (index < 12 ? key.z : key.w);
    return word >> (8 * (index % 4)) & 0xff;
}

// This thread's block in shared memory, which begins with `table_bytes` of tables.
DEVICE Exchange exchange(u8 *shared, u32 table_bytes) {
    const u32 index = threadIdx.x % BLOCK_BYTES;
    return {shared + table_bytes + threadIdx.x - index, index};
}

// Calls `work(bytes, byte number, is inside)` for every byte that this thread has. All threads make
// the same number of passes, so that they meet at every barrier. `shared` has `table_bytes` of tables,
// then a byte a thread: the last ones exchanged, which with the output tell the last round key.
template <class Work>
DEVICE void every_byte(u64 blocks, u8 *shared, u32 table_bytes, Work work) {
    const Exchange bytes = exchange(shared, table_bytes);
    const u64 total = blocks * BLOCK_BYTES;
    for (u64 start = u64(blockIdx.x) * blockDim.x; start < total; start += grid_threads()) {
        work(bytes, start + threadIdx.x, start + threadIdx.x < total);
    }
    clear_shared(reinterpret_cast<u32 *>(shared), (table_bytes + blockDim.x) / sizeof(u32));
}

// ECB and CTR, `cipher(bytes, value)` being the cipher on one byte of sixteen. `shared` is as for
// `every_byte`.
template <class Keys, class Cipher>
DEVICE void bytewise_ecb(const Parameters<Keys> &parameters, u8 *shared, u32 table_bytes,
                         Cipher cipher) {
    const u8 *input = reinterpret_cast<const u8 *>(parameters.input);
    u8 *output = reinterpret_cast<u8 *>(parameters.output);
    const auto work = [&](const Exchange &bytes, u64 i, bool inside) {
        const u32 result = cipher(bytes, inside ? input[i] : 0);
        if (inside) output[i] = u8(result);
    };
    every_byte(parameters.blocks, shared, table_bytes, work);
}

template <class Keys, class Cipher>
DEVICE void bytewise_ctr(const Parameters<Keys> &parameters, u8 *shared, u32 table_bytes,
                         Cipher cipher) {
    const u8 *input = reinterpret_cast<const u8 *>(parameters.input);
    u8 *output = reinterpret_cast<u8 *>(parameters.output);
    const Counter first = first_counter(parameters);
    const auto work = [&](const Exchange &bytes, u64 i, bool inside) {
        const Block16 counter = first.plus(i / BLOCK_BYTES).block();
        const u32 keystream = cipher(bytes, key_byte(counter, bytes.index));
        if (inside) output[i] = u8(input[i] ^ keystream);
    };
    every_byte(parameters.blocks, shared, table_bytes, work);
}

// CBC or CFB decryption: the byte before is the one that the other half of the warp has, or had.
template <bool is_cfb, class Keys, class Cipher>
DEVICE void bytewise_chain(const Parameters<Keys> &parameters, u8 *shared, u32 table_bytes,
                           Cipher cipher) {
    const u8 *input = reinterpret_cast<const u8 *>(parameters.input);
    u8 *output = reinterpret_cast<u8 *>(parameters.output);
    const u32 lane = threadIdx.x % WARP;
    const Exchange bytes = exchange(shared, table_bytes);
    const Range<WARP_BLOCKS> range(parameters.blocks);
    const bool has_any = range.first < parameters.blocks;
    u32 before = has_any ? key_byte(before_range(parameters, range.first), bytes.index) : 0;
    for (u64 run = 0; run < range.length; run += WARP_BLOCKS) {
        const u64 i = (range.first + run) * BLOCK_BYTES + lane;
        const bool inside = i < parameters.blocks * BLOCK_BYTES;
        const u32 value = inside ? input[i] : 0;
        const u32 other = __shfl_sync(0xffffffff, value, lane ^ BLOCK_BYTES);
        const u32 previous = lane < BLOCK_BYTES ? before : other;
        before = other;
        const u32 result = cipher(bytes, is_cfb ? previous : value);
        if (inside) output[i] = u8(result ^ (is_cfb ? value : previous));
    }
    clear_shared(reinterpret_cast<u32 *>(shared), (table_bytes + blockDim.x) / sizeof(u32));
}

// XTS: sixteen threads keep the mask of their block, each all of it.
template <class Keys, class Cipher>
DEVICE void bytewise_xts(const Parameters<Keys> &parameters, u8 *shared, u32 table_bytes,
                         Cipher cipher) {
    const u8 *input = reinterpret_cast<const u8 *>(parameters.input);
    u8 *output = reinterpret_cast<u8 *>(parameters.output);
    const u32 ahead = threadIdx.x % WARP / BLOCK_BYTES;
    const Exchange bytes = exchange(shared, table_bytes);
    const u64 blocks = parameters.blocks;
    const Range<WARP_BLOCKS> range(blocks);
    u64 block = range.first + ahead;
    auto masks = first_masks<WARP_BLOCKS>(parameters, range.first, ahead);
    for (u64 run = 0; run < range.length; run += WARP_BLOCKS) {
        const u64 i = block * BLOCK_BYTES + bytes.index;
        const u32 mask = key_byte(masks.mask, bytes.index);
        const u32 result = cipher(bytes, (block < blocks ? input[i] : 0) ^ mask);
        if (block < blocks) output[i] = u8(result ^ mask);
        block += WARP_BLOCKS;
        masks.advance(block < blocks);
    }
    clear_shared(reinterpret_cast<u32 *>(shared), (table_bytes + blockDim.x) / sizeof(u32));
}
