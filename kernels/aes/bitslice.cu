// Bit-sliced AES: a thread works on 32 blocks at once, bit p of all of them in one register.
//
// A warp takes 1,024 consecutive blocks. Lane l has the blocks 32k + l, k = 0 .. 31, so that each
// of its 32 loads is one coalesced 512-byte access of the warp, and block k sits in bit k of its
// planes:
//
//   block number in the warp's 1,024     k4 k3 k2 k1 k0 | l4 l3 l2 l1 l0
//   plane number p                       i3 i2 i1 i0 | b2 b1 b0        bit b of byte i
//
// A word of 32 blocks (k against bits of the word) is a 32x32 square, transposed in registers.
// Constant-time: nothing is looked up.
#include "../common/parameters.cuh"
#include "../common/transpose.cuh"
#include "sbox.cuh"

namespace {

constexpr u32 THREADS = 256;
constexpr u32 PLANES = 128;
constexpr u32 LANE_BLOCKS = 32;
constexpr u32 WARP_BLOCKS = WARP * LANE_BLOCKS;

// Every key bit as a word full of it: 15 round keys of 128 bits.
struct BitsliceKeys {
    u32 planes[15][PLANES];
    u32 rounds;
    u32 padding[3];
};

// All planes, as four 32x32 squares, or as 16 bytes of 8.
struct State {
    u32 words[4][32];

    DEVICE u32 &plane(u32 byte, u32 bit) { return words[byte / 4][byte % 4 * 8 + bit]; }

