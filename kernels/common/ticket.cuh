// Thread blocks that leave something in the device's memory, and the last of them, which goes on with it.
#pragma once
#include "word.cuh"

// ANCHOR: ticket
// Whether this thread block is the last of its grid to come here: it sees what all others wrote before. All
// threads ask. `ticket` is a word of the device's memory that is zero before, and again when all have come.
DEVICE bool is_last_block(u32 *ticket) {
    __syncthreads();
    bool is_last = false;
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    return __syncthreads_or(is_last);
}
// ANCHOR_END: ticket
