// GHASH by matrices of bits on tensor cores of compute capability 8.0 to 9.x. Multiplication by a
// constant of GF(2^128) is a 128 x 128 matrix, and mma.m16n8k256 .b1 .and.popc adds up products of
// bits; the lowest bit of a sum is the XOR. Constant-time.
//
// A thread block has a contiguous range of units of 256 blocks. Its 16 rows, the left operand, each
// take four blocks of every 64 and the row's sum of the unit before:
//
//   blocks 4r .. 4r + 3 of 64, four times over   x  H^195 .. H^192, .., H^3 .. 1
//   sum of row r so far                          x  H^256
//
// The matrices, the right operand, stay in registers: a warp has those of a word of the result. So a
// sum is packed and goes in again, a barrier a unit, with nothing reduced and nothing shifted.
#include "../common/tensor.cuh"
#include "matrix.cuh"

namespace {

constexpr u32 WARPS = 4, THREADS = WARPS * WARP;
constexpr u32 ROWS = 16, SLICE = 4 * ROWS;             // blocks that the rows take at once
constexpr u32 SLICES = 4, UNIT = SLICES * SLICE;       // blocks of a unit
constexpr u32 SLICE_WORDS = 4 * TILES;                 // of matrices, a lane and slice
constexpr u32 LANE_WORDS = SLICES * SLICE_WORDS + TILES;
constexpr u32 DEPTH = 4;                               // units that are on their way, and the one at hand
constexpr u32 RING_BYTES = DEPTH * UNIT * sizeof(Block16), SUMS_BYTES = ROWS * sizeof(Block16);
constexpr Launch LAUNCH = {THREADS, RING_BYTES + 2 * SUMS_BYTES, {THREADS, UNIT, false}};
constexpr Launch MATRICES_LAUNCH = {256, 0, BLOCK_A_THREAD};

// ANCHOR: matrix_word
// The word of matrices that a lane has, of which the instruction takes bit i times bit i of a word of
// the left operand. A column is a bit of the result, and lanes 4c .. 4c + 3 have column c of a tile:
//
//   word of a lane   slice s      half h of its blocks   tile j      operand o
//   is for           block t      word 2h + o of it      column: byte c / 2, bit 2j + c % 2
//                    of the four  (lane 4c + t)          of the warp's word of the result
//
// and the last four words for word t of the sum, tile by tile.
struct Place {
    u32 exponent, word, bit;

    DEVICE Place(u32 lane, u32 index) {
        const u32 c = lane / 4, t = lane % 4, slice = index / SLICE_WORDS;
        const bool is_sum = slice == SLICES;
        const u32 tile = is_sum ? index % TILES : index / 2 % TILES;
        exponent = is_sum ? UNIT : SLICE * (SLICES - 1 - slice) + 3 - t;
        word = is_sum ? t : index / (2 * TILES) % 2 * 2 + index % 2;
        bit = c / 2 * 8 + 2 * tile + c % 2;
    }
};
// ANCHOR_END: matrix_word

// The matrices of this lane, and what it adds up with them.
struct Lane {
    u32 matrices[SLICES][2][TILES][2], of_sum[TILES];

    DEVICE explicit Lane(const u32 *words) {
        const u32 *from = words + threadIdx.x;
        UNROLL for (u32 s = 0; s < SLICES; s++) {
            UNROLL for (u32 i = 0; i < SLICE_WORDS; i++, from += THREADS) {
                matrices[s][i / (2 * TILES)][i / 2 % TILES][i % 2] = *from;
            }
        }
        UNROLL for (u32 j = 0; j < TILES; j++, from += THREADS) of_sum[j] = *from;
    }

