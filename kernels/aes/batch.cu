// Batches of messages by AES, each under a key of its own: key schedules, and every mode, by four T-tables
// in every bank. Round keys come from shared memory, where each group of lanes has those of its message.
#include "../batch/session.cuh"
#include "conflict_free.cuh"

namespace {

typedef ConflictFree<4, true> Encryption;
typedef ConflictFree<4, false> Decryption;

// Full rounds after number `done`, then the last one, of a few blocks at once, which share the reads of
// round keys. The number of rounds is even, and so is `done`.
template <u32 done, u32 count, class Tables, class Keys>
DEVICE void run_rounds(const Tables &tables, Block16 (&states)[count], const Keys &keys) {
    const u32 rounds = keys.rounds();
    auto full = [&](u32 i) {
        const Block16 key = keys.key(i);
        UNROLL for (u32 b = 0; b < count; b++) states[b] = full_round(tables, states[b], key);
    };
    full(done + 1);
    ROLLED for (u32 i = done + 2; i < rounds; i += 2) {
        full(i);
        full(i + 1);
    }
    const Block16 key = keys.key(rounds);
    UNROLL for (u32 b = 0; b < count; b++) states[b] = last_round(tables, states[b], key);
}

// ANCHOR: last_byte_rounds
// The part of the first two rounds that counters share which differ in byte 15 alone, row 3 of column 3.
// ShiftRows brings it to column 0, and after round 1 only that column differs; round 2 reads one byte of
// it for each column. That leaves 1 and 4 look-ups of the first two rounds' 32.
struct LastByteRounds {
    u32 column3;     // of the counter block plus the first round key, byte 15 still to be added
    u32 round1;      // column 0 after round 1, less what byte 15 adds
    Block16 round2;  // after round 2, less what column 0 of round 1 adds

    // `counter` has zero in byte 15.
    template <class Keys>
    DEVICE LastByteRounds(const Encryption &tables, Block16 counter, const Keys &keys) {
        const Block16 s = counter ^ keys.key(0), k1 = keys.key(1), k2 = keys.key(2);
        column3 = s.w;
        round1 = xor3(tables.look_up<0>(s.x), tables.look_up<1>(s.y), tables.look_up<2>(s.z)) ^ k1.x;
        const u32 b = round_column(tables, s.y, s.z, s.w, s.x, k1.y);
        const u32 c = round_column(tables, s.z, s.w, s.x, s.y, k1.z);
        const u32 d = round_column(tables, s.w, s.x, s.y, s.z, k1.w);
        // Column j takes row r of column j + r; the row that column 0 has is left out.
        round2.x = xor3(tables.look_up<1>(b), tables.look_up<2>(c), tables.look_up<3>(d)) ^ k2.x;
        round2.y = xor3(tables.look_up<0>(b), tables.look_up<1>(c), tables.look_up<2>(d)) ^ k2.y;
        round2.z = xor3(tables.look_up<0>(c), tables.look_up<1>(d), tables.look_up<3>(b)) ^ k2.z;
        round2.w = xor3(tables.look_up<0>(d), tables.look_up<2>(b), tables.look_up<3>(c)) ^ k2.w;
    }

    // The state after round 2 of the counter whose byte 15 is the lowest of `number`.
    DEVICE Block16 after_round2(const Encryption &tables, u32 number) const {
        const u32 a = round1 ^ tables.look_up<3>(column3 ^ number << 24);
        return make_uint4(round2.x ^ tables.look_up<0>(a), round2.y ^ tables.look_up<3>(a),
                          round2.z ^ tables.look_up<2>(a), round2.w ^ tables.look_up<1>(a));
    }
};
// ANCHOR_END: last_byte_rounds

// ECB encryption of the item's blocks from number `lane` on, `lanes` apart.
template <class Keys>
DEVICE void encrypt_item(const Encryption &tables, const Text &text, const BatchItem &item,
                         const Keys &keys, u32 lane, u32 lanes) {
    ROLLED for (u32 n = lane; n < item.blocks; n += lanes) {
        Block16 state[1] = {text.load(n) ^ keys.key(0)};
        run_rounds<0>(tables, state, keys);
        text.store(n, state[0]);
    }
}

constexpr u32 GROUP = 8;  // lanes of a narrow item
constexpr u32 CRYPT_THREADS = 768, GROUPS = CRYPT_THREADS / GROUP;
// A block further apart than the keys need, so that groups meet different banks.
constexpr u32 STAGED_BLOCKS = SESSION_KEYS + 1;
constexpr u32 KEY_BYTES = GROUPS * STAGED_BLOCKS * u32(sizeof(Block16));
constexpr Launch CRYPT_LAUNCH = {CRYPT_THREADS, Encryption::SHARED_BYTES + KEY_BYTES, {WARP, 1, false}};

// Block `n` of the data and the one `apart` blocks further on, where there is one: loaded before the
// rounds, and stored with key stream added after them.
struct PairOfData {
    Block16 first, second;
    u32 n, apart;
    bool is_pair;

