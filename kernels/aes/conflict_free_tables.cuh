// AES's T-tables replicated over the banks of shared memory: 1, 2 or 4 tables, as many as fit; the others
// are rotations of those.
#pragma once
#include "../common/conflict_free.cuh"
#include "aes.cuh"

// The T-tables of one direction in shared memory, for one lane:
//
//   tables              encryption     decryption
//   4   T0 .. T3        128 KiB        and S: 160 KiB
//   2   T0, T1           64 KiB        and S:  96 KiB
//   1   T0               32 KiB        and S:  64 KiB
//
// T1 = T0 <<< 8, T2 = T0 <<< 16, T3 = T0 <<< 24. In encryption the last round finds S(x) itself in
// a byte of T0(x), since the MixColumns matrix has ones; the inverse matrix has none, so
// decryption keeps the inverse S-box, four times in a word, as a table of its own.
template <u32 tables, bool encrypts>
struct ConflictFree {
    static constexpr bool ENCRYPTS = encrypts;
    static constexpr u32 ROUND_BYTES = table_bytes(tables);
    static constexpr u32 SHARED_BYTES = ROUND_BYTES + (encrypts ? 0 : table_bytes(1));

    Lane lane;

    // Fills the tables; all threads of the thread block take part.
    DEVICE explicit ConflictFree(u8 *shared) : lane(shared) {
        const u32 *table = encrypts ? ENCRYPT_TABLE.entries : DECRYPT_TABLE.entries;
        fill_tables<tables>(shared, [=](u32 i) { return table[i]; }, [](u32 t, u32 word) {
            return t == 0 ? word : rotate_left(word, 8 * t);
        });
        if (!encrypts) {
            fill_table(shared + ROUND_BYTES,
                       [](u32 i) { return INV_SBOX.entries[i] * 0x01010101u; });
        }
        __syncthreads();
    }

    // ANCHOR: look_up
    // Byte `byte` of `word` looked up in T_table, for the tables that are kept.
    template <u32 table>
    DEVICE u32 entry(u32 word, u32 byte) const {
        return lane.look_up(word, byte, table_bytes(table));
    }

    // T_row of byte `row`, by rotation where that table is not kept.
    template <u32 row>
    DEVICE u32 look_up(u32 word) const {
        const u32 value = entry<row % tables>(word, row);
        constexpr u32 by = 8 * (row - row % tables);
        return by == 0 ? value : rotate_left(value, by);
    }
    // ANCHOR_END: look_up

    // The S-box on the bytes that the last round brings together in a column.
    DEVICE u32 substitute(u32 a, u32 b, u32 c, u32 d) const {
        if (encrypts) return substitute_from_tables(a, b, c, d);
        return pick(inverse(a, 0), inverse(b, 1), inverse(c, 2), inverse(d, 3));
    }

   private:
    DEVICE u32 inverse(u32 word, u32 byte) const {
        return lane.look_up(word, byte, ROUND_BYTES);
    }

    // Byte 0 of a, byte 1 of b, byte 2 of c, byte 3 of d.
    static DEVICE u32 pick(u32 a, u32 b, u32 c, u32 d) {
        return __byte_perm(__byte_perm(a, b, 0x0050), __byte_perm(c, d, 0x7200), 0x7610);
    }

    // T0 has S(x) in bytes 1 and 2, and so T1 in bytes 2 and 3.
    DEVICE u32 substitute_from_tables(u32 a, u32 b, u32 c, u32 d) const {
        constexpr u32 second = tables == 1 ? 0 : 1;
        const u32 low = __byte_perm(entry<0>(a, 0), entry<0>(b, 1), 0x0051);
        const u32 high = __byte_perm(entry<0>(c, 2), entry<second>(d, 3), second ? 0x7200 : 0x6200);
        return __byte_perm(low, high, 0x7610);
    }
};
