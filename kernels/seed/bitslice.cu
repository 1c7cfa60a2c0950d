// Bit-sliced SEED, 32 blocks a thread: see common/sliced.cuh. Constant-time: nothing is looked up.
//
// G's masks leave out one of four S-box outputs for every bit of its result, so that a bit is the sum
// of three. An addition is a ripple adder. The half that a round changes waits in shared memory, so
// that the other one, F's two words and an S-box fit into registers.
#include "../common/entry.cuh"
#include "../common/sliced.cuh"
#include "keys.cuh"
#include "sbox.cuh"

namespace {

constexpr u32 THREADS = 256;  // for 255 registers

// A word of 32 blocks: its bit i, least significant first, in word i.
typedef u32 Word[32];

constexpr u32 KEY_BITS = SEED_ROUNDS * 2 * 32;
// Shared memory: the key bits, then a half of each thread's blocks, a word a thread and row.
constexpr u32 WAITING_WORDS = 64 * THREADS;
constexpr Launch ECB = {THREADS, (KEY_BITS + WAITING_WORDS) * 4, SLICED};
constexpr Launch CTR = {THREADS, (KEY_BITS + WAITING_WORDS) * 4, SLICED_CTR};

// ANCHOR: g
// Bit b of byte r of the result takes byte t's output unless t + r = b / 2 modulo 4.
DEVICE void g(Word &x) {
    u32 z[4][8];
    UNROLL for (u32 t = 0; t < 4; t++) {
        UNROLL for (u32 b = 0; b < 8; b++) z[t][b] = x[8 * t + b];
        if (t % 2 == 0) seed_sbox0(z[t]);
        else seed_sbox1(z[t]);
    }
    UNROLL for (u32 i = 0; i < 32; i++) {
        const u32 r = i / 8, b = i % 8, left_out = (b / 2 + 4 - r) % 4;
        x[i] = xor3(z[(left_out + 1) % 4][b], z[(left_out + 2) % 4][b], z[(left_out + 3) % 4][b]);
    }
}
// ANCHOR_END: g

// x += y modulo 2^32.
DEVICE void add(Word &x, const Word &y) {
    u32 carry = 0;
    UNROLL for (u32 i = 0; i < 32; i++) {
        const u32 next = lop3<0xe8>(x[i], y[i], carry);
        x[i] = xor3(x[i], y[i], carry);
        carry = next;
    }
}

// The plane of bit `i` of word `w` of a block, whose bytes lie most significant first.
DEVICE constexpr u32 plane_of(u32 w, u32 i) { return 32 * w + 8 * (3 - i / 8) + i % 8; }

struct Bitslice {
    const u32 *keys;
    u32 *waiting;  // this thread's half, a row every `blockDim.x` words

    static DEVICE Bitslice of(u32 *words, const SeedKeys &) {
        return {words, words + KEY_BITS + threadIdx.x};
    }
    static DEVICE u32 words(const SeedKeys &) { return KEY_BITS + WAITING_WORDS; }

    static DEVICE void expand(u32 *words, const SeedKeys &keys) {
        for (u32 i = threadIdx.x; i < KEY_BITS; i += blockDim.x) {
            words[i] = spread_bit(keys.rounds[i / 64][i / 32 % 2], i % 32);
        }
        __syncthreads();
    }

    DEVICE u32 &row(u32 i) const { return waiting[i * blockDim.x]; }

    // ANCHOR: round
    // The half (a, b) waits; (c, d) is F's argument. Afterwards they have changed places.
    DEVICE void round(Word &c, Word &d, const u32 *key) const {
        Word x, y;
        UNROLL for (u32 i = 0; i < 32; i++) {
            x[i] = c[i] ^ key[i];
            y[i] = xor3(d[i], key[32 + i], x[i]);
        }
        ROLLED for (u32 step = 0; step < 3; step++) {
            g(y);
            add(x, y);
            exchange_planes(x, y);
        }
        // Three exchanges: x and y have each other's names.
        UNROLL for (u32 i = 0; i < 32; i++) {
            const u32 a = row(i) ^ y[i], b = row(32 + i) ^ x[i];
            row(i) = c[i];
            row(32 + i) = d[i];
            c[i] = a;
            d[i] = b;
        }
    }
    // ANCHOR_END: round

    DEVICE void operator()(u32 (&planes)[128]) const {
        Word c, d;
        UNROLL for (u32 i = 0; i < 32; i++) {
            row(i) = planes[plane_of(0, i)];
            row(32 + i) = planes[plane_of(1, i)];
            c[i] = planes[plane_of(2, i)];
            d[i] = planes[plane_of(3, i)];
        }
        ROLLED for (u32 i = 0; i < SEED_ROUNDS; i++) round(c, d, keys + 64 * i);
        // The last round does not exchange the halves.
        UNROLL for (u32 i = 0; i < 32; i++) {
            planes[plane_of(0, i)] = c[i];
            planes[plane_of(1, i)] = d[i];
            planes[plane_of(2, i)] = row(i);
            planes[plane_of(3, i)] = row(32 + i);
        }
    }
};

}  // namespace

SLICED_KERNEL(seed_bitslice_ecb, ECB, SeedParameters, sliced_ecb, Bitslice)
SLICED_KERNEL(seed_bitslice_ctr, CTR, SeedParameters, sliced_ctr, Bitslice)
SLICED_KERNEL(seed_bitslice_cbc_decrypt, ECB, SeedParameters, sliced_cbc_decrypt, Bitslice)
SLICED_KERNEL(seed_bitslice_cfb_decrypt, ECB, SeedParameters, sliced_cfb_decrypt, Bitslice)
SLICED_XTS_KERNEL(seed_bitslice_xts, ECB, SeedParameters, Bitslice)
