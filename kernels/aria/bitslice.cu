// Bit-sliced ARIA, 32 blocks a thread: see common/sliced.cuh. Constant-time: nothing is looked up.
//
// Odd rounds take the S-boxes S1, S2, S1^-1, S2^-1 in the bytes of a word, even rounds begin with the
// third. Here a round ends by exchanging byte j of every word with byte j + 2; the diffusion commutes
// with that. So all rounds take the same S-boxes in the same places, and the exchange is a choice of
// names. The number of rounds is even, the last has no exchange, and so the ciphertext comes out
// exchanged.
#include "../common/entry.cuh"
#include "../common/key_planes.cuh"
#include "../common/sliced.cuh"
#include "keys.cuh"
#include "linear.cuh"
#include "sbox.cuh"

namespace {

constexpr u32 THREADS = 256;  // for 255 registers

constexpr u32 BYTES = 16;
constexpr u32 MAX_KEYS = MAX_ROUNDS + 1;
constexpr u32 EXPANDED_WORDS = MAX_KEYS * BYTES * KEY_BYTE_WORDS;
constexpr Launch ECB = {THREADS, EXPANDED_WORDS * 4, SLICED};
constexpr Launch CTR = {THREADS, EXPANDED_WORDS * 4, SLICED_CTR};

// Sixteen bytes of 32 blocks: bit b of byte j in word 8j + b.
typedef u32 State[128];

// Round key `i` as the kernel adds it: the odd ones, added to an exchanged state, exchanged.
DEVICE u32 key_byte(const AriaKeys &keys, u32 i, u32 byte) {
    const Block16 &key = i == 0 ? keys.first : i == keys.rounds ? keys.last : keys.middle[i - 1];
    const bool is_exchanged = i == keys.rounds || i % 2 == 1;
    const u32 words[4] = {key.x, key.y, key.z, key.w};
    return byte_in(words, is_exchanged ? byte ^ 2 : byte);
}

DEVICE void expand_keys(u32 *words, const AriaKeys &keys) {
    expand_key_bytes(words, (keys.rounds + 1) * BYTES,
                     [&](u32 i) { return key_byte(keys, i / BYTES, i % BYTES); });
    __syncthreads();
}

DEVICE void add_round_key(State &x, const u32 *keys) {
    UNROLL for (u32 j = 0; j < BYTES; j++) {
        const KeyByte key(keys + j * KEY_BYTE_WORDS);
        UNROLL for (u32 b = 0; b < 8; b++) x[8 * j + b] = key.add(x[8 * j + b], b);
    }
}

DEVICE void substitute(State &x) {
    UNROLL for (u32 j = 0; j < BYTES; j++) {
        u32(&byte)[8] = reinterpret_cast<u32(&)[8]>(x[8 * j]);
        if (j % 4 == 0) aria_sbox1(byte);
        if (j % 4 == 1) aria_sbox2(byte);
        if (j % 4 == 2) aria_inv_sbox1(byte);
        if (j % 4 == 3) aria_inv_sbox2(byte);
    }
}

// ANCHOR: diffuse
// The diffusion on bit `b` of all bytes, then the exchange.
DEVICE void diffuse(State &x, u32 b) {
    u32 bits[BYTES];
    UNROLL for (u32 j = 0; j < BYTES; j++) bits[j] = x[8 * j + b];
    aria_diffuse(bits);
    UNROLL for (u32 j = 0; j < BYTES; j++) x[8 * (j ^ 2) + b] = bits[j];
}
// ANCHOR_END: diffuse

// The warps of a thread block go through the rounds `together`, all as often, but in XTS, where that
// would take registers which are not there.
template <bool together>
struct Bitslice {
    const u32 *keys;
    u32 rounds;

    static DEVICE Bitslice of(u32 *words, const AriaKeys &keys) { return {words, keys.rounds}; }
    static DEVICE u32 words(const AriaKeys &) { return EXPANDED_WORDS; }

    DEVICE void operator()(State &x) const {
        add_round_key(x, keys);
        ROLLED for (u32 i = 1; i < rounds; i++) {
            substitute(x);
            UNROLL for (u32 b = 0; b < 8; b++) diffuse(x, b);
            // A round is 25 KB of code, more than the caches near the pipes hold: warps that go through
            // it together fetch it once.
            if (together) __syncthreads();
            add_round_key(x, keys + i * BYTES * KEY_BYTE_WORDS);
        }
        substitute(x);
        add_round_key(x, keys + rounds * BYTES * KEY_BYTE_WORDS);
        UNROLL for (u32 i = 0; i < 128; i++) {
            const u32 j = i ^ 16;  // bytes j and j ^ 2
            if (i < j) {
                const u32 exchanged = x[i];
                x[i] = x[j];
                x[j] = exchanged;
            }
        }
    }
};

}  // namespace

SLICED_KERNEL(aria_bitslice_ecb, ECB, AriaParameters, sliced_ecb, Bitslice<true>)
SLICED_KERNEL(aria_bitslice_ctr, CTR, AriaParameters, sliced_ctr, Bitslice<true>)
SLICED_KERNEL(aria_bitslice_cbc_decrypt, ECB, AriaParameters, sliced_cbc_decrypt, Bitslice<true>)
SLICED_KERNEL(aria_bitslice_cfb_decrypt, ECB, AriaParameters, sliced_cfb_decrypt, Bitslice<true>)
SLICED_XTS_KERNEL(aria_bitslice_xts, ECB, AriaParameters, Bitslice<false>)
