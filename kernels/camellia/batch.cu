// Batches of messages by Camellia, each under a key of its own: key schedules (RFC 3713, section 2.2), and
// every mode, by four tables in every bank.
#include "../batch/entry.cuh"
#include "camellia.cuh"

namespace {

typedef ConflictFreeFour<CamelliaBoxes> Tables;

// ANCHOR: rows
// The rows of a session, two subkeys each, in the order in which the direction takes them:
//
//   0           kw1, kw2
//   4g + 1 ..   the six rounds of group g
//   4g + 4      the FL layer behind it; behind the last group kw3, kw4
//   17          the number of groups
constexpr u32 ROW_ROUNDS = 2, GROUP_ROWS = GROUP_ROUNDS / ROW_ROUNDS + 1;
constexpr u32 GROUPS_ROW = GROUP_ROWS * MAX_GROUPS + 1;
// ANCHOR_END: rows

// The two rounds of a row, on a few blocks at once.
template <u32 count>
DEVICE void two_rounds(const Tables &tables, CamelliaState (&states)[count], Block16 key) {
    const u32 first[2] = {key.x, key.y}, second[2] = {key.z, key.w};
    UNROLL for (u32 b = 0; b < count; b++) {
        CamelliaState &s = states[b];
        add_f(tables, s.s0, s.s1, s.s2, s.s3, first);
    }
    UNROLL for (u32 b = 0; b < count; b++) {
        CamelliaState &s = states[b];
        add_f(tables, s.s2, s.s3, s.s0, s.s1, second);
    }
}

template <u32 count>
DEVICE void fl_layers(CamelliaState (&states)[count], Block16 key) {
    const u32 words[4] = {key.x, key.y, key.z, key.w};
    UNROLL for (u32 b = 0; b < count; b++) fl_layer(states[b], words);
}

// What is left after `rows` of the first group, on the states of a few blocks at once.
template <u32 rows, u32 count, class Keys>
DEVICE void run_rounds(const Tables &tables, Block16 (&blocks)[count], const Keys &keys) {
    CamelliaState states[count];
    UNROLL for (u32 b = 0; b < count; b++) {
        const Block16 s = blocks[b];
        states[b] = {s.x, s.y, s.z, s.w};
    }
    const u32 groups = keys.count();
    UNROLL for (u32 i = 1 + rows; i < GROUP_ROWS; i++) two_rounds(tables, states, keys.key(i));
    ROLLED for (u32 row = GROUP_ROWS; row < GROUP_ROWS * groups; row += GROUP_ROWS) {
        fl_layers(states, keys.key(row));
        UNROLL for (u32 i = 1; i < GROUP_ROWS; i++) two_rounds(tables, states, keys.key(row + i));
    }
    const Block16 end = keys.key(GROUP_ROWS * groups);
    UNROLL for (u32 b = 0; b < count; b++) {
        const CamelliaState &s = states[b];
        blocks[b] = swapped(make_uint4(s.s2, s.s3, s.s0, s.s1) ^ end);
    }
}

// The first two rounds of counters that differ in byte 15 alone: round 1 does not read it, and in round 2
// one look-up does. That one is left of 16.
struct LastByteRounds {
    Block16 words;  // the state after round 2, less what that look-up adds and byte 15
    u32 word2;      // of round 2's second input word, byte 15 still to be added

    // `counter` has zero in byte 15.
    template <class Keys>
    DEVICE LastByteRounds(const Tables &tables, Block16 counter, Keys &keys) {
        const Block16 key = keys.key(1);
        const u32 first[2] = {key.x, key.y}, second[2] = {key.z, key.w};
        words = swapped(counter) ^ keys.key(0);
        add_f(tables, words.x, words.y, words.z, words.w, first);
        word2 = words.w ^ second[1];
        add_f(tables, words.z, words.w, words.x, words.y, second);
        words = state(tables, 0);
    }

    // The state after round 2 of the counter whose byte 15 is the lowest of `number`.
    DEVICE Block16 state(const Tables &tables, u32 number) const {
        const u32 change = tables.look_up<0>(word2 ^ number, 0);
        return words ^ make_uint4(change, change, 0, byte_of(number, 0));
    }

