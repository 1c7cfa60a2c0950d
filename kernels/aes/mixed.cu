// AES by look-ups and bit-sliced at the same time, for large data. Look-ups leave the ALU half idle, and
// bit-sliced code does not touch the pipe of shared memory: of every five warps of a thread block three
// look up and two are bit-sliced. All take runs of blocks from one queue of the thread block, so that
// each sort takes as many as it is fast.
//
// Not constant-time: addresses of look-ups depend on key and data.
#include "../common/chain.cuh"
#include "../common/masks.cuh"
#include "../common/queue.cuh"
#include "conflict_free.cuh"
#include "eight_blocks.cuh"
#include "separable.cuh"

typedef Parameters<MixedKeys> MixedParameters;

namespace {

// Twenty warps leave 96 registers for a thread: enough for either sort.
constexpr u32 THREADS = 20 * WARP;
// Blocks of a run, which a warp takes at once, and of its rows, which a bit-sliced warp does.
constexpr u32 RUN = 4 * ROW_BLOCKS;
// Blocks that a thread looks up side by side, and those of its warp.
constexpr u32 AT_ONCE = 2, STEP = AT_ONCE * WARP;

template <bool encrypts>
using Tables = ConflictFree<4, encrypts>;

// Behind the tables: the queue, and CTR's tables of two rounds, those of byte 15 as planes as well.
constexpr u32 QUEUE_BLOCKS = Queue::BYTES / sizeof(Block16), PLANES_BLOCKS = 8 * WARP;
constexpr u32 CTR_BLOCKS = QUEUE_BLOCKS + SEPARABLE_BLOCKS + PLANES_BLOCKS;

template <bool encrypts>
constexpr Launch MIXED = {THREADS, Tables<encrypts>::SHARED_BYTES + 16 * QUEUE_BLOCKS,
                          {THREADS, RUN, false}};
constexpr Launch MIXED_CTR = {THREADS, Tables<true>::SHARED_BYTES + 16 * CTR_BLOCKS,
                              {THREADS, RUN, true}};

DEVICE u32 lane_number() { return threadIdx.x % WARP; }

// Whether this warp is bit-sliced; either sort is spread evenly over a multiprocessor's four parts.
DEVICE bool is_sliced() { return threadIdx.x / WARP % 5 % 2 == 1; }

// ANCHOR: mixed_runs
// The runs of this thread block, a contiguous range of them.
struct Runs {
    u64 first;
    u32 count;

    DEVICE explicit Runs(u64 runs)
        : first(runs / gridDim.x * blockIdx.x + min(u64(blockIdx.x), runs % gridDim.x)),
          count(u32(runs / gridDim.x) + (blockIdx.x < runs % gridDim.x)) {}
};

// Only the first and the last of all runs may be partly outside the data. Two warps of a thread block that has
// such a run take it before they come to the queue, by look-ups that test every block: that code is there once,
// and in no loop's way.
template <class Mode>
DEVICE void partial_mixed_runs(const Mode &mode, Runs runs) {
    const u32 warp = threadIdx.x / WARP;
    const u64 run = warp == 0 ? runs.first : runs.first + runs.count - 1;
    if (warp < min(runs.count, 2u) && !mode.is_whole(run)) mode.template look_up<false>(run);
}

// Runs `mode` over all others. `next` is the queue's word, which holds zero.
template <class Mode>
DEVICE void whole_mixed_runs(const Mode &mode, Runs runs, u32 *next) {
    Queue queue = {next, 0};
    if (is_sliced()) {
        for (u32 i = queue.take(); i < runs.count; i = queue.take()) {
            if (mode.is_whole(runs.first + i)) mode.sliced(runs.first + i);
        }
    } else {
        for (u32 i = queue.take(); i < runs.count; i = queue.take()) {
            if (mode.is_whole(runs.first + i)) mode.template look_up<true>(runs.first + i);
        }
    }
}
// ANCHOR_END: mixed_runs

// What all modes have: parameters, tables, and blocks that may be outside the data.
template <bool encrypts>
struct Mode {
    const MixedParameters &parameters;
    const Tables<encrypts> &tables;

    DEVICE const AesKeys &keys() const { return parameters.keys.aes; }

    DEVICE bool is_whole(u64 run) const { return (run + 1) * RUN <= parameters.blocks; }

