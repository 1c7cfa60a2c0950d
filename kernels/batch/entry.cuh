// The kernels of batches of a cipher, by look-ups in tables that are in every bank, so that lanes of a warp
// may run under different keys. Round keys come from shared memory, where each group of lanes has those of
// its message, or are made while they are used.
//
// The cipher is a type that says
//
//   Encryption, Decryption   its tables of either direction, which a constructor fills in shared memory:
//                            SHARED_BYTES of it
//   KeyTables                those by which keys are expanded
//   KEY_ROWS                 rows of a session that round keys take, in the order of the direction
//   expand<keeps>(tables, key, session, two)
//                            writes them, if it `keeps` any, and encrypts two blocks where the mode is GCM
//   OPENS_SESSIONS           whether round keys of encryption are not in the session, but made anew for every item
//   stage(tables, job, session, room, lane, lanes)
//                            puts those of a wide item into `room`, in shared memory: by one lane of those that share
//                            them
//   with_keys(tables, job, session, room, lane, lanes, use)
//                            calls `use` with those of a narrow one, in `room` or as the cipher makes them
//   run(tables, states, keys)
//                            the cipher on a few blocks at once, which share round keys, in the direction of tables
//                            and keys: in shared memory `keys.key(i)` is row i, and `keys.count()` what the last of
//                            them begins with
//   Counters                 counters that differ in their last byte alone: NothingShared, or what computes
//                            once what they share, of each `state`, and of a few of these the rest, `finish`
//   Sliced                   warps that are bit-sliced beside the others: NothingSliced, or what takes runs of counters
#pragma once
#include "../common/queue.cuh"
#include "crypt.cuh"
#include "open.cuh"

