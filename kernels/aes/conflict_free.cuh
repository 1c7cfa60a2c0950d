// AES by T-tables that are replicated over the banks of shared memory: 1, 2 or 4 tables, as many
// as fit; the others are rotations of those.
#pragma once
#include "../common/cached_ctr.cuh"
#include "../common/conflict_free.cuh"
#include "../common/entry.cuh"
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

template <class Tables>
DEVICE void conflict_free_ecb(const Parameters<AesKeys> &parameters, u8 *shared) {
    const Tables tables(shared);
    ecb_blocks(parameters, [&](Block16 block) { return cipher(tables, block, parameters.keys); });
}

// The part of the first two rounds that 65,536 consecutive counters share, for one thread.
//
// A chunk's counters differ in bytes 14 and 15 only. A thread keeps its byte 15 through a chunk, so
// that from step to step just byte 14 changes: row 2 of column 3. ShiftRows brings it to column 1,
// and after round 1 only that column differs; round 2 reads one byte of it for each column. That
// leaves 1 and 4 look-ups of the first two rounds' 32.
template <class Tables>
struct CachedRounds {
    u32 column3;   // of the counter block plus the first round key, byte 14 still to be added
    u32 round1;    // column 1 after round 1, less what byte 14 adds
    Block16 round2;  // after round 2, less what column 1 of round 1 adds

    DEVICE CachedRounds(const Tables &tables, Counter counter, const AesKeys &keys) {
        const Block16 s = counter.block() ^ keys.first;
        const Block16 k1 = keys.middle[0], k2 = keys.middle[1];
        column3 = s.w;
        round1 = xor3(tables.template look_up<0>(s.y), tables.template look_up<1>(s.z),
                      tables.template look_up<3>(s.x)) ^ k1.y;
        const u32 a = round_column(tables, s.x, s.y, s.z, s.w, k1.x);
        const u32 c = round_column(tables, s.z, s.w, s.x, s.y, k1.z);
        const u32 d = round_column(tables, s.w, s.x, s.y, s.z, k1.w);
        // Column j takes row r of column j + r; the row that column 1 has is left out.
        round2.x = xor3(tables.template look_up<0>(a), tables.template look_up<2>(c),
                        tables.template look_up<3>(d)) ^ k2.x;
        round2.y = xor3(tables.template look_up<1>(c), tables.template look_up<2>(d),
                        tables.template look_up<3>(a)) ^ k2.y;
        round2.z = xor3(tables.template look_up<0>(c), tables.template look_up<1>(d),
                        tables.template look_up<2>(a)) ^ k2.z;
        round2.w = xor3(tables.template look_up<0>(d), tables.template look_up<1>(a),
                        tables.template look_up<3>(c)) ^ k2.w;
    }

    // ANCHOR: after_round2
    // The state after round 2 of the counter whose byte 14 is `byte14`.
    DEVICE Block16 after_round2(const Tables &tables, u32 byte14) const {
        const u32 b = round1 ^ tables.template look_up<2>(column3 ^ byte14 << 16);
        return make_uint4(round2.x ^ tables.template look_up<1>(b),
                          round2.y ^ tables.template look_up<0>(b),
                          round2.z ^ tables.template look_up<3>(b),
                          round2.w ^ tables.template look_up<2>(b));
    }
    // ANCHOR_END: after_round2

    // The whole cipher on that counter.
    DEVICE Block16 operator()(const Tables &tables, u32 byte14, const AesKeys &keys) const {
        return remaining_rounds<2>(tables, after_round2(tables, byte14), keys);
    }
};

template <u32 tables, bool encrypts>
constexpr Launch CONFLICT_FREE_ECB = {
    1024, ConflictFree<tables, encrypts>::SHARED_BYTES, BLOCK_A_THREAD};
template <u32 tables>
constexpr Launch CONFLICT_FREE_CTR = {
    CTR_THREADS, ConflictFree<tables, true>::SHARED_BYTES, CACHED_CTR};

// The entry points for `tables` tables.
#define AES_CONFLICT_FREE(tables)                                                            \
    KERNEL(aes_conflict_free_##tables##_ecb_encrypt, (CONFLICT_FREE_ECB<tables, true>),      \
           Parameters<AesKeys>) {                                                            \
        SHARED_TABLES(shared);                                                               \
        conflict_free_ecb<ConflictFree<tables, true>>(parameters, shared);                   \
    }                                                                                        \
    KERNEL(aes_conflict_free_##tables##_ecb_decrypt, (CONFLICT_FREE_ECB<tables, false>),     \
           Parameters<AesKeys>) {                                                            \
        SHARED_TABLES(shared);                                                               \
        conflict_free_ecb<ConflictFree<tables, false>>(parameters, shared);                  \
    }                                                                                        \
    KERNEL(aes_conflict_free_##tables##_ctr, CONFLICT_FREE_CTR<tables>,                      \
           Parameters<AesKeys>) {                                                            \
        SHARED_TABLES(shared);                                                               \
        const ConflictFree<tables, true> look_ups(shared);                                   \
        cached_ctr<CachedRounds<ConflictFree<tables, true>>>(parameters, look_ups);          \
    }                                                                                        \
    TABLE_KERNEL(aes_conflict_free_##tables##_cbc_decrypt,                                   \
                 (in_ranges(CONFLICT_FREE_ECB<tables, false>)), Parameters<AesKeys>,         \
                 cbc_decrypt, (ConflictFree<tables, false>))                                 \
    TABLE_KERNEL(aes_conflict_free_##tables##_cfb_decrypt,                                   \
                 (in_ranges(CONFLICT_FREE_ECB<tables, true>)), Parameters<AesKeys>,          \
                 cfb_decrypt, (ConflictFree<tables, true>))                               \
    TABLE_KERNEL(aes_conflict_free_##tables##_xts_encrypt,                                   \
                 (in_ranges(CONFLICT_FREE_ECB<tables, true>)), Parameters<AesKeys>,          \
                 xts, (ConflictFree<tables, true>))                                          \
    TABLE_KERNEL(aes_conflict_free_##tables##_xts_decrypt,                                   \
                 (in_ranges(CONFLICT_FREE_ECB<tables, false>)), Parameters<AesKeys>,         \
                 xts, (ConflictFree<tables, false>))
