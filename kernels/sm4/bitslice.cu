// Bit-sliced SM4, 32 blocks a thread: see common/sliced.cuh. Constant-time: nothing is looked up. The
// rounds are those of crates/sm4/src/plan.rs.
#include "../common/entry.cuh"
#include "../common/sliced.cuh"
#include "keys.cuh"
#include "rounds.cuh"

namespace {

constexpr u32 THREADS = 256;  // for 255 registers

// Key bytes in shared memory, in the order in which the rounds take them.
constexpr u32 EXPANDED_BYTES = 4 * SM4_ROUNDS;
constexpr u32 EXPANDED_WORDS = EXPANDED_BYTES * KEY_BYTE_WORDS;
constexpr Launch ECB = {THREADS, EXPANDED_WORDS * 4, SLICED};
constexpr Launch CTR = {THREADS, EXPANDED_WORDS * 4, SLICED_CTR};

struct Bitslice {
    const u32 *keys;

    static DEVICE Bitslice of(u32 *words, const Sm4Keys &) { return {words}; }
    static DEVICE u32 words(const Sm4Keys &) { return EXPANDED_WORDS; }

    // The highest byte of a word first, as in a block.
    static DEVICE void expand(u32 *words, const Sm4Keys &keys) {
        expand_key_bytes(words, EXPANDED_BYTES,
                         [&](u32 i) { return byte_in(keys.rounds, i ^ 3); });
        __syncthreads();
    }

    DEVICE void operator()(u32 (&planes)[128]) const { sm4_rounds(planes, keys, [] {}); }
};

}  // namespace

SLICED_KERNEL(sm4_bitslice_ecb, ECB, Sm4Parameters, sliced_ecb, Bitslice)
SLICED_KERNEL(sm4_bitslice_ctr, CTR, Sm4Parameters, sliced_ctr, Bitslice)
SLICED_KERNEL(sm4_bitslice_cbc_decrypt, ECB, Sm4Parameters, sliced_cbc_decrypt, Bitslice)
SLICED_KERNEL(sm4_bitslice_cfb_decrypt, ECB, Sm4Parameters, sliced_cfb_decrypt, Bitslice)
SLICED_XTS_KERNEL(sm4_bitslice_xts, ECB, Sm4Parameters, Bitslice)