    template <bool is_whole>
    DEVICE Block16 load(u64 i) const {
        return is_whole || i < parameters.blocks ? parameters.input[i] : Block16{};
    }
    template <bool is_whole>
    DEVICE void store(u64 i, Block16 block) const {
        if (is_whole || i < parameters.blocks) parameters.output[i] = block;
    }
};

template <bool encrypts>
struct Ecb : Mode<encrypts> {
    template <bool is_whole>
    DEVICE void look_up(u64 run) const {
        const u64 start = run * RUN + lane_number();
        Block16 next[AT_ONCE];
        UNROLL for (u32 k = 0; k < AT_ONCE; k++) {
            next[k] = this->template load<is_whole>(start + k * WARP);
        }
        ROLLED for (u32 at = 0; at < RUN; at += STEP) {
            Block16 states[AT_ONCE];
            UNROLL for (u32 k = 0; k < AT_ONCE; k++) states[k] = next[k] ^ this->keys().first;
            if (at + STEP < RUN) {
                UNROLL for (u32 k = 0; k < AT_ONCE; k++) {
                    next[k] = this->template load<is_whole>(start + at + STEP + k * WARP);
                }
            }
            remaining_rounds<0>(this->tables, states, this->keys());
            UNROLL for (u32 k = 0; k < AT_ONCE; k++) {
                this->template store<is_whole>(start + at + k * WARP, states[k]);
            }
        }
    }

    DEVICE void sliced(u64 run) const {
        const u64 start = run * RUN + lane_number();
        ROLLED for (u32 at = 0; at < RUN; at += ROW_BLOCKS) {
            const Block16 *input = this->parameters.input + start + at;
            Block16 *output = this->parameters.output + start + at;
            BlockRows rows;
            UNROLL for (u32 k = 0; k < THREAD_BLOCKS; k++) {
                rows.set(k, input[k * WARP] ^ this->keys().first);
            }
            sliced_cipher<encrypts>(this->parameters.keys, rows);
            UNROLL for (u32 k = 0; k < THREAD_BLOCKS; k++) {
                output[k * WARP] = rows.get(k) ^ this->keys().last;
            }
        }
    }
};

// Runs start at counters that are a multiple of RUN; the first may begin before the data. Without data, it is the key
// stream that is stored.
template <bool has_data>
struct Ctr : Mode<true> {
    const Block16 *entries;  // of the first two rounds; then the planes of byte 15
    u64 skipped;             // blocks before the data
    u32 counter;             // low word of the first run's

    DEVICE Ctr(const MixedParameters &parameters, const Tables<true> &tables, Block16 *entries)
        : Mode<true>{parameters, tables}, entries(entries) {
        const Counter first = first_counter(parameters);
        skipped = first.low % RUN;
        counter = u32(first.low - skipped);
        fill_separable(entries, first, [&](Counter at) {
            const Block16 state = at.block() ^ keys().first;
            const Block16 after_one = full_round(tables, state, keys().middle[0]);
            return full_round(tables, after_one, keys().middle[1]);
        });
        __syncthreads();
        if (threadIdx.x < WARP) fill_planes(entries);
    }

    // A lane's block k has k * 32 + lane as byte 15, whatever the row. Four planes lie together.
    DEVICE void fill_planes(Block16 *to) const {
        BlockRows rows;
        RowPlanes state;
        UNROLL for (u32 k = 0; k < THREAD_BLOCKS; k++) {
            rows.set(k, entries[separable_entry(0, k * WARP + lane_number())]);
        }
        to_planes(rows, state);
        UNROLL for (u32 i = 0; i < 8; i++) {
            const u32 *four = &state[i / 2][i % 2 * 4];
            to[SEPARABLE_BLOCKS + i * WARP + lane_number()] =
                make_uint4(four[0], four[1], four[2], four[3]);
        }
    }

    DEVICE bool is_whole(u64 run) const {
        return run * RUN >= skipped && (run + 1) * RUN - skipped <= parameters.blocks;
    }

    // ANCHOR: mixed_ctr
    template <bool is_whole>
    DEVICE Block16 data_at(u64 i) const {
        return has_data ? load<is_whole>(i) : Block16{};
    }

