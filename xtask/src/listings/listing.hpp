// A whole CUDA program text on the host: what it has of the language beside kernels/host/shim.hpp, and a check for races.
// `listings.rs` puts this in front of a listing.
//
// The shim runs one thread after another, from barrier to barrier, so that a race may still give the right answer. The
// compiler therefore calls a function before each access to memory (-fsanitize=thread, without the library of that
// name), and two threads that come to the same byte of shared memory without a barrier between them end the program.
#pragma once
#include <shim.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define __global__
#define __device__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __constant__ static
// Of one thread block, since one runs after another. The builder makes of the `extern` of dynamic shared memory a pointer
// to `listing::dynamic_memory`.
#define __shared__ static __attribute__((section("listing_shared")))
#define UNINSTRUMENTED __attribute__((no_sanitize("thread")))

extern "C" unsigned char __start_listing_shared[], __stop_listing_shared[];

namespace listing {

// Who came to a byte of shared memory last, and between which barriers.
struct Access {
    unsigned thread, block_barriers, warp_barriers;
    bool is_there;
};
struct Byte {
    Access written, read;
    bool is_read_by_many;
};

extern std::vector<Byte> bytes;
extern std::vector<Access> now;  // by thread: the barriers that it has passed

void start_block();
void race(const void *address, const char *what, const Access &before);

UNINSTRUMENTED inline bool is_ordered(const Access &before, const Access &mine) {
    if (!before.is_there || before.thread == mine.thread) return true;
    if (before.block_barriers != mine.block_barriers) return true;
    const bool is_same_warp = before.thread / 32 == mine.thread / 32;
    return is_same_warp && before.warp_barriers != mine.warp_barriers;
}

UNINSTRUMENTED inline void access(const void *address, std::size_t size, bool is_write) {
    const auto *at = static_cast<const unsigned char *>(address);
    if (at < __start_listing_shared || at >= __stop_listing_shared) return;
    const Access mine = now[threadIdx.x];
    for (std::size_t i = 0; i < size; i++) {
        Byte &byte = bytes[at + i - __start_listing_shared];
        if (!is_ordered(byte.written, mine)) race(at + i, is_write ? "writes" : "reads", byte.written);
        if (is_write) {
            // Of several that read between the same barriers one is kept; if any is another thread, it is a race.
            const bool is_foreign = byte.is_read_by_many && byte.read.block_barriers == mine.block_barriers &&
                                    byte.read.warp_barriers == mine.warp_barriers;
            if (is_foreign || !is_ordered(byte.read, mine)) race(at + i, "writes", byte.read);
            byte.written = mine;
        } else {
            const bool is_same_time = byte.read.is_there && byte.read.block_barriers == mine.block_barriers &&
                                      byte.read.warp_barriers == mine.warp_barriers;
            byte.is_read_by_many = is_same_time && (byte.is_read_by_many || byte.read.thread != mine.thread);
            byte.read = mine;
        }
    }
}

inline void block_barrier() {
    now[threadIdx.x].block_barriers++;
    host::block_barrier();
}
inline void warp_barrier() {
    now[threadIdx.x].warp_barriers++;
    host::warp_barrier();
}

}  // namespace listing

#define __syncthreads listing::block_barrier
#define __syncwarp listing::warp_barrier

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return unsigned(((std::uint64_t(high) << 32 | low) << (by & 31)) >> 32);
}
inline std::size_t __cvta_generic_to_shared(const void *pointer) {
    return std::size_t(static_cast<const unsigned char *>(pointer) - __start_listing_shared);
}
inline void *__cvta_shared_to_generic(std::size_t address) { return __start_listing_shared + address; }

// Warps of the host run to their ends, one after another, so that the first would take all. Numbers are dealt out
// instead, as they would be to warps that are equally fast: it works for one counter that starts at zero.
namespace listing {
extern std::vector<unsigned> taken;  // by warp
}
UNINSTRUMENTED inline unsigned atomicAdd(unsigned *, unsigned) {
    return threadIdx.x / 32 + blockDim.x / 32 * listing::taken[threadIdx.x / 32]++;
}

// As many bytes of dynamic shared memory as the launch has.
namespace listing {
extern unsigned dynamic_memory[];
}
