// Batches' hashes by matrices of bits, a warp a message or a piece of one: for tensor cores of compute
// capability 8.0 to 9.x. Every message has its own H, so the matrices are made anew for each: as windows
// of sequences of bits (rows.cuh), which costs about what hashing 100 blocks does.
//
// A unit is 64 blocks, four in each of sixteen rows: row r has blocks r, r + 16, r + 32 and r + 48 of it.
// With its sum of the units before, S,
//
//   S = S H^64 + B(r) H^48 + B(r + 16) H^32 + B(r + 32) H^16 + B(r + 48)
//
// are four products of 128 bits: two of 256, since one of 128 takes as long. Everything of a unit stays in
// the registers of the warp: no barrier, and no lane needs what another has.
#include "../common/queue.cuh"
#include "../common/tensor.cuh"
#include "rows.cuh"

namespace {

constexpr u32 THREADS = 512, WARPS = THREADS / WARP;
constexpr u32 BIT_TILES = 16;  // of eight bits: a block
// Of a warp, in shared memory: the powers that matrices are made of, as sums; later that of H.
constexpr u32 WARP_WORDS = POWERS * POWER_WORDS;
// Behind that: the queue of items.
constexpr u32 QUEUE_AT = WARPS * WARP_WORDS;
constexpr Launch LAUNCH = {THREADS, QUEUE_AT * 4 + Queue::BYTES, {WARP, 1, false}};

// ANCHOR: matrices
// The matrices of a lane, 4c + t, as right operands: column c of tile n, of which it has word t.
//
// A lane gets columns 2t and 2t + 1 of every tile: these are bits 2n and 2n + 1 of word t of the result, so
// that a word comes together in the lane that has this word of the blocks. Column c of tile n is therefore
// bit 2n + c % 2 of word c / 2 of the result, and row 32 (c / 2) + (2n + c % 2 ^ 7) of the above. All tiles'
// words lie within the same 64 bits, but for the first four of word 0, some of which are of other
// sequences.
struct Matrices {
    u32 words[POWERS][BIT_TILES];

    DEVICE explicit Matrices(const u32 *powers) {
        const u32 lane = threadIdx.x % WARP, c = lane / 4, t = lane % 4, even = c % 2 ^ 1;
        const u32 *from = powers + 3 + c / 2 - t;
        UNROLL for (u32 power = 0; power < POWERS; power++) {
            const u32 *its = from + power * POWER_WORDS, *usual = its + 3 * KIND_WORDS;
            const u64 both = (u64(usual[1]) << 32 | usual[0]) >> even;
            UNROLL for (u32 n = 0; n < BIT_TILES; n++) {
                words[power][n] = byte_swap(u32(both >> (2 * n ^ 6)));
            }
            UNROLL for (u32 n = 0; n < 4; n++) {
                const u32 by = (2 * n ^ 6) + even, kind = c < 2 ? kind_of(by) : 3;
                const u32 *sequence = its + kind * KIND_WORDS;
                words[power][n] = matrix_word(sequence[0], sequence[1], by);
            }
        }
    }
};
// ANCHOR_END: matrices

// Word t of a block of row g and of one of row g + 8, which lane 4g + t has.
struct TwoRows {
    u32 upper, lower;

