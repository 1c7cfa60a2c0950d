// Batches of messages by AES, each under a key of its own: key schedules, and every mode, by four T-tables
// in every bank. Of CTR, warps that are bit-sliced take a part.
#include "../batch/entry.cuh"
#include "conflict_free_tables.cuh"
#include "eight_blocks.cuh"
#include "schedule.cuh"

namespace {

typedef ConflictFree<4, true> Encryption;
typedef ConflictFree<4, false> Decryption;
// A single table: a key is soon expanded, and filling more would take as long.
typedef ConflictFree<1, true> KeyTables;

// The rows of a session: round keys, of AES-256 most, then how many rounds there are.
constexpr u32 ROUNDS_ROW = 15;

// Full rounds after number `done`, then the last one, of a few blocks at once, which share the reads of
// round keys. The number of rounds is even, and so is `done`.
template <u32 done, u32 count, class Tables, class Keys>
DEVICE void run_rounds(const Tables &tables, Block16 (&states)[count], const Keys &keys) {
    const u32 rounds = keys.count();
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

// Round number `first` and those after it, by round keys of which those before it have been taken; number 0 adds a key.
template <u32 first, class Tables, u32 count, u32 size>
DEVICE void take_rounds(const Tables &tables, Block16 (&states)[count], RunningKeys<size> &keys) {
    constexpr u32 ROUNDS = RunningKeys<size>::ROUNDS;
    keys.template take<first, ROUNDS>(tables, [&](u32 i, Block16 key) {
        add_round(tables, states, i, ROUNDS, key);
    });
}
template <u32 done, u32 count, class Tables, u32 size>
DEVICE void run_rounds(const Tables &tables, Block16 (&states)[count], RunningKeys<size> &keys) {
    take_rounds<done + 1>(tables, states, keys);
}

// The first three round keys.
template <class Keys>
DEVICE void first_keys(const Encryption &, const Keys &keys, Block16 (&first)[3]) {
    UNROLL for (u32 i = 0; i < 3; i++) first[i] = keys.key(i);
}
template <u32 size>
DEVICE void first_keys(const Encryption &tables, RunningKeys<size> &keys, Block16 (&first)[3]) {
    keys.template take<0, 2, 3>(tables, [&](u32 i, Block16 key) { first[i] = key; });
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
    DEVICE LastByteRounds(const Encryption &tables, Block16 counter, Keys &keys) {
        Block16 first[3];
        first_keys(tables, keys, first);
        const Block16 s = counter ^ first[0], k1 = first[1], k2 = first[2];
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
    DEVICE Block16 state(const Encryption &tables, u32 number) const {
        const u32 a = round1 ^ tables.look_up<3>(column3 ^ number << 24);
        return make_uint4(round2.x ^ tables.look_up<0>(a), round2.y ^ tables.look_up<3>(a),
                          round2.z ^ tables.look_up<2>(a), round2.w ^ tables.look_up<1>(a));
    }

    // From there to the end, of a few blocks at once.
    template <u32 count, class Keys>
    static DEVICE void finish(const Encryption &tables, Block16 (&states)[count], Keys &keys) {
        run_rounds<2>(tables, states, keys);
    }
};
// ANCHOR_END: last_byte_rounds

// ANCHOR: sliced_rounds
// Bit-sliced warps, which leave the pipe of shared memory to those that look up: one of every three. What
// counters share is looked up by these, too; then come the rounds from number 3 on, with round keys as planes,
// which a warp makes of an item's.
struct SlicedRounds {
    // As many as where all look up: fewer would be slower over short messages. Of what a bit-sliced warp has, six
    // registers wait in memory while its rounds run.
    static constexpr u32 THREADS = 768, SLICED = THREADS / WARP / 3;
    static constexpr u32 SHARED_BYTES = SLICED * MAX_MIDDLE * 32 * 4;
    static constexpr u32 LEAST = 128;  // blocks that are worth making planes

    u32 (*planes)[32];  // of this warp
    bool is_sliced;

    DEVICE explicit SlicedRounds(u8 *shared) {
        // The second four of every twelve: either sort is spread evenly over a multiprocessor's four parts.
        const u32 warp = threadIdx.x / WARP;
        is_sliced = warp / 4 % 3 == 1;
        planes = reinterpret_cast<u32 (*)[32]>(shared) + MAX_MIDDLE * (warp / 12 * 4 + warp % 4);
    }

    // Lane 8r + b makes bit b of row r of every round key.
    template <class Keys>
    DEVICE void prepare(const Keys &keys, u32 blocks) const {
        if (!takes(blocks)) return;
        const u32 lane = threadIdx.x % WARP, b = lane % 8;
        const u32 of_row = 0x11 * (lane / 8) + 0x40;
        for (u32 i = 1; i < keys.count(); i++) {
            const Block16 key = keys.key(i);
            const u32 low = __byte_perm(key.x, key.y, of_row), high = __byte_perm(key.z, key.w, of_row);
            planes[i - 1][lane] = spread_top_bits(__byte_perm(low, high, 0x5410) << (7 - b));
        }
        __syncwarp();
    }

    DEVICE bool takes(u32 blocks) const { return is_sliced && blocks >= LEAST; }

    // Lane l has the counters whose last byte is l, 32 + l and so on.
    template <class Keys>
    DEVICE void run(const Encryption &tables, const Text &text, const LastByteRounds &counters,
                    u32 run, u32 end, u32 low, const Keys &keys) const {
        BlockRows rows;
        UNROLL for (u32 k = 0; k < THREAD_BLOCKS; k++) {
            rows.set(k, counters.state(tables, k * WARP + threadIdx.x % WARP));
        }
        RowPlanes state;
        to_planes(rows, state);
        sliced_rounds<true, false>(planes, keys.count(), state, 2);
        // May be huge: before the run. No register holds it while the rounds run.
        const u32 lane = not_hoisted(threadIdx.x % WARP), first = run - low + lane;
        const auto is_there = [&](u32 k) { return lane + k * WARP - low < end - run; };
        const Block16 *input = reinterpret_cast<const Block16 *>(text.input);
        Block16 *output = reinterpret_cast<Block16 *>(text.output);
        // A part's loads come before its stores, which might be to the same memory.
        constexpr u32 PART = THREAD_BLOCKS / 2;
        Block16 data[PART] = {};
        const auto load = [&](u32 k) {
            if (is_there(k)) data[k % PART] = input[first + k * WARP];
        };
        UNROLL for (u32 k = 0; k < PART; k++) load(k);
        shift_rows_to_blocks<true>(state, rows);
        const Block16 last = keys.key(keys.count());
        UNROLL for (u32 k = 0; k < THREAD_BLOCKS; k++) {
            if (is_there(k)) output[first + k * WARP] = rows.get(k) ^ data[k % PART] ^ last;
            if (k + PART < THREAD_BLOCKS) load(k + PART);
        }
    }
};
// ANCHOR_END: sliced_rounds

// Keeps the round keys in the order in which they are added: those of the equivalent inverse cipher
// (FIPS 197, 5.3.5) for modes that decrypt.
DEVICE void keep(const Session &session, bool inverse, u32 i, u32 rounds, Block16 key) {
    if (inverse && i > 0 && i < rounds) {
        key = make_uint4(unmixed(key.x), unmixed(key.y), unmixed(key.z), unmixed(key.w));
    }
    session.row(inverse ? rounds - i : i) = key;
}

template <u32 size, bool keeps, class Tables>
DEVICE void expand_key(const Tables &tables, const KeyOf &key, const Session &session,
                       TwoBlocks &two) {
    const bool inverse = is_decrypted(key.mode), reads = inverse || key.mode == MODE_CBC_ENCRYPT;
    if (keeps && reads) session.row(ROUNDS_ROW) = make_uint4(size + 6, 0, 0, 0);
    every_round_key<size>(tables, key.words, [&](u32 i, Block16 round_key) {
        if (keeps && reads) keep(session, inverse, i, size + 6, round_key);
        if (is_gcm(key.mode)) add_round(tables, two.blocks, i, size + 6, round_key);
    });
}

// All lanes make all round keys, which takes no longer, and share writing them.
template <u32 size, class Keys>
DEVICE void stage_keys(const Encryption &tables, const KeyOf &key, const Keys &keys, u32 lane,
                       u32 lanes) {
    every_round_key<size>(tables, key.words, [&](u32 i, Block16 round_key) {
        if (i % lanes == lane) keys.set(i, round_key);
    });
    if (lane == 0) keys.set(ROUNDS_ROW, make_uint4(size + 6, 0, 0, 0));
}

// What kernels/batch/entry.cuh wants of a cipher.
struct AesBatch {
    typedef ::Encryption Encryption;
    typedef ::Decryption Decryption;
    typedef ::KeyTables KeyTables;
    typedef LastByteRounds Counters;
    typedef SlicedRounds Sliced;
    static constexpr u32 KEY_ROWS = ROUNDS_ROW + 1;
    // An AES key is expanded in the time in which its round keys would be read, and by a few lanes sooner than it is stored
    // and read.
    static constexpr bool OPENS_SESSIONS = true;

    // The two blocks go through the rounds while round keys are made. Kernels that decrypt, or chain, read what is kept.
    template <bool keeps, class Tables>
    static DEVICE void expand(const Tables &tables, const KeyOf &key, const Session &session,
                              TwoBlocks &two) {
        if (key.bytes == 16) expand_key<4, keeps>(tables, key, session, two);
        else if (key.bytes == 24) expand_key<6, keeps>(tables, key, session, two);
        else expand_key<8, keeps>(tables, key, session, two);
    }

    template <class Keys>
    static DEVICE void stage(const Encryption &tables, const BatchJob &job, const Session &,
                             const Keys &keys, u32 lane, u32 lanes) {
        const KeyOf key(job);
        if (key.bytes == 16) stage_keys<4>(tables, key, keys, lane, lanes);
        else if (key.bytes == 24) stage_keys<6>(tables, key, keys, lane, lanes);
        else stage_keys<8>(tables, key, keys, lane, lanes);
    }

    template <class Keys, class Use>
    static DEVICE void with_keys(const Encryption &tables, const BatchJob &job, const Session &,
                                 const Keys &, u32, u32, Use use) {
        const KeyOf key(job);
        if (key.bytes == 16) use(RunningKeys<4>(tables, key.words));
        else if (key.bytes == 24) use(RunningKeys<6>(tables, key.words));
        else use(RunningKeys<8>(tables, key.words));
    }

    template <u32 count, class Tables, class Keys>
    static DEVICE void run(const Tables &tables, Block16 (&states)[count], const Keys &keys) {
        const Block16 whitening = keys.key(0);
        UNROLL for (u32 b = 0; b < count; b++) states[b] = states[b] ^ whitening;
        run_rounds<0>(tables, states, keys);
    }
    template <u32 count, class Tables, u32 size>
    static DEVICE void run(const Tables &tables, Block16 (&states)[count], const RunningKeys<size> &keys) {
        RunningKeys<size> taken = keys;
        take_rounds<0>(tables, states, taken);
    }
};

}  // namespace

BATCH_KERNELS(aes, AesBatch)
