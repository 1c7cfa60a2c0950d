// Sessions of a batch: what is made of a key and an IV before the data is looked at, by any cipher.
#pragma once
#include "rows.cuh"
#include "session.cuh"

namespace {

// A key and what is done with it, read before any of what is made of it is written.
struct KeyOf {
    u32 words[8];  // in memory order; zeros where the key is shorter
    u32 bytes, mode;

    DEVICE explicit KeyOf(const BatchJob &job) : bytes(job.key_bytes), mode(job.mode) {
        const Block16 *key = reinterpret_cast<const Block16 *>(job.key);
        const Block16 low = key[0], high = bytes > 16 ? key[1] : Block16{};
        words[0] = low.x, words[1] = low.y, words[2] = low.z, words[3] = low.w;
        words[4] = high.x, words[5] = high.y, words[6] = high.z, words[7] = high.w;
    }
};

// The 128 bits of such words, rotated to the left by a constant.
DEVICE Block16 rotated_left(Block16 a, u32 by) {
    const u32 words[4] = {a.x, a.y, a.z, a.w};
    u32 result[4];
    UNROLL for (u32 i = 0; i < 4; i++) {
        const u32 high = words[(i + by / 32) % 4], low = words[(i + by / 32 + 1) % 4];
        result[i] = by % 32 == 0 ? high : high << by % 32 | low >> (32 - by % 32);
    }
    return make_uint4(result[0], result[1], result[2], result[3]);
}

// The blocks that GCM encrypts before it sees data: that of zeros, which gives the hash key, and J0, which
// gives what hides the hash.
struct TwoBlocks {
    Block16 blocks[2];
};

// For ciphers whose keys take long to expand, or that do not encrypt these while they make round keys:
// `expand_key(tables, key, session)` writes the session's rows, from which round keys are read back. They are made
// by the tables that encrypt.
template <class Cipher, class EncryptionTables, class DecryptionTables = EncryptionTables>
struct ExpandsFirst {
    typedef EncryptionTables Encryption;
    typedef EncryptionTables KeyTables;
    typedef DecryptionTables Decryption;
    static constexpr bool OPENS_SESSIONS = false;

    template <class Tables, class Keys>
    static DEVICE void stage(const Tables &, const BatchJob &, const Session &session, const Keys &keys,
                             u32 lane, u32 lanes) {
        keys.copy(session, lane, lanes);
    }

    template <class Tables, class Keys, class Use>
    static DEVICE void with_keys(const Tables &, const BatchJob &, const Session &session,
                                 const Keys &room, u32 lane, u32 lanes, Use use) {
        room.copy(session, lane, lanes);
        __syncwarp();
        use(room);
    }

    template <bool keeps, class Tables>
    static DEVICE void expand(const Tables &tables, const KeyOf &key, const Session &session,
                              TwoBlocks &two) {
        Cipher::expand_key(tables, key, session);
        if (is_gcm(key.mode)) {
            Cipher::run(tables, two.blocks, KeysInMemory<Cipher::KEY_ROWS>{session});
        }
    }
};

// J0 of an IV that has not 12 bytes, bit by bit: there are few of these.
DEVICE Block16 hash_of_iv(const BatchParameters &parameters, const BatchJob &job, Block16 h) {
    const u8 *iv = parameters.arena + job.aad + 16 * blocks_of(job.aad_bytes);
    Block16 sum = {};
    ROLLED for (u64 i = 0; i <= blocks_of(job.iv_bytes); i++) {
        const bool is_last = i == blocks_of(job.iv_bytes);
        const Block16 block = is_last ? lengths_block(0, 8 * u64(job.iv_bytes))
                                      : block_at(iv, job.iv_bytes, i);
        sum = product(sum ^ reversed(block), h);
    }
    return reversed(sum);
}

// ANCHOR: open_session
// What is made of a job before its data is looked at; `keeps` the round keys, or only what GCM needs.
template <class Cipher, bool keeps, class Tables>
DEVICE void open_session(const Tables &tables, const BatchParameters &parameters, u64 number) {
    static_assert(Cipher::KEY_ROWS <= MOST_KEY_ROWS, "the host has no room for so many");
    const BatchJob job = parameters.jobs[number];
    const Session session(parameters, number);
    if (!keeps && !is_gcm(job.mode)) return;
    const u32 passes = keeps && job.iv_bytes > 0 ? 2 : 1;
    Block16 first = job.iv;
    TwoBlocks two = {{{}, first}};
    ROLLED for (u32 pass = 0; pass < passes; pass++) {
        if (pass > 0) {
            first = hash_of_iv(parameters, job, reversed(two.blocks[0]));
            two = {{{}, first}};
        }
        Cipher::template expand<keeps>(tables, KeyOf(job), session, two);
    }
    if (is_gcm(job.mode)) {
        const Block16 h = reversed(two.blocks[0]);
        session.row(H_ROW) = h;
        session.row(MASK_ROW) = two.blocks[1];
        if (passes > 1) session.row(J0_ROW) = first;
        if (job.sequences != NO_SEQUENCES) write_sequences(sequences_of(parameters, job), h);
    }
}
// ANCHOR_END: open_session

// The sessions of all jobs, by the warps that encrypt: 32 jobs a warp, spread over all thread blocks.
template <class Cipher>
DEVICE void open_sessions(const typename Cipher::Encryption &tables, const BatchParameters &parameters) {
    const u64 number = u64(threadIdx.x / WARP) * gridDim.x + blockIdx.x;
    for (u64 i = number * WARP + threadIdx.x % WARP; i < parameters.session_count; i += grid_threads()) {
        open_session<Cipher, false>(tables, parameters, i);
    }
}

}  // namespace