    DEVICE void transpose() {
        UNROLL for (u32 w = 0; w < 4; w++) transpose32(words[w]);
    }
};

DEVICE void add_round_key(State &state, const u32 (&key)[PLANES]) {
    UNROLL for (u32 p = 0; p < PLANES; p++) state.words[p / 32][p % 32] ^= key[p];
}

template <bool encrypts>
DEVICE void substitute(State &state) {
    UNROLL for (u32 byte = 0; byte < 16; byte++) {
        u32 bits[8];
        UNROLL for (u32 b = 0; b < 8; b++) bits[b] = state.plane(byte, b);
        if (encrypts) aes_sbox(bits);
        else aes_inv_sbox(bits);
        UNROLL for (u32 b = 0; b < 8; b++) state.plane(byte, b) = bits[b];
    }
}

// The byte that ShiftRows (`step` 1) or InvShiftRows (`step` 3) brings to row r of column c.
DEVICE constexpr u32 shifted(u32 r, u32 c, u32 step) { return r + 4 * ((c + r * step) % 4); }

template <u32 step>
DEVICE void shift_rows(State &state) {
    State before = state;
    UNROLL for (u32 i = 0; i < 16; i++) {
        UNROLL for (u32 b = 0; b < 8; b++) {
            state.plane(i, b) = before.plane(shifted(i % 4, i / 4, step), b);
        }
    }
}

// Adds x^b of the modulus 0x11b's tail: the bits where doubling wraps round.
DEVICE constexpr bool reduces(u32 b) { return b == 0 || b == 1 || b == 3 || b == 4; }

// MixColumns of one column `a`, plus the round key. With u_r = a_r + a_{r+1}, row r is
// 2 u_r + a_{r+1} + u_{r+2}.
DEVICE void mix_column(u32 (&a)[4][8], const u32 *key) {
    u32 u[4][8];
    UNROLL for (u32 r = 0; r < 4; r++) {
        UNROLL for (u32 b = 0; b < 8; b++) u[r][b] = a[r][b] ^ a[(r + 1) % 4][b];
    }
    u32 sums[4][8];
    UNROLL for (u32 r = 0; r < 4; r++) {
        UNROLL for (u32 b = 0; b < 8; b++) {
            const u32 sum = xor3(u[(r + 2) % 4][b], a[(r + 1) % 4][b], key[8 * r + b]);
            // Doubling moves bit b - 1 to bit b, and adds bit 7 where the modulus has a bit.
            if (b == 0) sums[r][b] = sum ^ u[r][7];
            else sums[r][b] = reduces(b) ? xor3(sum, u[r][b - 1], u[r][7]) : sum ^ u[r][b - 1];
        }
    }
    UNROLL for (u32 r = 0; r < 4; r++) {
        UNROLL for (u32 b = 0; b < 8; b++) a[r][b] = sums[r][b];
    }
}

// 4x in GF(2^8), bit by bit.
DEVICE void fourfold(u32 (&x)[8]) {
    const u32 b6 = x[6], b7 = x[7];
    const u32 doubled[8] = {b6, b6 ^ b7, x[0] ^ b7, x[1] ^ b6, xor3(x[2], b6, b7), x[3] ^ b7, x[4], x[5]};
    UNROLL for (u32 b = 0; b < 8; b++) x[b] = doubled[b];
}

// InvMixColumns is MixColumns after adding 4(a_r + a_{r+2}) to every row.
DEVICE void prepare_inverse(u32 (&a)[4][8]) {
    UNROLL for (u32 r = 0; r < 2; r++) {
        u32 sum[8];
        UNROLL for (u32 b = 0; b < 8; b++) sum[b] = a[r][b] ^ a[r + 2][b];
        fourfold(sum);
        UNROLL for (u32 b = 0; b < 8; b++) {
            a[r][b] ^= sum[b];
            a[r + 2][b] ^= sum[b];
        }
    }
}

// ShiftRows, MixColumns and the round key in one go, or their inverses as the equivalent inverse
// cipher has them.
template <bool encrypts>
DEVICE void mix(State &state, const u32 (&key)[PLANES]) {
    State before = state;
    UNROLL for (u32 c = 0; c < 4; c++) {
        u32 column[4][8];
        UNROLL for (u32 r = 0; r < 4; r++) {
            const u32 from = shifted(r, c, encrypts ? 1 : 3);
            UNROLL for (u32 b = 0; b < 8; b++) column[r][b] = before.plane(from, b);
        }
        if (!encrypts) prepare_inverse(column);
        mix_column(column, key + 32 * c);
        UNROLL for (u32 r = 0; r < 4; r++) {
            UNROLL for (u32 b = 0; b < 8; b++) state.plane(4 * c + r, b) = column[r][b];
        }
    }
}

// All rounds after the first key addition.
template <bool encrypts>
DEVICE void rounds(State &state, const BitsliceKeys &keys) {
    ROLLED for (u32 i = 1; i < keys.rounds; i++) {
        substitute<encrypts>(state);
        mix<encrypts>(state, keys.planes[i]);
    }
    substitute<encrypts>(state);
    shift_rows<encrypts ? 1 : 3>(state);
    add_round_key(state, keys.planes[keys.rounds]);
}

// Calls `work(number)` for every run of 1,024 blocks that this warp takes.
template <class Work>
DEVICE void every_run(u64 runs, Work work) {
    const u64 warps = grid_threads() / WARP;
    for (u64 run = grid_thread() / WARP; run < runs; run += warps) work(run);
}

template <bool encrypts>
DEVICE void ecb(const Parameters<BitsliceKeys> &parameters) {
    const u64 blocks = parameters.blocks;
    every_run((blocks + WARP_BLOCKS - 1) / WARP_BLOCKS, [&](u64 run) {
        const u64 first = run * WARP_BLOCKS + threadIdx.x % WARP;
        State state;
        UNROLL for (u32 k = 0; k < LANE_BLOCKS; k++) {
            const u64 i = first + k * WARP;
            const Block16 block = i < blocks ? parameters.input[i] : make_uint4(0, 0, 0, 0);
            state.words[0][k] = block.x;
            state.words[1][k] = block.y;
            state.words[2][k] = block.z;
            state.words[3][k] = block.w;
        }
        state.transpose();
        add_round_key(state, parameters.keys.planes[0]);
        rounds<encrypts>(state, parameters.keys);
        state.transpose();
        UNROLL for (u32 k = 0; k < LANE_BLOCKS; k++) {
            const u64 i = first + k * WARP;
            if (i < blocks) {
                parameters.output[i] = make_uint4(state.words[0][k], state.words[1][k],
                                                  state.words[2][k], state.words[3][k]);
            }
        }
    });
}

// Bit j of the numbers 0 .. 31, as a plane.
DEVICE constexpr u32 number_plane(u32 j) {
    return j == 0 ? 0xaaaaaaaa : j == 1 ? 0xcccccccc : j == 2 ? 0xf0f0f0f0
         : j == 3 ? 0xff00ff00 : 0xffff0000;
}

// The planes of 32 counters `counter` + 32k, where `counter` has no bits but the lane's below 1,024:
// bits 5 to 9 of a counter are k, and all others are the same in the whole word.
DEVICE void counter_planes(State &state, Counter counter) {
    UNROLL for (u32 n = 0; n < PLANES; n++) {
        const u64 half = n < 64 ? counter.low : counter.high;
        const u32 word = n / 32 % 2 == 0 ? u32(half) : u32(half >> 32);
        const u32 same = u32(int(word << (31 - n % 32)) >> 31);
        // The counter is big-endian: its bit n is in byte 15 - n / 8.
        state.plane(15 - n / 8, n % 8) = n >= 5 && n < 10 ? number_plane(n - 5) : same;
    }
}

}  // namespace

KERNEL(aes_bitslice_ecb_encrypt, THREADS, Parameters<BitsliceKeys>) { ecb<true>(parameters); }

KERNEL(aes_bitslice_ecb_decrypt, THREADS, Parameters<BitsliceKeys>) { ecb<false>(parameters); }

KERNEL(aes_bitslice_ctr, THREADS, Parameters<BitsliceKeys>) {
    const Counter first = first_counter(parameters);
    const u64 skipped = first.low % WARP_BLOCKS;
    const Counter base = {first.high, first.low - skipped};
    const u64 blocks = parameters.blocks;
    every_run((blocks + skipped + WARP_BLOCKS - 1) / WARP_BLOCKS, [&](u64 run) {
        const u64 slot = run * WARP_BLOCKS + threadIdx.x % WARP;
        State state;
        counter_planes(state, base.plus(slot));
        add_round_key(state, parameters.keys.planes[0]);
        rounds<true>(state, parameters.keys);
        state.transpose();
        UNROLL for (u32 k = 0; k < LANE_BLOCKS; k++) {
            const u64 i = slot + k * WARP - skipped;  // wraps to a huge number before the first block
            if (i < blocks) {
                parameters.output[i] =
                    parameters.input[i] ^ make_uint4(state.words[0][k], state.words[1][k],
                                                     state.words[2][k], state.words[3][k]);
            }
        }
    });
}
