// Bit-sliced DES and triple DES, 32 blocks a thread: see common/sliced.cuh. Constant-time:
// nothing is looked up.
//
// The permutations and E are names. A round key costs almost nothing: a half is kept with the key
// of its next use already added, since the XOR of f into it has a third operand to spare. Half the
// bits are used by two S-boxes; the second of them adds what its key bit differs by:
//
//   bit of a half    4s    4s + 1   4s + 2   4s + 3
//   first use        S-box s, inputs 1 to 4 (from the left, counted from 0)
//   second use       S-box s - 1, input 5; for 4s + 3 S-box s + 1, input 0
#include "../common/entry.cuh"
#include "../common/sliced.cuh"
#include "keys.cuh"
#include "linear.cuh"
#include "sbox.cuh"

namespace {

constexpr u32 THREADS = 384;  // for 168 registers

// Bit b of a half of 32 blocks in word b, numbered from 0 as the standard does from 1, on the left.
typedef u32 Half[32];

// ANCHOR: key_words
// The key words of a round in shared memory, every bit expanded to a word full of it, for S-box s
// in words 8s .. 8s + 7:
//
//   0 .. 3   for output i: what the half that f is added to changes its key by
//   4, 5     for inputs 0 and 5: what the key of the second use differs by
//   6, 7     the factors of `add_key` for the same two inputs
constexpr u32 BOX_WORDS = 8;
constexpr u32 ROUND_WORDS = 8 * BOX_WORDS;
// After all rounds: for every pass, and once more for the end, what the right half changes its key
// by when the halves have been exchanged.
constexpr u32 EXCHANGE_WORDS = 32;
// ANCHOR_END: key_words

DEVICE constexpr u32 key_words(u32 passes) {
    return passes * DES_ROUNDS * ROUND_WORDS + (passes + 1) * EXCHANGE_WORDS;
}

constexpr Launch ECB = {THREADS, key_words(MAX_PASSES) * 4, SLICED};
constexpr Launch CTR = {THREADS, key_words(MAX_PASSES) * 4, SLICED_CTR};

// Key bit of input `input` of S-box `box`, in round `round` of all.
DEVICE u32 key_bit(const DesKeys &keys, u32 round, u32 box, u32 input) {
    const RoundKey key = keys.rounds[round];
    const u32 word = box % 2 == 1 ? key.even : key.odd;
    const u32 byte = box % 2 == 1 ? (7 - box) / 2 : (8 - box) / 2 % 4;
    return word >> (8 * byte + 5 - input) & 1;
}

// The key bit of the first use of bit `bit` of a half, or zero where `round` is outside its pass:
// the halves enter a pass and leave it without a key.
DEVICE u32 first_use(const DesKeys &keys, u32 pass, int round, u32 bit) {
    if (round < 0 || round >= int(DES_ROUNDS) || pass >= keys.passes) return 0;
    return key_bit(keys, pass * DES_ROUNDS + round, bit / 4, bit % 4 + 1);
}

// What word `i` of round `round` in pass `pass` is made of.
DEVICE u32 round_word(const DesKeys &keys, u32 pass, int round, u32 i) {
    const u32 box = i / BOX_WORDS, item = i % BOX_WORDS;
    if (item < 4) {
        const u32 bit = after_p(4 * box + 3 - item);
        return 0 - (first_use(keys, pass, round - 1, bit) ^ first_use(keys, pass, round + 1, bit));
    }
    const u32 input = item % 2 == 0 ? 0 : 5;
    const u32 bit = (4 * box + (input == 0 ? 31 : 4)) % 32;
    const u32 differs = key_bit(keys, pass * DES_ROUNDS + round, box, input) ^
                        first_use(keys, pass, round, bit);
    return item < 6 ? 0 - differs : key_factor(0 - differs);
}

DEVICE void expand_keys(u32 *words, const DesKeys &keys) {
    const u32 rounds = keys.passes * DES_ROUNDS;
    for (u32 i = threadIdx.x; i < key_words(keys.passes); i += blockDim.x) {
        const u32 round = i / ROUND_WORDS;
        if (round < rounds) {
            words[i] = round_word(keys, round / DES_ROUNDS, round % DES_ROUNDS, i % ROUND_WORDS);
        } else {
            const u32 rest = i - rounds * ROUND_WORDS;
            const u32 pass = rest / EXCHANGE_WORDS, bit = rest % EXCHANGE_WORDS;
            words[i] = 0 - (first_use(keys, pass - 1, DES_ROUNDS - 1, bit) ^
                            first_use(keys, pass, 0, bit));
        }
    }
    __syncthreads();
}

template <u32 box>
DEVICE void sbox(const u32 (&x)[6], u32 (&s)[4]) {
    if (box == 0) des_sbox1(x, s);
    if (box == 1) des_sbox2(x, s);
    if (box == 2) des_sbox3(x, s);
    if (box == 3) des_sbox4(x, s);
    if (box == 4) des_sbox5(x, s);
    if (box == 5) des_sbox6(x, s);
    if (box == 6) des_sbox7(x, s);
    if (box == 7) des_sbox8(x, s);
}

// ANCHOR: box
// S-box `box` of a round: reads six bits of `right`, changes four of `left`.
template <u32 box>
DEVICE void add_box(Half &left, const Half &right, const Block16 *keys) {
    const Block16 change = keys[2 * box], second = keys[2 * box + 1];
    const u32 x[6] = {add_key(right[before_e(box, 5)], second.y, second.w),
                      right[before_e(box, 4)],
                      right[before_e(box, 3)],
                      right[before_e(box, 2)],
                      right[before_e(box, 1)],
                      add_key(right[before_e(box, 0)], second.x, second.z)};
    u32 s[4];
    sbox<box>(x, s);
    const u32 changes[4] = {change.x, change.y, change.z, change.w};
    UNROLL for (u32 i = 0; i < 4; i++) {
        u32 &bit = left[after_p(4 * box + 3 - i)];
        bit = xor3(bit, s[i], changes[i]);
    }
}
// ANCHOR_END: box

DEVICE void add_f(Half &left, const Half &right, const u32 *words) {
    const Block16 *keys = reinterpret_cast<const Block16 *>(words);
    add_box<0>(left, right, keys);
    add_box<1>(left, right, keys);
    add_box<2>(left, right, keys);
    add_box<3>(left, right, keys);
    add_box<4>(left, right, keys);
    add_box<5>(left, right, keys);
    add_box<6>(left, right, keys);
    add_box<7>(left, right, keys);
}

DEVICE void exchange_halves(Half &left, Half &right, const u32 *changes) {
    UNROLL for (u32 b = 0; b < 32; b++) {
        const u32 exchanged = left[b] ^ changes[b];
        left[b] = right[b];
        right[b] = exchanged;
    }
}

// The plane of bit `b` of the left (0) or right (1) half after the initial permutation. IP takes
// the columns of the block's 8x8 bits, the even ones (counted from 1) for the left half, each from
// the last byte to the first; bit 1 of a byte is its most significant.
DEVICE constexpr u32 plane_of(u32 half, u32 b) {
    const u32 byte = 7 - b % 8, column = 2 * (b / 8) + 1 - half;
    return 8 * byte + 7 - column;
}

struct Bitslice {
    const u32 *expanded;
    u32 passes;

