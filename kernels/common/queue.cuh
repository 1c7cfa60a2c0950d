// A queue of numbers that the warps of a thread block take from, each as fast as it works.
#pragma once
#include "parameters.cuh"

// ANCHOR: queue
// `next` is a word of shared memory that holds zero before the first warp takes a number. On the host,
// where a warp runs to its end before the next one starts, numbers are dealt out instead, as they would
// be to warps that are equally fast.
struct Queue {
    u32 *next;
    u32 taken;  // by this warp

    static constexpr u32 BYTES = 16;  // that it takes of shared memory, so that what is behind it is aligned

    // The next number, for all lanes of this warp.
    DEVICE u32 take() {
#ifdef __CUDACC__
        u32 number = 0;
        if (threadIdx.x % WARP == 0) number = atomicAdd(next, 1);
        return __shfl_sync(0xffffffff, number, 0);
#else
        return threadIdx.x / WARP + blockDim.x / WARP * taken++;
#endif
    }

    // The next number of those that are dealt out to all thread blocks in turn.
    DEVICE u64 take_dealt() { return blockIdx.x + u64(gridDim.x) * take(); }
};
// ANCHOR_END: queue

// Empties the queue. What any thread wrote to shared memory before is there for all behind it.
DEVICE void start_queue(u32 *next) {
    if (threadIdx.x == 0) *next = 0;
    __syncthreads();
}
