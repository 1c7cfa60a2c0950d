// AES by T-tables as P1 has it: one thread a block, the tables in global memory, or one copy of
// them in shared memory, where lanes that look up different words of a bank wait for each other.
#include "../common/entry.cuh"
#include "aes.cuh"

namespace {

constexpr u32 ROUND_WORDS = 4 * 256;
constexpr Launch GLOBAL = {256, 0, BLOCK_A_THREAD};
constexpr Launch SHARED = {1024, ROUND_WORDS * 4 + 256, BLOCK_A_THREAD};

// ANCHOR: one_copy
// Reads `round[r][x]` and `last[x]` wherever they lie.
template <bool encrypts>
struct OneCopy {
    static constexpr bool ENCRYPTS = encrypts;
    const u32 *round;  // four tables of 256 words
    const u8 *last;

    template <u32 row>
    DEVICE u32 look_up(u32 word) const {
        return round[256 * row + byte_of(word, row)];
    }

    DEVICE u32 substitute(u32 a, u32 b, u32 c, u32 d) const {
        return last[byte_of(a, 0)] | last[byte_of(b, 1)] << 8 | last[byte_of(c, 2)] << 16 |
               u32(last[byte_of(d, 3)]) << 24;
    }
};
// ANCHOR_END: one_copy

CONSTEXPR Words256 rotated(Words256 table, u32 bits) {
    for (u32 i = 0; i < 256 && bits > 0; i++) {
        const u32 word = table.entries[i];
        table.entries[i] = word << bits | word >> (32 - bits);
    }
    return table;
}

struct FourTables {
    Words256 rows[4];
};

CONSTEXPR FourTables four_tables(const Words256 &table) {
    return {{table, rotated(table, 8), rotated(table, 16), rotated(table, 24)}};
}

DEVICE_TABLE FourTables ENCRYPT_TABLES =
    four_tables(make_round_table(make_sbox(), ENCRYPT_COLUMN));
DEVICE_TABLE FourTables DECRYPT_TABLES =
    four_tables(make_round_table(invert(make_sbox()), DECRYPT_COLUMN));

template <bool encrypts>
DEVICE OneCopy<encrypts> in_global_memory() {
    return {encrypts ? ENCRYPT_TABLES.rows[0].entries : DECRYPT_TABLES.rows[0].entries,
            encrypts ? SBOX.entries : INV_SBOX.entries};
}

// ANCHOR: in_shared_memory
// Every thread copies its share, as in P1's template; 4 KiB of words, then 256 bytes.
template <bool encrypts>
DEVICE OneCopy<encrypts> in_shared_memory(u8 *shared) {
    const OneCopy<encrypts> global = in_global_memory<encrypts>();
    u32 *round = reinterpret_cast<u32 *>(shared);
    u8 *last = shared + ROUND_WORDS * 4;
    for (u32 i = threadIdx.x; i < ROUND_WORDS; i += blockDim.x) round[i] = global.round[i];
    for (u32 i = threadIdx.x; i < 256; i += blockDim.x) last[i] = global.last[i];
    __syncthreads();
    return {round, last};
}
// ANCHOR_END: in_shared_memory

// ANCHOR: ecb
template <class Tables>
DEVICE void ecb(const Parameters<AesKeys> &parameters, const Tables &tables) {
    ecb_blocks(parameters, [&](Block16 block) { return cipher(tables, block, parameters.keys); });
}
// ANCHOR_END: ecb

template <class Tables>
DEVICE void ctr(const Parameters<AesKeys> &parameters, const Tables &tables) {
    ctr_blocks(parameters, [&](Block16 block) { return cipher(tables, block, parameters.keys); });
}

}  // namespace

KERNEL(aes_table_global_ecb_encrypt, GLOBAL, Parameters<AesKeys>) {
    ecb(parameters, in_global_memory<true>());
}
KERNEL(aes_table_global_ecb_decrypt, GLOBAL, Parameters<AesKeys>) {
    ecb(parameters, in_global_memory<false>());
}
KERNEL(aes_table_global_ctr, GLOBAL, Parameters<AesKeys>) {
    ctr(parameters, in_global_memory<true>());
}
KERNEL(aes_table_global_cbc_decrypt, in_ranges(GLOBAL), Parameters<AesKeys>) {
    cbc_decrypt(parameters, in_global_memory<false>());
}
KERNEL(aes_table_global_cfb_decrypt, in_ranges(GLOBAL), Parameters<AesKeys>) {
    cfb_decrypt(parameters, in_global_memory<true>());
}
KERNEL(aes_table_global_xts_encrypt, in_ranges(GLOBAL), Parameters<AesKeys>) {
    xts(parameters, in_global_memory<true>());
}
KERNEL(aes_table_global_xts_decrypt, in_ranges(GLOBAL), Parameters<AesKeys>) {
    xts(parameters, in_global_memory<false>());
}
// ANCHOR: shared_kernel
TABLE_KERNEL(aes_table_shared_ecb_encrypt, SHARED, Parameters<AesKeys>, ecb, in_shared_memory<true>)
// ANCHOR_END: shared_kernel
TABLE_KERNEL(aes_table_shared_ecb_decrypt, SHARED, Parameters<AesKeys>,
             ecb, in_shared_memory<false>)
TABLE_KERNEL(aes_table_shared_ctr, SHARED, Parameters<AesKeys>, ctr, in_shared_memory<true>)
TABLE_KERNEL(aes_table_shared_cbc_decrypt, in_ranges(SHARED), Parameters<AesKeys>,
             cbc_decrypt, in_shared_memory<false>)
TABLE_KERNEL(aes_table_shared_cfb_decrypt, in_ranges(SHARED), Parameters<AesKeys>,
             cfb_decrypt, in_shared_memory<true>)
TABLE_KERNEL(aes_table_shared_xts_encrypt, in_ranges(SHARED), Parameters<AesKeys>,
             xts, in_shared_memory<true>)
TABLE_KERNEL(aes_table_shared_xts_decrypt, in_ranges(SHARED), Parameters<AesKeys>,
             xts, in_shared_memory<false>)
