// Bit-sliced HIGHT, 32 blocks a thread: see common/sliced.cuh. Constant-time: nothing is looked
// up. The rounds are those of crates/hight/src/plan.rs: sixty-four registers hold the state.
#include "../common/entry.cuh"
#include "../common/sliced.cuh"
#include "keys.cuh"
#include "rounds.cuh"

namespace {

constexpr u32 THREADS = 384;  // for 168 registers
constexpr u32 EXPANDED_WORDS = KEY_WORDS * 4 * KEY_BYTE_WORDS;
constexpr Launch ECB = {THREADS, EXPANDED_WORDS * 4, SLICED};
constexpr Launch CTR = {THREADS, EXPANDED_WORDS * 4, SLICED_CTR};

// The planes of blocks that have P0 first, for those that have P7 first, and back, `times` times. As a
// loop of one pass or none it costs nothing where there is none; an `if` becomes 64 selections.
DEVICE void reverse_bytes(u32 (&state)[64], u32 times) {
    ROLLED for (; times > 0; times--) {
        UNROLL for (u32 i = 0; i < 32; i++) {
            const u32 j = 8 * (7 - i / 8) + i % 8;
            const u32 plane = state[i];
            state[i] = state[j];
            state[j] = plane;
        }
    }
}

template <bool encrypts>
struct Bitslice {
    const u32 *keys;
    u32 reversals;  // of the blocks, before and after: one or none

    static DEVICE Bitslice of(u32 *words, const HightKeys &keys) {
        return {words, u32(keys.is_reversed != 0)};
    }
    static DEVICE u32 words(const HightKeys &) { return EXPANDED_WORDS; }

    // Words of keys in the order in which the direction takes them: whitening, rounds, whitening.
    static DEVICE void expand(u32 *words, const HightKeys &keys) {
        expand_key_bytes(words, KEY_WORDS * 4, [&](u32 i) {
            const u32 place = encrypts ? i / 4 : KEY_WORDS - 1 - i / 4;
            const u32 word = place == 0 ? WHITENING
                           : place == KEY_WORDS - 1 ? WHITENING + 1 : place - 1;
            return keys.bytes[word][i % 4];
        });
        __syncthreads();
    }

    DEVICE void operator()(u32 (&planes)[64]) const {
        reverse_bytes(planes, reversals);
        if (encrypts) hight_encrypt(planes, keys, [] {});
        else hight_decrypt(planes, keys, [] {});
        reverse_bytes(planes, reversals);
    }
};

}  // namespace

SLICED_KERNEL(hight_bitslice_ecb_encrypt, ECB, HightParameters, sliced_ecb, Bitslice<true>)
SLICED_KERNEL(hight_bitslice_ecb_decrypt, ECB, HightParameters, sliced_ecb, Bitslice<false>)
SLICED_KERNEL(hight_bitslice_ctr, CTR, HightParameters, sliced_ctr, Bitslice<true>)
SLICED_KERNEL(hight_bitslice_cbc_decrypt, ECB, HightParameters, sliced_cbc_decrypt, Bitslice<false>)
SLICED_KERNEL(hight_bitslice_cfb_decrypt, ECB, HightParameters, sliced_cfb_decrypt, Bitslice<true>)
