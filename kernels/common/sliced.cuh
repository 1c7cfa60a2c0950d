// Bit-sliced ciphers whose thread takes 32 whole blocks, a bit of each in a register.
//
// A warp takes 1,024 consecutive blocks. Lane l reads blocks l, 32 + l, 64 + l and so on, so that
// each of its 32 loads is one of a row that the warp reads together:
//
//   block number in the warp's 1,024    k4 k3 k2 k1 k0 | l4 l3 l2 l1 l0     bit k of a plane, lane
//   plane                               w | b2 b1 b0 ..                     word, bit of the word,
//                                                                           least significant first
#pragma once
#include "chain.cuh"
#include "masks.cuh"
#include "transpose.cuh"

constexpr u32 RUN_BLOCKS = 32 * WARP;
constexpr Unit SLICED = {WARP, RUN_BLOCKS, false};
constexpr Unit SLICED_CTR = {WARP, RUN_BLOCKS, true};

// A launch with a mask for every thread in shared memory.
constexpr Launch with_masks(Launch launch) {
    return {launch.threads, launch.shared_bytes + launch.threads * u32(sizeof(Block16)), launch.unit};
}

// Words of a block.
template <class Block>
constexpr u32 BLOCK_WORDS = sizeof(Block) / 4;

// The planes of 32 blocks: plane p holds bit p % 8 of byte p / 8 of each. Before and after the
// transpose plane 32 w + k is word w of block k.
template <class Block>
struct Planes {
    u32 planes[32 * BLOCK_WORDS<Block>];

    DEVICE void transpose() {
        UNROLL for (u32 w = 0; w < BLOCK_WORDS<Block>; w++) {
            transpose32(reinterpret_cast<u32(&)[32]>(planes[32 * w]));
        }
    }

    DEVICE void set(u32 k, Block8 block) {
        planes[k] = block.x;
        planes[32 + k] = block.y;
    }
    DEVICE void set(u32 k, Block16 block) {
        planes[k] = block.x;
        planes[32 + k] = block.y;
        planes[64 + k] = block.z;
        planes[96 + k] = block.w;
    }
    DEVICE void get(u32 k, Block8 &block) const { block = make_uint2(planes[k], planes[32 + k]); }
    DEVICE void get(u32 k, Block16 &block) const {
        block = make_uint4(planes[k], planes[32 + k], planes[64 + k], planes[96 + k]);
    }
    DEVICE Block block(u32 k) const {
        Block result;
        get(k, result);
        return result;
    }
};

// Exchanges two values of `n` planes. In a loop whose body ends with it, that is mostly a choice of
// registers, and the body half as long as one that does everything twice, under both names.
template <u32 n>
DEVICE void exchange_planes(u32 (&a)[n], u32 (&b)[n]) {
    UNROLL for (u32 i = 0; i < n; i++) {
        const u32 plane = a[i];
        a[i] = b[i];
        b[i] = plane;
    }
}

// A thread's 32 blocks in memory; where the warp's run lies all inside the data, no block of it is
// tested by itself.
struct Rows {
    u64 first;     // number of this thread's block 0; may be huge: before the data
    u64 blocks;    // number of blocks there are
    bool is_whole;

    DEVICE Rows(u64 run, u64 skipped, u64 blocks)
        : first(run + not_hoisted(threadIdx.x % WARP) - skipped), blocks(blocks),
          is_whole(run >= skipped && run - skipped + RUN_BLOCKS <= blocks) {}

    // Calls `work(k, number)` for every one of rows `begin` to `end` that is inside the data.
    template <class Work>
    DEVICE void each(u32 begin, u32 end, Work work) const {
        if (is_whole) {
            UNROLL for (u32 k = begin; k < end; k++) work(k, first + k * WARP);
        } else {
            UNROLL for (u32 k = begin; k < end; k++) {
                const u64 number = first + k * WARP;
                if (number < blocks) work(k, number);
            }
        }
    }
};

// ANCHOR: store_sum
// Stores the sum of the blocks of `state`, planes so far, and those that `load(k, number)` gives, row by
// row from the last, a part at a time. A part's loads come before its stores, which may be to the same
// memory; the first part's also before the transpose, which takes longer than they do. `rows()` are
// made anew for each: no register holds them in between.
template <class MakeRows, class Block, class Load>
DEVICE void store_sum(MakeRows rows, Planes<Block> &state, Block *output, Load load) {
    constexpr u32 PART = 64 / BLOCK_WORDS<Block>;  // as many as there are registers for
    Block data[PART] = {};
    const auto load_part = [&](u32 begin) {
        rows().each(begin, begin + PART,
                  [&](u32 k, u64 number) { data[k - begin] = load(k, number); });
    };
    load_part(32 - PART);
    state.transpose();
    UNROLL for (u32 end = 32; end > 0; end -= PART) {
        const u32 begin = end - PART;
        if (end < 32) load_part(begin);
        // A block that this lane loads may be one that its neighbour stores.
        __syncwarp();
        rows().each(begin, end, [&](u32 k, u64 number) {
            output[number] = data[k - begin] ^ state.block(k);
        });
    }
}
// ANCHOR_END: store_sum

// Runs `cipher` on every run of blocks.
template <class Keys, class Block, class Cipher>
DEVICE void sliced_ecb(const Parameters<Keys, Block> &parameters, Cipher cipher) {
    every_run<RUN_BLOCKS>(parameters.blocks, [&](u64 run) {
        const Rows rows(run, 0, parameters.blocks);
        Planes<Block> state = {};
        rows.each(0, 32, [&](u32 k, u64 number) { state.set(k, parameters.input[number]); });
        state.transpose();
        cipher(state.planes);
        state.transpose();
        rows.each(0, 32, [&](u32 k, u64 number) { parameters.output[number] = state.block(k); });
    });
}

