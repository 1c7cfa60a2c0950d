// Look-up tables replicated over the 32 banks of shared memory, so that no two lanes of a warp
// ever meet in a bank, whatever they look up.
#pragma once
#include "word.cuh"

constexpr u32 TABLE_ENTRIES = 256;  // of a table that a byte is looked up in

// Bytes of `tables` tables of `entries` words, and so from the first of them to table `tables`.
template <u32 entries = TABLE_ENTRIES>
DEVICE constexpr u32 table_bytes(u32 tables) {
    return tables * (entries * WARP * 4);
}

// ANCHOR: lane
// Lane l reads copy l of every entry, and copy l of everything lies in bank l:
//
//   byte offset in a table    14 .. 7      6 .. 2     1 0
//                             entry e      lane l     0 0     32 KiB for one of 256 words
//
// The sum of the products of a word's bytes with (0, 128, 0, 0), say, and of where the lane's copy
// starts, is the address of a look-up of byte 1. That is one instruction, on the multiplier's pipe,
// which has nothing else to do here. Which table it is, is the immediate offset of the load.
struct Lane {
    u32 copy;  // address of this lane's copy in shared memory

    DEVICE explicit Lane(const u8 *shared)
        : copy(shared_address(shared) + threadIdx.x % WARP * 4) {}

    // Looks up byte `i` of `word` in the table `offset` bytes into shared memory.
    DEVICE u32 look_up(u32 word, u32 i, u32 offset) const {
        return load_shared(dot_bytes(word, WARP * 4 << 8 * i, copy), offset);
    }
};
// ANCHOR_END: lane

// Calls `store(entry, value)` in all lanes of a warp for each of `entries`, `value` being
// `load(entry)`. All lanes load the same, eight entries before the first is stored, so that the latency of
// memory is paid once for eight; the warps of the thread block share the entries.
template <u32 entries, class Load, class Store>
DEVICE void every_entry(Load load, Store store) {
    constexpr u32 AT_ONCE = 8;
    for (u32 first = threadIdx.x / WARP * AT_ONCE; first < entries;
         first += blockDim.x / WARP * AT_ONCE) {
        u32 values[AT_ONCE];
        UNROLL for (u32 i = 0; i < AT_ONCE; i++) values[i] = load(first + i);
        UNROLL for (u32 i = 0; i < AT_ONCE; i++) store(first + i, values[i]);
    }
}

// Fills `tables` tables, one behind the other: table t has `expand(t, word)` for every entry, `word`
// being `load(entry)`, which is loaded once. The caller synchronises the thread block.
template <u32 tables, u32 entries = TABLE_ENTRIES, class Load, class Expand>
DEVICE void fill_tables(u8 *shared, Load load, Expand expand) {
    u32 *words = reinterpret_cast<u32 *>(shared) + threadIdx.x % WARP;
    every_entry<entries>(load, [=](u32 entry, u32 value) {
        UNROLL for (u32 table = 0; table < tables; table++) {
            words[(table * entries + entry) * WARP] = expand(table, value);
        }
    });
}

// Fills one table; the caller synchronises the thread block.
template <u32 entries = TABLE_ENTRIES, class Load>
DEVICE void fill_table(u8 *shared, Load load) {
    fill_tables<1, entries>(shared, load, [](u32, u32 word) { return word; });
}
