// The end of a hash, which is all of a message that is not long: sums of groups of blocks side by side, and the thread
// block that is through last adds them up. Constant-time: addresses and branches follow from lengths alone.
#pragma once
#include "../common/ticket.cuh"
#include "ghash.cuh"

namespace {

// What ends a hash takes groups of blocks, each of which has threads for all powers below the next digit.
constexpr u32 GROUP = RADIX;  // threads, and blocks
constexpr u32 FINISH_THREADS = 2 * GROUP, FINISH_WARPS = FINISH_THREADS / WARP;
constexpr Unit FINISH_UNIT = {GROUP, GROUP, false};

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

// Two words of the parameters as a block.
DEVICE Block16 block_of(const u64 *words) {
    return make_uint4(u32(words[0]), u32(words[0] >> 32), u32(words[1]), u32(words[1] >> 32));
}

// ANCHOR: groups
// The end of a message in groups of blocks. Blocks of the tail and the lengths are counted from the last
// one, 1, which is multiplied by H, on; what comes before the blocks of the sums is the last group:
//
//   group         0                 1                 ..   front
//   blocks        256 .. 1          512 .. 257        ..   front's, on the first of which the hash so far is
//   a thread's    H^256 .. H        H^256 .. H        ..   H^4 .. 1
//   the group's   1                 H^256             ..   H^(blocks behind it)
struct Groups {
    const HashParameters &parameters;
    u64 behind, front, count;  // blocks of all groups but the front; the front's number; groups

    DEVICE explicit Groups(const HashParameters &parameters) : parameters(parameters) {
        behind = blocks_behind(parameters);
        front = (behind + GROUP - 1) / GROUP;
        const bool has_front = parameters.front_blocks > 0 || parameters.flags & FROM_STATE;
        count = front + has_front;
    }

    // What is multiplied by H^`number` of the front.
    DEVICE Block16 of_front(u32 number) const {
        const u32 first = u32(parameters.front_blocks);
        Block16 block = {};
        UNROLL for (u32 i = 0; i < MOST_FRONT; i++) {
            if (number + i == first && number > 0) block = block_of(parameters.front + 2 * i);
        }
        if (number == first && parameters.flags & FROM_STATE) block = block ^ parameters.state[0];
        return block;
    }

    // The block of this number of the others; `tail_at(i)` is that of number `i` of the tail.
    template <class TailAt>
    DEVICE Block16 from_end(u64 number, TailAt tail_at) const {
        if (number > behind) return {};
        if (number == 1 && parameters.flags & WITH_LENGTHS) {
            return lengths_block(parameters.lengths[0], parameters.lengths[1]);
        }
        return tail_at(behind - number);
    }

    // What thread `i` of a group adds to its sum. Of few blocks most warps have none, and would only keep
    // the others from multiplying.
    template <class TailAt>
    DEVICE Block16 part(u64 group, u32 i, TailAt tail_at) const {
        const bool is_front = group == front;
        const u32 digit = GROUP - i - is_front;
        const u64 least = (GROUP - 1 - i) / WARP * WARP + !is_front;  // digit of this warp
        if (group >= count || least > (is_front ? MOST_FRONT : behind - GROUP * group)) return {};
        const Block16 block = is_front ? of_front(digit) : from_end(GROUP * group + digit, tail_at);
        return product(reversed(block), parameters.powers[digit + digit / RADIX]);
    }

    // A group's sum times its own power.
    DEVICE Block16 weighed(u64 group) const {
        const u64 exponent = group == front ? parameters.units + behind : GROUP * group;
        return times_h(reversed(parameters.groups[group]), parameters.powers, exponent);
    }
};
// ANCHOR_END: groups

// The sum of what this number of threads have, in the first of them. All of the thread block take part.
DEVICE Block16 sum_of(u32 threads, Block16 *sums, Block16 element) {
    const u32 warp = threadIdx.x / WARP;
    element = warp_sum(element);
    if (threadIdx.x % WARP == 0) sums[warp] = element;
    __syncthreads();
    Block16 sum = {};
    if (threadIdx.x % threads == 0) {
        for (u32 i = 0; i < threads / WARP; i++) sum = sum ^ sums[warp + i];
    }
    __syncthreads();
    return sum;
}

// Writes the hash: the sums of warps, which `units` blocks of a message came to, what is before them, the
// tail, and the lengths; and the mask. The thread block that is through last adds all up. Each block of the tail is
// asked for once; `sums` has room for a block a warp.
template <class TailAt>
DEVICE void finish(const HashParameters &parameters, Block16 *sums, TailAt tail_at) {
    const Groups groups(parameters);
    const u32 in_group = threadIdx.x % GROUP, at_once = blockDim.x / GROUP;
    ROLLED for (u64 first = u64(blockIdx.x) * at_once; first < groups.count; first += gridDim.x * at_once) {
        const u64 group = first + threadIdx.x / GROUP;
        const Block16 sum = sum_of(GROUP, sums, groups.part(group, in_group, tail_at));
        if (in_group == 0 && group < groups.count) parameters.groups[group] = reversed(sum);
    }
    if (!is_last_block(parameters.ticket)) return;
    Block16 sum = {};
    ROLLED for (u64 group = threadIdx.x; group < groups.count; group += blockDim.x) {
        sum = sum ^ groups.weighed(group);
    }
    sum = reversed(sum);
    ROLLED for (u64 i = threadIdx.x; i < parameters.blocks; i += blockDim.x) {
        sum = sum ^ parameters.input[i];
    }
    sum = sum_of(blockDim.x, sums, sum);
    if (threadIdx.x == 0) parameters.output[0] = sum ^ block_of(parameters.mask);
}

}  // namespace