    // From there to the end, of a few blocks at once.
    template <u32 count, class Keys>
    static DEVICE void finish(const Tables &tables, Block16 (&blocks)[count], Keys &keys) {
        run_rounds<1>(tables, blocks, keys);
    }
};

// KL, KR, KA and KB.
DEVICE void source_words(const Tables &tables, const KeyOf &key, Block16 (&sources)[4]) {
    const u32 *words = key.words;
    const Block16 left = swapped(make_uint4(words[0], words[1], words[2], words[3]));
    Block16 right = swapped(make_uint4(words[4], words[5], words[6], words[7]));
    if (key.bytes == 24) right.z = ~right.x, right.w = ~right.y;
    // Two rounds under constants, on the halves of a word.
    auto mixed = [&](Block16 word, Block16 sigmas) {
        CamelliaState s[1] = {{word.x, word.y, word.z, word.w}};
        two_rounds(tables, s, sigmas);
        return make_uint4(s[0].s0, s[0].s1, s[0].s2, s[0].s3);
    };
    // Sigma1 to Sigma6: digits of the square roots of the first six primes.
    const Block16 half = mixed(left ^ right, make_uint4(0xa09e667f, 0x3bcc908b, 0xb67ae858, 0x4caa73b2));
    const Block16 ka = mixed(half ^ left, make_uint4(0xc6ef372f, 0xe94f82be, 0x54ff53a5, 0xf1d36f1c));
    const Block16 kb = mixed(ka ^ right, make_uint4(0x10e527fa, 0xde682d1d, 0xb05688c2, 0xb3e6c1fd));
    sources[0] = left, sources[1] = right, sources[2] = ka, sources[3] = kb;
}

// ANCHOR: origins
// Where a row comes from: one of KL, KR, KA and KB, rotated to the left.
struct Origin {
    u32 source, by;
};
constexpr u32 KL = 0, KR = 1, KA = 2, KB = 3;

// Of keys of 128 bits; row 6 takes its second half, k10, from KL rotated by 60 bits.
struct ShortKey {
    static constexpr u32 LAST = 12, MIXED_ROW = 6;
    static DEVICE constexpr Origin origin(u32 row) {
        constexpr Origin origins[LAST + 1] = {{KL, 0},  {KA, 0},  {KL, 15}, {KA, 15}, {KA, 30},
                                              {KL, 45}, {KA, 45}, {KA, 60}, {KL, 77}, {KL, 94},
                                              {KA, 94}, {KL, 111}, {KA, 111}};
        return origins[row];
    }
};

// Of longer keys; no row is of two sources.
struct LongKey {
    static constexpr u32 LAST = 16, MIXED_ROW = LAST + 1;
    static DEVICE constexpr Origin origin(u32 row) {
        constexpr Origin origins[LAST + 1] = {{KL, 0},  {KB, 0},  {KR, 15}, {KA, 15}, {KR, 30},
                                              {KB, 30}, {KL, 45}, {KA, 45}, {KL, 60}, {KR, 60},
                                              {KB, 60}, {KL, 77}, {KA, 77}, {KR, 94}, {KA, 94},
                                              {KL, 111}, {KB, 111}};
        return origins[row];
    }
};
// ANCHOR_END: origins

// Writes the rows of the subkeys. Decryption takes them backwards, but for the halves of the first and the
// last.
template <class Length>
DEVICE void write_rows(const Block16 (&sources)[4], bool is_inverse, const Session &session) {
    session.row(GROUPS_ROW) = make_uint4(Length::LAST / GROUP_ROWS, 0, 0, 0);
    UNROLL for (u32 i = 0; i <= Length::LAST; i++) {
        const Origin origin = Length::origin(i);
        Block16 row = rotated_left(sources[origin.source], origin.by);
        if (i == Length::MIXED_ROW) {
            const Block16 other = rotated_left(sources[KL], 60);
            row.z = other.z, row.w = other.w;
        }
        const bool is_turned = is_inverse && i > 0 && i < Length::LAST;
        session.row(is_inverse ? Length::LAST - i : i) =
            is_turned ? make_uint4(row.z, row.w, row.x, row.y) : row;
    }
}

// What kernels/batch/entry.cuh wants of a cipher.
struct CamelliaBatch : ExpandsFirst<CamelliaBatch, Tables> {
    typedef LastByteRounds Counters;
    typedef NothingSliced Sliced;
    static constexpr u32 KEY_ROWS = GROUPS_ROW + 1;

    static DEVICE void expand_key(const Tables &tables, const KeyOf &key, const Session &session) {
        Block16 sources[4];
        source_words(tables, key, sources);
        if (key.bytes == 16) write_rows<ShortKey>(sources, is_decrypted(key.mode), session);
        else write_rows<LongKey>(sources, is_decrypted(key.mode), session);
    }

    template <u32 count, class Keys>
    static DEVICE void run(const Tables &tables, Block16 (&blocks)[count], const Keys &keys) {
        const Block16 start = keys.key(0);
        UNROLL for (u32 b = 0; b < count; b++) blocks[b] = swapped(blocks[b]) ^ start;
        run_rounds<0>(tables, blocks, keys);
    }
};

}  // namespace

BATCH_KERNELS(camellia, CamelliaBatch)
