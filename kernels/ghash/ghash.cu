// GHASH on any card, before and after the kernels that go through a long message: powers of H, sums
// times powers, and the end. Constant-time: addresses and branches follow from lengths alone.
#include "ghash.cuh"

namespace {

constexpr Launch LAUNCH = {256, 0, BLOCK_A_THREAD};
// One thread block ends a hash; its warps leave a sum each.
constexpr u32 FINISH_THREADS = 256, FINISH_WARPS = FINISH_THREADS / WARP;
constexpr Launch FINISH_LAUNCH = {FINISH_THREADS, FINISH_WARPS * sizeof(Block16),
                                  {FINISH_THREADS, 1, false}};

// H^exponent; of the digits of `exponent` all but one may be zero.
DEVICE Block16 power(Block16 h, u64 exponent) {
    Block16 result = make_uint4(1, 0, 0, 0);
    for (u32 bit = 64; bit > 0; bit--) {
        if (exponent >> (bit - 1) == 0) continue;
        result = square(result);
        if (exponent >> (bit - 1) & 1) result = product(result, h);
    }
    return result;
}

// `element` times H^exponent, for exponents below 2^32: a product a digit that is not zero.
DEVICE Block16 times_h(Block16 element, const Block16 *powers, u64 exponent) {
    ROLLED for (u32 k = 0; k < DIGITS; k++) {
        const u32 digit = u32(exponent >> 8 * k) & (RADIX - 1);
        if (digit > 0) element = product(element, powers[RADIX * k + digit]);
    }
    return element;
}

// The sum over the lanes of this warp, all of which take part.
DEVICE Block16 warp_sum(Block16 block) {
    for (u32 distance = 1; distance < WARP; distance *= 2) {
        block = block ^ from_lane(block, threadIdx.x % WARP ^ distance);
    }
    return block;
}

// Blocks behind those that sums stand for: the tail's, the last one perhaps in part, and the lengths.
DEVICE u64 tail_blocks(const HashParameters &parameters) { return (parameters.tail_bytes + 15) / 16; }
DEVICE u64 blocks_behind(const HashParameters &parameters) {
    return tail_blocks(parameters) + (parameters.flags & WITH_LENGTHS ? 1 : 0);
}

// ANCHOR: exponent
// What sum `i` is multiplied by. There are `sums` of them for each of as many ranges of units as they
// are enough for, and the sums of a range stand for blocks that are `step` apart, up to its last one.
// The ranges share the units out as evenly as it goes, the first ones having one more.
DEVICE u64 exponent(const HashParameters &parameters, u64 i) {
    const u64 ranges = parameters.blocks / parameters.sums, range = i / parameters.sums;
    const u64 each = parameters.units / ranges, more = parameters.units % ranges;
    const u64 after = parameters.units - (range + 1) * each - min(range + 1, more);
    return after * parameters.unit_blocks +
           (parameters.sums - 1 - i % parameters.sums) * parameters.step + 1 +
           blocks_behind(parameters);
}
// ANCHOR_END: exponent

// Two words of the parameters as a block.
DEVICE Block16 block_of(const u64 *words) {
    return make_uint4(u32(words[0]), u32(words[0] >> 32), u32(words[1]), u32(words[1] >> 32));
}

// Block `i` of the message's front.
DEVICE Block16 front_block(const HashParameters &parameters, u64 i) {
    Block16 block = {};
    UNROLL for (u32 k = 0; k < MOST_FRONT; k++) {
        if (i == k) block = block_of(parameters.front + 2 * k);
    }
    return block;
}

// What a thread of the kernel that ends a hash adds to the sums: a block of the tail, the block of
// lengths, or nothing; the last thread the hash so far, and those before it the front's blocks.
DEVICE Block16 part_of_end(const HashParameters &parameters) {
    const u64 tail = tail_blocks(parameters), behind = blocks_behind(parameters);
    const u64 i = threadIdx.x, from_last = FINISH_THREADS - 1 - i;
    Block16 block = {};
    u64 exponent = 0;
    if (i < tail) {
        block = padded(parameters.tail + 16 * i, parameters.tail_bytes - 16 * i);
        exponent = behind - i;
    } else if (i < behind) {
        block = lengths_block(parameters.lengths[0], parameters.lengths[1]);
        exponent = 1;
    } else if (from_last == 0 && parameters.flags & FROM_STATE) {
        block = parameters.state[0];
        exponent = parameters.units + behind + parameters.front_blocks;
    } else if (from_last > 0 && from_last <= parameters.front_blocks) {
        block = front_block(parameters, parameters.front_blocks - from_last);
        exponent = parameters.units + behind + from_last;
    }
    return times_h(reversed(block), parameters.powers, exponent);
}

}  // namespace

// Writes the powers of the block H that is the input; the last is H^`units`.
KERNEL(ghash_powers, LAUNCH, HashParameters) {
    const Block16 h = reversed(parameters.input[0]);
    for (u64 i = grid_thread(); i < parameters.blocks; i += grid_threads()) {
        const u64 digit = i % RADIX << 8 * (i / RADIX);
        parameters.output[i] = power(h, i == NAMED_POWER ? parameters.units : digit);
    }
}

// Multiplies sums, or blocks of a message, by their powers of H, and writes the sum of them over every
// warp.
KERNEL(ghash_weigh, LAUNCH, HashParameters) {
    Block16 sum = {};
    for (u64 i = grid_thread(); i < parameters.blocks; i += grid_threads()) {
        const Block16 element = reversed(parameters.input[i]);
        sum = sum ^ times_h(element, parameters.powers, exponent(parameters, i));
    }
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) parameters.output[grid_warp()] = reversed(sum);
}

// Adds the sums of warps, which `units` blocks of a message came to, to the hash so far and the blocks of
// the front; then the few blocks after them, the last one filled up with zeros, the block of lengths, and
// the mask. Each of them but sums and mask has a thread.
KERNEL(ghash_finish, FINISH_LAUNCH, HashParameters) {
    SHARED_MEMORY(shared);
    Block16 *sums = reinterpret_cast<Block16 *>(shared);
    Block16 sum = reversed(part_of_end(parameters));
    for (u64 i = threadIdx.x; i < parameters.blocks; i += FINISH_THREADS) {
        sum = sum ^ parameters.input[i];
    }
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) sums[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 i = 1; i < FINISH_WARPS; i++) sum = sum ^ sums[i];
        parameters.output[0] = sum ^ block_of(parameters.mask);
    }
    clear_shared(reinterpret_cast<u32 *>(shared), FINISH_WARPS * sizeof(Block16) / 4);
}
