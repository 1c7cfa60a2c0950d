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
//
// Constant-time: no address depends on a key or data. CTR looks up what two rounds make of a counter
// (separable.cuh) by the counter's bytes, which are public.
#include "../common/chain.cuh"
#include "../common/masks.cuh"
#include "../common/transpose.cuh"
#include "keys.cuh"
#include "planes.cuh"
#include "separable.cuh"

namespace {

constexpr u32 THREADS = 512;
constexpr u32 LANE_BLOCKS = 32;
constexpr u32 COLUMNS = 4;
constexpr u32 GROUPS = WARP / COLUMNS;
constexpr u32 WARP_BLOCKS = GROUPS * LANE_BLOCKS;
// An expanded round key: a word for every bit, and what `add_key` multiplies by. Bit b of column c has
// eight, the words of four rows and their factors, so that the four columns are in different banks.
constexpr u32 KEY_WORDS = 2 * 128, BIT_WORDS = 8 * COLUMNS;
constexpr u32 EXPANDED_BYTES = (MAX_MIDDLE + 2) * KEY_WORDS * 4;

constexpr Launch ECB = {THREADS, EXPANDED_BYTES, {WARP, WARP_BLOCKS, false}};
// With the tables of two rounds before the keys, that of byte 15 as planes.
constexpr u32 PLANES_BLOCKS = 8 * WARP, CTR_BLOCKS = PLANES_BLOCKS + 3 * 256;
constexpr Launch CTR = {THREADS, 16 * CTR_BLOCKS + EXPANDED_BYTES, {WARP, WARP_BLOCKS, true}};
// With two masks a thread before the keys: one that is kept, one on its way.
constexpr u32 MASK_WORDS = 2 * 4 * THREADS;
constexpr Launch XTS = {THREADS, MASK_WORDS * 4 + EXPANDED_BYTES, {WARP, WARP_BLOCKS, false}};

DEVICE u32 column_number() { return threadIdx.x % COLUMNS; }

// Word `column` of a block.
DEVICE u32 column_of(Block16 block, u32 column) {
    return column < 2 ? (column == 0 ? block.x : block.y) : (column == 2 ? block.z : block.w);
}

// Expands the round keys for the whole thread block.
DEVICE void expand_keys(u32 *words, const AesKeys &keys) {
    for (u32 i = threadIdx.x; i < KEY_WORDS * (keys.rounds + 1); i += blockDim.x) {
        const u32 round = i / KEY_WORDS;
        const Block16 &key = round == 0 ? keys.first
                           : round == keys.rounds ? keys.last : keys.middle[round - 1];
        const u32 b = i % KEY_WORDS / BIT_WORDS, column = i / 8 % COLUMNS, r = i % 4;
        const u32 word = spread_bit(column_of(key, column), 8 * r + b);
        words[i] = i % 8 < 4 ? word : key_factor(word);
    }
    __syncthreads();
}

// ANCHOR: column_key
// This thread's column of an expanded round key. Where the ALU has no room for it beside two other bits,
// it is added by the multiplier.
struct ColumnKey {
    const Block16 *words;

    DEVICE ColumnKey(const u32 *expanded, u32 round)
        : words(reinterpret_cast<const Block16 *>(expanded + KEY_WORDS * round) +
                2 * column_number()) {}

    DEVICE u32 word(u32 r, u32 b) const { return column_of(words[BIT_WORDS / 4 * b], r); }
    DEVICE u32 add(u32 x, u32 r, u32 b) const {
        return add_key(x, word(r, b), column_of(words[BIT_WORDS / 4 * b + 1], r));
    }
};
// ANCHOR_END: column_key

DEVICE void add_round_key(RowPlanes &state, ColumnKey key) {
    UNROLL for (u32 b = 0; b < 8; b++) {
        UNROLL for (u32 r = 0; r < 4; r++) state[r][b] = key.add(state[r][b], r, b);
    }
}

// ANCHOR: shift_rows
// Row r moves r columns to the left, or to the right: from another of the four lanes.
template <bool encrypts>
DEVICE void shift_rows(RowPlanes &state) {
    const u32 lane = threadIdx.x % WARP;
    UNROLL for (u32 r = 1; r < 4; r++) {
        const u32 from = (lane & ~3u) | ((lane + (encrypts ? r : 4 - r)) & 3);
        UNROLL for (u32 b = 0; b < 8; b++) {
            state[r][b] = __shfl_sync(0xffffffff, state[r][b], from);
        }
    }
}
// ANCHOR_END: shift_rows

// The rounds `first` to `last` that are not the cipher's last; the first one of all is number 1.
template <bool encrypts>
DEVICE void full_rounds(RowPlanes &state, const u32 *words, u32 first, u32 last) {
    ROLLED for (u32 i = first; i <= last; i++) {
        substitute<encrypts>(state);
        shift_rows<encrypts>(state);
        if (!encrypts) prepare_inverse(state);
        mix_columns(state, ColumnKey(words, i));
    }
}

// The whole cipher; decryption is the equivalent inverse cipher, with its own keys.
template <bool encrypts>
DEVICE void cipher(RowPlanes &state, const u32 *words, u32 rounds) {
    add_round_key(state, ColumnKey(words, 0));
    full_rounds<encrypts>(state, words, 1, rounds - 1);
    substitute<encrypts>(state);
    shift_rows<encrypts>(state);
    add_round_key(state, ColumnKey(words, rounds));
}

// The number within a run of the block that bit 0 of this thread's planes belongs to.
DEVICE u32 first_in_run() { return threadIdx.x % WARP / COLUMNS; }

// This thread's words in memory of the blocks of a run; where the run lies all inside the data, no block
// of it is tested by itself.
struct Words {
    u64 first;   // number of the thread's block 0; may be huge: before the data
    u64 blocks;  // number of blocks there are
    bool is_whole;

