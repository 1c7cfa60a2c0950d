// Batches' hashes by matrices of bits, a warp a message or a piece of one: for tensor cores of compute
// capability 8.0 to 9.x. Every message has its own H, so the matrices are made anew for each: as windows
// of sequences of bits (rows.cuh), which costs about what hashing 100 blocks does.
//
// A unit is 112 blocks. Sixteen rows, the left operand, each take seven of them, and in place of an eighth
// the row's sum of the units before:
//
//   blocks 7r .. 7r + 6   x  H^6, H^5, .., H, 1
//   sum of row r so far   x  H^112
//
// The sum goes in again as a block does, so that no product is of less than 256 bits: one of 128 takes as
// long. Everything of a unit stays in the registers of the warp: no barrier.
#include "../common/tensor.cuh"
#include "rows.cuh"

namespace {

constexpr u32 THREADS = 384, WARPS = THREADS / WARP;
constexpr u32 HALF = UNIT / 2;  // blocks of eight rows
// Of a warp, in shared memory: the powers H^0 to H^6 and H^112, as sums, and words of a matrix.
constexpr u32 WARP_POWERS = 8, KEPT_WORDS = (4 + 1) * TILES * 4 * WARP;
constexpr u32 WARP_WORDS = WARP_POWERS * POWER_WORDS + KEPT_WORDS;
constexpr Launch LAUNCH = {THREADS, WARPS * WARP_WORDS * 4, {WARP, 1, false}};

// ANCHOR: matrices
// The matrices of a lane, 4c + t. Column c of tile j of word W of the result is bit j0 of the word, where
// bits of a byte are in the other order. Bits 32 w .. 32 w + 31 of row 32 W + j0 are the window that
// starts at 32 (w - W) - j0: they are the same words wherever w - W is, but for the first word of the
// result, some of whose rows are of other sequences.
struct Matrices {
    u32 usual[TILES][6];  // at w - W + 3, of the power H^(6-t)
    // In shared memory, since registers are short, two words at a time of a tile: those of H^(2-t), and
    // for lanes with t = 3 of H^112, then those of H^(6-t) for W = 0.
    uint2 *others;

    DEVICE explicit Matrices(u32 *powers) {
        const u32 lane = threadIdx.x % WARP, c = lane / 4, t = lane % 4;
        others = reinterpret_cast<uint2 *>(powers + WARP_POWERS * POWER_WORDS) + lane;
        const u32 *mine = powers + (6 - t) * POWER_WORDS;
        const u32 *other = powers + (t < 3 ? 2 - t : WARP_POWERS - 1) * POWER_WORDS;
        UNROLL for (u32 j = 0; j < TILES; j++) {
            const u32 j0 = 8 * (c / 2) + 7 - (2 * j + c % 2);
            const u32 usual_kind = 3 * KIND_WORDS, first_kind = kind_of(j0) * KIND_WORDS;
            UNROLL for (u32 d = 0; d < 6; d++) {
                usual[j][d] = reversed_bytes(window(mine + usual_kind, 32 + 32 * d - j0));
            }
            ROLLED for (u32 to = 0; to <= FIRST; to++) {
                const u32 *kind = (to == FIRST ? mine : other) +
                                  (to % FIRST == 0 ? first_kind : usual_kind);
                ROLLED for (u32 w = 0; w < 4; w += 2) {
                    const u32 at = 128 + 32 * w - 32 * (to % FIRST) - j0;
                    *other_words(to, j, w) = make_uint2(reversed_bytes(window(kind, at)),
                                                        reversed_bytes(window(kind, at + 32)));
                }
            }
        }
    }