// ANCHOR: sliced_chain
// CBC or CFB decryption. A warp goes through its range from the end, and through a run as well where
// it loads previous blocks beside what it stores, so that they are still there.
template <bool is_cfb, class Keys, class Block, class Cipher>
DEVICE void sliced_chain(const Parameters<Keys, Block> &parameters, Cipher cipher) {
    const Range<RUN_BLOCKS> range(parameters.blocks);
    for (u64 rest = range.length; rest > 0; rest -= RUN_BLOCKS) {
        const auto load = [&](u32 k, u64 number, bool previous) {
            if (!previous) return parameters.input[number];
            const bool is_first = rest == RUN_BLOCKS && k == 0 && threadIdx.x % WARP == 0;
            return previous_block(parameters, number, is_first);
        };
        const auto rows = [&] {
            return Rows(range.first + rest - RUN_BLOCKS, 0, parameters.blocks);
        };
        Planes<Block> state = {};
        rows().each(0, 32, [&](u32 k, u64 number) { state.set(k, load(k, number, is_cfb)); });
        state.transpose();
        cipher(state.planes);
        store_sum(rows, state, parameters.output,
                  [&](u32 k, u64 number) { return load(k, number, !is_cfb); });
    }
}
// ANCHOR_END: sliced_chain

template <class Keys, class Block, class Cipher>
DEVICE void sliced_cbc_decrypt(const Parameters<Keys, Block> &parameters, Cipher cipher) {
    sliced_chain<false>(parameters, cipher);
}

template <class Keys, class Block, class Cipher>
DEVICE void sliced_cfb_decrypt(const Parameters<Keys, Block> &parameters, Cipher cipher) {
    sliced_chain<true>(parameters, cipher);
}

// ANCHOR: sliced_xts
// XTS over a warp's range. No register holds a mask while the cipher runs: that of the run's first
// block is `kept` in shared memory, and the others are made twice.
template <class Masks, class Keys, class Cipher>
DEVICE void sliced_xts_by(const Parameters<Keys> &parameters, Block16 *kept, Cipher cipher) {
    const u64 blocks = parameters.blocks;
    const Range<RUN_BLOCKS> range(blocks);
    *kept = first_masks<WARP>(parameters, range.first, threadIdx.x % WARP).mask;
    for (u64 run = 0; run < range.length; run += RUN_BLOCKS) {
        // Calls `work(k, number, mask)` for this thread's blocks and returns the mask after them.
        const auto masked = [&](auto work) {
            const u32 lane = not_hoisted(threadIdx.x % WARP);
            const u64 first = range.first + run + lane;
            Masks masks(parameters, first, 0, *kept);
            UNROLL for (u32 k = 0; k < 32; k++) {
                const u64 number = first + k * WARP;
                if (number < blocks) work(k, number, masks.mask);
                masks.advance(number + WARP < blocks);
                if ((k + 1) * WARP % MASK_ROW_BLOCKS == 0) masks.next_row(number - lane + WARP);
            }
            return masks.mask;
        };
        Planes<Block16> state = {};
        masked([&](u32 k, u64 number, Block16 mask) {
            state.set(k, parameters.input[number] ^ mask);
        });
        state.transpose();
        cipher(state.planes);
        state.transpose();
        *kept = masked([&](u32 k, u64 number, Block16 mask) {
            parameters.output[number] = state.block(k) ^ mask;
        });
    }
}
// ANCHOR_END: sliced_xts

template <class Keys, class Cipher>
DEVICE void sliced_xts(const Parameters<Keys> &parameters, Block16 *kept, Cipher cipher) {
    if (RowMasks<Keys>::fit(parameters)) sliced_xts_by<RowMasks<Keys>>(parameters, kept, cipher);
    else sliced_xts_by<Masks<WARP>>(parameters, kept, cipher);
}

// ANCHOR: counter_planes
// The planes of the counters `counter` + 32 k, whose bits 5 to 9 are zero at k = 0. Bit i of a
// big-endian counter is bit i % 8 of byte i / 8 from the last.
template <class Block>
DEVICE void counter_planes(Planes<Block> &state, Counter counter) {
    constexpr u32 WORDS = BLOCK_WORDS<Block>, BYTES = 4 * WORDS;
    const u32 counter_words[4] = {
        not_hoisted(u32(counter.low)), not_hoisted(u32(counter.low >> 32)),
        not_hoisted(u32(counter.high)), not_hoisted(u32(counter.high >> 32))};
    UNROLL for (u32 p = 0; p < 32 * WORDS; p++) {
        const u32 i = 8 * (BYTES - 1 - p / 8) + p % 8;
        state.planes[p] = i >= 5 && i < 10 ? number_plane(i - 5)
                                           : spread_bit(counter_words[i / 32], i % 32);
    }
}
// ANCHOR_END: counter_planes

// XORs the key stream over every run of blocks.
template <class Keys, class Block, class Cipher>
DEVICE void sliced_ctr(const Parameters<Keys, Block> &parameters, Cipher cipher) {
    // Runs start at counters that are a multiple of 1,024; the first may begin before the data.
    const Counter first = first_counter(parameters);
    const u64 skipped = first.low % RUN_BLOCKS;
    const Counter base = {first.high, first.low - skipped};
    every_run<RUN_BLOCKS>(parameters.blocks + skipped, [&](u64 run) {
        Planes<Block> state;
        counter_planes(state, base.plus(run + threadIdx.x % WARP));
        cipher(state.planes);
        store_sum([&] { return Rows(run, skipped, parameters.blocks); }, state, parameters.output,
                  [&](u32, u64 number) { return parameters.input[number]; });
    });
}