    DEVICE Words(u64 run, u64 skipped, u64 blocks)
        : first(run + first_in_run() - skipped), blocks(blocks),
          is_whole(run >= skipped && run - skipped + WARP_BLOCKS <= blocks) {}

    // Calls `work(k, number)` for every one of the 32 blocks that is inside the data.
    template <class Work>
    DEVICE void each(Work work) const {
        if (is_whole) {
            UNROLL for (u32 k = 0; k < LANE_BLOCKS; k++) work(k, first + k * GROUPS);
        } else {
            UNROLL for (u32 k = 0; k < LANE_BLOCKS; k++) {
                const u64 number = first + k * GROUPS;
                if (number < blocks) work(k, number);
            }
        }
    }
};

template <bool encrypts>
DEVICE void ecb(const Parameters<AesKeys> &parameters, u32 *planes) {
    expand_keys(planes, parameters.keys);
    const u32 *input = reinterpret_cast<const u32 *>(parameters.input) + column_number();
    u32 *output = reinterpret_cast<u32 *>(parameters.output) + column_number();
    every_run<WARP_BLOCKS>(parameters.blocks, [&](u64 run) {
        const Words words(run, 0, parameters.blocks);
        RowPlanes state = {};
        u32(&rows)[32] = as_square(state);
        words.each([&](u32 k, u64 i) { rows[k] = input[i * COLUMNS]; });
        transpose32(rows);
        cipher<encrypts>(state, planes, parameters.keys.rounds);
        transpose32(rows);
        words.each([&](u32 k, u64 i) { output[i * COLUMNS] = rows[k]; });
    });
    clear_shared(planes, KEY_WORDS * (parameters.keys.rounds + 1));
}

// CBC or CFB decryption of a warp's range, from its end.
template <bool is_cfb>
DEVICE void chain(const Parameters<AesKeys> &parameters, u32 *planes) {
    expand_keys(planes, parameters.keys);
    const u32 *input = reinterpret_cast<const u32 *>(parameters.input) + column_number();
    u32 *output = reinterpret_cast<u32 *>(parameters.output) + column_number();
    const Range<WARP_BLOCKS> range(parameters.blocks);
    for (u64 rest = range.length; rest > 0; rest -= WARP_BLOCKS) {
        const auto load = [&](u32 k, u64 i, bool previous) {
            if (!previous) return input[i * COLUMNS];
            const bool is_first = rest == WARP_BLOCKS && k == 0 && first_in_run() == 0;
            if (!is_first) return input[(i - 1) * COLUMNS];
            return column_of(before_range(parameters, i), column_number());
        };
        const Words words(range.first + rest - WARP_BLOCKS, 0, parameters.blocks);
        RowPlanes state = {};
        u32(&rows)[32] = as_square(state);
        words.each([&](u32 k, u64 i) { rows[k] = load(k, i, is_cfb); });
        transpose32(rows);
        cipher<is_cfb>(state, planes, parameters.keys.rounds);
        u32 data[LANE_BLOCKS] = {};
        words.each([&](u32 k, u64 i) { data[k] = load(k, i, !is_cfb); });
        // A word that this lane loads is one that another stores.
        __syncwarp();
        transpose32(rows);
        words.each([&](u32 k, u64 i) { output[i * COLUMNS] = data[k] ^ rows[k]; });
    }
    clear_shared(planes, KEY_WORDS * (parameters.keys.rounds + 1));
}

// Calls `work(k, number, word)` for this thread's word of every mask of a run, and returns the mask
// after those of its lane. A lane makes the masks of every 32nd block from `first` on, of which the
// first is `mask`, and passes them on through `passed`, which has a mask for every lane: word c of
// block 8q + g lies at 32q + lane.
template <class Masks, class Work>
DEVICE Block16 every_mask_word(const Parameters<AesKeys> &parameters, u64 run, Block16 mask,
                               Block16 *passed, Work work) {
    const u32 lane = not_hoisted(threadIdx.x % WARP);
    constexpr u32 ROWS = WARP / GROUPS;
    Masks masks(parameters, run + lane, 0, mask);
    UNROLL for (u32 k = 0; k < LANE_BLOCKS; k += ROWS) {
        passed[lane] = masks.mask;
        __syncwarp();
        UNROLL for (u32 q = 0; q < ROWS; q++) {
            work(k + q, reinterpret_cast<const u32 *>(passed)[WARP * q + lane]);
        }
        __syncwarp();
        masks.advance(run + lane + (k + ROWS) * GROUPS < parameters.blocks);
    }
    masks.next_row(run + WARP_BLOCKS);
    return masks.mask;
}

// XTS over a warp's range. No register holds a mask while the cipher runs.
template <bool encrypts, class Masks>
DEVICE void xts_by(const Parameters<AesKeys> &parameters, Block16 *shared, const u32 *planes) {
    Block16 *kept = shared + threadIdx.x;
    Block16 *passed = shared + THREADS + threadIdx.x / WARP * WARP;
    const u32 *input = reinterpret_cast<const u32 *>(parameters.input) + column_number();
    u32 *output = reinterpret_cast<u32 *>(parameters.output) + column_number();
    const u64 blocks = parameters.blocks;
    const Range<WARP_BLOCKS> range(blocks);
    *kept = first_masks<WARP>(parameters, range.first, threadIdx.x % WARP).mask;
    for (u64 rest = 0; rest < range.length; rest += WARP_BLOCKS) {
        const u64 run = range.first + rest, first = run + first_in_run();
        RowPlanes state;
        u32(&rows)[32] = as_square(state);
        every_mask_word<Masks>(parameters, run, *kept, passed, [&](u32 k, u32 mask) {
            const u64 i = first + k * GROUPS;
            rows[k] = i < blocks ? input[i * COLUMNS] ^ mask : 0;
        });
        transpose32(rows);
        cipher<encrypts>(state, planes, parameters.keys.rounds);
        transpose32(rows);
        *kept = every_mask_word<Masks>(parameters, run, *kept, passed, [&](u32 k, u32 mask) {
            const u64 i = first + k * GROUPS;
            if (i < blocks) output[i * COLUMNS] = rows[k] ^ mask;
        });
    }
}

template <bool encrypts>
DEVICE void xts(const Parameters<AesKeys> &parameters, Block16 *shared) {
    typedef RowMasks<AesKeys> Rows;
    u32 *planes = reinterpret_cast<u32 *>(shared) + MASK_WORDS;
    expand_keys(planes, parameters.keys);
    if (Rows::fit(parameters)) xts_by<encrypts, Rows>(parameters, shared, planes);
    else xts_by<encrypts, Masks<WARP>>(parameters, shared, planes);
    clear_shared(reinterpret_cast<u32 *>(shared),
                 MASK_WORDS + KEY_WORDS * (parameters.keys.rounds + 1));
}

// ANCHOR: counter_planes
// The planes of this thread's column of counters, of which this is the first of its group: byte
// 15 - `place` has the group's number in the low three bits, and k in the others, which are zero in
// `counter`. All other bits are the same in all blocks.
DEVICE void counter_planes(RowPlanes &state, Counter counter, u32 place) {
    const u32 word = column_of(counter.block(), column_number());
    UNROLL for (u32 r = 0; r < 4; r++) {
        const bool is_number = column_number() == 3 && r == 3 - place;
        UNROLL for (u32 b = 0; b < 8; b++) {
            const u32 plane = spread_bit(word, 8 * r + b);
            state[r][b] = b >= 3 && is_number ? number_plane(b - 3) : plane;
        }
    }
}
// ANCHOR_END: counter_planes

// ANCHOR: fill_tables
// CTR's tables of two rounds (separable.cuh): a warp takes all 256 values of a byte as a run of blocks.
// What byte 15 adds stays in planes, eight of four for every lane; the other tables follow as blocks. The
// constant part is in all four, so that adding it to three leaves it once.
DEVICE void fill_tables(Block16 *tables, const u32 *words, Counter first) {
    const Counter base = {first.high, first.low & ~u64(0xffffffff)};
    const u32 lane = threadIdx.x % WARP;
    ROLLED for (u32 place = threadIdx.x / WARP; place < 4; place += blockDim.x / WARP) {
        RowPlanes state;
        u32(&rows)[32] = as_square(state);
        counter_planes(state, base.plus(u64(first_in_run()) << (8 * place)), place);
        add_round_key(state, ColumnKey(words, 0));
        full_rounds<true>(state, words, 1, 2);
        if (place == 0) {
            UNROLL for (u32 i = 0; i < 8; i++) {
                tables[WARP * i + lane] =
                    make_uint4(rows[4 * i], rows[4 * i + 1], rows[4 * i + 2], rows[4 * i + 3]);
            }
        } else {
            transpose32(rows);
            const u32 constant = __shfl_sync(0xffffffff, rows[0], column_number());
            u32 *entries = reinterpret_cast<u32 *>(tables + PLANES_BLOCKS + 256 * (place - 1));
            UNROLL for (u32 k = 0; k < LANE_BLOCKS; k++) {
                entries[WARP * k + lane] = rows[k] ^ constant;
            }
        }
    }
    __syncthreads();
}
// ANCHOR_END: fill_tables

// ANCHOR: after_two_rounds
// The planes after round 2 of this thread's column of a run of counters that starts with `counter`.
DEVICE void after_two_rounds(RowPlanes &state, const Block16 *tables, u32 counter) {
    const u32 lane = not_hoisted(threadIdx.x % WARP);  // not kept from run to run
    UNROLL for (u32 i = 0; i < 8; i++) {
        const Block16 four = tables[WARP * i + lane];
        u32 *to = &state[i / 2][i % 2 * 4];
        to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
    }
    const u32 *entries = reinterpret_cast<const u32 *>(tables + PLANES_BLOCKS) + column_number();
    const u32 word = xor3(entries[COLUMNS * byte_of(counter, 1)],
                          entries[COLUMNS * (256 + byte_of(counter, 2))],
                          entries[COLUMNS * (512 + byte_of(counter, 3))]);
    UNROLL for (u32 b = 0; b < 8; b++) {
        UNROLL for (u32 r = 0; r < 4; r++) state[r][b] ^= spread_top_bit(word << (7 - b), r);
    }
}
// ANCHOR_END: after_two_rounds

// Runs of a warp from which on tables pay for being filled.
constexpr u64 WORTH_TABLES = 8;

// XORs the key stream over every run. Runs start at counters that are a multiple of 256; the first may
// begin before the data.
DEVICE void ctr(const Parameters<AesKeys> &parameters, Block16 *tables, u32 *words) {
    expand_keys(words, parameters.keys);
    const u32 *input = reinterpret_cast<const u32 *>(parameters.input) + column_number();
    u32 *output = reinterpret_cast<u32 *>(parameters.output) + column_number();
    const Counter first_block = first_counter(parameters);
    const u64 skipped = first_block.low % WARP_BLOCKS;
    const Counter base = {first_block.high, first_block.low - skipped};
    const u64 blocks = parameters.blocks;
    const u32 rounds = parameters.keys.rounds;
    const bool has_tables = blocks > WORTH_TABLES * WARP_BLOCKS * (grid_threads() / WARP);
    if (has_tables) fill_tables(tables, words, base);
    const u32 last = column_of(parameters.keys.last, column_number());
    every_run<WARP_BLOCKS>(blocks + skipped, [&](u64 run) {
        const Words data(run, skipped, blocks);
        RowPlanes state;
        u32(&rows)[32] = as_square(state);
        if (has_tables) {
            after_two_rounds(state, tables, u32(base.low + run));
        } else {
            counter_planes(state, base.plus(run + first_in_run()), 0);
            add_round_key(state, ColumnKey(words, 0));
        }
        full_rounds<true>(state, words, has_tables ? 3 : 1, rounds - 1);
        substitute<true>(state);
        shift_rows<true>(state);
        // All loads come before the first store, which might be to the same memory; the transpose
        // covers their latency.
        u32 loaded[LANE_BLOCKS] = {};
        data.each([&](u32 k, u64 i) { loaded[k] = input[i * COLUMNS]; });
        transpose32(rows);
        data.each([&](u32 k, u64 i) { output[i * COLUMNS] = xor3(loaded[k], rows[k], last); });
    });
    // Counters are public, but what two rounds make of them is not.
    clear_shared(reinterpret_cast<u32 *>(tables), 4 * CTR_BLOCKS + KEY_WORDS * (rounds + 1));
}

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
    Block16 *tables = reinterpret_cast<Block16 *>(shared);
    ctr(parameters, tables, reinterpret_cast<u32 *>(tables + CTR_BLOCKS));
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