    DEVICE TwoRows operator^(TwoRows other) const {
        return {upper ^ other.upper, lower ^ other.lower};
    }
};

// What a lane has of a unit: of blocks r, r + 16, r + 32 and r + 48.
struct Unit64 {
    TwoRows blocks[ROW_BLOCKS];
};

// Tiles that are added up at once: enough products for the tensor cores to be busy, few enough for the
// registers.
constexpr u32 TILES_AT_ONCE = 8;

// ANCHOR: after_unit
// The sums of rows g and g + 8 after a unit.
DEVICE TwoRows after_unit(const Matrices &matrices, const Unit64 &unit, TwoRows sums) {
    const TwoRows(&blocks)[ROW_BLOCKS] = unit.blocks;
    u32 halves[2] = {};  // of words: 16 bits of row g, and above them those of row g + 8
    UNROLL for (u32 first = 0; first < BIT_TILES; first += TILES_AT_ONCE) {
        u32 added[TILES_AT_ONCE][4];
        // Those that wait for no sum come first.
        UNROLL for (u32 i = 0; i < TILES_AT_ONCE; i++) {
            const u32 right[2] = {matrices.words[2][first + i], matrices.words[3][first + i]};
            begin_bits(added[i], blocks[1].upper, blocks[1].lower, blocks[2].upper, blocks[2].lower,
                       right);
        }
        UNROLL for (u32 i = 0; i < TILES_AT_ONCE; i++) {
            const u32 right[2] = {matrices.words[0][first + i], matrices.words[1][first + i]};
            multiply_bits(added[i], sums.upper, sums.lower, blocks[0].upper, blocks[0].lower, right);
        }
        halves[first / 8] += packed(added) << 2 * (first % 8);
    }
    const TwoRows products = {__byte_perm(halves[0], halves[1], 0x5410),
                              __byte_perm(halves[0], halves[1], 0x7632)};
    return products ^ blocks[3];
}
// ANCHOR_END: after_unit

// A piece: its blocks end a unit, and in front of them are zeros.
struct Piece {
    const u32 *start;  // where this lane's word of the first block of the first unit would be
    u32 units, zeros;
    u32 last_bytes;    // of the last block

    DEVICE Piece(const BatchParameters &parameters, const BatchJob &job, const BatchItem &item)
        : units((item.blocks + UNIT - 1) / UNIT), zeros(units * UNIT - item.blocks) {
        const u64 end = (u64(item.first) + item.blocks) * sizeof(Block16);
        last_bytes = end <= job.length ? 16 : u32(job.length % 16);
        start = reinterpret_cast<const u32 *>(ciphertext(parameters, job)) +
                4 * u64(item.first) - 4 * zeros + threadIdx.x % WARP;
    }

    // Loads the lane's words; nothing is read of units that are not there.
    DEVICE void load(u32 unit, Unit64 &to) const {
        const bool is_whole = (unit > 0 || zeros == 0) && (unit + 1 < units || last_bytes == 16);
        if (unit < units && is_whole) {
            const u32 *from = start + u64(unit) * (UNIT * 4);
            UNROLL for (u32 q = 0; q < ROW_BLOCKS; q++) {
                to.blocks[q] = {from[64 * q], from[64 * q + 32]};
            }
        } else {
            UNROLL for (u32 q = 0; q < ROW_BLOCKS; q++) {
                to.blocks[q] = {edge_word(unit, 16 * q), edge_word(unit, 16 * q + 8)};
            }
        }
    }

    // Adds `before` to the first block of the message, in the first unit, where this lane has a word of it.
    DEVICE void add(Block16 before, Unit64 &to) const {
        const u32 lane = threadIdx.x % WARP, word = word_of(before, lane % 4);
        UNROLL for (u32 q = 0; q < ROW_BLOCKS; q++) {
            if (16 * q + lane / 4 == zeros) to.blocks[q].upper ^= word;
            if (16 * q + 8 + lane / 4 == zeros) to.blocks[q].lower ^= word;
        }
    }

