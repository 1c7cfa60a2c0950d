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

// Calls `use(i, key)` for every round key of a key of `size` words, with `passes` passes of the loop behind each other.
template <u32 size, u32 passes = 1, class Tables, class Use>
DEVICE void every_round_key(const Tables &tables, const u32 *key, Use use) {
    constexpr u32 COUNT = AT_ONCE<size>, ROUNDS = size + 6;
    u32 words[COUNT], next[COUNT], constant = 1;
    UNROLL for (u32 i = 0; i < size; i++) words[i] = key[i];
    if (size < COUNT) next_words<size>(tables, words, words + size, constant);
    UNROLL_BY(passes) for (u32 first = 0; first <= ROUNDS; first += COUNT / 4) {
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
