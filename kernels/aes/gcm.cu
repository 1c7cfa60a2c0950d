// GCM encryption by AES of a message that is not long, in one launch: a thread encrypts the blocks that it hashes. One
// T-table in every bank, which fits every GPU and is filled in no time.
//
// Not constant-time: addresses of look-ups depend on key and counter.
#include "../ghash/finish.cuh"
#include "conflict_free.cuh"

// What `crates/cuda/src/engine/gcm.rs` packs: CTR over the whole blocks, and the hash, whose tail is the ciphertext and so
// is not read.
struct GcmParameters {
    Parameters<AesKeys> text;
    HashParameters hash;
};

namespace {

using Tables = ConflictFree<1, true>;
constexpr Launch GCM = {FINISH_THREADS, Tables::SHARED_BYTES + FINISH_WARPS * sizeof(Block16),
                        FINISH_UNIT};

// Encrypts block `i` of the text and stores what of it is there. It is the ciphertext's, filled up with zeros.
DEVICE Block16 encrypted(const Parameters<AesKeys> &text, const Tables &tables, u64 i, u64 bytes) {
    const Block16 data = block_at(reinterpret_cast<const u8 *>(text.input), bytes, i);
    const Counter counter = first_counter(text).plus(i);
    const Block16 block = data ^ cipher(tables, counter.block(), text.keys);
    const u64 rest = bytes - 16 * i;
    if (rest >= 16) return text.output[i] = block;
    u8 *const to = reinterpret_cast<u8 *>(text.output + i);
    store_part(to, block, u32(rest));
    return padded(to, u32(rest));
}

}  // namespace

KERNEL(aes_gcm_encrypt, GCM, GcmParameters) {
    SHARED_TABLES(shared);
    const Tables tables(shared);
    Block16 *sums = reinterpret_cast<Block16 *>(shared + Tables::SHARED_BYTES);
    const HashParameters &hash = parameters.hash;
    finish(hash, sums, [&](u64 i) { return encrypted(parameters.text, tables, i, hash.tail_bytes); });
    clear_shared(reinterpret_cast<u32 *>(sums), FINISH_WARPS * sizeof(Block16) / 4);
}
