// Items of a batch, encrypted and decrypted by any cipher: those of a warp, of eight lanes, and of a thread.
#pragma once
#include "session.cuh"

namespace {

constexpr u32 GROUP = 8;  // lanes of a narrow item

// ECB encryption of the item's blocks from number `lane` on, `lanes` apart.
template <class Cipher, class Keys>
DEVICE void encrypt_item(const typename Cipher::Encryption &tables, const Text &text,
                         const BatchItem &item, const Keys &keys, u32 lane, u32 lanes) {
    ROLLED for (u32 n = lane; n < item.blocks; n += lanes) {
        Block16 state[1] = {text.load(n)};
        Cipher::run(tables, state, keys);
        text.store(n, state[0]);
    }
}

// Block `n` of the data and the one `apart` blocks further on, where there is one: loaded before the
// rounds, and stored with key stream added after them.
struct PairOfData {
    Block16 first, second;
    u32 n, apart;
    bool is_pair;

    DEVICE PairOfData(const Text &text, u32 n, u32 apart, bool is_pair)
        : first(text.load(n)), second{}, n(n), apart(apart), is_pair(is_pair) {
        if (is_pair) second = text.load(n + apart);
    }

    DEVICE void store(const Text &text, const Block16 (&states)[2]) const {
        text.store(n, first ^ states[0]);
        if (is_pair) text.store(n + apart, second ^ states[1]);
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

    // Encrypts the counters whose byte 15 is the lowest of `first` and of `second`.
    template <class Keys>
    DEVICE void encrypt(const typename Cipher::Encryption &tables, u32 first, u32 second,
                        Block16 (&states)[2], const Keys &keys) const {
        states[0] = states[1] = counter;
        states[0].w ^= first << 24;
        states[1].w ^= second << 24;
        Cipher::run(tables, states, keys);
    }
};

// ANCHOR: wide_item
// CTR of a piece of a message by a warp: a run of counters that differ in the last byte alone at a time,
// two of them in every lane.
template <class Cipher, class Keys>
DEVICE void wide_ctr(const typename Cipher::Encryption &tables, const Text &text,
                     const BatchItem &item, u32 mode, Counter counter, const Keys &keys) {
    const u32 lane = threadIdx.x % WARP;
    for (u32 run = 0; run < item.blocks;) {
        const Counter base = further(counter, mode, u64(item.first) + run);
        const u32 low = u32(base.low) & 0xff, left = item.blocks - run;
        const u32 length = 256 - low < left ? 256 - low : left;
        const typename Cipher::Counters counters(
            tables, Counter{base.high, base.low - low}.block(), keys);
        ROLLED for (u32 n = lane; n < length; n += 2 * WARP) {
            const PairOfData data(text, run + n, WARP, n + WARP < length);
            Block16 states[2];
            counters.encrypt(tables, low + n, low + n + WARP, states, keys);
            data.store(text, states);
        }
        run += length;
    }
}
// ANCHOR_END: wide_item

// CTR of a short message by a group of lanes, two blocks in each.
template <class Cipher, class Keys>
DEVICE void narrow_ctr(const typename Cipher::Encryption &tables, const Text &text,
                       const BatchItem &item, u32 mode, Counter counter, const Keys &keys) {
    ROLLED for (u32 n = threadIdx.x % GROUP; n < item.blocks; n += 2 * GROUP) {
        const PairOfData data(text, n, GROUP, n + GROUP < item.blocks);
        Block16 states[2] = {further(counter, mode, n).block(),
                             further(counter, mode, n + GROUP).block()};
        Cipher::run(tables, states, keys);
        data.store(text, states);
    }
}

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