namespace {

template <class Cipher>
constexpr Launch KEYS_LAUNCH = {512, Cipher::KeyTables::SHARED_BYTES, BLOCK_A_THREAD};

// Blocks from one staged session to the next: an odd number, so that groups of lanes meet different banks.
template <class Cipher>
constexpr u32 STAGED_BLOCKS = Cipher::KEY_ROWS | 1;

// Round keys that a group of lanes, or a warp, has for itself: number `i` of them.
template <class Cipher>
using SharedKeys = StagedKeys<Cipher::KEY_ROWS, 1>;
template <class Cipher>
DEVICE SharedKeys<Cipher> shared_keys(Block16 *staged, u32 i) {
    return {staged + i * STAGED_BLOCKS<Cipher>};
}
// Bytes of this number of them.
template <class Cipher>
constexpr u32 shared_keys_bytes(u32 count) {
    return count * STAGED_BLOCKS<Cipher> * u32(sizeof(Block16));
}

template <class Cipher>
constexpr u32 CRYPT_KEY_BYTES = shared_keys_bytes<Cipher>(Cipher::Sliced::THREADS / WARP);
// Behind the tables: the queue of items, round keys, and what bit-sliced warps keep.
template <class Cipher>
constexpr u32 CRYPT_KEPT_BYTES =
    Queue::BYTES + CRYPT_KEY_BYTES<Cipher> + Cipher::Sliced::SHARED_BYTES;
template <class Cipher>
constexpr Launch CRYPT_LAUNCH = {
    Cipher::Sliced::THREADS, Cipher::Encryption::SHARED_BYTES + CRYPT_KEPT_BYTES<Cipher>,
    {WARP, 1, false}};

constexpr u32 NARROW_THREADS = 768;
// Behind the tables: round keys, where the cipher does not make them while they are used.
template <class Cipher>
constexpr u32 NARROW_KEY_BYTES =
    Cipher::OPENS_SESSIONS ? 0 : shared_keys_bytes<Cipher>(NARROW_THREADS / GROUP);
template <class Cipher>
constexpr Launch NARROW_LAUNCH = {
    NARROW_THREADS, Cipher::Encryption::SHARED_BYTES + NARROW_KEY_BYTES<Cipher>, {GROUP, 1, false}};

constexpr u32 DECRYPT_THREADS = 1024;
template <class Cipher>
constexpr u32 DECRYPT_KEY_BYTES =
    shared_keys_bytes<Cipher>(DECRYPT_THREADS / WARP);
template <class Cipher>
constexpr Launch DECRYPT_LAUNCH = {
    DECRYPT_THREADS, Cipher::Decryption::SHARED_BYTES + DECRYPT_KEY_BYTES<Cipher>, {WARP, 1, false}};

constexpr u32 CHAIN_THREADS = 256;
template <class Cipher>
constexpr u32 CHAIN_KEY_BYTES = CHAIN_THREADS * Cipher::KEY_ROWS * u32(sizeof(Block16));
template <class Cipher>
constexpr Launch CHAIN_LAUNCH = {
    CHAIN_THREADS, Cipher::Encryption::SHARED_BYTES + CHAIN_KEY_BYTES<Cipher>, BLOCK_A_THREAD};

// ECB encryption, CTR or GCM of an item by a warp, which has room for its round keys.
template <class Cipher>
DEVICE void crypt_wide(const typename Cipher::Encryption &tables, const BatchParameters &parameters,
                       const BatchItem &item, const SharedKeys<Cipher> &room,
                       const typename Cipher::Sliced &sliced) {
    const BatchJob &job = parameters.jobs[item.job];
    const Session session(parameters, item.job);
    const u32 lane = threadIdx.x % WARP;
    Cipher::stage(tables, job, session, room, lane, WARP);
    __syncwarp();
    const Text text(parameters, job, item.first);
    if (job.mode == MODE_ECB_ENCRYPT) {
        encrypt_item<1, Cipher>(tables, text, item, room, lane, WARP);
    } else if (!is_refused(parameters, job.mode, item.job)) {
        wide_ctr<Cipher>(tables, text, item, job.mode, first_counter(session, job), room, sliced);
    }
    __syncwarp();
}

// The same by a few lanes, `count` blocks in each at once.
template <u32 count, class Cipher>
DEVICE void crypt_narrow(const typename Cipher::Encryption &tables, const BatchParameters &parameters,
                         const BatchItem &item, const SharedKeys<Cipher> &room) {
    const BatchJob job = parameters.jobs[item.job];
    const Session session(parameters, item.job);
    const u32 lane = threadIdx.x % GROUP;
    Cipher::with_keys(tables, job, session, room, lane, GROUP, [&](const auto &keys) {
        const Text text(parameters, job, item.first);
        if (job.mode == MODE_ECB_ENCRYPT) {
            encrypt_item<count, Cipher>(tables, text, item, keys, lane, GROUP);
        } else if (!is_refused(parameters, job.mode, item.job)) {
            narrow_ctr<count, Cipher>(tables, text, item, job.mode, first_counter(session, job), keys);
        }
    });
    __syncwarp();
}

// The sessions of all jobs, where no kernel before this one has made them.
template <class Cipher>
DEVICE void open_if_first(const typename Cipher::Encryption &tables, const BatchParameters &parameters) {
    if (Cipher::OPENS_SESSIONS && parameters.flags & OPENS_SESSIONS) {
        open_sessions<Cipher>(tables, parameters);
    }
}

// ANCHOR: crypt
// Items of a warp, of which a thread block's warps take each as many as it is fast.
template <class Cipher>
DEVICE void crypt_items(const BatchParameters &parameters, u8 *shared) {
    const typename Cipher::Encryption tables(shared);
    u8 *kept = shared + Cipher::Encryption::SHARED_BYTES;
    u32 *next = reinterpret_cast<u32 *>(kept);
    Block16 *staged = reinterpret_cast<Block16 *>(kept + Queue::BYTES);
    const typename Cipher::Sliced sliced(kept + Queue::BYTES + CRYPT_KEY_BYTES<Cipher>);
    start_queue(next);
    open_if_first<Cipher>(tables, parameters);
    Queue queue = {next, 0};
    for (u64 i = queue.take_dealt(); i < parameters.count; i = queue.take_dealt()) {
        // The address is made anew for every item: bit-sliced rounds leave no register for it.
        const SharedKeys<Cipher> room = shared_keys<Cipher>(staged, not_hoisted(threadIdx.x / WARP));
        crypt_wide<Cipher>(tables, parameters, parameters.items[i], room, sliced);
    }
    clear_shared(next, CRYPT_KEPT_BYTES<Cipher> / 4);
}

// Items of a few lanes, eight of which a warp takes at once.
template <class Cipher>
DEVICE void crypt_narrow_items(const BatchParameters &parameters, u8 *shared) {
    const typename Cipher::Encryption tables(shared);
    Block16 *staged = reinterpret_cast<Block16 *>(shared + Cipher::Encryption::SHARED_BYTES);
    open_if_first<Cipher>(tables, parameters);
    const SharedKeys<Cipher> room = shared_keys<Cipher>(staged, threadIdx.x / GROUP);
    const u32 group = threadIdx.x % WARP / GROUP, groups = WARP / GROUP;
    for (u64 i = grid_warp() * groups; i < parameters.count; i += grid_threads() / GROUP) {
        BatchItem item = {};
        if (i + group < parameters.count) item = parameters.items[i + group];
        // All blocks at once wait for less, but those that are not there take as long.
        const bool has_many = __ballot_sync(0xffffffff, item.blocks > 2 * GROUP) != 0;
        if (has_many) crypt_narrow<MOST_BLOCKS, Cipher>(tables, parameters, item, room);
        else crypt_narrow<1, Cipher>(tables, parameters, item, room);
    }
    clear_shared(reinterpret_cast<u32 *>(staged), NARROW_KEY_BYTES<Cipher> / 4);
}
// ANCHOR_END: crypt

// Items that are decrypted; the sums have the blocks before them.
template <class Cipher>
DEVICE void decrypt_items(const BatchParameters &parameters, u8 *shared) {
    const typename Cipher::Decryption tables(shared);
    Block16 *staged = reinterpret_cast<Block16 *>(shared + Cipher::Decryption::SHARED_BYTES);
    const SharedKeys<Cipher> keys = shared_keys<Cipher>(staged, threadIdx.x / WARP);
    for (u64 i = grid_warp(); i < parameters.count; i += grid_threads() / WARP) {
        const BatchItem item = parameters.items[i];
        const BatchJob &job = parameters.jobs[item.job];
        keys.copy(Session(parameters, item.job), threadIdx.x % WARP, WARP);
        __syncwarp();
        decrypt_item<Cipher>(tables, Text(parameters, job, item.first), item,
                             job.mode == MODE_CBC_DECRYPT, parameters.sums[item.place], keys);
        __syncwarp();
    }
    clear_shared(reinterpret_cast<u32 *>(staged), DECRYPT_KEY_BYTES<Cipher> / 4);
}

// Messages that are chained, one a thread, whose keys lie beside those of its neighbours.
template <class Cipher>
DEVICE void chain_messages(const BatchParameters &parameters, u8 *shared) {
    const typename Cipher::Encryption tables(shared);
    Block16 *staged = reinterpret_cast<Block16 *>(shared + Cipher::Encryption::SHARED_BYTES);
    const StagedKeys<Cipher::KEY_ROWS, WARP> keys = {
        staged + threadIdx.x / WARP * (Cipher::KEY_ROWS * WARP) + threadIdx.x % WARP};
    for (u64 i = grid_thread(); i < parameters.count; i += grid_threads()) {
        const BatchItem item = parameters.items[i];
        const BatchJob &job = parameters.jobs[item.job];
        keys.copy(Session(parameters, item.job), 0, 1);
        chain_message<Cipher>(tables, Text(parameters, job, 0), item.blocks, job.iv, keys);
    }
    clear_shared(reinterpret_cast<u32 *>(staged), CHAIN_KEY_BYTES<Cipher> / 4);
}

}  // namespace

