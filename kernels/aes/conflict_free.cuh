// The kernels of AES by T-tables that are replicated over the banks of shared memory.
#pragma once
#include "../common/cached_ctr.cuh"
#include "../common/entry.cuh"
#include "conflict_free_tables.cuh"

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