    DEVICE PairOfData(const Text &text, u32 n, u32 apart, bool is_pair)
        : first(text.load(n)), second{}, n(n), apart(apart), is_pair(is_pair) {
        if (is_pair) second = text.load(n + apart);
    }

    DEVICE void store(const Text &text, const Block16 (&states)[2]) const {
        text.store(n, first ^ states[0]);
        if (is_pair) text.store(n + apart, second ^ states[1]);
    }
};

// ANCHOR: wide_item
// CTR of a piece of a message by a warp: a run of counters that differ in the last byte alone at a time,
// two of them in every lane.
template <class Keys>
DEVICE void wide_ctr(const Encryption &tables, const Text &text, const BatchItem &item, u32 mode,
                     Counter counter, const Keys &keys) {
    const u32 lane = threadIdx.x % WARP;
    for (u32 run = 0; run < item.blocks;) {
        const Counter base = further(counter, mode, u64(item.first) + run);
        const u32 low = u32(base.low) & 0xff, left = item.blocks - run;
        const u32 length = 256 - low < left ? 256 - low : left;
        const LastByteRounds first(tables, Counter{base.high, base.low - low}.block(), keys);
        ROLLED for (u32 n = lane; n < length; n += 2 * WARP) {
            const PairOfData data(text, run + n, WARP, n + WARP < length);
            Block16 states[2] = {first.after_round2(tables, low + n),
                                 first.after_round2(tables, low + n + WARP)};
            run_rounds<2>(tables, states, keys);
            data.store(text, states);
        }
        run += length;
    }
}
// ANCHOR_END: wide_item

// CTR of a short message by a group of lanes, two blocks in each.
template <class Keys>
DEVICE void narrow_ctr(const Encryption &tables, const Text &text, const BatchItem &item, u32 mode,
                       Counter counter, const Keys &keys) {
    const Block16 whitening = keys.key(0);
    ROLLED for (u32 n = threadIdx.x % GROUP; n < item.blocks; n += 2 * GROUP) {
        const PairOfData data(text, n, GROUP, n + GROUP < item.blocks);
        Block16 states[2] = {further(counter, mode, n).block() ^ whitening,
                             further(counter, mode, n + GROUP).block() ^ whitening};
        run_rounds<0>(tables, states, keys);
        data.store(text, states);
    }
}

// Words of a key schedule that are made at once: whole round keys of whole steps, of `size` words each.
template <u32 size>
constexpr u32 AT_ONCE = size == 6 ? 12 : size;

// ANCHOR: next_words
// The words after those of a step of the key schedule (FIPS 197, 5.2); the constant moves on.
template <u32 size, class Tables>
DEVICE void next_words(const Tables &tables, const u32 *before, u32 *words, u32 &constant) {
    UNROLL for (u32 i = 0; i < size; i++) {
        u32 word = i == 0 ? before[size - 1] : words[i - 1];
        if (i == 0) {
            word = word >> 8 | word << 24;
            word = tables.substitute(word, word, word, word) ^ constant;
            constant = constant << 1 ^ (constant >> 7) * 0x11b;
        } else if (size == 8 && i == 4) {
            word = tables.substitute(word, word, word, word);
        }
        words[i] = before[i] ^ word;
    }
}
// ANCHOR_END: next_words

// Calls `use(i, key)` for every round key of a key of `size` words.
template <u32 size, class Tables, class Use>
DEVICE void every_round_key(const Tables &tables, const u32 *key, Use use) {
    constexpr u32 COUNT = AT_ONCE<size>, ROUNDS = size + 6;
    u32 words[COUNT], next[COUNT], constant = 1;
    UNROLL for (u32 i = 0; i < size; i++) words[i] = key[i];
    if (size < COUNT) next_words<size>(tables, words, words + size, constant);
    ROLLED for (u32 first = 0; first <= ROUNDS; first += COUNT / 4) {
        UNROLL for (u32 i = 0; i < COUNT / 4; i++) {
            if (first + i <= ROUNDS) {
                use(first + i, make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2],
                                          words[4 * i + 3]));
            }
        }
        UNROLL for (u32 i = 0; i < COUNT; i += size) {
            next_words<size>(tables, i == 0 ? words + COUNT - size : next, next + i, constant);
        }
        UNROLL for (u32 i = 0; i < COUNT; i++) words[i] = next[i];
    }
}