    // The lane's four blocks of the unit, lane l having blocks l and l + 32 of a slice, and its
    // words of rows l / 4 and l / 4 + 8 of the sums.
    DEVICE void add_unit(const Block16 *unit, const u32 *sums, u32 (&added)[TILES][4]) const {
        const u32 lane = threadIdx.x % WARP;
        UNROLL for (u32 s = 0; s < SLICES; s++) {
            const Block16 upper = unit[s * SLICE + lane], lower = unit[s * SLICE + WARP + lane];
            UNROLL for (u32 j = 0; j < TILES; j++) {
                multiply_bits(added[j], upper.x, lower.x, upper.y, lower.y, matrices[s][0][j]);
            }
            UNROLL for (u32 j = 0; j < TILES; j++) {
                multiply_bits(added[j], upper.z, lower.z, upper.w, lower.w, matrices[s][1][j]);
            }
        }
        const u32 upper = sums[lane], lower = sums[WARP + lane];
        UNROLL for (u32 j = 0; j < TILES; j++) multiply_bits(added[j], upper, lower, of_sum[j]);
    }
};

// ANCHOR: pack
// Keeps the bits of this warp's word of the sums.
DEVICE void pack(const u32 (&added)[TILES][4], u8 *sums) {
    const u32 bytes = packed(added);
    const u32 lane = threadIdx.x % WARP, row = lane / 4, byte = threadIdx.x / WARP * 4 + lane % 4;
    sums[row * sizeof(Block16) + byte] = u8(bytes);
    sums[(row + 8) * sizeof(Block16) + byte] = u8(bytes >> 16);
}
// ANCHOR_END: pack

// The units of this thread block, as `exponent` of ghash.cu has them, and its memory.
struct Units {
    u8 *shared;
    const Block16 *input;
    u64 first, count, zeros;  // zeros: blocks in front of the message, where the first unit begins

    DEVICE Units(const HashParameters &parameters, u8 *shared)
        : shared(shared), input(parameters.input) {
        const u64 each = parameters.units / gridDim.x, more = parameters.units % gridDim.x;
        first = blockIdx.x * each + min(u64(blockIdx.x), more);
        count = each + (blockIdx.x < more);
        zeros = parameters.units * UNIT - parameters.blocks;
    }

    DEVICE Block16 *slot(u64 unit) const {
        return reinterpret_cast<Block16 *>(shared) + unit % DEPTH * UNIT;
    }
    // Of which unit the copy is that its passes add to and the one that they write.
    DEVICE u8 *sums(u64 unit) const { return shared + RING_BYTES + unit % 2 * SUMS_BYTES; }

    // Starts to copy a unit, if there is one; every thread has a copy more on its way in any case.
    DEVICE void fetch(u64 unit) const {
        if (unit < count) {
            UNROLL for (u32 i = 0; i < UNIT / THREADS; i++) {
                const u32 at = i * THREADS + threadIdx.x;
                const u64 block = (first + unit) * UNIT + at;
                const bool is_there = block >= zeros;
                copy_async(slot(unit) + at, input + (is_there ? block - zeros : 0), is_there);
            }
        }
        commit_copies();
    }
};

}  // namespace

// Writes the matrices of all lanes of a thread block, word by word. `blocks` is the number of words.
KERNEL(ghash_matrices_words, MATRICES_LAUNCH, HashParameters) {
    u32 *words = reinterpret_cast<u32 *>(parameters.output);
    for (u64 i = grid_thread(); i < parameters.blocks; i += grid_threads()) {
        const u32 thread = u32(i) % THREADS;
        const Place place(thread % WARP, u32(i) / THREADS);
        const Block16 power = listed_power(parameters.powers, place.exponent);
        words[i] = matrix_word(power, place.word, thread / WARP, place.bit);
    }
}

// Writes the sums of 16 rows for every thread block; `powers` has the words of the matrices.
KERNEL(ghash_matrices, LAUNCH, HashParameters) {
    SHARED_MEMORY(shared);
    const Units units(parameters, shared);
    const Lane lane(reinterpret_cast<const u32 *>(parameters.powers));
    for (u32 i = threadIdx.x; i < SUMS_BYTES / 4; i += THREADS) {
        reinterpret_cast<u32 *>(units.sums(0))[i] = 0;
    }
    for (u32 i = 0; i < DEPTH - 1; i++) units.fetch(i);
    ROLLED for (u64 unit = 0; unit < units.count; unit++) {
        wait_copies<DEPTH - 2>();
        __syncthreads();
        units.fetch(unit + DEPTH - 1);
        u32 added[TILES][4] = {};
        lane.add_unit(units.slot(unit), reinterpret_cast<const u32 *>(units.sums(unit)), added);
        pack(added, units.sums(unit + 1));
    }
    wait_copies<0>();
    __syncthreads();
    const Block16 *rows = reinterpret_cast<const Block16 *>(units.sums(units.count));
    if (threadIdx.x < ROWS) parameters.output[blockIdx.x * ROWS + threadIdx.x] = rows[threadIdx.x];
    clear_shared(reinterpret_cast<u32 *>(shared), LAUNCH.shared_bytes / 4);
}
