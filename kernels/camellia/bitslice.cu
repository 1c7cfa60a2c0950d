// Bit-sliced Camellia, 32 blocks a thread: see common/sliced.cuh. Constant-time: nothing is looked
// up. The rounds are those of crates/camellia/src/plan.rs.
#include "../common/entry.cuh"
#include "../common/sliced.cuh"
#include "keys.cuh"
#include "rounds.cuh"

namespace {

constexpr u32 THREADS = 256;  // for 255 registers

// Key bytes in shared memory, in the order in which the rounds take them: 16 for the start, 8 a round,
// 16 for an FL layer between two groups of rounds, and 16 for the end.
constexpr u32 START_BYTES = 16;
constexpr u32 GROUP_BYTES = 8 * GROUP_ROUNDS;
constexpr u32 STRIDE = GROUP_BYTES + 16;
constexpr u32 EXPANDED_WORDS = (START_BYTES + MAX_GROUPS * STRIDE) * KEY_BYTE_WORDS;
constexpr Launch ECB = {THREADS, EXPANDED_WORDS * 4, SLICED};
constexpr Launch CTR = {THREADS, EXPANDED_WORDS * 4, SLICED_CTR};

// Byte `i` of big-endian words.
DEVICE u32 big_endian_byte(const u32 *words, u32 i) { return byte_in(words, i ^ 3); }

struct Bitslice {
    const u32 *keys;
    u32 groups;

    static DEVICE Bitslice of(u32 *words, const CamelliaKeys &keys) { return {words, keys.groups}; }
    static DEVICE u32 words(const CamelliaKeys &) { return EXPANDED_WORDS; }

    static DEVICE void expand(u32 *words, const CamelliaKeys &keys) {
        const u32 end = keys.groups * STRIDE;
        expand_key_bytes(words, START_BYTES + end, [&](u32 i) {
            if (i < START_BYTES) return big_endian_byte(keys.start, i);
            if (i >= end) return big_endian_byte(keys.end, i - end);
            const u32 group = (i - START_BYTES) / STRIDE, byte = (i - START_BYTES) % STRIDE;
            return byte < GROUP_BYTES ? big_endian_byte(keys.rounds[group * GROUP_ROUNDS], byte)
                                      : big_endian_byte(keys.layers[group], byte - GROUP_BYTES);
        });
        __syncthreads();
    }

    DEVICE void operator()(u32 (&planes)[128]) const {
        camellia_rounds(planes, keys, groups - 1, [] {});
    }
};

}  // namespace

SLICED_KERNEL(camellia_bitslice_ecb, ECB, CamelliaParameters, sliced_ecb, Bitslice)
SLICED_KERNEL(camellia_bitslice_ctr, CTR, CamelliaParameters, sliced_ctr, Bitslice)
SLICED_KERNEL(camellia_bitslice_cbc_decrypt, ECB, CamelliaParameters, sliced_cbc_decrypt, Bitslice)
SLICED_KERNEL(camellia_bitslice_cfb_decrypt, ECB, CamelliaParameters, sliced_cfb_decrypt, Bitslice)
SLICED_XTS_KERNEL(camellia_bitslice_xts, ECB, CamelliaParameters, Bitslice)