    // Words `w` and `w` + 1 of an early or a late block for tile `j` of word `to` of the result; all are constants.
    DEVICE void early_words(u32 to, u32 j, u32 w, u32 (&right)[2]) const {
        if (to == 0) {
            late_words(FIRST, j, w, right);
        } else {
            right[0] = usual[j][w + 3 - to], right[1] = usual[j][w + 4 - to];
        }
    }
    DEVICE void late_words(u32 to, u32 j, u32 w, u32 (&right)[2]) const {
        const uint2 both = *other_words(to, j, w);
        right[0] = both.x, right[1] = both.y;
    }

   private:
    static constexpr u32 FIRST = 4;  // the number of W = 0 of H^(6-t)

    DEVICE uint2 *other_words(u32 to, u32 j, u32 w) const {
        return others + ((to * TILES + j) * 2 + w / 2) * WARP;
    }
};
// ANCHOR_END: matrices

// Words of the result that are added up at once: enough products for the tensor cores to be busy, few
// enough for the registers.
constexpr u32 AT_ONCE = 2;

// ANCHOR: pack
// From byte t of all words, in four lanes, to all words: byte t of word w is byte w of lane t.
DEVICE Block16 gathered(u32 bytes) {
    const u32 lane = threadIdx.x % WARP / 4 * 4;
    u32 from[4];
    UNROLL for (u32 t = 0; t < 4; t++) from[t] = __shfl_sync(0xffffffff, bytes, lane + t);
    const u32 low = __byte_perm(from[0], from[1], 0x5140), high = __byte_perm(from[2], from[3], 0x5140);
    const u32 more = __byte_perm(from[0], from[1], 0x7362), most = __byte_perm(from[2], from[3], 0x7362);
    return make_uint4(__byte_perm(low, high, 0x5410), __byte_perm(low, high, 0x7632),
                      __byte_perm(more, most, 0x5410), __byte_perm(more, most, 0x7632));
}
// ANCHOR_END: pack

// Blocks of row g and of row g + 8 that lane 4g + t has.
struct TwoRows {
    Block16 upper, lower;
};

// What a lane has of a unit: blocks t of its rows, and blocks 4 + t, or the sums so far where t is 3.
struct Unit112 {
    TwoRows early, late;
};

// Products take words of both rows from neighbouring registers, and loads leave words of a block in such:
// adding `zero` makes copies once, where the compiler would move all words before every product.
DEVICE TwoRows moved(TwoRows rows, u32 zero) {
    const Block16 zeros = make_uint4(zero, zero, zero, zero);
    return {rows.upper ^ zeros, rows.lower ^ zeros};
}

// The sums of rows g and g + 8 after a unit.
DEVICE TwoRows after_unit(const Matrices &matrices, const Unit112 &unit, u32 zero) {
    u32 upper_bytes = 0, lower_bytes = 0;
    const TwoRows early = moved(unit.early, zero), late = moved(unit.late, zero);
    UNROLL for (u32 first = 0; first < 4; first += AT_ONCE) {
        u32 added[AT_ONCE][TILES][4], right[2];
        UNROLL for (u32 i = 0; i < AT_ONCE * TILES; i++) {
            matrices.early_words(first + i / TILES, i % TILES, 0, right);
            begin_bits(added[i / TILES][i % TILES], early.upper.x, early.lower.x, early.upper.y,
                       early.lower.y, right);
        }
        UNROLL for (u32 i = 0; i < AT_ONCE * TILES; i++) {
            matrices.early_words(first + i / TILES, i % TILES, 2, right);
            multiply_bits(added[i / TILES][i % TILES], early.upper.z, early.lower.z, early.upper.w,
                          early.lower.w, right);
        }
        UNROLL for (u32 i = 0; i < AT_ONCE * TILES; i++) {
            matrices.late_words(first + i / TILES, i % TILES, 0, right);
            multiply_bits(added[i / TILES][i % TILES], late.upper.x, late.lower.x, late.upper.y,
                          late.lower.y, right);
        }
        UNROLL for (u32 i = 0; i < AT_ONCE * TILES; i++) {
            matrices.late_words(first + i / TILES, i % TILES, 2, right);
            multiply_bits(added[i / TILES][i % TILES], late.upper.z, late.lower.z, late.upper.w,
                          late.lower.w, right);
        }
        UNROLL for (u32 i = 0; i < AT_ONCE; i++) {
            const u32 both = packed(added[i]);
            upper_bytes |= (both & 0xff) << 8 * (first + i);
            lower_bytes |= (both >> 16 & 0xff) << 8 * (first + i);
        }
    }
    return {gathered(upper_bytes), gathered(lower_bytes)};
}

// A piece: its blocks end a unit, and in front of them are zeros.
struct Piece {
    const Block16 *start;  // where block 0 of the first unit would be
    u32 units, zeros;
    u32 last_bytes;        // of the last block