    // A step takes rows that differ in byte 14, so that what byte 15 adds is loaded once for both.
    template <bool is_whole>
    DEVICE void look_up(u64 run) const {
        const u64 start = run * RUN - skipped + lane_number();  // may be huge: before the data
        ROLLED for (u32 row = 0; row < RUN; row += AT_ONCE * ROW_BLOCKS) {
            Block16 upper[AT_ONCE];
            UNROLL for (u32 k = 0; k < AT_ONCE; k++) {
                upper[k] = separable_upper(entries, counter + u32(run) * RUN + row + k * ROW_BLOCKS);
            }
            ROLLED for (u32 at = 0; at < ROW_BLOCKS; at += WARP) {
                const Block16 last_byte = entries[separable_entry(0, at + lane_number())];
                Block16 data[AT_ONCE], states[AT_ONCE];
                UNROLL for (u32 k = 0; k < AT_ONCE; k++) {
                    data[k] = data_at<is_whole>(start + row + at + k * ROW_BLOCKS);
                    states[k] = last_byte ^ upper[k];
                }
                remaining_rounds<2>(tables, states, keys());
                UNROLL for (u32 k = 0; k < AT_ONCE; k++) {
                    store<is_whole>(start + row + at + k * ROW_BLOCKS, states[k] ^ data[k]);
                }
            }
        }
    }
    // ANCHOR_END: mixed_ctr

    // The planes after round 2 of a row of counters.
    DEVICE void start_row(RowPlanes &state, u32 low) const {
        // Not kept from row to row: there are no registers for it.
        const u32 lane = not_hoisted(lane_number());
        UNROLL for (u32 i = 0; i < 8; i++) {
            const Block16 four = entries[SEPARABLE_BLOCKS + i * WARP + lane];
            u32 *to = &state[i / 2][i % 2 * 4];
            to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
        }
        u32 rows[4];
        bytes_by_row(separable_upper(entries, low), rows);
        UNROLL for (u32 r = 0; r < 4; r++) {
            UNROLL for (u32 b = 0; b < 8; b++) state[r][b] ^= spread_top_bits(rows[r] << (7 - b));
        }
    }

    DEVICE void sliced(u64 run) const {
        const u64 start = run * RUN - skipped + lane_number();
        ROLLED for (u32 row = 0; row < RUN; row += ROW_BLOCKS) {
            const u64 first = start + row;
            Block16 *output = parameters.output + first;
            RowPlanes state;
            start_row(state, counter + u32(run) * RUN + row);
            sliced_rounds<true, false>(parameters.keys.planes, keys().rounds, state, 2);
            // A part's loads come before its stores, which might be to the same memory.
            constexpr u32 PART = THREAD_BLOCKS / 2;
            Block16 data[PART];
            UNROLL for (u32 k = 0; k < PART; k++) data[k] = data_at<true>(first + k * WARP);
            BlockRows rows;
            shift_rows_to_blocks<true>(state, rows);
            UNROLL for (u32 k = 0; k < THREAD_BLOCKS; k++) {
                output[k * WARP] = rows.get(k) ^ data[k % PART] ^ keys().last;
                if (k + PART < THREAD_BLOCKS) data[k % PART] = data_at<true>(first + (k + PART) * WARP);
            }
        }
    }
};

// CBC or CFB decryption. A run is a range by itself, which a warp goes through from its end: so a block
// that was overwritten is never needed again, but the one before the run, which the host has saved where
// output and input are the same memory. `early` of a block goes through the cipher, `late` is added.
template <bool is_cfb>
struct Chain : Mode<is_cfb> {
    template <bool is_whole>
    DEVICE Block16 block_or_previous(u64 i, bool previous, u64 run) const {
        if (!previous) return this->template load<is_whole>(i);
        if (!is_whole && i >= this->parameters.blocks) return Block16{};
        return i == run * RUN ? before(run) : this->parameters.input[i - 1];
    }
    // As `before_range`.
    DEVICE Block16 before(u64 run) const {
        Block16 block;
        const Block16 *saved = reinterpret_cast<const Block16 *>(this->parameters.mode2);
        if (run == 0) read_iv(this->parameters, block);
        else block = saved ? saved[run - 1] : this->parameters.input[run * RUN - 1];
        return block;
    }
    template <bool is_whole>
    DEVICE Block16 early(u64 i, u64 run) const {
        return block_or_previous<is_whole>(i, is_cfb, run);
    }
    template <bool is_whole>
    DEVICE Block16 late(u64 i, u64 run) const {
        return block_or_previous<is_whole>(i, !is_cfb, run);
    }

