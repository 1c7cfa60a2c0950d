// Bit-sliced AES: a thread works on one column of 32 blocks, bit p of all of them in one register.
//
// A warp takes 256 consecutive blocks. Four neighbouring lanes share 32 of them, a column each;
// ShiftRows is a shuffle among the four, which costs no ALU instruction. Eight groups of four lanes
// read 128 consecutive bytes in each of their 32 loads, so that bit k of a thread's planes belongs
// to block 8k + g:
//
//   block number in the warp's 256     k4 k3 k2 k1 k0 | g2 g1 g0
//   lane                               g2 g1 g0 | c1 c0              group, column
//   plane                              r1 r0 | b2 b1 b0              bit b of row r
//
// A thread's words are a 32x32 square of k against r and b, transposed in registers. Forty planes
// and temporaries leave room for 16 warps on a multiprocessor, and a round is short enough for the
// instruction cache: with all four columns in a thread neither holds (see the book).
// Constant-time: nothing is looked up.
#include "../common/chain.cuh"
#include "../common/masks.cuh"
#include "../common/transpose.cuh"
#include "keys.cuh"
#include "sbox.cuh"

namespace {

constexpr u32 THREADS = 512;
constexpr u32 LANE_BLOCKS = 32;
constexpr u32 COLUMNS = 4;
constexpr u32 GROUPS = WARP / COLUMNS;
constexpr u32 WARP_BLOCKS = GROUPS * LANE_BLOCKS;
constexpr u32 PLANES = 128;
constexpr u32 EXPANDED_BYTES = (MAX_MIDDLE + 2) * PLANES * 4;

constexpr Launch ECB = {THREADS, EXPANDED_BYTES, {WARP, WARP_BLOCKS, false}};
constexpr Launch CTR = {THREADS, EXPANDED_BYTES, {WARP, WARP_BLOCKS, true}};
// With two masks a thread before the keys: one that is kept, one on its way.
constexpr u32 MASK_WORDS = 2 * 4 * THREADS;
constexpr Launch XTS = {THREADS, MASK_WORDS * 4 + EXPANDED_BYTES, {WARP, WARP_BLOCKS, false}};

// The planes of one column: row, bit.
typedef u32 Column[4][8];

DEVICE u32 column_number() { return threadIdx.x % COLUMNS; }

// Expands every bit of the round keys to a word full of it, for the whole thread block.
DEVICE void expand_keys(u32 *planes, const AesKeys &keys) {
    for (u32 i = threadIdx.x; i < PLANES * (keys.rounds + 1); i += blockDim.x) {
        const u32 round = i / PLANES;
        const Block16 &key = round == 0 ? keys.first
                           : round == keys.rounds ? keys.last : keys.middle[round - 1];
        const u32 column = i / 32 % COLUMNS;
        const u32 word = column < 2 ? (column == 0 ? key.x : key.y)
                                    : (column == 2 ? key.z : key.w);
        planes[i] = 0 - (word >> (i % 32) & 1);
    }
    __syncthreads();
}

// This thread's column of round key `round`.
DEVICE const Block16 *column_key(const u32 *planes, u32 round) {
    return reinterpret_cast<const Block16 *>(planes + PLANES * round + 32 * column_number());
}

DEVICE void load_key(const Block16 *key, Column &column) {
    UNROLL for (u32 i = 0; i < 8; i++) {
        const Block16 four = key[i];
        u32 *to = &column[i / 2][i % 2 * 4];
        to[0] = four.x;
        to[1] = four.y;
        to[2] = four.z;
        to[3] = four.w;
    }
}

DEVICE void add_round_key(Column &state, const Block16 *key) {
    Column planes;
    load_key(key, planes);
    UNROLL for (u32 r = 0; r < 4; r++) {
        UNROLL for (u32 b = 0; b < 8; b++) state[r][b] ^= planes[r][b];
    }
}

template <bool encrypts>
DEVICE void substitute(Column &state) {
    UNROLL for (u32 r = 0; r < 4; r++) {
        if (encrypts) aes_sbox(state[r]);
        else aes_inv_sbox(state[r]);
    }
}

// ANCHOR: shift_rows
// Row r moves r columns to the left, or to the right: from another of the four lanes.
template <bool encrypts>
DEVICE void shift_rows(Column &state) {
    const u32 lane = threadIdx.x % WARP;
    UNROLL for (u32 r = 1; r < 4; r++) {
        const u32 from = (lane & ~3u) | ((lane + (encrypts ? r : 4 - r)) & 3);
        UNROLL for (u32 b = 0; b < 8; b++) {
            state[r][b] = __shfl_sync(0xffffffff, state[r][b], from);
        }
    }
}
// ANCHOR_END: shift_rows

// Doubling moves bit b - 1 to bit b, and adds bit 7 where the modulus 0x11b has a bit.
DEVICE constexpr bool reduces(u32 b) { return b == 1 || b == 3 || b == 4; }

// ANCHOR: mix_column
// MixColumns and the round key. With u_r = a_r + a_{r+1}, row r is 2 u_r + a_{r+1} + u_{r+2}.
DEVICE void mix_column(Column &a, const Block16 *key) {
    Column u, sums;
    load_key(key, sums);
    UNROLL for (u32 r = 0; r < 4; r++) {
        UNROLL for (u32 b = 0; b < 8; b++) u[r][b] = a[r][b] ^ a[(r + 1) % 4][b];
    }
    UNROLL for (u32 r = 0; r < 4; r++) {
        UNROLL for (u32 b = 0; b < 8; b++) {
            const u32 sum = xor3(u[(r + 2) % 4][b], a[(r + 1) % 4][b], sums[r][b]);
            const u32 doubled = u[r][(b + 7) % 8];
            sums[r][b] = reduces(b) ? xor3(sum, doubled, u[r][7]) : sum ^ doubled;
        }
    }
    UNROLL for (u32 r = 0; r < 4; r++) {
        UNROLL for (u32 b = 0; b < 8; b++) a[r][b] = sums[r][b];
    }
}
// ANCHOR_END: mix_column

// InvMixColumns is MixColumns after adding 4(a_r + a_{r+2}) to every row.
DEVICE void prepare_inverse(Column &a) {
    UNROLL for (u32 r = 0; r < 2; r++) {
        u32 x[8];
        UNROLL for (u32 b = 0; b < 8; b++) x[b] = a[r][b] ^ a[r + 2][b];
        const u32 fourfold[8] = {x[6],        x[6] ^ x[7],             x[0] ^ x[7], x[1] ^ x[6],
                                 xor3(x[2], x[6], x[7]), x[3] ^ x[7], x[4],        x[5]};
        UNROLL for (u32 b = 0; b < 8; b++) {
            a[r][b] ^= fourfold[b];
            a[r + 2][b] ^= fourfold[b];
        }
    }
}

// The whole cipher; decryption is the equivalent inverse cipher, with its own keys.
template <bool encrypts>
DEVICE void cipher(Column &state, const u32 *planes, u32 rounds) {
    add_round_key(state, column_key(planes, 0));
    ROLLED for (u32 i = 1; i < rounds; i++) {
        substitute<encrypts>(state);
        shift_rows<encrypts>(state);
        if (!encrypts) prepare_inverse(state);
        mix_column(state, column_key(planes, i));
    }
    substitute<encrypts>(state);
    shift_rows<encrypts>(state);
    add_round_key(state, column_key(planes, rounds));
}

DEVICE u32 (&as_square(Column &column))[32] { return reinterpret_cast<u32 (&)[32]>(column); }

// The number within a run of the block that bit 0 of this thread's planes belongs to.
DEVICE u32 first_in_run() { return threadIdx.x % WARP / COLUMNS; }

template <bool encrypts>
DEVICE void ecb(const Parameters<AesKeys> &parameters, u32 *planes) {
    expand_keys(planes, parameters.keys);
    const u32 *input = reinterpret_cast<const u32 *>(parameters.input) + column_number();
    u32 *output = reinterpret_cast<u32 *>(parameters.output) + column_number();
    const u64 blocks = parameters.blocks;
    every_run<WARP_BLOCKS>(blocks, [&](u64 run) {
        const u64 first = run + first_in_run();
        Column state;
        u32(&rows)[32] = as_square(state);
        UNROLL for (u32 k = 0; k < LANE_BLOCKS; k++) {
            const u64 i = first + k * GROUPS;
            rows[k] = i < blocks ? input[i * COLUMNS] : 0;
        }
        transpose32(rows);
        cipher<encrypts>(state, planes, parameters.keys.rounds);
        transpose32(rows);
        UNROLL for (u32 k = 0; k < LANE_BLOCKS; k++) {
            const u64 i = first + k * GROUPS;
            if (i < blocks) output[i * COLUMNS] = rows[k];
        }
    });
    clear_shared(planes, PLANES * (parameters.keys.rounds + 1));
}

// Word `column` of a block.
DEVICE u32 column_of(Block16 block, u32 column) {
    return column < 2 ? (column == 0 ? block.x : block.y) : (column == 2 ? block.z : block.w);
}

// CBC or CFB decryption of a warp's range, from its end.
template <bool is_cfb>
DEVICE void chain(const Parameters<AesKeys> &parameters, u32 *planes) {
    expand_keys(planes, parameters.keys);
    const u32 *input = reinterpret_cast<const u32 *>(parameters.input) + column_number();
    u32 *output = reinterpret_cast<u32 *>(parameters.output) + column_number();
    const u64 blocks = parameters.blocks;
    const Range<WARP_BLOCKS> range(blocks);
    for (u64 rest = range.length; rest > 0; rest -= WARP_BLOCKS) {
        const auto load = [&](u32 k, u64 i, bool previous) {
            if (i >= blocks) return 0u;
            if (!previous) return input[i * COLUMNS];
            const bool is_first = rest == WARP_BLOCKS && k == 0 && first_in_run() == 0;
            if (!is_first) return input[(i - 1) * COLUMNS];
            return column_of(before_range(parameters, i), column_number());
        };
        const u64 first = range.first + rest - WARP_BLOCKS + first_in_run();
        Column state;
        u32(&rows)[32] = as_square(state);
        UNROLL for (u32 k = 0; k < LANE_BLOCKS; k++) rows[k] = load(k, first + k * GROUPS, is_cfb);
        transpose32(rows);
        cipher<is_cfb>(state, planes, parameters.keys.rounds);
        u32 data[LANE_BLOCKS];
        UNROLL for (u32 k = 0; k < LANE_BLOCKS; k++) data[k] = load(k, first + k * GROUPS, !is_cfb);
        // A word that this lane loads is one that another stores.
        __syncwarp();
        transpose32(rows);
        UNROLL for (u32 k = 0; k < LANE_BLOCKS; k++) {
            const u64 i = first + k * GROUPS;
            if (i < blocks) output[i * COLUMNS] = data[k] ^ rows[k];
        }
    }
    clear_shared(planes, PLANES * (parameters.keys.rounds + 1));
}

// Calls `work(k, number, word)` for this thread's word of every mask of a run, and returns the mask
// after those of its lane. A lane makes the masks of every 32nd block from `first` on, of which the
// first is `mask`, and passes them on through `passed`, which has a mask for every lane: word c of
// block 8q + g lies at 32q + lane.
template <class Work>
DEVICE Block16 every_mask_word(const Parameters<AesKeys> &parameters, u64 run, Block16 mask,
                               Block16 *passed, Work work) {
    const u32 lane = not_hoisted(threadIdx.x % WARP);
    constexpr u32 ROWS = WARP / GROUPS;
    Masks<WARP> masks(parameters, run + lane, 0, mask);
    UNROLL for (u32 k = 0; k < LANE_BLOCKS; k += ROWS) {
        passed[lane] = masks.mask;
        __syncwarp();
        UNROLL for (u32 q = 0; q < ROWS; q++) {
            work(k + q, reinterpret_cast<const u32 *>(passed)[WARP * q + lane]);
        }
        __syncwarp();
        masks.advance(run + lane + (k + ROWS) * GROUPS < parameters.blocks);
    }
    return masks.mask;
}

// XTS over a warp's range. No register holds a mask while the cipher runs.
template <bool encrypts>
DEVICE void xts(const Parameters<AesKeys> &parameters, Block16 *shared) {
    Block16 *kept = shared + threadIdx.x;
    Block16 *passed = shared + THREADS + threadIdx.x / WARP * WARP;
    u32 *planes = reinterpret_cast<u32 *>(shared) + MASK_WORDS;
    expand_keys(planes, parameters.keys);
    const u32 *input = reinterpret_cast<const u32 *>(parameters.input) + column_number();
    u32 *output = reinterpret_cast<u32 *>(parameters.output) + column_number();
    const u64 blocks = parameters.blocks;
    const Range<WARP_BLOCKS> range(blocks);
    *kept = first_masks<WARP>(parameters, range.first, threadIdx.x % WARP).mask;
    for (u64 rest = 0; rest < range.length; rest += WARP_BLOCKS) {
        const u64 run = range.first + rest, first = run + first_in_run();
        Column state;
        u32(&rows)[32] = as_square(state);
        every_mask_word(parameters, run, *kept, passed, [&](u32 k, u32 mask) {
            const u64 i = first + k * GROUPS;
            rows[k] = i < blocks ? input[i * COLUMNS] ^ mask : 0;
        });
        transpose32(rows);
        cipher<encrypts>(state, planes, parameters.keys.rounds);
        transpose32(rows);
        *kept = every_mask_word(parameters, run, *kept, passed, [&](u32 k, u32 mask) {
            const u64 i = first + k * GROUPS;
            if (i < blocks) output[i * COLUMNS] = rows[k] ^ mask;
        });
    }
    clear_shared(reinterpret_cast<u32 *>(shared),
                 MASK_WORDS + PLANES * (parameters.keys.rounds + 1));
}

// ANCHOR: counter_planes
// The planes of this thread's column of the counters `counter` + 8k. The low byte of `counter` is
// the group's number alone, so that bits 3 to 7 are k, and all others are the same in all blocks.
DEVICE void counter_planes(Column &state, Counter counter) {
    const Block16 block = counter.block();
    const u32 c = column_number();
    const u32 word = c < 2 ? (c == 0 ? block.x : block.y) : (c == 2 ? block.z : block.w);
    UNROLL for (u32 r = 0; r < 4; r++) {
        UNROLL for (u32 b = 0; b < 8; b++) {
            state[r][b] = spread_bit(word, 8 * r + b);
        }
    }
    // Big-endian: the low byte is row 3 of column 3.
    if (c == 3) {
        UNROLL for (u32 j = 0; j < 5; j++) state[3][3 + j] = number_plane(j);
    }
}
// ANCHOR_END: counter_planes

}  // namespace

