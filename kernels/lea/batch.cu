// Batches of messages by LEA, each under a key of its own. The round keys, six words for each of up to 32 rounds, have no
// room in a session: it has the words that the key schedule turns from round to round, and round keys are made beside the
// rounds that take them. Nothing is looked up but constants, in the order of the rounds.
#include "../batch/entry.cuh"
#include "lea.cuh"

namespace {

// The constants of the key schedule.
DEVICE u32 delta(u32 i) {
    return i < 4 ? (i < 2 ? (i == 0 ? 0xc3efe9db : 0x44626b02) : (i == 2 ? 0x79e27c8a : 0x78df30ec))
                 : (i < 6 ? (i == 4 ? 0x715ea49e : 0xc785da0a) : (i == 6 ? 0xe04ef22a : 0xe5c40957));
}

constexpr u32 KEY_SIZES = 3, CONSTANTS = 8;  // six of eight words a round, so that they are read 16 bytes at a time

// What each round adds to the key's words that it takes, for keys of four, six and eight words, in shared memory; and the
// direction, where other ciphers have their tables.
template <bool encrypts>
struct Schedule {
    static constexpr u32 SHARED_BYTES = KEY_SIZES * LEA_MOST_ROUNDS * CONSTANTS * 4;

    const Block16 *rounds;

    DEVICE explicit Schedule(u8 *shared) : rounds(reinterpret_cast<const Block16 *>(shared)) {
        u32 *to = reinterpret_cast<u32 *>(shared);
        for (u32 n = threadIdx.x; n < SHARED_BYTES / 4; n += blockDim.x) {
            const u32 words = 4 + 2 * (n / (LEA_MOST_ROUNDS * CONSTANTS));
            const u32 i = n / CONSTANTS % LEA_MOST_ROUNDS, j = n % CONSTANTS;
            const u32 constant = delta(i % words), by = (i + j) % 32;
            to[n] = by == 0 ? constant : rotate_left(constant, by);
        }
        __syncthreads();
    }

    // Those of round `i` for keys of so many words.
    template <u32 words>
    DEVICE void constants(u32 i, u32 (&of)[CONSTANTS]) const {
        const Block16 *row = rounds + (LEA_MOST_ROUNDS * (words / 2 - 2) + i) * (CONSTANTS / 4);
        const Block16 low = row[0], high = row[1];
        of[0] = low.x, of[1] = low.y, of[2] = low.z, of[3] = low.w;
        of[4] = high.x, of[5] = high.y, of[6] = high.z, of[7] = high.w;
    }
};

// The words of a key between two rounds.
template <u32 words>
struct KeyWords {
    static constexpr u32 TAKEN = words < 6 ? words : 6;  // by a round
    static constexpr u32 ROUNDS = 16 + 2 * words;

    u32 w[words];

    // From where a session has them.
    template <class Keys>
    DEVICE explicit KeyWords(const Keys &keys) {
        const Block16 low = keys.key(0), high = keys.key(1);
        const u32 all[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
        UNROLL for (u32 i = 0; i < words; i++) w[i] = all[i];
    }

    // ANCHOR: round_key
    // The round key of round `i`, of which the compiler knows the rest modulo 4, `place`: going forwards what the words
    // become in it, and backwards what they are before that is undone.
    template <bool encrypts>
    DEVICE void round_key(const Schedule<encrypts> &schedule, u32 i, u32 place, u32 (&key)[6]) {
        constexpr u32 ROTATIONS[6] = {1, 3, 6, 11, 13, 17};
        u32 constants[CONSTANTS], taken[6] = {};
        schedule.template constants<words>(i, constants);
        UNROLL for (u32 j = 0; j < TAKEN; j++) {
            u32 &word = w[(TAKEN * place + j) % words];
            const u32 before = word;
            if (encrypts) word = rotate_left(word + constants[j], ROTATIONS[j]);
            else word = rotate_left(word, 32 - ROTATIONS[j]) - constants[j];
            taken[j] = encrypts ? word : before;
        }
        if (words == 4) taken[4] = taken[3], taken[3] = taken[5] = taken[1];
        UNROLL for (u32 j = 0; j < 6; j++) key[j] = taken[j];
    }
    // ANCHOR_END: round_key

    // The round keys of the four rounds from number `first` on, in the order of the direction.
    template <bool encrypts>
    DEVICE void four(const Schedule<encrypts> &schedule, u32 first, u32 (&keys)[4][6]) {
        UNROLL for (u32 k = 0; k < 4; k++) {
            const u32 place = encrypts ? k : 3 - k;
            round_key(schedule, first + place, place, keys[k]);
        }
    }
};

// A few blocks under a key of so many words.
template <u32 words, bool encrypts, u32 count, class Keys>
DEVICE void run_rounds(const Schedule<encrypts> &schedule, Block16 (&blocks)[count], const Keys &of_session) {
    constexpr u32 ROUNDS = KeyWords<words>::ROUNDS;
    KeyWords<words> key(of_session);
    ROLLED for (u32 i = 0; i < ROUNDS; i += 4) {
        u32 keys[4][6];
        key.four(schedule, encrypts ? i : ROUNDS - 4 - i, keys);
        UNROLL for (u32 b = 0; b < count; b++) four_rounds<encrypts>(blocks[b], keys);
    }
}

// What kernels/batch/entry.cuh wants of a cipher. The rows of a session are words of the key, before the first round of the
// direction, and how many there are.
struct LeaBatch : ExpandsFirst<LeaBatch, Schedule<true>, Schedule<false>> {
    typedef NothingShared<LeaBatch> Counters;
    typedef NothingSliced Sliced;
    static constexpr u32 KEY_ROWS = 3;

    // The words after the last round.
    template <u32 words>
    static DEVICE void to_the_end(const Encryption &schedule, Block16 (&rows)[2]) {
        struct {
            const Block16 *rows;
            DEVICE Block16 key(u32 i) const { return rows[i]; }
        } of_key = {rows};
        KeyWords<words> key(of_key);
        ROLLED for (u32 i = 0; i < key.ROUNDS; i += 4) {
            u32 keys[4][6];
            key.four(schedule, i, keys);
        }
        u32 all[8] = {};
        UNROLL for (u32 i = 0; i < words; i++) all[i] = key.w[i];
        rows[0] = make_uint4(all[0], all[1], all[2], all[3]);
        rows[1] = make_uint4(all[4], all[5], all[6], all[7]);
    }

    static DEVICE void expand_key(const Encryption &schedule, const KeyOf &key, const Session &session) {
        Block16 rows[2] = {make_uint4(key.words[0], key.words[1], key.words[2], key.words[3]),
                           make_uint4(key.words[4], key.words[5], key.words[6], key.words[7])};
        const u32 words = key.bytes / 4;
        if (is_decrypted(key.mode)) {
            if (words == 4) to_the_end<4>(schedule, rows);
            else if (words == 6) to_the_end<6>(schedule, rows);
            else to_the_end<8>(schedule, rows);
        }
        session.row(0) = rows[0];
        session.row(1) = rows[1];
        session.row(2) = make_uint4(words, 0, 0, 0);
    }

    template <bool encrypts, u32 count, class Keys>
    static DEVICE void run(const Schedule<encrypts> &schedule, Block16 (&blocks)[count], const Keys &keys) {
        const u32 words = keys.count();
        if (words == 4) run_rounds<4>(schedule, blocks, keys);
        else if (words == 6) run_rounds<6>(schedule, blocks, keys);
        else run_rounds<8>(schedule, blocks, keys);
    }
};

}  // namespace

BATCH_KERNELS(lea, LeaBatch)