    template <bool is_whole>
    DEVICE void look_up(u64 run) const {
        const u64 start = run * RUN + lane_number();
        Block16 next[AT_ONCE];
        UNROLL for (u32 k = 0; k < AT_ONCE; k++) {
            next[k] = early<is_whole>(start + RUN - STEP + k * WARP, run);
        }
        ROLLED for (u32 end = RUN; end > 0; end -= STEP) {
            const u64 first = start + end - STEP;
            Block16 states[AT_ONCE], added[AT_ONCE];
            UNROLL for (u32 k = 0; k < AT_ONCE; k++) {
                states[k] = next[k] ^ this->keys().first;
                added[k] = late<is_whole>(first + k * WARP, run);
                if (end > STEP) next[k] = early<is_whole>(first - STEP + k * WARP, run);
            }
            remaining_rounds<0>(this->tables, states, this->keys());
            // A block that this lane loads is one that its neighbour stores.
            __syncwarp();
            UNROLL for (u32 k = 0; k < AT_ONCE; k++) {
                this->template store<is_whole>(first + k * WARP, states[k] ^ added[k]);
            }
        }
    }

    DEVICE void sliced(u64 run) const {
        const u64 start = run * RUN + lane_number();
        ROLLED for (u32 end = RUN; end > 0; end -= ROW_BLOCKS) {
            const u64 first = start + end - ROW_BLOCKS;
            BlockRows rows;
            UNROLL for (u32 k = 0; k < THREAD_BLOCKS; k++) {
                rows.set(k, early<true>(first + k * WARP, run) ^ this->keys().first);
            }
            sliced_cipher<is_cfb>(this->parameters.keys, rows);
            constexpr u32 PART = THREAD_BLOCKS / 2;
            UNROLL for (u32 part = THREAD_BLOCKS; part > 0; part -= PART) {
                Block16 added[PART];
                UNROLL for (u32 k = 0; k < PART; k++) {
                    added[k] = late<true>(first + (part - PART + k) * WARP, run);
                }
                __syncwarp();
                UNROLL for (u32 k = 0; k < PART; k++) {
                    const u32 at = part - PART + k;
                    this->parameters.output[first + at * WARP] =
                        rows.get(at) ^ added[k] ^ this->keys().last;
                }
            }
        }
    }
};

// ANCHOR: run_masks
// The mask of this lane's block, as `Masks` has it, for the steps of one run: they are so few that what
// is left of a data unit is counted in 32 bits. The first mask of the next unit is loaded before it is
// needed. `rest` is how many blocks there are from a lane's block on, up to the end of the run or data.
struct RunMasks {
    const Block16 *following;  // where the next unit's first mask lies
    u32 unit_blocks;           // or MANY
    int left;                  // blocks of the unit from this one on, or MANY
    Block16 mask, upcoming;

    static constexpr u32 MANY = 1u << 20;

    // Of a run's first blocks: its first mask comes from the host. A run has a block at least.
    DEVICE RunMasks(const MixedParameters &parameters, u64 run, int rest) : mask(), upcoming() {
        const u32 lane = lane_number();
        const Block16 first = reinterpret_cast<const Block16 *>(parameters.mode2)[run];
        const u64 unit = run * RUN / parameters.mode0;
        const u64 in_unit = (unit + 1) * parameters.mode0 - run * RUN;
        following = reinterpret_cast<const Block16 *>(parameters.mode1) + unit + 1;
        unit_blocks = u32(min(parameters.mode0, u64(MANY)));
        left = int(min(in_unit, u64(MANY))) - int(lane);
        prepare(rest);
        if (left > 0) mask = times_power(first, lane);
        else enter(rest);
    }

    // Loads the next unit's mask, if that unit is needed.
    DEVICE void prepare(int rest) {
        if (left < rest) upcoming = *following;
    }

    // Goes a step on, to a block with so many up to the end; none if that is behind it.
    DEVICE void advance(int rest) { advance_in<false>(rest); }

    // Nothing is left to do where another row begins.
    DEVICE void next_row(int) {}

    // Calls `work(k, mask)` for the thread's blocks of a row, of which there are `rest` and those of the
    // next ones; returns the masks of the next one, if there is one.
    template <class Work>
    DEVICE RunMasks every(int rest, Work work) const {
        RunMasks masks = *this;
        masks.prepare(rest);
        const bool is_far = left > int(WARP * (THREAD_BLOCKS - 1));
        return is_far ? masks.template every_in<true>(rest, work)
                      : masks.template every_in<false>(rest, work);
    }

   private:
    // Where all but the row's last step are known to stay in the unit, `is_far`, nothing is tested.
    template <bool is_far, class Work>
    DEVICE RunMasks every_in(int rest, Work work) {
        UNROLL for (u32 k = 0; k < THREAD_BLOCKS; k++) {
            work(k, mask);
            const int then = rest - int(k + 1) * int(WARP);
            if (k + 1 < THREAD_BLOCKS) advance_in<is_far>(then);
            else advance_in<false>(then);
        }
        return *this;
    }

