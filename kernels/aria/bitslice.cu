// Bit-sliced ARIA, 32 blocks a thread: see common/sliced.cuh. Constant-time: nothing is looked up.
// The rounds are those of crates/aria/src/plan.rs.
#include "../common/entry.cuh"
#include "../common/sliced.cuh"
#include "keys.cuh"
#include "rounds.cuh"

namespace {

constexpr u32 THREADS = 256;  // for 255 registers

constexpr u32 BYTES = 16;
constexpr u32 MAX_KEYS = MAX_ROUNDS + 1;
constexpr u32 EXPANDED_WORDS = MAX_KEYS * BYTES * KEY_BYTE_WORDS;
constexpr Launch ECB = {THREADS, EXPANDED_WORDS * 4, SLICED};
constexpr Launch CTR = {THREADS, EXPANDED_WORDS * 4, SLICED_CTR};

// Even rounds but the last are odd ones on exchanged bytes, and their keys, 1 and so on, are exchanged.
DEVICE u32 key_byte(const AriaKeys &keys, u32 i, u32 byte) {
    const Block16 &key = i == 0 ? keys.first : i == keys.rounds ? keys.last : keys.middle[i - 1];
    const bool is_exchanged = i % 2 == 1 && i + 1 < keys.rounds;
    const u32 words[4] = {key.x, key.y, key.z, key.w};
    return byte_in(words, is_exchanged ? byte ^ 2 : byte);
}

// The warps of a thread block go through the rounds `together`, all as often, but in XTS, where that
// would take registers which are not there. A round is 25 KB of code, more than the caches near the
// pipes hold: warps that go through it together fetch it once.
template <bool together>
struct Bitslice {
    const u32 *keys;
    u32 rounds;

    static DEVICE Bitslice of(u32 *words, const AriaKeys &keys) { return {words, keys.rounds}; }
    static DEVICE u32 words(const AriaKeys &) { return EXPANDED_WORDS; }

    static DEVICE void expand(u32 *words, const AriaKeys &keys) {
        expand_key_bytes(words, (keys.rounds + 1) * BYTES,
                         [&](u32 i) { return key_byte(keys, i / BYTES, i % BYTES); });
        __syncthreads();
    }

    DEVICE void operator()(u32 (&planes)[128]) const {
        aria_rounds(planes, keys, rounds - 2, [] {
            if (together) __syncthreads();
        });
    }
};

}  // namespace

SLICED_KERNEL(aria_bitslice_ecb, ECB, AriaParameters, sliced_ecb, Bitslice<true>)
SLICED_KERNEL(aria_bitslice_ctr, CTR, AriaParameters, sliced_ctr, Bitslice<true>)
SLICED_KERNEL(aria_bitslice_cbc_decrypt, ECB, AriaParameters, sliced_cbc_decrypt, Bitslice<true>)
SLICED_KERNEL(aria_bitslice_cfb_decrypt, ECB, AriaParameters, sliced_cfb_decrypt, Bitslice<true>)
SLICED_XTS_KERNEL(aria_bitslice_xts, ECB, AriaParameters, Bitslice<false>)
