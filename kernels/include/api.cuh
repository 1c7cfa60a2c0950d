// AES and GF(2^128) inside your own CUDA kernels: by look-ups, under a fixed key, under a key of each block's
// own, and bit-sliced. No dependencies; C++17 by nvcc or NVRTC, compute capability 7.5 and newer.
//
//     #include <lanecrypt.cuh>
//
//     __constant__ const lanecrypt::AesKeys KEYS = lanecrypt::aes_round_keys({0x2b, 0x7e, ...});  // 16, 24, 32 bytes
//
//     extern "C" __global__ void __launch_bounds__(1024) hash(uint4 *blocks, unsigned count) {
//         extern __shared__ __align__(16) unsigned char shared[];  // AesTables<>::SHARED_BYTES
//         const lanecrypt::AesTables<> tables(shared);             // all threads of the thread block
//         for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
//             blocks[i] = lanecrypt::aes_mmo(tables, KEYS, blocks[i]);
//         }
//     }
//
// A block is a `uint4`: 16 bytes as they lie in memory. Thread blocks have one dimension, and whole warps. Tables
// of more than 48 KiB are asked for by cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, ...).
//
//     function             a thread takes      shared memory     constant-time
//     aes_encrypt, _mmo    any blocks          a table's copies  no: addresses depend on keys and data
//     aes_encrypt_under    a key, any blocks   the same          no
//     aes_encrypt_sliced   eight blocks        none              yes
//     ghash_multiply       two elements        none              yes
//
// "No" means that what runs on the same multiprocessor may learn keys from how long look-ups take; the tables have a
// copy in every bank, so that no two lanes of a warp wait for each other. Tables are public. Keys that a kernel keeps in
// shared or local memory, those of `aes_expand` among them, are the kernel's to clear.
#pragma once
#include "../aes/conflict_free_tables.cuh"
#include "../aes/eight_blocks.cuh"
#include "../aes/schedule.cuh"
#include "../common/gcm.cuh"

// BEGIN: what is for callers

// Tables in shared memory for encryption. `tables` of 4 take 128 KiB, 2 take 64 and 1 takes 32 KiB, a byte permutation
// making up for each that is missing. The constructor is called by all threads of the thread block, with
// `SHARED_BYTES` bytes of dynamic shared memory that are aligned to 16, and has a barrier at its end.
template <u32 tables = 4>
using AesTables = ConflictFree<tables, true>;

// The same for decryption: 160, 96 and 64 KiB.
template <u32 tables = 4>
using AesInverseTables = ConflictFree<tables, false>;

// Round keys (FIPS 197, 5.2), for `__constant__` memory and kernel parameters: the compiler computes them, or the
// host does. Within a kernel, `aes_expand` makes them by look-ups.
template <u32 bytes>
CONSTEXPR AesKeys aes_round_keys(const u8 (&key)[bytes]) {
    static_assert(bytes == 16 || bytes == 24 || bytes == 32, "a key of AES has 16, 24 or 32 bytes");
    constexpr u32 size = bytes / 4, rounds = size + 6;
    const Bytes256 sbox = make_sbox();
    u32 words[4 * (rounds + 1)] = {}, constant = 1;
    for (u32 i = 0; i < bytes; i++) words[i / 4] |= u32(key[i]) << 8 * (i % 4);
    for (u32 i = size; i < 4 * (rounds + 1); i++) {
        u32 word = words[i - 1];
        const bool is_step = i % size == 0;
        if (is_step) word = word >> 8 | word << 24;
        if (is_step || (size == 8 && i % 8 == 4)) {
            u32 substituted = 0;
            for (u32 j = 0; j < 4; j++) substituted |= u32(sbox.entries[word >> 8 * j & 0xff]) << 8 * j;
            word = substituted;
        }
        if (is_step) {
            word ^= constant;
            constant = times_x(constant);
        }
        words[i] = words[i - size] ^ word;
    }
    AesKeys keys = {};
    keys.rounds = rounds;
    for (u32 i = 0; i <= rounds; i++) {
        Block16 &to = i == 0 ? keys.first : i < rounds ? keys.middle[i - 1] : keys.last;
        to = Block16{words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]};
    }
    return keys;
}

// InvMixColumns of a column.
CONSTEXPR u32 aes_unmix(u32 column) {
    u32 result = 0;
    for (u32 row = 0; row < 4; row++) {
        for (u32 from = 0; from < 4; from++) {
            const u32 factor = DECRYPT_COLUMN >> 8 * ((row - from) % 4) & 0xff;
            result ^= multiply(column >> 8 * from & 0xff, factor) << 8 * row;
        }
    }
    return result;
}

// The round keys for decryption, those of the equivalent inverse cipher (FIPS 197, 5.3.5), of those for encryption.
CONSTEXPR AesKeys aes_inverse_round_keys(const AesKeys &keys) {
    AesKeys inverse = {};
    inverse.first = keys.last, inverse.last = keys.first, inverse.rounds = keys.rounds;
    for (u32 i = 0; i + 1 < keys.rounds; i++) {
        const Block16 &key = keys.middle[keys.rounds - 2 - i];
        inverse.middle[i] = Block16{aes_unmix(key.x), aes_unmix(key.y), aes_unmix(key.z), aes_unmix(key.w)};
    }
    return inverse;
}

