// GHASH by matrices of bits on tensor cores of compute capability 9.0: the products of matrices.cu, but
// both operands are in shared memory, where the copy engine brings the message. Constant-time.
//
// A warpgroup has a contiguous range of units of 1,024 blocks. The left operand has 64 rows; row r takes
// every 64th block from block r on, and the row's sum of the unit before:
//
//   blocks r, 64 + r, .., 960 + r    x  H^960, H^896, .., H^64, 1
//   sum of row r so far              x  H^1024
//
// Blocks lie as in the message: 64 of them are 128 bits of all rows, one below the other. A sum is
// packed and goes in again, from registers, so that a unit costs its threads little but that.
#include "../common/warpgroup.cuh"
#include "matrix.cuh"

namespace {

constexpr u32 WARPGROUPS = 4, THREADS = WARPGROUPS * WARPGROUP;
constexpr u32 SLICES = 16, SLICE = WIDE_ROWS, UNIT = SLICES * SLICE;  // blocks
constexpr u32 SLICE_BYTES = SLICE * sizeof(Block16), UNIT_BYTES = UNIT * sizeof(Block16);
constexpr u32 DEPTH = 2;  // units that are there or on their way
// Matrices: those of the slices, and that of the sums. A column of one is a block.
constexpr u32 MATRIX_BYTES = WIDE_COLUMNS * sizeof(Block16), MATRICES = SLICES + 1;

// ANCHOR: wide_shared
// Shared memory: the matrices, rings of units, and arrivals, of the matrices and of every unit.
constexpr u32 RINGS_AT = MATRICES * MATRIX_BYTES;
constexpr u32 ARRIVALS_AT = RINGS_AT + WARPGROUPS * DEPTH * UNIT_BYTES;
constexpr u32 ARRIVALS = 1 + WARPGROUPS * DEPTH;
constexpr u32 SHARED_BYTES = (ARRIVALS_AT + ARRIVALS * Arrival::BYTES + 15) / 16 * 16;
// ANCHOR_END: wide_shared
constexpr Launch LAUNCH = {THREADS, SHARED_BYTES, {WARPGROUP, UNIT, false}};
constexpr Launch MATRICES_LAUNCH = {256, 0, BLOCK_A_THREAD};

// ANCHOR: wide_pack
// The words of rows 16w + g and 16w + g + 8 that thread 32w + 4g + t packs of its sums, the lowest bits
// of which they are, and passes again for the next unit: word t. So bit b of a word is made of column
//
//   8 (b / 2) + 2t + b % 2    of the matrices.
//
// The sums stay below 2^16.
DEVICE void pack(const u32 (&sums)[WIDE_SUMS], u32 &upper, u32 &lower) {
    u32 halves[2] = {};  // 16 bits of the upper row, and above them those of the lower one
    UNROLL for (u32 b = 0; b < 32; b++) {
        const u32 at = 4 * (b / 2) + b % 2;
        const u32 both = sums[at + 2] * 0x10000 + sums[at];
        halves[b / 16] += (both & 0x00010001) * (1u << b % 16);
    }
    upper = __byte_perm(halves[0], halves[1], 0x5410);
    lower = __byte_perm(halves[0], halves[1], 0x7632);
}
// ANCHOR_END: wide_pack

// The word and its bit that a column of a matrix is for.
DEVICE u32 word_of_column(u32 column) { return column % 8 / 2; }
DEVICE u32 bit_of_column(u32 column) { return column / 8 * 2 + column % 2; }

// A warpgroup: its range, as `exponent` of ghash.cu has them, and its memory.
struct Warpgroup {
    u32 group, shared;  // number in the thread block, and address of the memory
    u64 number, first, count, zeros;  // zeros: blocks in front of the message, in the first unit
    const Block16 *input;

    DEVICE Warpgroup(const HashParameters &parameters, u32 shared)
        : group(threadIdx.x / WARPGROUP), shared(shared), input(parameters.input) {
        const u64 ranges = grid_threads() / WARPGROUP;
        number = grid_thread() / WARPGROUP;
        const u64 each = parameters.units / ranges, more = parameters.units % ranges;
        first = number * each + min(number, more);
        count = each + (number < more);
        zeros = parameters.units * UNIT - parameters.blocks;
    }

    DEVICE bool is_first_thread() const { return threadIdx.x % WARPGROUP == 0; }
    DEVICE u32 slot(u32 i) const { return shared + RINGS_AT + (group * DEPTH + i) * UNIT_BYTES; }
    DEVICE Arrival arrival(u32 i) const {
        return {shared + ARRIVALS_AT + (1 + group * DEPTH + i) * Arrival::BYTES};
    }

