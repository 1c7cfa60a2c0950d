// GHASH on any card: powers of H; after the kernels that go through a long message sums times powers; and
// the end, which is all of a message that is not long. Constant-time: addresses and branches follow from
// lengths alone.
#include "finish.cuh"

namespace {

constexpr Launch LAUNCH = {256, 0, BLOCK_A_THREAD};
constexpr Launch FINISH_LAUNCH = {FINISH_THREADS, FINISH_WARPS * sizeof(Block16), FINISH_UNIT};

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

}  // namespace

// Writes the powers of the block H that is the input; the last is H^`units`.
KERNEL(ghash_powers, LAUNCH, HashParameters) {
    const Block16 h = reversed(parameters.input[0]);
    for (u64 i = grid_thread(); i < parameters.blocks; i += grid_threads()) {
        const u64 digit = i % RADIX << 8 * (i / RADIX);
        parameters.output[i] = power(h, i == NAMED_POWER ? parameters.units : digit);
    }
}

// Multiplies sums by their powers of H, and writes the sum of them over every warp.
KERNEL(ghash_weigh, LAUNCH, HashParameters) {
    Block16 sum = {};
    for (u64 i = grid_thread(); i < parameters.blocks; i += grid_threads()) {
        const Block16 element = reversed(parameters.input[i]);
        sum = sum ^ times_h(element, parameters.powers, exponent(parameters, i));
    }
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) parameters.output[grid_warp()] = reversed(sum);
}

// Ends the hash of a message whose tail lies in memory.
KERNEL(ghash_finish, FINISH_LAUNCH, HashParameters) {
    SHARED_MEMORY(shared);
    Block16 *sums = reinterpret_cast<Block16 *>(shared);
    finish(parameters, sums, [&](u64 at) { return block_at(parameters.tail, parameters.tail_bytes, at); });
    clear_shared(reinterpret_cast<u32 *>(shared), FINISH_WARPS * sizeof(Block16) / 4);
}