    template <bool is_far>
    DEVICE void advance_in(int rest) {
        left -= WARP;
        mask = times_x32(mask);
        if (!is_far && left <= 0) enter(rest);
    }

    // Takes the place from the unit's end to another unit; of those that are shorter than a step, to one
    // further on.
    DEVICE void enter(int rest) {
        if (rest <= 0) return;
        const u32 skipped = u32(-left) / unit_blocks, place = u32(-left) % unit_blocks;
        left = int(unit_blocks - place);
        mask = times_power(skipped == 0 ? upcoming : following[skipped], place);
        following += skipped + 1;
        prepare(rest);
    }
};
// ANCHOR_END: run_masks

// ANCHOR: row_masks
// The same where data units are whole rows, as those of 4 KiB and more are: a warp enters one where a row
// begins, all lanes at once. There is so much less code that the loops stay in the instruction cache.
struct RunRowMasks {
    const Block16 *following;  // where the next unit's first mask lies
    u32 unit_rows, left;       // rows of a unit, and of this one from this row on
    Block16 mask;

    DEVICE RunRowMasks(const MixedParameters &parameters, u64 run, int) {
        const u64 rows = parameters.mode0 / ROW_BLOCKS, row = run * (RUN / ROW_BLOCKS);
        following = reinterpret_cast<const Block16 *>(parameters.mode1) + row / rows + 1;
        unit_rows = u32(rows);
        left = u32(rows - row % rows);
        mask = times_power(reinterpret_cast<const Block16 *>(parameters.mode2)[run], lane_number());
    }

    // Whether units are of this kind; where one is longer than all data may be, its rows may be many.
    static DEVICE bool fit(const MixedParameters &parameters) {
        return parameters.mode0 % ROW_BLOCKS == 0 && parameters.mode0 >> 32 == 0;
    }

    DEVICE void advance(int) { mask = times_x32(mask); }

    // From a row's end to the next row, if there is one: this lane has `rest` blocks from there on.
    DEVICE void next_row(int rest) {
        if (--left > 0 || rest <= 0) return;
        left = unit_rows;
        mask = times_power(*following++, lane_number());
    }

    template <class Work>
    DEVICE RunRowMasks every(int rest, Work work) const {
        RunRowMasks masks = *this;
        UNROLL for (u32 k = 0; k < THREAD_BLOCKS; k++) {
            work(k, masks.mask);
            masks.advance(rest);
        }
        masks.next_row(rest - int(ROW_BLOCKS));
        return masks;
    }
};
// ANCHOR_END: row_masks

// XTS. A run is a range by itself.
template <bool encrypts, class Masks>
struct Xts : Mode<encrypts> {
    // Blocks from this lane's block `at` of a run on, to the end of the run or data.
    template <bool is_whole>
    DEVICE int rest(u64 run, u32 at) const {
        const u64 blocks = is_whole ? u64(RUN) : min(this->parameters.blocks - run * RUN, u64(RUN));
        return int(blocks) - int(at + lane_number());
    }

    template <bool is_whole>
    DEVICE void look_up(u64 run) const {
        const u64 start = run * RUN + lane_number();
        Block16 next[AT_ONCE];
        UNROLL for (u32 k = 0; k < AT_ONCE; k++) {
            next[k] = this->template load<is_whole>(start + k * WARP);
        }
        Masks masks(this->parameters, run, rest<is_whole>(run, 0));
        ROLLED for (u32 at = 0; at < RUN; at += STEP) {
            Block16 states[AT_ONCE], mask[AT_ONCE];
            UNROLL for (u32 k = 0; k < AT_ONCE; k++) {
                mask[k] = masks.mask;
                states[k] = xor3(next[k], mask[k], this->keys().first);
                masks.advance(rest<is_whole>(run, at + (k + 1) * WARP));
            }
            if ((at + STEP) % ROW_BLOCKS == 0) masks.next_row(rest<is_whole>(run, at + STEP));
            if (at + STEP < RUN) {
                UNROLL for (u32 k = 0; k < AT_ONCE; k++) {
                    next[k] = this->template load<is_whole>(start + at + STEP + k * WARP);
                }
            }
            remaining_rounds<0>(this->tables, states, this->keys());
            UNROLL for (u32 k = 0; k < AT_ONCE; k++) {
                this->template store<is_whole>(start + at + k * WARP, states[k] ^ mask[k]);
            }
        }
    }

