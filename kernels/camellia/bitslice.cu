// Bit-sliced Camellia, 32 blocks a thread: see common/sliced.cuh. Constant-time: nothing is looked
// up.
//
// The four S-boxes are one circuit: SBOX2 and SBOX3 rotate its output, SBOX4 its input, and a
// rotation is a choice of names. P is a circuit of its own, on a bit of every byte.
#include "../common/entry.cuh"
#include "../common/key_planes.cuh"
#include "../common/sliced.cuh"
#include "keys.cuh"
#include "linear.cuh"
#include "sbox.cuh"

namespace {

constexpr u32 THREADS = 256;  // for 255 registers

// Eight bytes of 32 blocks: bit b of byte j in word 8j + b, as in memory.
typedef u32 Half[64];

// Key bytes in shared memory: 16 for the start, 8 a round, 16 for the end. Behind them the words of
// the FL layers, a word a bit.
constexpr u32 START = 0;
constexpr u32 ROUNDS = 16;
constexpr u32 MAX_ALL_ROUNDS = MAX_GROUPS * GROUP_ROUNDS;
constexpr u32 END = ROUNDS + 8 * MAX_ALL_ROUNDS;
constexpr u32 KEY_BYTES = END + 16;
constexpr u32 LAYER_WORDS = 128;
constexpr u32 EXPANDED_WORDS = KEY_BYTES * KEY_BYTE_WORDS + (MAX_GROUPS - 1) * LAYER_WORDS;
constexpr Launch ECB = {THREADS, EXPANDED_WORDS * 4, SLICED};
constexpr Launch CTR = {THREADS, EXPANDED_WORDS * 4, SLICED_CTR};

// Byte `i` of big-endian words.
DEVICE u32 big_endian_byte(const u32 *words, u32 i) { return byte_in(words, i ^ 3); }

DEVICE void expand_keys(u32 *words, const CamelliaKeys &keys) {
    expand_key_bytes(words, KEY_BYTES, [&](u32 i) {
        return i < ROUNDS ? big_endian_byte(keys.start, i)
             : i < END    ? big_endian_byte(keys.rounds[0], i - ROUNDS)
                          : big_endian_byte(keys.end, i - END);
    });
    u32 *layers = words + KEY_BYTES * KEY_BYTE_WORDS;
    for (u32 i = threadIdx.x; i < (MAX_GROUPS - 1) * LAYER_WORDS; i += blockDim.x) {
        layers[i] = spread_bit(keys.layers[i / LAYER_WORDS][i % LAYER_WORDS / 32], i % 32);
    }
    __syncthreads();
}

// ANCHOR: sbox
// S-box `number` (1 to 4) of a byte with its key.
template <u32 number>
DEVICE void sbox(const u32 *byte, const u32 *key_words, u32 (&z)[8]) {
    const KeyByte key(key_words);
    u32 x[8];
    // SBOX4(x) = SBOX1(x <<< 1): bit b of its argument is bit b - 1.
    UNROLL for (u32 b = 0; b < 8; b++) {
        const u32 from = number == 4 ? (b + 7) % 8 : b;
        x[b] = key.add(byte[from], from);
    }
    camellia_sbox(x);
    // SBOX2 = SBOX1 <<< 1, SBOX3 = SBOX1 >>> 1.
    UNROLL for (u32 b = 0; b < 8; b++) {
        z[b] = x[number == 2 ? (b + 7) % 8 : number == 3 ? (b + 1) % 8 : b];
    }
}
// ANCHOR_END: sbox

// ANCHOR: add_f
DEVICE void add_f(Half &to, const Half &from, const u32 *keys) {
    u32 z[8][8];
    sbox<1>(from, keys, z[0]);
    sbox<2>(from + 8, keys + KEY_BYTE_WORDS, z[1]);
    sbox<3>(from + 16, keys + 2 * KEY_BYTE_WORDS, z[2]);
    sbox<4>(from + 24, keys + 3 * KEY_BYTE_WORDS, z[3]);
    sbox<2>(from + 32, keys + 4 * KEY_BYTE_WORDS, z[4]);
    sbox<3>(from + 40, keys + 5 * KEY_BYTE_WORDS, z[5]);
    sbox<4>(from + 48, keys + 6 * KEY_BYTE_WORDS, z[6]);
    sbox<1>(from + 56, keys + 7 * KEY_BYTE_WORDS, z[7]);
    UNROLL for (u32 b = 0; b < 8; b++) {
        u32 bits[8], sums[8];
        UNROLL for (u32 j = 0; j < 8; j++) {
            bits[j] = z[j][b];
            sums[j] = to[8 * j + b];
        }
        camellia_add_p(bits, sums);
        UNROLL for (u32 j = 0; j < 8; j++) to[8 * j + b] = sums[j];
    }
}
// ANCHOR_END: add_f

// The plane of bit `i` of a half's word 0 or 1, whose bytes lie most significant first.
DEVICE constexpr u32 plane_of(u32 word, u32 i) { return 32 * word + 8 * (3 - i / 8) + i % 8; }

// FL: word 1 ^= (word 0 & k) <<< 1, word 0 ^= word 1 | l; and its inverse.
DEVICE void fl(Half &x, const u32 *k, const u32 *l) {
    UNROLL for (u32 i = 0; i < 32; i++) {
        const u32 from = (i + 31) % 32;
        x[plane_of(1, i)] ^= x[plane_of(0, from)] & k[from];
    }
    UNROLL for (u32 i = 0; i < 32; i++) x[plane_of(0, i)] ^= x[plane_of(1, i)] | l[i];
}
DEVICE void inverse_fl(Half &x, const u32 *k, const u32 *l) {
    UNROLL for (u32 i = 0; i < 32; i++) x[plane_of(0, i)] ^= x[plane_of(1, i)] | l[i];
    UNROLL for (u32 i = 0; i < 32; i++) {
        const u32 from = (i + 31) % 32;
        x[plane_of(1, i)] ^= x[plane_of(0, from)] & k[from];
    }
}

DEVICE void whiten(Half &x, const u32 *keys) {
    UNROLL for (u32 j = 0; j < 8; j++) {
        const KeyByte key(keys + j * KEY_BYTE_WORDS);
        UNROLL for (u32 b = 0; b < 8; b++) x[8 * j + b] = key.add(x[8 * j + b], b);
    }
}

struct Bitslice {
    const u32 *keys;
    u32 groups;