// ANCHOR: entries
// The four kernels of a cipher: the sessions of all jobs, of which there are `count`, a thread each; ECB
// encryption, CTR and GCM; ECB and CBC decryption; CBC encryption.
#define BATCH_KERNELS(prefix, Cipher)                                             \
    KERNEL(prefix##_batch_keys, KEYS_LAUNCH<Cipher>, BatchParameters) {           \
        SHARED_TABLES(shared);                                                    \
        const Cipher::KeyTables tables(shared);                                   \
        for (u64 i = grid_thread(); i < parameters.count; i += grid_threads()) {  \
            open_session<Cipher, true>(tables, parameters, i);                    \
        }                                                                         \
    }                                                                             \
    KERNEL(prefix##_batch_crypt, CRYPT_LAUNCH<Cipher>, BatchParameters) {         \
        SHARED_TABLES_AND_KEYS(shared, Cipher::Encryption::SHARED_BYTES);         \
        crypt_items<Cipher>(parameters, shared);                                  \
    }                                                                             \
    KERNEL(prefix##_batch_narrow, NARROW_LAUNCH<Cipher>, BatchParameters) {       \
        SHARED_TABLES_AND_KEYS(shared, Cipher::Encryption::SHARED_BYTES);         \
        crypt_narrow_items<Cipher>(parameters, shared);                           \
    }                                                                             \
    KERNEL(prefix##_batch_decrypt, DECRYPT_LAUNCH<Cipher>, BatchParameters) {     \
        SHARED_TABLES_AND_KEYS(shared, Cipher::Decryption::SHARED_BYTES);         \
        decrypt_items<Cipher>(parameters, shared);                                \
    }                                                                             \
    KERNEL(prefix##_batch_chain, CHAIN_LAUNCH<Cipher>, BatchParameters) {         \
        SHARED_TABLES_AND_KEYS(shared, Cipher::Encryption::SHARED_BYTES);         \
        chain_messages<Cipher>(parameters, shared);                               \
    }
// ANCHOR_END: entries
