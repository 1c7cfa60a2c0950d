// Bit-sliced DES and triple DES, 32 blocks a thread: see common/sliced.cuh. Constant-time:
// nothing is looked up. The rounds are those of crates/des/src/plan.rs.
//
// A half is kept with the key of its next use already added, since the XOR of f into it has a third
// operand to spare. Half the bits are used by two S-boxes; the second of them adds what its key bit
// differs by:
//
//   bit of a half    4s    4s + 1   4s + 2   4s + 3
//   first use        S-box s, inputs 1 to 4 (from the left, counted from 0)
//   second use       S-box s - 1, input 5; for 4s + 3 S-box s + 1, input 0
#include "../common/entry.cuh"
#include "../common/sliced.cuh"
#include "keys.cuh"
#include "rounds.cuh"

namespace {

constexpr u32 THREADS = 384;  // for 168 registers

// ANCHOR: key_planes
// The key planes in the order in which the rounds take them.
//
// A pass begins with 32 for the half that its first round reads: what its key changes by. A round has
// 32 for the half that f is added to, and two for every S-box: what the keys of the second uses, of
// inputs 0 and 5, differ by. In the end there are 32 more for a half.
constexpr u32 HALF_PLANES = 32;
constexpr u32 ROUND_PLANES = HALF_PLANES + 16;
constexpr u32 PASS_PLANES = HALF_PLANES + DES_ROUNDS * ROUND_PLANES;
// ANCHOR_END: key_planes

DEVICE constexpr u32 key_planes(u32 passes) { return passes * PASS_PLANES + HALF_PLANES; }

constexpr u32 EXPANDED_BYTES = key_planes(MAX_PASSES) * PLANE_WORDS * 4;
constexpr Launch ECB = {THREADS, EXPANDED_BYTES, SLICED};
constexpr Launch CTR = {THREADS, EXPANDED_BYTES, SLICED_CTR};

// Key bit of input `input` of S-box `box`, in round `round` of all.
DEVICE u32 key_bit(const DesKeys &keys, u32 round, u32 box, u32 input) {
    const RoundKey key = keys.rounds[round];
    const u32 word = box % 2 == 1 ? key.even : key.odd;
    const u32 byte = box % 2 == 1 ? (7 - box) / 2 : (8 - box) / 2 % 4;
    return word >> (8 * byte + 5 - input) & 1;
}

// The key bit of the first use of bit `bit` of a half, or zero where `round` is outside its pass:
// the halves enter a pass and leave it without a key.
DEVICE u32 first_use(const DesKeys &keys, u32 pass, u32 round, u32 bit) {
    if (round >= DES_ROUNDS || pass >= keys.passes) return 0;
    return key_bit(keys, pass * DES_ROUNDS + round, bit / 4, bit % 4 + 1);
}

// The bit of a half that is its plane `i`.
DEVICE u32 bit_of(u32 i) { return 8 * (3 - i % 4) + 7 - i / 4; }

// Key plane `i` of all passes.
DEVICE u32 key_plane(const DesKeys &keys, u32 i) {
    const u32 pass = i / PASS_PLANES, place = i % PASS_PLANES;
    if (place < HALF_PLANES) {
        const u32 bit = bit_of(place);
        return first_use(keys, pass - 1, DES_ROUNDS - 1, bit) ^ first_use(keys, pass, 0, bit);
    }
    const u32 round = (place - HALF_PLANES) / ROUND_PLANES;
    const u32 item = (place - HALF_PLANES) % ROUND_PLANES;
    if (item < HALF_PLANES) {
        const u32 bit = bit_of(item);
        return first_use(keys, pass, round - 1, bit) ^ first_use(keys, pass, round + 1, bit);
    }
    const u32 box = (item - HALF_PLANES) / 2, input = item % 2 == 0 ? 0 : 5;
    const u32 bit = (4 * box + (input == 0 ? 31 : 4)) % 32;
    return key_bit(keys, pass * DES_ROUNDS + round, box, input) ^
           first_use(keys, pass, round, bit);
}

struct Bitslice {
    const u32 *keys;
    u32 passes;

    static DEVICE Bitslice of(u32 *words, const DesKeys &keys) { return {words, keys.passes}; }
    static DEVICE u32 words(const DesKeys &keys) { return key_planes(keys.passes) * PLANE_WORDS; }

    static DEVICE void expand(u32 *words, const DesKeys &keys) {
        expand_key_planes(words, key_planes(keys.passes),
                          [&](u32 i) { return 0 - key_plane(keys, i); });
        __syncthreads();
    }

    DEVICE void operator()(u32 (&planes)[64]) const { des_rounds(planes, keys, passes, [] {}); }
};

}  // namespace

SLICED_KERNEL(des_bitslice_ecb, ECB, DesParameters, sliced_ecb, Bitslice)
SLICED_KERNEL(des_bitslice_ctr, CTR, DesParameters, sliced_ctr, Bitslice)
SLICED_KERNEL(des_bitslice_cbc_decrypt, ECB, DesParameters, sliced_cbc_decrypt, Bitslice)
SLICED_KERNEL(des_bitslice_cfb_decrypt, ECB, DesParameters, sliced_cfb_decrypt, Bitslice)