    static DEVICE Bitslice of(u32 *words, const CamelliaKeys &keys) { return {words, keys.groups}; }
    static DEVICE u32 words(const CamelliaKeys &) { return EXPANDED_WORDS; }

    DEVICE const u32 *key_byte(u32 i) const { return keys + i * KEY_BYTE_WORDS; }

    DEVICE void operator()(u32 (&planes)[128]) const {
        Half left, right;
        UNROLL for (u32 i = 0; i < 64; i++) {
            left[i] = planes[i];
            right[i] = planes[64 + i];
        }
        whiten(left, key_byte(START));
        whiten(right, key_byte(START + 8));
        ROLLED for (u32 group = 0; group < groups; group++) {
            if (group > 0) {
                const u32 *layer = key_byte(KEY_BYTES) + (group - 1) * LAYER_WORDS;
                fl(left, layer, layer + 32);
                inverse_fl(right, layer + 64, layer + 96);
            }
            ROLLED for (u32 i = 0; i < GROUP_ROUNDS; i++) {
                add_f(right, left, key_byte(ROUNDS + 8 * (group * GROUP_ROUNDS + i)));
                exchange_planes(left, right);
            }
        }
        whiten(right, key_byte(END));
        whiten(left, key_byte(END + 8));
        UNROLL for (u32 i = 0; i < 64; i++) {
            planes[i] = right[i];
            planes[64 + i] = left[i];
        }
    }
};

}  // namespace

SLICED_KERNEL(camellia_bitslice_ecb, ECB, CamelliaParameters, sliced_ecb, Bitslice)
SLICED_KERNEL(camellia_bitslice_ctr, CTR, CamelliaParameters, sliced_ctr, Bitslice)
SLICED_KERNEL(camellia_bitslice_cbc_decrypt, ECB, CamelliaParameters, sliced_cbc_decrypt, Bitslice)
SLICED_KERNEL(camellia_bitslice_cfb_decrypt, ECB, CamelliaParameters, sliced_cfb_decrypt, Bitslice)
SLICED_XTS_KERNEL(camellia_bitslice_xts, ECB, CamelliaParameters, Bitslice)
