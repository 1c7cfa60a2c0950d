// Batches: many messages in one call, each with its own key, IV, mode and length. What all their kernels
// share: how a message is described, what is kept of it on the device, and who takes which.
//
// The host checks the descriptions, cuts messages into items and uploads both. A kernel makes the sessions, unless the
// one that encrypts does; items are encrypted, decrypted and hashed, each by a few lanes or a warp:
//
//   jobs        128 bytes each   what the host says: addresses, mode, key, IV
//   sessions    336 bytes each   what is made of it: round keys, H, the counter, what hides the hash
//   items        16 bytes each   a piece of a message
//   results      16 bytes each   the tag, or whether the given one was right
//   ends         16 bytes each   where a message is in host memory, if kernels move it
#pragma once
#include "../common/gcm.cuh"
#include "../common/parameters.cuh"

// ANCHOR: job
// A message as `crates/cuda/src/batch/words.rs` packs it. Data starts at multiples of 16 bytes.
struct BatchJob {
    u64 input, output;   // bytes from the start of the two slices
    u64 length;          // bytes
    u32 mode, key_bytes;
    u32 key[8];
    Block16 iv;          // a counter block, J0 of GCM, or CBC's IV
    u64 aad, aad_bytes;  // associated data, in the arena
    Block16 tag;         // the given one, in decryption
    u32 tag_bytes;
    u32 iv_bytes;        // of an IV of GCM that is to be hashed, which lies in the arena behind the
                         // associated data, at a multiple of 16; else zero
    u32 sequences;       // number of those of H (rows.cuh), or NO_SEQUENCES
    u32 padding;
};
// ANCHOR_END: job

// A piece of a message: blocks from number `first` on.
struct BatchItem {
    u32 job, blocks;
    u32 first;
    u32 place;  // of what is left of it, among the sums or the saved blocks, or WHOLE
};

// Where a message comes from and goes to in host memory that kernels reach: any bytes.
struct BatchEnds {
    const u8 *input;
    u8 *output;
};

// Numbers of the modes: `code` of crates/cuda/src/batch/words.rs.
constexpr u32 MODE_ECB_ENCRYPT = 0, MODE_ECB_DECRYPT = 1, MODE_CTR = 2, MODE_CTR32 = 3,
              MODE_CBC_ENCRYPT = 4, MODE_CBC_DECRYPT = 5, MODE_GCM_ENCRYPT = 6,
              MODE_GCM_DECRYPT = 7;

// What `crates/cuda/src/batch/memory.rs` packs, field by field: addresses and numbers. A kernel reads what it
// names. (It has an external name, without any of which the compiler puts a number of its own into the
// PTX at every run.)
struct BatchParameters {
    const u8 *input;
    u8 *output;
    const BatchJob *jobs;
    Block16 *sessions;
    u64 session_count;
    Block16 *results;
    const BatchItem *items;
    u64 count;
    const u8 *arena;
    u32 *sequences;
    Block16 *sums;            // of hashed pieces, or saved blocks
    u64 piece;                // blocks of every hashed piece of a message but the first
    u64 flags;
    const BatchEnds *ends;    // of every job, where messages are in host memory
};

namespace {

// The place of a message that one thread hashes to the end.
constexpr u32 WHOLE = 0xffffffff;

// Of a message that is not hashed by matrices.
constexpr u32 NO_SEQUENCES = 0xffffffff;

// ANCHOR: session
// What is made of a job: rows of blocks, one of each row for every job, so that neighbours among the jobs
// are neighbours in memory. The round keys come first, as the cipher has them; ARIA-256 has most of them,
// 17, and a row that says how many.
constexpr u32 MOST_KEY_ROWS = 18, H_ROW = 18, MASK_ROW = 19, J0_ROW = 20;

struct Session {
    Block16 *first;
    u64 count;  // of sessions

    DEVICE Session(const BatchParameters &parameters, u64 job)
        : first(parameters.sessions + job), count(parameters.session_count) {}

    DEVICE Block16 &row(u32 i) const { return first[i * count]; }
    DEVICE Block16 h() const { return row(H_ROW); }          // of GCM, as an element
    DEVICE Block16 mask() const { return row(MASK_ROW); }    // J0, encrypted
    DEVICE Block16 j0() const { return row(J0_ROW); }        // of an IV that is hashed
};
// ANCHOR_END: session

// Flag: sums of pieces are still to be multiplied by H.
constexpr u64 WITHOUT_H = 1;
// Flag: the kernel that encrypts makes the sessions, which nobody has read before.
constexpr u64 OPENS_SESSIONS = 2;

// What a result says of a tag that was found right.
constexpr u32 RIGHT = 1;

DEVICE bool is_gcm(u32 mode) { return mode >= MODE_GCM_ENCRYPT; }

// Whether blocks are decrypted under the key, not encrypted.
DEVICE bool is_decrypted(u32 mode) { return mode == MODE_ECB_DECRYPT || mode == MODE_CBC_DECRYPT; }

// The ciphertext of a message of GCM.
DEVICE const u8 *ciphertext(const BatchParameters &parameters, const BatchJob &job) {
    return job.mode == MODE_GCM_ENCRYPT ? parameters.output + job.output
                                        : parameters.input + job.input;
}

// Blocks of a message, the last one perhaps not whole.
DEVICE u64 blocks_of(u64 bytes) { return (bytes + 15) / 16; }

// Bytes of a counter block as a number, and the counter `add` blocks further on: of the whole block, or
// of its last 32 bits.
DEVICE Counter counter_of(Block16 block) {
    return {u64(byte_swap(block.x)) << 32 | byte_swap(block.y),
            u64(byte_swap(block.z)) << 32 | byte_swap(block.w)};
}
DEVICE Counter further(Counter counter, u32 mode, u64 add) {
    if (mode == MODE_CTR) return counter.plus(add);
    return {counter.high, counter.low >> 32 << 32 | u32(counter.low + add)};
}

// The first counter of the row that a counter is of, all of which differ in the last byte alone: a block.
DEVICE Block16 row_of(Counter counter) {
    return Counter{counter.high, counter.low & ~u64(0xff)}.block();
}

// ANCHOR: conclude
// Ends a hash: leaves the tag, or compares it with the given one, all bytes of it whatever they are.
DEVICE void conclude(const BatchParameters &parameters, u32 number, u32 mode, Block16 hash) {
    const Block16 tag = hash ^ Session(parameters, number).mask();
    if (mode == MODE_GCM_ENCRYPT) {
        parameters.results[number] = tag;
        return;
    }
    const BatchJob &job = parameters.jobs[number];
    const Block16 difference = tag ^ job.tag;
    u32 any = 0;
    UNROLL for (u32 i = 0; i < 16; i++) {
        any |= i < job.tag_bytes ? word_of(difference, i / 4) >> 8 * (i % 4) & 0xff : 0;
    }
    parameters.results[number] = make_uint4(any == 0 ? RIGHT : 0, 0, 0, 0);
}
// ANCHOR_END: conclude

}  // namespace