// Two blocks on their way through the rounds while round keys are made: that of zeros, which gives the
// hash key, and J0, which gives what hides the hash.
struct TwoBlocks {
    Block16 blocks[2];

    DEVICE void add(const Encryption &tables, u32 i, u32 rounds, Block16 key) {
        UNROLL for (u32 b = 0; b < 2; b++) {
            blocks[b] = i == 0 ? blocks[b] ^ key
                        : i < rounds ? full_round(tables, blocks[b], key)
                                     : last_round(tables, blocks[b], key);
        }
    }
};

// InvMixColumns of a column: a byte times 14, 11, 13 and 9 in turn.
DEVICE u32 doubled(u32 word) { return (word & 0x7f7f7f7f) << 1 ^ (word >> 7 & 0x01010101) * 0x1b; }
DEVICE u32 unmixed(u32 word) {
    const u32 two = doubled(word), four = doubled(two), eight = doubled(four);
    const u32 nine = eight ^ word;
    return eight ^ four ^ two ^ rotate_left(nine ^ two, 24) ^ rotate_left(nine ^ four, 16) ^
           rotate_left(nine, 8);
}

// Keeps the round keys in the order in which they are added: those of the equivalent inverse cipher
// (FIPS 197, 5.3.5) for modes that decrypt.
DEVICE void keep(const Session &session, bool inverse, u32 i, u32 rounds, Block16 key) {
    if (inverse && i > 0 && i < rounds) {
        key = make_uint4(unmixed(key.x), unmixed(key.y), unmixed(key.z), unmixed(key.w));
    }
    session.row(inverse ? rounds - i : i) = key;
}

// A key and what is done with it, read before anything is written.
struct KeyOf {
    u32 words[8], bytes, mode;

    DEVICE explicit KeyOf(const BatchJob &job) : bytes(job.key_bytes), mode(job.mode) {
        const Block16 *key = reinterpret_cast<const Block16 *>(job.key);
        const Block16 low = key[0], high = key[1];
        words[0] = low.x, words[1] = low.y, words[2] = low.z, words[3] = low.w;
        words[4] = high.x, words[5] = high.y, words[6] = high.z, words[7] = high.w;
    }
};

template <u32 size>
DEVICE void expand_key(const Encryption &tables, const KeyOf &key, const Session &session,
                       TwoBlocks &two) {
    const bool inverse = key.mode == MODE_ECB_DECRYPT || key.mode == MODE_CBC_DECRYPT;
    session.row(ROUNDS_ROW) = make_uint4(size + 6, 0, 0, 0);
    every_round_key<size>(tables, key.words, [&](u32 i, Block16 round_key) {
        keep(session, inverse, i, size + 6, round_key);
        if (is_gcm(key.mode)) two.add(tables, i, size + 6, round_key);
    });
}

