// Batches' hashes on any card: short messages by look-ups of four bits, a thread each, and the end of messages that
// were hashed in pieces.
#include "rows.cuh"

namespace {

constexpr Launch LAUNCH = {256, 0, BLOCK_A_THREAD};

// ANCHOR: nibble_table
// The products of H with all of four bits, a table for every thread. Entries of a warp's lanes lie beside
// each other, so that eight lanes that read 16 bytes at once meet different banks:
//
//   byte offset in a warp's tables   12 .. 9      8 .. 4     3 .. 0
//                                    entry e      lane       its 16 bytes
constexpr u32 ENTRIES = 16, ENTRY_BLOCKS = WARP, WARP_BLOCKS = ENTRIES * ENTRY_BLOCKS;
// ANCHOR_END: nibble_table
constexpr u32 THREADS = 256, WARPS = THREADS / WARP;
constexpr Launch HASH_LAUNCH = {THREADS, WARPS * WARP_BLOCKS * u32(sizeof(Block16)),
                                {WARP, WARP, false}};

struct NibbleTable {
    Block16 *entries;  // of this lane

    // `factor` is H.
    DEVICE NibbleTable(u8 *shared, Block16 factor)
        : entries(reinterpret_cast<Block16 *>(shared) + threadIdx.x / WARP * WARP_BLOCKS +
                  threadIdx.x % WARP) {
        entries[0] = Block16{};
        UNROLL for (u32 top = 1; top < ENTRIES; top *= 2) {
            entries[top * ENTRY_BLOCKS] = factor;
            UNROLL for (u32 i = 1; i < top; i++) {
                entries[(top + i) * ENTRY_BLOCKS] = factor ^ entries[i * ENTRY_BLOCKS];
            }
            factor = times_power(factor, 1);
        }
    }

    // Adds the product with four bits of a word to four words of the sum.
    DEVICE void add(u32 word, u32 nibble, u32 *sum) const {
        const Block16 found = entries[(word >> 4 * nibble & 15) * ENTRY_BLOCKS];
        sum[0] ^= found.x, sum[1] ^= found.y, sum[2] ^= found.z, sum[3] ^= found.w;
    }

    // ANCHOR: nibble_product
    // The product of H with an element: four bits of every word at once, from the highest on; the
    // reduction comes once.
    DEVICE Block16 times(Block16 a) const {
        const u32 words[4] = {a.x, a.y, a.z, a.w};
        u32 t[8] = {};
        UNROLL for (u32 nibble = 8; nibble > 0; nibble--) {
            if (nibble < 8) {
                UNROLL for (u32 i = 7; i > 0; i--) t[i] = shifted_in(t[i - 1], t[i], 4);
                t[0] <<= 4;
            }
            UNROLL for (u32 q = 0; q < 4; q++) add(words[q], nibble - 1, t + q);
        }
        return folded(t);
    }
    // ANCHOR_END: nibble_product

    // What is above x^127 comes back times x^7 + x^2 + x + 1.
    static DEVICE Block16 folded(const u32 (&t)[8]) {
        const Block16 high = make_uint4(t[4], t[5], t[6], t[7]);
        return make_uint4(t[0], t[1], t[2], t[3]) ^ high ^ times_power(high, 1) ^
               times_power(high, 2) ^ times_power(high, 7);
    }
};

// A hash by one thread.
struct ThreadHash {
    const NibbleTable &table;
    Block16 sum;

    DEVICE void add(Block16 block) { sum = table.times(sum ^ reversed(block)); }

    // Adds bytes, the last block filled up with zeros.
    DEVICE void add_bytes(const u8 *bytes, u64 count) {
        ROLLED for (u64 i = 0; i < blocks_of(count); i++) add(block_at(bytes, count, i));
    }
};

// ANCHOR: shared_loads
// Four lanes load the whole blocks of their messages for one another: each of them one of four blocks that lie together,
// of each message in turn. A lane by itself would read 16 bytes where no other lane reads.
constexpr u32 SHARERS = 4;

struct SharedLoads {
    const Block16 *from[SHARERS];
    u32 counts[SHARERS];  // whole blocks

    // Of this lane's message.
    DEVICE SharedLoads(const Block16 *start, u32 whole) {
        const u32 first = threadIdx.x % WARP / SHARERS * SHARERS;
        UNROLL for (u32 m = 0; m < SHARERS; m++) {
            const u64 mine = reinterpret_cast<u64>(start);
            const Block8 its = from_lane(make_uint2(u32(mine), u32(mine >> 32)), first + m);
            from[m] = reinterpret_cast<const Block16 *>(u64(its.y) << 32 | its.x);
            counts[m] = __shfl_sync(0xffffffff, whole, first + m);
        }
    }

