// Round keys of sessions in shared memory, and the data of a message: what a cipher's kernels of batches
// are made of, whatever the cipher.
#pragma once
#include "batch.cuh"

namespace {

// ANCHOR: staged
// The first `rows` rows of a session in shared memory, `stride` blocks apart: its round keys. A few lanes
// or a warp share those of a session, which lie together: reading one is reading the same 16 bytes. Where
// every lane has a session of its own, number i of all lanes lie beside each other.
template <u32 rows, u32 stride>
struct StagedKeys {
    Block16 *blocks;

    // Copies a session's, of which this lane takes every `lanes`-th from `lane` on.
    DEVICE void copy(const Session &session, u32 lane, u32 lanes) const {
        for (u32 i = lane; i < rows; i += lanes) blocks[i * stride] = session.row(i);
    }

    DEVICE void set(u32 i, Block16 key) const { blocks[i * stride] = key; }
    DEVICE Block16 key(u32 i) const { return blocks[i * stride]; }
    // The number that the last row begins with, where the cipher keeps one there.
    DEVICE u32 count() const { return blocks[(rows - 1) * stride].x; }
};
// ANCHOR_END: staged

// The same, read from where they lie in the session.
template <u32 rows>
struct KeysInMemory {
    Session session;

    DEVICE Block16 key(u32 i) const { return session.row(i); }
    DEVICE u32 count() const { return session.row(rows - 1).x; }
};

// Input and output of a message from a block on.
struct Text {
    const u8 *input;
    u8 *output;
    u32 whole, rest;  // blocks, and bytes after them

    DEVICE Text(const BatchParameters &parameters, const BatchJob &job, u32 first)
        : input(parameters.input + job.input + u64(first) * 16),
          output(parameters.output + job.output + u64(first) * 16),
          whole(u32(job.length / 16) - first), rest(u32(job.length % 16)) {}

    DEVICE Block16 load(u32 i) const {
        const u8 *from = input + u64(i) * 16;
        return i < whole ? *reinterpret_cast<const Block16 *>(from) : padded(from, rest);
    }

    // Stores a block, or of the last one what is there.
    DEVICE void store(u32 i, Block16 block) const {
        u8 *to = output + u64(i) * 16;
        if (i < whole) {
            *reinterpret_cast<Block16 *>(to) = block;
            return;
        }
        store_part(to, block, rest);
    }
};

// The counter of a message's first block of data. Only an IV that is hashed needs the session for it.
DEVICE Counter first_counter(const Session &session, const BatchJob &job) {
    Block16 first = job.iv_bytes > 0 ? session.j0() : job.iv;
    first.w = byte_swap(byte_swap(first.w) + is_gcm(job.mode));
    return counter_of(first);
}

// Whether a message of GCM is to be left as it is: its tag was found wrong.
DEVICE bool is_refused(const BatchParameters &parameters, u32 mode, u32 job) {
    return mode == MODE_GCM_DECRYPT && parameters.results[job].x != RIGHT;
}

}  // namespace