// Expands the key, and runs two blocks through the cipher where the mode is GCM.
DEVICE void expand(const Encryption &tables, const KeyOf &key, const Session &session,
                   TwoBlocks &two) {
    if (key.bytes == 16) expand_key<4>(tables, key, session, two);
    else if (key.bytes == 24) expand_key<6>(tables, key, session, two);
    else expand_key<8>(tables, key, session, two);
}

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
// What is made of a job before its data is looked at.
DEVICE void open_session(const Encryption &tables, const BatchParameters &parameters, u64 number) {
    const BatchJob &job = parameters.jobs[number];
    const Session session(parameters, number);
    const KeyOf key(job);
    const u32 passes = job.iv_bytes > 0 ? 2 : 1;
    Block16 first = job.iv;
    TwoBlocks two = {{{}, first}};
    ROLLED for (u32 pass = 0; pass < passes; pass++) {
        if (pass > 0) {
            first = hash_of_iv(parameters, job, reversed(two.blocks[0]));
            two = {{{}, first}};
        }
        expand(tables, key, session, two);
    }
    if (is_gcm(key.mode)) {
        session.row(H_ROW) = reversed(two.blocks[0]);
        session.row(MASK_ROW) = two.blocks[1];
        first = further(counter_of(first), MODE_CTR32, 1).block();
    }
    session.row(COUNTER_ROW) = first;
}
// ANCHOR_END: open_session

constexpr Launch KEYS_LAUNCH = {512, Encryption::SHARED_BYTES, BLOCK_A_THREAD};

constexpr u32 DECRYPT_THREADS = 1024, DECRYPT_WARPS = DECRYPT_THREADS / WARP;
constexpr u32 DECRYPT_KEY_BYTES = DECRYPT_WARPS * STAGED_BLOCKS * u32(sizeof(Block16));
constexpr Launch DECRYPT_LAUNCH = {DECRYPT_THREADS, Decryption::SHARED_BYTES + DECRYPT_KEY_BYTES,
                                   {WARP, 1, false}};

// ECB or CBC decryption of a piece of a message by a warp. `before` is the block of ciphertext before it;
// a lane has it from its neighbour, lane 0 from what the last lane had 32 blocks ago.
template <class Keys>
DEVICE void decrypt_item(const Decryption &tables, const Text &text, const BatchItem &item,
                         bool is_chained, Block16 before, const Keys &keys) {
    const u32 lane = threadIdx.x % WARP;
    ROLLED for (u32 n = lane; n - lane < item.blocks; n += WARP) {
        Block16 block = {};
        if (n < item.blocks) block = text.load(n);
        const Block16 neighbour = from_lane(block, (lane + WARP - 1) % WARP);
        Block16 state[1] = {block ^ keys.key(0)};
        run_rounds<0>(tables, state, keys);
        if (is_chained) state[0] = state[0] ^ (lane == 0 ? before : neighbour);
        if (n < item.blocks) text.store(n, state[0]);
        before = neighbour;
    }
}

constexpr u32 CHAIN_THREADS = 256, CHAIN_WARPS = CHAIN_THREADS / WARP;
constexpr u32 CHAIN_KEY_BYTES = CHAIN_WARPS * SESSION_KEYS * WARP * u32(sizeof(Block16));
constexpr Launch CHAIN_LAUNCH = {CHAIN_THREADS, Encryption::SHARED_BYTES + CHAIN_KEY_BYTES,
                                 BLOCK_A_THREAD};

// CBC encryption of a message by a thread.
template <class Keys>
DEVICE void chain_message(const Encryption &tables, const Text &text, u32 blocks, Block16 before,
                          const Keys &keys) {
    Block16 next = {};
    if (blocks > 0) next = text.load(0);
    ROLLED for (u32 i = 0; i < blocks; i++) {
        Block16 state[1] = {next ^ before ^ keys.key(0)};
        if (i + 1 < blocks) next = text.load(i + 1);
        run_rounds<0>(tables, state, keys);
        text.store(i, before = state[0]);
    }
}

}  // namespace

// Makes the sessions of all jobs, of which there are `count`, a thread each.
KERNEL(aes_batch_keys, KEYS_LAUNCH, BatchParameters) {
    SHARED_TABLES(shared);
    const Encryption tables(shared);
    for (u64 i = grid_thread(); i < parameters.count; i += grid_threads()) {
        open_session(tables, parameters, i);
    }
}

