// Items of a batch, encrypted and decrypted by any cipher: those of a warp, of a few lanes, and of a thread.
#pragma once
#include "session.cuh"

namespace {

constexpr u32 GROUP = 4;      // lanes of a narrow item
constexpr u32 MOST_BLOCKS = 4;  // that each of them takes at once

// ECB encryption of the item's blocks from number `lane` on, `lanes` apart, `count` of them at once.
template <u32 count, class Cipher, class Keys>
DEVICE void encrypt_item(const typename Cipher::Encryption &tables, const Text &text,
                         const BatchItem &item, const Keys &keys, u32 lane, u32 lanes) {
    ROLLED for (u32 n = lane; n < item.blocks; n += count * lanes) {
        Block16 states[count] = {};
        UNROLL for (u32 i = 0; i < count; i++) {
            if (n + i * lanes < item.blocks) states[i] = text.load(n + i * lanes);
        }
        Cipher::run(tables, states, keys);
        UNROLL for (u32 i = 0; i < count; i++) {
            if (n + i * lanes < item.blocks) text.store(n + i * lanes, states[i]);
        }
    }
}

// Block `n` of the data and, of several, those `apart` blocks further on: loaded before the rounds, and stored
// with key stream added after them. Those at the end are perhaps not there.
template <u32 count>
struct Data {
    Block16 blocks[count];
    u32 n, apart, end;

    DEVICE Data(const Text &text, u32 n, u32 apart, u32 end) : blocks{}, n(n), apart(apart), end(end) {
        UNROLL for (u32 i = 0; i < count; i++) {
            if (is_there(i)) blocks[i] = text.load(n + i * apart);
        }
    }

    DEVICE bool is_there(u32 i) const { return n + i * apart < end; }

    DEVICE void store(const Text &text, const Block16 (&states)[count]) const {
        UNROLL for (u32 i = 0; i < count; i++) {
            if (is_there(i)) text.store(n + i * apart, blocks[i] ^ states[i]);
        }
    }
};

// Counters that differ in byte 15 alone, for ciphers that have nothing to share among them; `counter`
// has zero there.
template <class Cipher>
struct NothingShared {
    Block16 counter;

    template <class Keys>
    DEVICE NothingShared(const typename Cipher::Encryption &, Block16 counter, const Keys &)
        : counter(counter) {}

    // The counter whose byte 15 is the lowest of `number`.
    DEVICE Block16 state(const typename Cipher::Encryption &, u32 number) const {
        return counter ^ make_uint4(0, 0, 0, number << 24);
    }

    // Encrypts a few of these.
    template <u32 count, class Keys>
    static DEVICE void finish(const typename Cipher::Encryption &tables, Block16 (&states)[count],
                              Keys &keys) {
        Cipher::run(tables, states, keys);
    }
};

// For ciphers all of whose warps look up. Else some of a thread block's warps are bit-sliced, which `takes` some runs of
// counters instead.
struct NothingSliced {
    static constexpr u32 THREADS = 768;  // of a thread block
    static constexpr u32 SHARED_BYTES = 0;

    DEVICE explicit NothingSliced(u8 *) {}

    // Makes what the runs of an item need, of so many blocks.
    template <class Keys>
    DEVICE void prepare(const Keys &, u32) const {}

    // Whether this warp is bit-sliced, and a run of so many counters is worth it.
    DEVICE bool takes(u32) const { return false; }