    static DEVICE Bitslice of(u32 *words, const DesKeys &keys) { return {words, keys.passes}; }
    static DEVICE u32 words(const DesKeys &keys) { return key_words(keys.passes); }

    DEVICE void operator()(u32 (&planes)[64]) const {
        Half left, right;
        const u32 *changes = expanded + passes * DES_ROUNDS * ROUND_WORDS;
        UNROLL for (u32 b = 0; b < 32; b++) {
            left[b] = planes[plane_of(0, b)];
            right[b] = planes[plane_of(1, b)] ^ changes[b];
        }
        ROLLED for (u32 pass = 0; pass < passes; pass++) {
            changes += EXCHANGE_WORDS;
            ROLLED for (u32 i = 0; i < DES_ROUNDS; i += 2) {
                const u32 *keys = expanded + (pass * DES_ROUNDS + i) * ROUND_WORDS;
                add_f(left, right, keys);
                add_f(right, left, keys + ROUND_WORDS);
            }
            exchange_halves(left, right, changes);
        }
        UNROLL for (u32 b = 0; b < 32; b++) {
            planes[plane_of(0, b)] = left[b];
            planes[plane_of(1, b)] = right[b];
        }
    }
};

}  // namespace

SLICED_KERNEL(des_bitslice_ecb, ECB, DesParameters, sliced_ecb, Bitslice)
SLICED_KERNEL(des_bitslice_ctr, CTR, DesParameters, sliced_ctr, Bitslice)
SLICED_KERNEL(des_bitslice_cbc_decrypt, ECB, DesParameters, sliced_cbc_decrypt, Bitslice)
SLICED_KERNEL(des_bitslice_cfb_decrypt, ECB, DesParameters, sliced_cfb_decrypt, Bitslice)