    // Starts to copy a unit, if there is one, to its slot: of the message's first one what there is.
    DEVICE void fetch(u64 unit) const {
        if (unit >= count) return;
        const u32 i = u32(unit) % DEPTH;
        const u64 block = (first + unit) * UNIT;
        const u32 skipped = block == 0 ? u32(zeros) * u32(sizeof(Block16)) : 0;
        const Block16 *from = block == 0 ? input : input + (block - zeros);
        arrival(i).copy(slot(i) + skipped, from, UNIT_BYTES - skipped);
    }
    // Writes the zeros before the message, which nothing else does.
    DEVICE void fill_zeros() const {
        if (first > 0 || count == 0) return;
        for (u32 i = threadIdx.x % WARPGROUP; i < zeros; i += WARPGROUP) {
            store_shared_block(slot(0) + i * u32(sizeof(Block16)), {});
        }
    }

    // The sums of all rows: word t of rows 16w + g and 16w + g + 8.
    DEVICE void hash(u32 &upper, u32 &lower) const {
        upper = lower = zero_of_its_own();
        ROLLED for (u64 unit = 0; unit < count; unit++) {
            const u32 i = u32(unit) % DEPTH;
            arrival(i).wait(u32(unit) / DEPTH);
            u32 sums[WIDE_SUMS];
            prepare_products();
            start_products(sums, upper, lower, shared + SLICES * MATRIX_BYTES);
            UNROLL for (u32 s = 0; s < SLICES; s += 2) {
                add_products(sums, {slot(i) + s * SLICE_BYTES, SLICE_BYTES},
                             {shared + s * MATRIX_BYTES, MATRIX_BYTES});
            }
            wait_products(sums);
            warpgroup_barrier(group);
            if (is_first_thread()) fetch(unit + DEPTH);
            pack(sums, upper, lower);
        }
    }
};

// All arrivals, by one thread.
template <class Do>
DEVICE void each_arrival(u32 shared, Do action) {
    if (threadIdx.x != 0) return;
    for (u32 i = 0; i < ARRIVALS; i++) action(Arrival{shared + ARRIVALS_AT + i * Arrival::BYTES});
}

}  // namespace

// Writes the matrices, column by column. `blocks` is the number of words.
KERNEL(ghash_wide_matrices_words, MATRICES_LAUNCH, HashParameters) {
    u32 *words = reinterpret_cast<u32 *>(parameters.output);
    for (u64 i = grid_thread(); i < parameters.blocks; i += grid_threads()) {
        const u32 from = u32(i) % 4, column = u32(i) / 4 % WIDE_COLUMNS;
        const u32 matrix = u32(i) / (4 * WIDE_COLUMNS);
        const u32 exponent = matrix < SLICES ? SLICE * (SLICES - 1 - matrix) : UNIT;
        words[i] = matrix_word(listed_power(parameters.powers, exponent), from,
                               word_of_column(column), bit_of_column(column));
    }
}

// Writes the sums of 64 rows for every warpgroup; `powers` has the matrices.
KERNEL(ghash_wide_matrices, LAUNCH, HashParameters) {
    SHARED_MEMORY(memory);
    const u32 shared = shared_address(memory);
    const Warpgroup warpgroup(parameters, shared);
    each_arrival(shared, [](Arrival arrival) { arrival.init(); });
    warpgroup.fill_zeros();
    publish_shared();
    __syncthreads();
    const Arrival of_matrices = {shared + ARRIVALS_AT};
    if (threadIdx.x == 0) of_matrices.copy(shared, parameters.powers, RINGS_AT);
    if (warpgroup.is_first_thread()) {
        for (u32 i = 0; i < DEPTH; i++) warpgroup.fetch(i);
    }
    of_matrices.wait(0);
    u32 upper, lower;
    warpgroup.hash(upper, lower);
    const u32 lane = threadIdx.x % WARP, row = threadIdx.x % WARPGROUP / WARP * 16 + lane / 4;
    u32 *to = reinterpret_cast<u32 *>(parameters.output + warpgroup.number * WIDE_ROWS + row) + lane % 4;
    to[0] = upper;
    to[8 * sizeof(Block16) / sizeof(u32)] = lower;
    __syncthreads();
    each_arrival(shared, [](Arrival arrival) { arrival.drop(); });
    clear_shared(reinterpret_cast<u32 *>(memory), SHARED_BYTES / 4);
}