// Encrypts a block, or several side by side, which hides more of the latency.
template <u32 tables>
DEVICE Block16 aes_encrypt(const AesTables<tables> &look_ups, const AesKeys &keys, Block16 block) {
    return cipher(look_ups, block, keys);
}
template <u32 tables, u32 count>
DEVICE void aes_encrypt(const AesTables<tables> &look_ups, const AesKeys &keys, Block16 (&blocks)[count]) {
    UNROLL for (u32 i = 0; i < count; i++) blocks[i] = blocks[i] ^ keys.first;
    remaining_rounds<0>(look_ups, blocks, keys);
}

// Decrypts a block; `keys` are those of `aes_inverse_round_keys`.
template <u32 tables>
DEVICE Block16 aes_decrypt(const AesInverseTables<tables> &look_ups, const AesKeys &keys, Block16 block) {
    return cipher(look_ups, block, keys);
}

// E(x) + x under a fixed key: the hash of Matyas, Meyer and Oseas, as trees of distributed point functions and oblivious
// transfer have it.
template <u32 tables>
DEVICE Block16 aes_mmo(const AesTables<tables> &look_ups, const AesKeys &keys, Block16 block) {
    return aes_encrypt(look_ups, keys, block) ^ block;
}

// E(E(x) + tweak) + E(x): the tweakable hash that garbling has (Guo, Katz, Wang, Yu, 2020, 7.4).
template <u32 tables>
DEVICE Block16 aes_tweaked_mmo(const AesTables<tables> &look_ups, const AesKeys &keys, Block16 block, Block16 tweak) {
    const Block16 inner = aes_encrypt(look_ups, keys, block);
    return aes_encrypt(look_ups, keys, inner ^ tweak) ^ inner;
}

// The round keys of a key of `bytes` bytes, four to a word as they lie in memory, which a thread makes: for a
// key that it uses for many blocks. They are indexed, so that they lie in local memory.
template <u32 bytes, u32 tables>
DEVICE AesKeys aes_expand(const AesTables<tables> &look_ups, const u32 *key) {
    AesKeys keys = {};
    constexpr u32 rounds = bytes / 4 + 6;
    keys.rounds = rounds;
    every_round_key<bytes / 4>(look_ups, key, [&](u32 i, Block16 round_key) {
        if (i == 0) keys.first = round_key;
        else if (i < rounds) keys.middle[i - 1] = round_key;
        else keys.last = round_key;
    });
    return keys;
}

// Encrypts blocks under a key of their own: round keys are made while they are used, and kept nowhere.
template <u32 bytes, u32 tables, u32 count>
DEVICE void aes_encrypt_under(const AesTables<tables> &look_ups, const u32 *key, Block16 (&blocks)[count]) {
    constexpr u32 all = bytes / 4 + 7;
    every_round_key<bytes / 4, all>(look_ups, key, [&](u32 i, Block16 round_key) {
        add_round(look_ups, blocks, i, bytes / 4 + 6, round_key);
    });
}

// Round keys for the bit-sliced functions: those between the first and the last also by bits.
typedef MixedKeys AesSlicedKeys;

CONSTEXPR AesSlicedKeys aes_sliced_keys(const AesKeys &keys) {
    AesSlicedKeys sliced = {};
    sliced.aes = keys;
    for (u32 i = 0; i + 1 < keys.rounds; i++) {
        const Block16 &key = keys.middle[i];
        for (u32 plane = 0; plane < 32; plane++) {
            const u32 columns[4] = {key.x, key.y, key.z, key.w};
            for (u32 c = 0; c < 4; c++) {
                sliced.planes[i][plane] |= (columns[c] >> plane & 1) * 0xffu << 8 * c;
            }
        }
    }
    return sliced;
}

template <bool encrypts>
DEVICE void aes_sliced(const AesSlicedKeys &keys, Block16 (&blocks)[THREAD_BLOCKS]) {
    BlockRows rows;
    UNROLL for (u32 k = 0; k < THREAD_BLOCKS; k++) rows.set(k, blocks[k] ^ keys.aes.first);
    sliced_cipher<encrypts>(keys, rows);
    UNROLL for (u32 k = 0; k < THREAD_BLOCKS; k++) blocks[k] = rows.get(k) ^ keys.aes.last;
}

// Encrypts eight blocks of a thread by Boolean functions: no address and no branch depends on keys or data.
DEVICE void aes_encrypt_sliced(const AesSlicedKeys &keys, Block16 (&blocks)[8]) {
    aes_sliced<true>(keys, blocks);
}

// Decrypts eight; the keys are made of those of `aes_inverse_round_keys`.
DEVICE void aes_decrypt_sliced(const AesSlicedKeys &keys, Block16 (&blocks)[8]) {
    aes_sliced<false>(keys, blocks);
}

// The product of two blocks in GF(2^128) as GCM has it (SP 800-38D, 6.3), by products of integers.
DEVICE Block16 ghash_multiply(Block16 left, Block16 right) {
    return reversed(product(reversed(left), reversed(right)));
}
