// Batches of messages by ARIA, each under a key of its own: key schedules (RFC 5794, section 2.2), and every
// mode, by four tables in every bank.
#include "../batch/entry.cuh"
#include "aria.cuh"

namespace {

typedef ConflictFreeFour<AriaBoxes> Tables;

// The rows of a session: round keys, of ARIA-256 most, then how many rounds there are.
constexpr u32 ROUNDS_ROW = MAX_ROUNDS + 1;

template <bool is_odd, u32 count>
DEVICE void full_rounds(const Tables &tables, Block16 (&states)[count], Block16 key) {
    UNROLL for (u32 b = 0; b < count; b++) states[b] = full_round<is_odd>(tables, states[b], key);
}

// The rounds after number `done`, which is even as the number of all is, of a few blocks at once. Keys
// between rounds are folded: they are added before the diffusion.
template <u32 done, u32 count, class Keys>
DEVICE void run_rounds(const Tables &tables, Block16 (&states)[count], const Keys &keys) {
    const u32 rounds = keys.count();
    full_rounds<true>(tables, states, keys.key(done + 1));
    ROLLED for (u32 i = done + 2; i < rounds; i += 2) {
        full_rounds<false>(tables, states, keys.key(i));
        full_rounds<true>(tables, states, keys.key(i + 1));
    }
    const Block16 key = keys.key(rounds);
    UNROLL for (u32 b = 0; b < count; b++) {
        const Block16 s = states[b];
        states[b] = key ^ make_uint4(last_word(tables, s.x), last_word(tables, s.y),
                                     last_word(tables, s.z), last_word(tables, s.w));
    }
}

// ANCHOR: last_byte_rounds
// The first two rounds of counters that differ in byte 15 alone: one byte of round 1's input and, through
// the diffusion, seven of round 2's, two in each word but the last, which has one. Eight look-ups of 32
// are left.
struct LastByteRounds {
    u32 word1;      // of round 1's last input word, byte 15 still to be added
    Block16 input;  // of round 2, less what that byte's S-box output adds
    Block16 sums;   // of round 2, the look-ups of the bytes that do not change, and the key

    // The bytes of every word that the S-box output goes to.
    static constexpr u32 X = 0x00ffff00, Y = 0x0000ffff, Z = 0x00ff00ff, W = 0xff000000;

    // `counter` has zero in byte 15.
    template <class Keys>
    DEVICE LastByteRounds(const Tables &tables, Block16 counter, Keys &keys) {
        const Block16 s = counter ^ keys.key(0), key = keys.key(2);
        word1 = s.w;
        input = with_output(full_round<true>(tables, s, keys.key(1)), substituted(tables, 0));
        sums.x = xor3(tables.look_up<2>(input.x, 0), tables.look_up<1>(input.x, 3), key.x);
        sums.y = xor3(tables.look_up<0>(input.y, 2), tables.look_up<1>(input.y, 3), key.y);
        sums.z = xor3(tables.look_up<3>(input.z, 1), tables.look_up<1>(input.z, 3), key.z);
        sums.w = xor3(tables.look_up<2>(input.w, 0), tables.look_up<3>(input.w, 1),
                      tables.look_up<0>(input.w, 2)) ^ key.w;
    }

    // The S-box output of byte 15, in every byte.
    DEVICE u32 substituted(const Tables &tables, u32 number) const {
        return __byte_perm(tables.look_up<3>(word1 ^ number << 24, 3), 0, 0);
    }

    static DEVICE Block16 with_output(Block16 s, u32 output) {
        return s ^ make_uint4(output & X, output & Y, output & Z, output & W);
    }

    // The state after round 2 of the counter whose byte 15 is the lowest of `number`.
    DEVICE Block16 state(const Tables &tables, u32 number) const {
        const Block16 s = with_output(input, substituted(tables, number));
        return diffuse<false>(make_uint4(
            xor3(sums.x, tables.look_up<3>(s.x, 1), tables.look_up<0>(s.x, 2)),
            xor3(sums.y, tables.look_up<2>(s.y, 0), tables.look_up<3>(s.y, 1)),
            xor3(sums.z, tables.look_up<2>(s.z, 0), tables.look_up<0>(s.z, 2)),
            sums.w ^ tables.look_up<1>(s.w, 3)));
    }