    DEVICE Piece(const BatchParameters &parameters, const BatchJob &job, const BatchItem &item)
        : units((item.blocks + UNIT - 1) / UNIT), zeros(units * UNIT - item.blocks) {
        const u64 end = (u64(item.first) + item.blocks) * sizeof(Block16);
        last_bytes = end <= job.length ? 16 : u32(job.length % 16);
        start = reinterpret_cast<const Block16 *>(ciphertext(parameters, job)) + item.first - zeros;
    }

    // The first block of a unit that this lane has.
    static DEVICE u32 place() {
        const u32 lane = threadIdx.x % WARP;
        return lane / 4 * ROW_BLOCKS + lane % 4;
    }
    // Whether the lane has seven blocks of two rows, and not the sums.
    static DEVICE bool has_late() { return threadIdx.x % 4 < 3; }

    // Loads the lane's blocks; nothing is read of units that are not there.
    DEVICE void load(u32 unit, Unit112 &to) const {
        if (unit > 0 && unit + 1 < units) {
            const Block16 *from = start + u64(unit) * UNIT + place();
            to.early = {from[0], from[HALF]};
            if (has_late()) to.late = {from[4], from[HALF + 4]};
        } else {
            const u32 at = place();
            to.early = {edge_block(unit, at), edge_block(unit, HALF + at)};
            if (has_late()) to.late = {edge_block(unit, at + 4), edge_block(unit, HALF + at + 4)};
        }
    }

    // Adds `before` to the first block of the message, in the first unit, where this lane has it.
    DEVICE void add(Block16 before, Unit112 &to) const {
        const u32 at = place();
        if (at == zeros) to.early.upper = to.early.upper ^ before;
        if (HALF + at == zeros) to.early.lower = to.early.lower ^ before;
        if (has_late() && at + 4 == zeros) to.late.upper = to.late.upper ^ before;
        if (has_late() && HALF + at + 4 == zeros) to.late.lower = to.late.lower ^ before;
    }

