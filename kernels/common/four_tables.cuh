// Four tables of words that hold the outputs of four byte S-boxes, in several places: the part that
// the kernels of Camellia, ARIA and SEED share.
//
// `Boxes` says what the tables are. Its static functions
//
//   packed(x)            the outputs of the cipher's S-boxes for x, side by side in a word
//   expand<t>(packed)    the word of table t: outputs, copied to where the linear layer wants them
//
// Its name is the cipher's own: the host build links all kernels into one library, in which templates
// over types of the same name would be one.
//
// Every form below has `look_up<t>(word, byte)`: the word of table t for that byte of `word`.
#pragma once
#include "conflict_free.cuh"

constexpr u32 FOUR = 4;

// Table t at run time, for loops that are unrolled.
template <class Boxes>
DEVICE u32 expand(u32 t, u32 packed) {
    return t < 2 ? (t == 0 ? Boxes::template expand<0>(packed) : Boxes::template expand<1>(packed))
                 : (t == 2 ? Boxes::template expand<2>(packed) : Boxes::template expand<3>(packed));
}

// ANCHOR: merged
// The packed outputs alone, one table of 256 words: P2's merged table. A byte permutation after the
// look-up makes of its word what the four tables would have.
template <class Boxes>
struct Merged {
    static constexpr u32 SHARED_BYTES = TABLE_ENTRIES * 4;  // of a copy there

    const u32 *words;

    template <u32 t>
    DEVICE u32 look_up(u32 word, u32 byte) const {
        return Boxes::template expand<t>(words[byte_of(word, byte)]);
    }
};

// The same in every bank: 32 KiB.
template <class Boxes>
struct ConflictFreeMerged {
    static constexpr u32 SHARED_BYTES = table_bytes(1);

    Lane lane;

    DEVICE explicit ConflictFreeMerged(u8 *shared) : lane(shared) {
        fill_table(shared, [](u32 x) { return Boxes::packed(x); });
        __syncthreads();
    }

    template <u32 t>
    DEVICE u32 look_up(u32 word, u32 byte) const {
        return Boxes::template expand<t>(lane.look_up(word, byte, 0));
    }
};
// ANCHOR_END: merged

// Copies the merged table to shared memory, all threads taking part.
template <class Boxes>
DEVICE Merged<Boxes> merged_in_shared_memory(u8 *shared) {
    u32 *words = reinterpret_cast<u32 *>(shared);
    for (u32 x = threadIdx.x; x < TABLE_ENTRIES; x += blockDim.x) words[x] = Boxes::packed(x);
    __syncthreads();
    return {words};
}

// ANCHOR: four
// One copy of the four tables: 4 KiB.
template <class Boxes>
struct FourTables {
    static constexpr u32 SHARED_BYTES = FOUR * TABLE_ENTRIES * 4;

    const u32 *words;

    DEVICE explicit FourTables(u8 *shared) : words(reinterpret_cast<const u32 *>(shared)) {
        u32 *to = reinterpret_cast<u32 *>(shared);
        for (u32 i = threadIdx.x; i < FOUR * TABLE_ENTRIES; i += blockDim.x) {
            to[i] = expand<Boxes>(i / TABLE_ENTRIES, Boxes::packed(i % TABLE_ENTRIES));
        }
        __syncthreads();
    }

    template <u32 t>
    DEVICE u32 look_up(u32 word, u32 byte) const {
        return words[TABLE_ENTRIES * t + byte_of(word, byte)];
    }
};

// All four in every bank: 128 KiB, and nothing on the ALU pipe for a look-up's address.
template <class Boxes>
struct ConflictFreeFour {
    static constexpr u32 SHARED_BYTES = table_bytes(FOUR);

    Lane lane;

    DEVICE explicit ConflictFreeFour(u8 *shared) : lane(shared) {
        fill_tables<FOUR>(shared, [](u32 x) { return Boxes::packed(x); },
                          [](u32 t, u32 packed) { return expand<Boxes>(t, packed); });
        __syncthreads();
    }

    template <u32 t>
    DEVICE u32 look_up(u32 word, u32 byte) const {
        return lane.look_up(word, byte, table_bytes(t));
    }
};
// ANCHOR_END: four