    // No register holds a mask while the cipher runs but that of the row's first block: the others are
    // made twice.
    DEVICE void sliced(u64 run) const {
        const u64 start = run * RUN + lane_number();
        Masks kept(this->parameters, run, rest<true>(run, 0));
        ROLLED for (u32 at = 0; at < RUN; at += ROW_BLOCKS) {
            const Block16 *input = this->parameters.input + start + at;
            Block16 *output = this->parameters.output + start + at;
            BlockRows rows;
            kept.every(ROW_BLOCKS - lane_number(), [&](u32 k, Block16 mask) {
                rows.set(k, xor3(input[k * WARP], mask, this->keys().first));
            });
            sliced_cipher<encrypts>(this->parameters.keys, rows);
            kept.mask = not_hoisted(kept.mask);
            kept = kept.every(rest<true>(run, at), [&](u32 k, Block16 mask) {
                output[k * WARP] = xor3(rows.get(k), mask, this->keys().last);
            });
        }
    }
};

// The runs of modes without counters.
DEVICE Runs runs_of(u64 blocks) { return Runs((blocks + RUN - 1) / RUN); }

// The queue behind the tables.
template <bool encrypts>
DEVICE u32 *queue_word(u8 *shared) {
    return reinterpret_cast<u32 *>(shared + Tables<encrypts>::SHARED_BYTES);
}

template <bool encrypts, class Mode>
DEVICE void mixed(const MixedParameters &parameters, u8 *shared) {
    const Tables<encrypts> tables(shared);
    const Mode mode{{parameters, tables}};
    const Runs runs = runs_of(parameters.blocks);
    u32 *queue = queue_word<encrypts>(shared);
    start_queue(queue);
    partial_mixed_runs(mode, runs);
    whole_mixed_runs(mode, runs, queue);
    clear_shared(queue, 1);
}

template <bool encrypts>
DEVICE void mixed_xts(const MixedParameters &parameters, u8 *shared) {
    const Tables<encrypts> tables(shared);
    const Xts<encrypts, RunMasks> mode{{parameters, tables}};
    const Runs runs = runs_of(parameters.blocks);
    u32 *queue = queue_word<encrypts>(shared);
    start_queue(queue);
    partial_mixed_runs(mode, runs);
    if (RunRowMasks::fit(parameters)) {
        whole_mixed_runs(Xts<encrypts, RunRowMasks>{{parameters, tables}}, runs, queue);
    } else {
        whole_mixed_runs(mode, runs, queue);
    }
    clear_shared(queue, 1);
}

}  // namespace

#define MIXED_KERNEL(name, encrypts, body)                                   \
    KERNEL(name, MIXED<encrypts>, MixedParameters) {                         \
        SHARED_TABLES_AND_KEYS(shared, Tables<encrypts>::SHARED_BYTES);      \
        body(parameters, shared);                                            \
    }

MIXED_KERNEL(aes_mixed_ecb_encrypt, true, (mixed<true, Ecb<true>>))
MIXED_KERNEL(aes_mixed_ecb_decrypt, false, (mixed<false, Ecb<false>>))
MIXED_KERNEL(aes_mixed_cbc_decrypt, false, (mixed<false, Chain<false>>))
MIXED_KERNEL(aes_mixed_cfb_decrypt, true, (mixed<true, Chain<true>>))
MIXED_KERNEL(aes_mixed_xts_encrypt, true, mixed_xts<true>)
MIXED_KERNEL(aes_mixed_xts_decrypt, false, mixed_xts<false>)

#define MIXED_CTR_KERNEL(name, has_data)                                                       \
    KERNEL(name, MIXED_CTR, MixedParameters) {                                                 \
        SHARED_TABLES_AND_KEYS(shared, Tables<true>::SHARED_BYTES);                            \
        const Tables<true> tables(shared);                                                     \
        u32 *queue = queue_word<true>(shared);                                                 \
        const Ctr<has_data> mode(parameters, tables,                                           \
                                 reinterpret_cast<Block16 *>(queue) + QUEUE_BLOCKS);           \
        const Runs runs = runs_of(parameters.blocks + mode.skipped);                           \
        start_queue(queue);                                                                    \
        partial_mixed_runs(mode, runs);                                                        \
        whole_mixed_runs(mode, runs, queue);                                                   \
        clear_shared(queue, 4 * CTR_BLOCKS);                                                   \
    }

MIXED_CTR_KERNEL(aes_mixed_ctr, true)
MIXED_CTR_KERNEL(aes_mixed_fill, false)