   private:
    // Block `at` of the first unit or of the last one, whose last block is perhaps not whole.
    DEVICE Block16 edge_block(u32 unit, u32 at) const {
        const u32 i = unit * UNIT + at;
        if (unit >= units || i < zeros) return Block16{};
        if (i + 1 < units * UNIT || last_bytes == 16) return start[i];
        return padded(reinterpret_cast<const u8 *>(start + i), last_bytes);
    }
};

// ANCHOR: sum_of_rows
// The sum of the rows, row r times H^(7 (15 - r)): by Horner's rule, the warp making a product at once.
DEVICE Block16 sum_of_rows(const Rows &by_h7, const TwoRows &sums) {
    Block16 sum = {};
    ROLLED for (u32 r = 0; r < ROWS; r++) {
        const Block16 row = from_lane(r < 8 ? sums.upper : sums.lower, r % 8 * 4);
        sum = by_h7.times(sum) ^ reversed(row);
    }
    return sum;
}
// ANCHOR_END: sum_of_rows

// The hash of the associated data, which the first block of data is added to; `powers` has room for one.
DEVICE Block16 hash_of_aad(const BatchParameters &parameters, const BatchJob &job, const u32 *from,
                           u32 *powers) {
    if (job.aad_bytes == 0) return Block16{};
    load_power(powers, from + AT_1 * 8);
    __syncwarp();
    const Rows by_h(powers);
    __syncwarp();
    Block16 sum = {};
    ROLLED for (u64 i = 0; i < blocks_of(job.aad_bytes); i++) {
        const Block16 block = block_at(parameters.arena + job.aad, job.aad_bytes, i);
        sum = by_h.times(sum ^ reversed(block));
    }
    return reversed(sum);
}

// The sequences of the message that item `i` is of. What is read anew takes no registers meanwhile.
DEVICE const u32 *sequences_of(const BatchParameters &parameters, u64 i) {
    const BatchJob &job = parameters.jobs[parameters.items[i].job];
    return parameters.sequences + u64(job.long_number) * SEQUENCE_WORDS;
}

// The sums of the rows of item `i`, and the powers that they are made with on the way.
DEVICE TwoRows sums_of_rows(const BatchParameters &parameters, u64 i, u32 *powers) {
    const BatchItem item = parameters.items[i];
    const BatchJob &job = parameters.jobs[item.job];
    const u32 *from = sequences_of(parameters, i);
    const Piece piece(parameters, job, item);
    Unit112 unit = {}, next = {};
    piece.load(0, unit);
    if (item.first == 0) piece.add(hash_of_aad(parameters, job, from, powers), unit);
    UNROLL for (u32 n = 0; n < WARP_POWERS; n++) {
        load_power(powers + n * POWER_WORDS, from + (n < AT_7 ? n : AT_UNIT) * 8);
    }
    __syncwarp();
    TwoRows sums = {};
    const Matrices matrices(powers);
    ROLLED for (u32 n = 0; n < piece.units; n++) {
        piece.load(n + 1, next);
        if (!Piece::has_late()) unit.late = sums;
        sums = after_unit(matrices, unit, parameters.zero);
        unit = next;
    }
    __syncwarp();
    return sums;
}

DEVICE Block16 hash_piece(const BatchParameters &parameters, u64 i, u32 *powers) {
    const TwoRows sums = sums_of_rows(parameters, i, powers);
    load_power(powers, sequences_of(parameters, i) + AT_7 * 8);
    __syncwarp();
    const Rows by_h7(powers);
    __syncwarp();
    return sum_of_rows(by_h7, sums);
}

// Ends the hash of a message that was one piece, whose sum is still to be multiplied by H.
DEVICE void conclude_sum(const BatchParameters &parameters, u32 number, Block16 sum, u32 *powers) {
    const BatchJob &job = parameters.jobs[number];
    load_power(powers, parameters.sequences + u64(job.long_number) * SEQUENCE_WORDS + AT_1 * 8);
    __syncwarp();
    const Rows by_h(powers);
    __syncwarp();
    sum = by_h.times(sum) ^ reversed(lengths_block(8 * job.aad_bytes, 8 * job.length));
    sum = by_h.times(sum);
    if (threadIdx.x % WARP == 0) conclude(parameters, number, sum);
}

}  // namespace

// Hashes messages to the end that are one piece, and writes the sum of every piece of the others, still
// to be multiplied by H.
KERNEL(batch_matrices, LAUNCH, BatchParameters) {
    SHARED_MEMORY(shared);
    u32 *mine = reinterpret_cast<u32 *>(shared) + threadIdx.x / WARP * WARP_WORDS;
    for (u64 i = grid_warp(); i < parameters.count; i += grid_threads() / WARP) {
        const Block16 sum = hash_piece(parameters, i, mine);
        const BatchItem item = parameters.items[i];
        if (item.place == WHOLE) conclude_sum(parameters, item.job, sum, mine);
        else if (threadIdx.x % WARP == 0) parameters.sums[item.place] = sum;
    }
    clear_shared(reinterpret_cast<u32 *>(shared), LAUNCH.shared_bytes / 4);
}