// ANCHOR: crypt
// ECB encryption, CTR and GCM: items of a warp, then those of eight lanes.
KERNEL(aes_batch_crypt, CRYPT_LAUNCH, BatchParameters) {
    SHARED_TABLES_AND_KEYS(shared, Encryption::SHARED_BYTES);
    const Encryption tables(shared);
    Block16 *staged = reinterpret_cast<Block16 *>(shared + Encryption::SHARED_BYTES);
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const u64 warps = grid_threads() / WARP;
    const StagedKeys<1> of_warp = {staged + warp * (WARP / GROUP) * STAGED_BLOCKS};
    for (u64 i = grid_warp(); i < parameters.count; i += warps) {
        const BatchItem item = parameters.items[i];
        const BatchJob &job = parameters.jobs[item.job];
        const Session session(parameters, item.job);
        of_warp.copy(session, lane, WARP);
        __syncwarp();
        const Text text(parameters, job, item.first);
        if (job.mode == MODE_ECB_ENCRYPT) encrypt_item(tables, text, item, of_warp, lane, WARP);
        else if (!is_refused(parameters, job.mode, item.job)) {
            wide_ctr(tables, text, item, job.mode, counter_of(session.counter()), of_warp);
        }
        __syncwarp();
    }
    const StagedKeys<1> of_group = {staged + threadIdx.x / GROUP * STAGED_BLOCKS};
    for (u64 i = grid_warp(); i * (WARP / GROUP) < parameters.narrow_count; i += warps) {
        const u64 number = i * (WARP / GROUP) + lane / GROUP;
        BatchItem item = {};
        if (number < parameters.narrow_count) item = parameters.narrow[number];
        const BatchJob &job = parameters.jobs[item.job];
        const Session session(parameters, item.job);
        of_group.copy(session, lane % GROUP, GROUP);
        __syncwarp();
        const Text text(parameters, job, item.first);
        if (job.mode == MODE_ECB_ENCRYPT) {
            encrypt_item(tables, text, item, of_group, lane % GROUP, GROUP);
        } else if (!is_refused(parameters, job.mode, item.job)) {
            narrow_ctr(tables, text, item, job.mode, counter_of(session.counter()), of_group);
        }
        __syncwarp();
    }
    clear_shared(reinterpret_cast<u32 *>(staged), KEY_BYTES / 4);
}
// ANCHOR_END: crypt

// ECB and CBC decryption; the sums have the blocks before the items.
KERNEL(aes_batch_decrypt, DECRYPT_LAUNCH, BatchParameters) {
    SHARED_TABLES_AND_KEYS(shared, Decryption::SHARED_BYTES);
    const Decryption tables(shared);
    Block16 *staged = reinterpret_cast<Block16 *>(shared + Decryption::SHARED_BYTES);
    const StagedKeys<1> keys = {staged + threadIdx.x / WARP * STAGED_BLOCKS};
    for (u64 i = grid_warp(); i < parameters.count; i += grid_threads() / WARP) {
        const BatchItem item = parameters.items[i];
        const BatchJob &job = parameters.jobs[item.job];
        keys.copy(Session(parameters, item.job), threadIdx.x % WARP, WARP);
        __syncwarp();
        decrypt_item(tables, Text(parameters, job, item.first), item, job.mode == MODE_CBC_DECRYPT,
                     parameters.sums[item.place], keys);
        __syncwarp();
    }
    clear_shared(reinterpret_cast<u32 *>(staged), DECRYPT_KEY_BYTES / 4);
}

// CBC encryption, a message a thread, whose keys lie beside those of its neighbours.
KERNEL(aes_batch_chain, CHAIN_LAUNCH, BatchParameters) {
    SHARED_TABLES_AND_KEYS(shared, Encryption::SHARED_BYTES);
    const Encryption tables(shared);
    Block16 *staged = reinterpret_cast<Block16 *>(shared + Encryption::SHARED_BYTES);
    const StagedKeys<WARP> keys = {staged + threadIdx.x / WARP * (SESSION_KEYS * WARP) +
                                   threadIdx.x % WARP};
    for (u64 i = grid_thread(); i < parameters.count; i += grid_threads()) {
        const BatchItem item = parameters.items[i];
        const BatchJob &job = parameters.jobs[item.job];
        keys.copy(Session(parameters, item.job), 0, 1);
        chain_message(tables, Text(parameters, job, 0), item.blocks, job.iv, keys);
    }
    clear_shared(reinterpret_cast<u32 *>(staged), CHAIN_KEY_BYTES / 4);
}
