// How a kernel is launched: said once, in its source, beside the code that it follows from. The host
// has it from kernels/src/launches.rs, which `cargo xtask kernels` writes.
#pragma once

// ANCHOR: launch
// Blocks that a group of threads takes at once.
struct Unit {
    unsigned threads;  // of the group, at most a thread block of them
    unsigned blocks;
    // Whether groups start at counters that are a multiple of `blocks`, so that data which starts in
    // between needs one group more.
    bool aligned;
};

struct Launch {
    unsigned threads;       // the most that a thread block may have, a multiple of 32
    unsigned shared_bytes;  // of dynamic shared memory
    Unit unit;
};
// ANCHOR_END: launch

// A thread by itself, a block at a time.
constexpr Unit BLOCK_A_THREAD = {1, 1, false};

// The launch of a mode that gives every warp a range of the data, which it takes a block a lane.
constexpr Launch in_ranges(Launch launch) {
    return {launch.threads, launch.shared_bytes, {32, 32, false}};
}
