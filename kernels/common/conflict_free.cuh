// Look-up tables replicated over the 32 banks of shared memory, so that no two lanes of a warp
// ever meet in a bank, whatever they look up.
#pragma once
#include "word.cuh"

constexpr u32 TABLE_ENTRIES = 256;  // of a table that a byte is looked up in
constexpr u32 SINGLE_BYTES = TABLE_ENTRIES * WARP * 4;

// Bytes from the first of the pairs to table `table`, of `entries` words: two tables lie together.
template <u32 entries = TABLE_ENTRIES>
DEVICE constexpr u32 table_offset(u32 table) {
    return table / 2 * (entries * 2 * WARP * 4) + table % 2 * (WARP * 4);
}

// Where pairs start in the shared address window. Up to this many bytes of the window belong to the
// system, as many as the architecture likes; one fixed start, past them all, lets the address of a
// look-up be a byte permutation and an immediate offset, with nothing added at run time.
constexpr u32 PAIR_ORIGIN = 1024;

// ANCHOR: lane
// Lane l reads copy l of every entry, and copy l of everything lies in bank l:
//
//   byte offset       15 .. 8      7        6 .. 2     1 0
//   pair of tables    entry e      table    lane l     0 0     64 KiB for two of 256 words
//   single table      --  14 .. 7: entry e, 6 .. 2: lane l --  32 KiB for one
//
// One byte permutation builds the offset in a pair: it picks the byte that is looked up, scales it
// by 256 and adds the lane. Which table of the pair, and which pair, is the immediate offset of
// the load.
struct Lane {
    u32 bank;    // byte offset of this lane's copy
    u32 single;  // address of this lane's copy in shared memory

    DEVICE explicit Lane(const u8 *shared)
        : bank(threadIdx.x % WARP * 4), single(shared_address(shared) + bank) {}

    // Looks up byte `i` of `word` in a table of a pair, `offset` bytes after PAIR_ORIGIN.
    DEVICE u32 pair(u32 word, u32 i, u32 offset) const {
        return load_shared(__byte_perm(word, bank, 0x7704 | i << 4), PAIR_ORIGIN + offset);
    }

    // The same in a single table, `offset` bytes into shared memory. The product leaves the ALU
    // pipe to the permutation.
    DEVICE u32 in_single(u32 word, u32 i, u32 offset) const {
        return load_shared(__byte_perm(word, 0, 0x4440 | i) * 128 + single, offset);
    }
};
// ANCHOR_END: lane

// Bytes between the start of dynamic shared memory and the pairs.
DEVICE u32 pair_padding(const u8 *shared) {
    const u32 start = shared_address(shared);
    if (start > PAIR_ORIGIN) __trap();  // an architecture that keeps more for itself: no look-up is right
    return PAIR_ORIGIN - start;
}

// Calls `store(entry, value)` in all lanes of a warp for each of `entries`, `value` being
// `load(entry)`. A lane loads one of eight entries and passes it round, so that the latency of
// memory is paid once for eight; the warps of the thread block share the entries.
template <u32 entries, class Load, class Store>
DEVICE void every_entry(Load load, Store store) {
    constexpr u32 AT_ONCE = 8;
    const u32 lane = threadIdx.x % WARP;
    for (u32 first = threadIdx.x / WARP * AT_ONCE; first < entries;
         first += blockDim.x / WARP * AT_ONCE) {
        const u32 mine = load(first + lane % AT_ONCE);
        UNROLL for (u32 i = 0; i < AT_ONCE; i++) {
            store(first + i, __shfl_sync(0xffffffff, mine, i));
        }
    }
}

// Fills `tables` tables in pairs: table t of them has `expand(t, word)` for every entry, `word` being
// `load(entry)`, which is loaded once. The caller synchronises the thread block.
template <u32 tables, u32 entries = TABLE_ENTRIES, class Load, class Expand>
DEVICE void fill_pairs(u8 *pairs, Load load, Expand expand) {
    u32 *words = reinterpret_cast<u32 *>(pairs) + threadIdx.x % WARP;
    every_entry<entries>(load, [=](u32 entry, u32 value) {
        UNROLL for (u32 table = 0; table < tables; table++) {
            u32 *copies = words + table_offset<entries>(table) / 4;
            copies[entry * 2 * WARP] = expand(table, value);
        }
    });
}

// Fills a single table; the caller synchronises the thread block.
template <class Load>
DEVICE void fill_single(u8 *single, Load load) {
    u32 *words = reinterpret_cast<u32 *>(single) + threadIdx.x % WARP;
    every_entry<TABLE_ENTRIES>(load, [=](u32 entry, u32 value) { words[entry * WARP] = value; });
}