    // Encrypts whole blocks, number `run` to `end` of the item, of which the first has a counter that ends with byte
    // `low`; all are of one row of `counters`.
    template <class Tables, class Counters, class Keys>
    DEVICE void run(const Tables &, const Text &, const Counters &, u32, u32, u32, const Keys &) const {}
};

// ANCHOR: wide_item
// CTR by a warp of blocks from number `n` on, whose first counter ends with byte `low`: `count` in every lane.
template <u32 count, class Cipher, class Keys>
DEVICE void wide_blocks(const typename Cipher::Encryption &tables, const Text &text,
                        const typename Cipher::Counters &counters, u32 n, u32 end, u32 low,
                        const Keys &keys) {
    const u32 lane = threadIdx.x % WARP;
    const Data<count> data(text, n + lane, WARP, end);
    Block16 states[count];
    UNROLL for (u32 i = 0; i < count; i++) states[i] = counters.state(tables, low + lane + i * WARP);
    Cipher::Counters::finish(tables, states, keys);
    data.store(text, states);
}

// CTR of a piece of a message by a warp: a run of counters that differ in the last byte alone at a time,
// two of them in every lane as long as there are more than the lanes.
template <class Cipher, class Keys>
DEVICE void wide_ctr(const typename Cipher::Encryption &tables, const Text &text,
                     const BatchItem &item, u32 mode, Counter counter, const Keys &keys,
                     const typename Cipher::Sliced &sliced) {
    sliced.prepare(keys, item.blocks);
    for (u32 run = 0; run < item.blocks;) {
        const Counter base = further(counter, mode, u64(item.first) + run);
        const u32 low = u32(base.low) & 0xff, left = item.blocks - run;
        const u32 length = 256 - low < left ? 256 - low : left, end = run + length;
        const typename Cipher::Counters counters(tables, row_of(base), keys);
        if (sliced.takes(length) && end <= text.whole) {
            sliced.run(tables, text, counters, run, end, low, keys);
        } else {
            u32 n = run;
            ROLLED for (; n + WARP < end; n += 2 * WARP) {
                wide_blocks<2, Cipher>(tables, text, counters, n, end, low + n - run, keys);
            }
            if (n < end) wide_blocks<1, Cipher>(tables, text, counters, n, end, low + n - run, keys);
        }
        run = end;
    }
}
// ANCHOR_END: wide_item

// ANCHOR: narrow_item
// CTR of a short message by a group of lanes, `count` blocks in each at once. Counters behind the one at which the last
// byte passes zero are of another row.
template <u32 count, class Cipher, class Keys>
DEVICE void narrow_ctr(const typename Cipher::Encryption &tables, const Text &text,
                       const BatchItem &item, u32 mode, Counter counter, const Keys &keys) {
    const u32 lane = threadIdx.x % GROUP;
    ROLLED for (u32 n = 0; n < item.blocks; n += GROUP * count) {
        const Counter here = further(counter, mode, n);
        const u32 low = u32(here.low) & 0xff, in_row = 256 - low;
        Block16 states[count];
        Keys taken = keys;
        const typename Cipher::Counters row(tables, row_of(here), taken);
        UNROLL for (u32 i = 0; i < count; i++) states[i] = row.state(tables, low + lane + i * GROUP);
        if (in_row < GROUP * count && n + in_row < item.blocks) {
            Keys again = keys;
            const typename Cipher::Counters next(tables, row_of(further(here, mode, in_row)), again);
            UNROLL for (u32 i = 0; i < count; i++) {
                const u32 k = lane + i * GROUP;
                if (k >= in_row) states[i] = next.state(tables, low + k);
            }
        }
        const Data<count> data(text, n + lane, GROUP, item.blocks);
        Cipher::Counters::finish(tables, states, taken);
        data.store(text, states);
    }
}
// ANCHOR_END: narrow_item

// ECB or CBC decryption of a piece of a message by a warp. `before` is the block of ciphertext before it;
// a lane has it from its neighbour, lane 0 from what the last lane had 32 blocks ago.
template <class Cipher, class Keys>
DEVICE void decrypt_item(const typename Cipher::Decryption &tables, const Text &text,
                         const BatchItem &item, bool is_chained, Block16 before, const Keys &keys) {
    const u32 lane = threadIdx.x % WARP;
    ROLLED for (u32 n = lane; n - lane < item.blocks; n += WARP) {
        Block16 state[1] = {};
        if (n < item.blocks) state[0] = text.load(n);
        const Block16 neighbour = from_lane(state[0], (lane + WARP - 1) % WARP);
        Cipher::run(tables, state, keys);
        if (is_chained) state[0] = state[0] ^ (lane == 0 ? before : neighbour);
        if (n < item.blocks) text.store(n, state[0]);
        before = neighbour;
    }
}

// CBC encryption of a message by a thread.
template <class Cipher, class Keys>
DEVICE void chain_message(const typename Cipher::Encryption &tables, const Text &text, u32 blocks,
                          Block16 before, const Keys &keys) {
    Block16 next = {};
    if (blocks > 0) next = text.load(0);
    ROLLED for (u32 i = 0; i < blocks; i++) {
        Block16 state[1] = {next ^ before};
        if (i + 1 < blocks) next = text.load(i + 1);
        Cipher::run(tables, state, keys);
        text.store(i, before = state[0]);
    }
}

}  // namespace