    // Blocks n to n + 3 of this lane's message. Lane l first has block n + l of each of the four.
    DEVICE void load(u32 n, Block16 (&blocks)[SHARERS]) const {
        const u32 lane = threadIdx.x % WARP, at = n + lane % SHARERS;
        UNROLL for (u32 m = 0; m < SHARERS; m++) {
            blocks[m] = at < counts[m] ? from[m][at] : Block16{};
        }
        UNROLL for (u32 bit = 1; bit < SHARERS; bit *= 2) {
            const bool is_upper = lane & bit;
            UNROLL for (u32 m = 0; m < SHARERS; m++) {
                if (m & bit) continue;
                const Block16 lower = blocks[m], upper = blocks[m | bit];
                const Block16 got = from_lane(is_upper ? lower : upper, lane ^ bit);
                blocks[m] = is_upper ? got : lower, blocks[m | bit] = is_upper ? upper : got;
            }
        }
    }
};
// ANCHOR_END: shared_loads

// Hashes the piece of a message, associated data before the first one. A piece that is all of the
// message ends its hash. All lanes of a warp take part, and of those whose item `is_there` something is left.
DEVICE void hash_item(const BatchParameters &parameters, const BatchItem &item, bool is_there,
                      const NibbleTable &table) {
    const BatchJob job = parameters.jobs[item.job];
    const u8 *data = ciphertext(parameters, job);
    ThreadHash hash = {table, {}};
    if (is_there && item.first == 0) hash.add_bytes(parameters.arena + job.aad, job.aad_bytes);
    const u64 whole = job.length / sizeof(Block16) - item.first, blocks = is_there ? item.blocks : 0;
    const u32 count = u32(whole < blocks ? whole : blocks);
    const SharedLoads loads(reinterpret_cast<const Block16 *>(data) + item.first, count);
    ROLLED for (u32 n = 0; __ballot_sync(0xffffffff, n < count) != 0; n += SHARERS) {
        Block16 next[SHARERS];
        loads.load(n, next);
        UNROLL for (u32 i = 0; i < SHARERS; i++) {
            if (n + i < count) hash.add(next[i]);
        }
    }
    if (!is_there) return;
    if (count < blocks) hash.add(block_at(data, job.length, item.first + count));
    if (item.place == WHOLE) {
        hash.add(lengths_block(8 * job.aad_bytes, 8 * job.length));
        conclude(parameters, item.job, job.mode, reversed(hash.sum));
    } else {
        parameters.sums[item.place] = reversed(hash.sum);
    }
}

constexpr u32 FINISH_WARPS = 4;
constexpr Launch FINISH_LAUNCH = {FINISH_WARPS * WARP, FINISH_WARPS * POWER_WORDS * 4,
                                  {WARP, 1, false}};

// Puts the sequence of `power` in shared memory; all lanes make the same, and what is there was read.
DEVICE void make_power(u32 *shared, Block16 power) {
    const Sequence made = sequence(power);
    __syncwarp();
    if (threadIdx.x % WARP == 0) {
        UNROLL for (u32 i = 0; i < KIND_WORDS; i++) store_kinds(shared, made.words, i);
    }
    __syncwarp();
}

// Adds up the pieces of a message, the later ones `piece` blocks long.
DEVICE Block16 sum_of_pieces(const BatchParameters &parameters, const BatchItem &item, Block16 h,
                             u32 *shared) {
    const Block16 *sums = parameters.sums + item.place;
    Block16 sum = sums[0];
    if (item.blocks == 1) return sum;
    ROLLED for (u64 power = 1; power < parameters.piece; power *= 2) h = square(h);
    make_power(shared, h);
    const Rows rows(shared);
    ROLLED for (u32 i = 1; i < item.blocks; i++) sum = rows.times(sum) ^ sums[i];
    return sum;
}

}  // namespace

// Hashes short messages, or pieces of long ones, a thread each.
KERNEL(batch_hash, HASH_LAUNCH, BatchParameters) {
    SHARED_MEMORY(shared);
    for (u64 i = grid_warp(); i * WARP < parameters.count; i += grid_threads() / WARP) {
        const u64 number = i * WARP + threadIdx.x % WARP;
        const bool is_there = number < parameters.count;
        const BatchItem item = parameters.items[is_there ? number : parameters.count - 1];
        const NibbleTable table(shared, Session(parameters, item.job).h());
        hash_item(parameters, item, is_there, table);
    }
    clear_shared(reinterpret_cast<u32 *>(shared), HASH_LAUNCH.shared_bytes / 4);
}

// Ends the hashes of messages that were hashed in pieces, a warp each: `blocks` of an item is the number
// of pieces.
KERNEL(batch_finish, FINISH_LAUNCH, BatchParameters) {
    SHARED_MEMORY(shared);
    u32 *mine = reinterpret_cast<u32 *>(shared) + threadIdx.x / WARP * POWER_WORDS;
    for (u64 i = grid_warp(); i < parameters.count; i += grid_threads() / WARP) {
        const BatchItem item = parameters.items[i];
        const BatchJob job = parameters.jobs[item.job];
        const Block16 h = Session(parameters, item.job).h();
        Block16 sum = sum_of_pieces(parameters, item, h, mine);
        make_power(mine, h);
        const Rows rows(mine);
        if (parameters.flags & WITHOUT_H) sum = rows.times(sum);
        sum = rows.times(sum ^ lengths_block(8 * job.aad_bytes, 8 * job.length));
        if (threadIdx.x % WARP == 0) conclude(parameters, item.job, job.mode, sum);
    }
    clear_shared(reinterpret_cast<u32 *>(shared), FINISH_LAUNCH.shared_bytes / 4);
}

// Saves the block of ciphertext before every item, or the IV: in place another warp overwrites it.
KERNEL(batch_save, LAUNCH, BatchParameters) {
    for (u64 i = grid_thread(); i < parameters.count; i += grid_threads()) {
        const BatchItem item = parameters.items[i];
        const BatchJob job = parameters.jobs[item.job];
        const Block16 *data = reinterpret_cast<const Block16 *>(parameters.input + job.input);
        parameters.sums[item.place] = item.first == 0 ? job.iv : data[item.first - 1];
    }
}