KERNEL(aes_bitslice_ecb_encrypt, ECB, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    ecb<true>(parameters, reinterpret_cast<u32 *>(shared));
}

KERNEL(aes_bitslice_ecb_decrypt, ECB, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    ecb<false>(parameters, reinterpret_cast<u32 *>(shared));
}

KERNEL(aes_bitslice_ctr, CTR, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    u32 *planes = reinterpret_cast<u32 *>(shared);
    expand_keys(planes, parameters.keys);
    const u32 *input = reinterpret_cast<const u32 *>(parameters.input) + column_number();
    u32 *output = reinterpret_cast<u32 *>(parameters.output) + column_number();
    // Runs start at counters that are a multiple of 256; the first may begin before the data.
    const Counter first_block = first_counter(parameters);
    const u64 skipped = first_block.low % WARP_BLOCKS;
    const Counter base = {first_block.high, first_block.low - skipped};
    const u64 blocks = parameters.blocks;
    every_run<WARP_BLOCKS>(blocks + skipped, [&](u64 run) {
        const u64 first = run + first_in_run();
        Column state;
        u32(&rows)[32] = as_square(state);
        counter_planes(state, base.plus(first));
        cipher<true>(state, planes, parameters.keys.rounds);
        // All loads come before the first store, which might be to the same memory; the transpose
        // covers their latency.
        u32 data[LANE_BLOCKS];
        UNROLL for (u32 k = 0; k < LANE_BLOCKS; k++) {
            const u64 i = first + k * GROUPS - skipped;  // wraps to a huge number before the data
            data[k] = i < blocks ? input[i * COLUMNS] : 0;
        }
        transpose32(rows);
        UNROLL for (u32 k = 0; k < LANE_BLOCKS; k++) {
            const u64 i = first + k * GROUPS - skipped;
            if (i < blocks) output[i * COLUMNS] = data[k] ^ rows[k];
        }
    });
    clear_shared(planes, PLANES * (parameters.keys.rounds + 1));
}

KERNEL(aes_bitslice_cbc_decrypt, ECB, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    chain<false>(parameters, reinterpret_cast<u32 *>(shared));
}

KERNEL(aes_bitslice_cfb_decrypt, ECB, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    chain<true>(parameters, reinterpret_cast<u32 *>(shared));
}

KERNEL(aes_bitslice_xts_encrypt, XTS, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    xts<true>(parameters, reinterpret_cast<Block16 *>(shared));
}

KERNEL(aes_bitslice_xts_decrypt, XTS, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    xts<false>(parameters, reinterpret_cast<Block16 *>(shared));
}
