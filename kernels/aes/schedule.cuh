// The key schedule of AES (FIPS 197, 5.2) on the device, by look-ups.
#pragma once
#include "aes.cuh"

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

// ANCHOR: running_keys
// Round keys of a key of `size` words, made one after the other as they are taken: as many at once as are whole steps of the
// key schedule.
template <u32 size>
struct RunningKeys {
    static constexpr u32 WORDS = AT_ONCE<size>, KEYS = WORDS / 4, ROUNDS = size + 6;

    u32 words[WORDS];
    u32 constant;

    template <class Tables>
    DEVICE RunningKeys(const Tables &tables, const u32 *key) : constant(1) {
        UNROLL for (u32 i = 0; i < size; i++) words[i] = key[i];
        if (size < WORDS) next_words<size>(tables, words, words + size, constant);
    }

    // Calls `use(i, key)` for keys `first` to `last`, where those before have been taken, with `passes` passes of the
    // loop behind each other.
    template <u32 first, u32 last, u32 passes = 1, class Tables, class Use>
    DEVICE void take(const Tables &tables, Use use) {
        constexpr u32 START = (first + KEYS - 1) / KEYS * KEYS;
        UNROLL for (u32 i = first; i != START; i++) use(i, key(i % KEYS));
        if (first != START) advance(tables);
        UNROLL_BY(passes) for (u32 start = START; start <= last; start += KEYS) {
            UNROLL for (u32 i = 0; i < KEYS; i++) {
                if (start + i <= last) use(start + i, key(i));
            }
            if (last == ROUNDS || start + KEYS <= last + 1) advance(tables);
        }
    }

   private:
    DEVICE Block16 key(u32 i) const {
        return make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
    }

    template <class Tables>
    DEVICE void advance(const Tables &tables) {
        u32 next[WORDS];
        UNROLL for (u32 i = 0; i < WORDS; i += size) {
            next_words<size>(tables, i == 0 ? words + WORDS - size : next, next + i, constant);
        }
        UNROLL for (u32 i = 0; i < WORDS; i++) words[i] = next[i];
    }
};
// ANCHOR_END: running_keys

// Calls `use(i, key)` for every round key of a key of `size` words, with `passes` passes of the loop behind each other.
template <u32 size, u32 passes = 1, class Tables, class Use>
DEVICE void every_round_key(const Tables &tables, const u32 *key, Use use) {
    RunningKeys<size> keys(tables, key);
    keys.template take<0, RunningKeys<size>::ROUNDS, passes>(tables, use);
}

// Round `i` of encryption on blocks side by side, of `rounds`; round 0 adds the first key alone.
template <class Tables, u32 count>
DEVICE void add_round(const Tables &tables, Block16 (&blocks)[count], u32 i, u32 rounds, Block16 key) {
    UNROLL for (u32 b = 0; b < count; b++) {
        blocks[b] = i == 0 ? blocks[b] ^ key
                    : i < rounds ? full_round(tables, blocks[b], key)
                                 : last_round(tables, blocks[b], key);
    }
}

// InvMixColumns of a column: a byte times 14, 11, 13 and 9 in turn.
DEVICE u32 doubled(u32 word) { return (word & 0x7f7f7f7f) << 1 ^ (word >> 7 & 0x01010101) * 0x1b; }
DEVICE u32 unmixed(u32 word) {
    const u32 two = doubled(word), four = doubled(two), eight = doubled(four);
    const u32 nine = eight ^ word;
    return eight ^ four ^ two ^ rotate_left(nine ^ two, 24) ^ rotate_left(nine ^ four, 16) ^
           rotate_left(nine, 8);
}