    // From there to the end, of a few blocks at once.
    template <u32 count, class Keys>
    static DEVICE void finish(const Tables &tables, Block16 (&states)[count], Keys &keys) {
        run_rounds<2>(tables, states, keys);
    }
};
// ANCHOR_END: last_byte_rounds

// C1 to C3, digits of the inverse of pi, as they lie in memory.
DEVICE Block16 schedule_constant(u32 i) {
    return i % 3 == 0   ? make_uint4(0xb7c17c51, 0x940a2227, 0xe8ab13fe, 0xe06e9afa)
           : i % 3 == 1 ? make_uint4(0xcc4ab16d, 0x20c8219e, 0xd5b128ff, 0xb0e25def)
                        : make_uint4(0x1d3792db, 0x70e92621, 0x75972403, 0x0ec9e804);
}

// W0 to W3, as words that have the first byte on top.
DEVICE void source_words(const Tables &tables, const KeyOf &key, Block16 (&words)[4]) {
    const Block16 left = make_uint4(key.words[0], key.words[1], key.words[2], key.words[3]);
    const Block16 right = make_uint4(key.words[4], key.words[5], key.words[6], key.words[7]);
    const u32 first = key.bytes / 8 - 2;
    const Block16 none = {};
    const Block16 w1 =
        full_round<true>(tables, left ^ schedule_constant(first), none) ^ right;
    const Block16 w2 = full_round<false>(tables, w1 ^ schedule_constant(first + 1), none) ^ left;
    const Block16 w3 = full_round<true>(tables, w2 ^ schedule_constant(first + 2), none) ^ w1;
    words[0] = swapped(left), words[1] = swapped(w1), words[2] = swapped(w2), words[3] = swapped(w3);
}

// ANCHOR: folded_key
// Every byte of a word becomes the sum of the other three: the part of the diffusion that `diffuse` leaves
// to the tables.
DEVICE u32 sum_of_others(u32 word) {
    return rotate_left(word, 8) ^ rotate_left(word, 16) ^ rotate_left(word, 24);
}

// A round key as it is added before `diffuse`, not behind it: that function of it, which is its own
// inverse. Keys of decryption have been through the whole diffusion, the sums inside words and `diffuse`,
// so that the sums alone are left, rotated by two bytes as the words of even rounds are.
template <bool is_odd>
DEVICE Block16 folded(Block16 key, bool is_inverse) {
    if (!is_inverse) return diffuse<is_odd>(key);
    key = make_uint4(sum_of_others(key.x), sum_of_others(key.y), sum_of_others(key.z),
                     sum_of_others(key.w));
    if (is_odd) return key;
    return make_uint4(rotate_left(key.x, 16), rotate_left(key.y, 16), rotate_left(key.z, 16),
                      rotate_left(key.w, 16));
}
// ANCHOR_END: folded_key

// What kernels/batch/entry.cuh wants of a cipher.
struct AriaBatch : ExpandsFirst<AriaBatch, Tables> {
    typedef LastByteRounds Counters;
    typedef NothingSliced Sliced;
    static constexpr u32 KEY_ROWS = ROUNDS_ROW + 1;

    static DEVICE void expand_key(const Tables &tables, const KeyOf &key, const Session &session) {
        // Of ek1 to ek4, ek5 to ek8 and so on.
        constexpr u32 ROTATIONS[5] = {128 - 19, 128 - 31, 61, 31, 19};
        const u32 rounds = key.bytes / 4 + 8;
        const bool is_inverse = is_decrypted(key.mode);
        Block16 words[4];
        source_words(tables, key, words);
        session.row(ROUNDS_ROW) = make_uint4(rounds, 0, 0, 0);
        UNROLL for (u32 i = 0; i <= MAX_ROUNDS; i++) {
            if (i > rounds) continue;
            Block16 round_key =
                swapped(words[i % 4] ^ rotated_left(words[(i + 1) % 4], ROTATIONS[i / 4]));
            // Backwards it is as odd: the number of rounds is even.
            if (i > 0 && i < rounds) {
                round_key = i % 2 == 1 ? folded<true>(round_key, is_inverse)
                                       : folded<false>(round_key, is_inverse);
            }
            session.row(is_inverse ? rounds - i : i) = round_key;
        }
    }

    template <u32 count, class Keys>
    static DEVICE void run(const Tables &tables, Block16 (&states)[count], const Keys &keys) {
        const Block16 whitening = keys.key(0);
        UNROLL for (u32 b = 0; b < count; b++) states[b] = states[b] ^ whitening;
        run_rounds<0>(tables, states, keys);
    }
};

}  // namespace

BATCH_KERNELS(aria, AriaBatch)
