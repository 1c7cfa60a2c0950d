// Messages of a batch between host memory that kernels reach, where each starts at any byte, and memory of the
// device, where they start at multiples of 16.
#include "session.cuh"

namespace {

// A warp a message. Few registers and no shared memory, so that the two kernels run side by side, each in its
// direction of the bus.
constexpr Launch LAUNCH = {512, 0, {WARP, 1, false}};

// The 16 bytes from byte `by` on, fewer than 16, of two words that lie one behind the other.
DEVICE Block16 window(Block16 low, Block16 high, u32 by) {
    const u32 words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    u32 by_two[6], by_one[5], result[4];
    UNROLL for (u32 i = 0; i < 6; i++) by_two[i] = by & 8 ? words[i + 2] : words[i];
    UNROLL for (u32 i = 0; i < 5; i++) by_one[i] = by & 4 ? by_two[i + 1] : by_two[i];
    UNROLL for (u32 i = 0; i < 4; i++) {
        result[i] = u32((u64(by_one[i + 1]) << 32 | by_one[i]) >> 8 * (by % 4));
    }
    return make_uint4(result[0], result[1], result[2], result[3]);
}

// ANCHOR: words
// A message in host memory as words of 16 bytes, of which the first and the last are perhaps shared with
// others. Of these no byte is touched:
//
//   word   0               1               2
//          . . . . a b c d e f g h i j k l m n . .
//                  |<-- message, from byte `skipped` on
struct HostWords {
    u64 start;  // of word 0
    u32 skipped;
    u64 end;    // of the message, in bytes from the start of word 0
    u64 count;

    DEVICE HostWords(const u8 *message, u64 length)
        : start(reinterpret_cast<u64>(message) / 16 * 16),
          skipped(u32(reinterpret_cast<u64>(message) % 16)), end(skipped + length),
          count(blocks_of(end)) {}

    DEVICE u8 *word(u64 k) const { return reinterpret_cast<u8 *>(start + 16 * k); }
    // The bytes of word `k` that are the message's: from the first on, up to the last one's end.
    DEVICE u32 first(u64 k) const { return k == 0 ? skipped : 0; }
    DEVICE u32 last(u64 k) const { return end - 16 * k < 16 ? u32(end - 16 * k) : 16; }
    DEVICE bool is_whole(u64 k) const { return first(k) == 0 && last(k) == 16; }

    // A word with zeros where it is not the message's; zeros behind the last one.
    DEVICE Block16 load(u64 k) const {
        if (k >= count) return Block16{};
        if (is_whole(k)) return *reinterpret_cast<const Block16 *>(word(k));
        u32 words[4] = {};
        UNROLL for (u32 i = 0; i < 16; i++) {
            if (first(k) <= i && i < last(k)) words[i / 4] |= u32(word(k)[i]) << 8 * (i % 4);
        }
        return make_uint4(words[0], words[1], words[2], words[3]);
    }

    // Stores the bytes of a word that are the message's.
    DEVICE void store(u64 k, Block16 block) const {
        if (is_whole(k)) {
            *reinterpret_cast<Block16 *>(word(k)) = block;
            return;
        }
        ROLLED for (u32 i = first(k); i < last(k); i++) {
            word(k)[i] = u8(word_of(block, i / 4) >> 8 * (i % 4));
        }
    }
};
// ANCHOR_END: words

// Every word of host memory passes the bus once: a lane has the next one from its neighbour.
DEVICE void gather(const BatchParameters &parameters, const BatchJob &job, const u8 *from) {
    Block16 *to = reinterpret_cast<Block16 *>(const_cast<u8 *>(parameters.input) + job.input);
    const HostWords words(from, job.length);
    const u64 blocks = blocks_of(job.length);
    const u32 lane = threadIdx.x % WARP;
    ROLLED for (u64 first = 0; first < blocks; first += WARP) {
        const u64 k = first + lane;
        const Block16 word = words.load(k);
        Block16 next = from_lane(word, (lane + 1) % WARP);
        if (lane == WARP - 1 && words.skipped > 0) next = words.load(k + 1);
        if (k < blocks) to[k] = window(word, next, words.skipped);
    }
}

DEVICE void scatter(const BatchParameters &parameters, const BatchJob &job, u8 *to) {
    const Block16 *from = reinterpret_cast<const Block16 *>(parameters.output + job.output);
    const HostWords words(to, job.length);
    const u64 blocks = blocks_of(job.length);
    ROLLED for (u64 k = threadIdx.x % WARP; k < words.count; k += WARP) {
        Block16 block = {};
        if (k < blocks) block = from[k];
        if (words.skipped > 0) {
            const Block16 before = k > 0 ? from[k - 1] : Block16{};
            block = window(before, block, 16 - words.skipped);
        }
        words.store(k, block);
    }
}

}  // namespace

// Brings the message of every job to where the others read it.
KERNEL(batch_gather, LAUNCH, BatchParameters) {
    for (u64 i = grid_warp(); i < parameters.count; i += grid_threads() / WARP) {
        gather(parameters, parameters.jobs[i], parameters.ends[i].input);
    }
}

// Takes the results of all jobs to where they belong, but for messages that are not authentic.
KERNEL(batch_scatter, LAUNCH, BatchParameters) {
    for (u64 i = grid_warp(); i < parameters.count; i += grid_threads() / WARP) {
        const BatchJob &job = parameters.jobs[i];
        if (is_refused(parameters, job.mode, u32(i))) continue;
        scatter(parameters, job, parameters.ends[i].output);
    }
}