   private:
    // The lane's word of the block that is `at` blocks behind its first one, in the first unit or the last, whose last
    // block is perhaps not whole.
    DEVICE u32 edge_word(u32 unit, u32 at) const {
        const u32 lane = threadIdx.x % WARP, i = unit * UNIT + at + lane / 4;
        if (unit >= units || i < zeros) return 0;
        const u32 *from = start + (u64(unit) * UNIT + at) * 4;
        if (i + 1 < units * UNIT || last_bytes == 16) return *from;
        const u32 *block = from - lane % 4;
        return word_of(padded(reinterpret_cast<const u8 *>(block), last_bytes), lane % 4);
    }
};

// ANCHOR: sum_of_rows
// The sum of the rows, row r times H^(15 - r): by Horner's rule, the warp making a product at once.
DEVICE Block16 sum_of_rows(const Rows &by_h, const TwoRows &sums) {
    Block16 sum = {};
    ROLLED for (u32 r = 0; r < ROWS; r++) {
        const u32 word = r < 8 ? sums.upper : sums.lower;
        u32 words[4];
        UNROLL for (u32 t = 0; t < 4; t++) {
            words[t] = __shfl_sync(0xffffffff, word, r % 8 * 4 + t);
        }
        sum = by_h.times(sum) ^ make_uint4(words[0], words[1], words[2], words[3]);
    }
    return sum;
}
// ANCHOR_END: sum_of_rows

// The rows of H, of the sequences `from` on; `powers` has room for one.
DEVICE Rows rows_of_h(const u32 *from, u32 *powers) {
    __syncwarp();
    const u32 lane = threadIdx.x % WARP;
    if (lane < KIND_WORDS) store_kinds(powers, from + AT_H * KIND_WORDS, lane);
    __syncwarp();
    return Rows(powers);
}

// The hash of the associated data, which the first block of data is added to.
DEVICE Block16 hash_of_aad(const BatchParameters &parameters, const BatchJob &job, const u32 *from,
                           u32 *powers) {
    if (job.aad_bytes == 0) return Block16{};
    const Rows by_h = rows_of_h(from, powers);
    Block16 sum = {};
    ROLLED for (u64 i = 0; i < blocks_of(job.aad_bytes); i++) {
        const Block16 block = block_at(parameters.arena + job.aad, job.aad_bytes, i);
        sum = by_h.times(sum ^ block);
    }
    return sum;
}

// The sums of the rows of an item, and the powers that they are made with on the way.
DEVICE TwoRows sums_of_rows(const BatchParameters &parameters, const BatchItem &item,
                            const u32 *from, u32 *powers) {
    const BatchJob &job = parameters.jobs[item.job];
    const Piece piece(parameters, job, item);
    Unit64 unit = {}, next = {};
    piece.load(0, unit);
    if (item.first == 0) piece.add(hash_of_aad(parameters, job, from, powers), unit);
    __syncwarp();
    static_assert(POWERS * KIND_WORDS == WARP, "a word for every lane");
    store_kinds(powers, from, threadIdx.x % WARP);
    __syncwarp();
    TwoRows sums = {};
    const Matrices matrices(powers);
    ROLLED for (u32 n = 0; n < piece.units; n++) {
        piece.load(n + 1, next);
        sums = after_unit(matrices, unit, sums);
        unit = next;
    }
    return sums;
}

// Hashes item `i`: to the end where it is all of a message, whose sum is multiplied by H then.
DEVICE void hash_piece(const BatchParameters &parameters, const BatchItem &item, u32 *powers) {
    const BatchJob &job = parameters.jobs[item.job];
    const u32 *from = sequences_of(parameters, job);
    const TwoRows sums = sums_of_rows(parameters, item, from, powers);
    const Rows by_h = rows_of_h(from, powers);
    Block16 sum = sum_of_rows(by_h, sums);
    if (item.place == WHOLE) {
        sum = by_h.times(sum) ^ lengths_block(8 * job.aad_bytes, 8 * job.length);
        sum = by_h.times(sum);
        if (threadIdx.x % WARP == 0) conclude(parameters, item.job, job.mode, sum);
    } else if (threadIdx.x % WARP == 0) {
        parameters.sums[item.place] = sum;
    }
}

}  // namespace

// Hashes messages to the end that are one piece, and writes the sum of every piece of the others, still
// to be multiplied by H.
KERNEL(batch_matrices, LAUNCH, BatchParameters) {
    SHARED_MEMORY(shared);
    u32 *words = reinterpret_cast<u32 *>(shared), *mine = words + threadIdx.x / WARP * WARP_WORDS;
    u32 *next = words + QUEUE_AT;
    start_queue(next);
    Queue queue = {next, 0};
    // Taken in one place: in two, registers spill.
    for (u64 i; (i = queue.take_dealt()) < parameters.count;) {
        hash_piece(parameters, parameters.items[i], mine);
    }
    clear_shared(words, LAUNCH.shared_bytes / 4);
}
