// CUDA's execution model on the host, as far as the kernels use it: for tests without a GPU.
//
// A thread block runs on one host thread; each of its threads is a fiber that runs until it meets
// a barrier. Shared memory is poisoned before every thread block, and threads that meet different
// barriers are an error, so that a missing or divergent barrier shows as a wrong result or an
// abort instead of hiding. So is a thread block that leaves keys or data in shared memory.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../common/launch.cuh"

#define __host__
#define CONSTEXPR constexpr
#define DEVICE inline
#define DEVICE_TABLE static const
#define UNROLL
#define ROLLED
#define UNROLL_BY(passes)
#define SHARED_MEMORY(name) unsigned char *const name = host::shared_memory()
#define SHARED_TABLES(name) unsigned char *const name = host::shared_tables()
#define SHARED_TABLES_AND_KEYS(name, bytes) unsigned char *const name = host::shared_tables(bytes)

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

struct Dimension {
    unsigned x;
};

namespace host {

// The shape of one launch; `Shape` of crates/cuda/src/device/driver.rs has the same layout.
struct Shape {
    std::uint32_t grid, threads, shared_bytes;
};

// What a kernel can be launched with; crates/cuda/src/device/host.rs has the same layout.
struct Expected {
    std::uint32_t threads;        // at most
    std::uint32_t group_threads;  // that they are a multiple of
    std::uint32_t shared_bytes;
    std::uint32_t parameter_bytes;
};

constexpr std::uint32_t WARP_THREADS = 32;

// What a source says, as what is expected: whole groups of threads and whole warps.
constexpr Expected expected(const ::Launch &launch, std::size_t parameter_bytes) {
    const std::uint32_t group = launch.unit.threads;
    return {launch.threads, group > WARP_THREADS ? group : WARP_THREADS, launch.shared_bytes,
            std::uint32_t(parameter_bytes)};
}

bool fits(const Expected &expected, const Shape &shape, std::size_t parameter_bytes);

// What this library and its caller agree on; HOST_INTERFACE of kernels/src/lib.rs is the caller's.
constexpr std::uint32_t INTERFACE = 2;

// Runs `thread(parameters)` once for each thread of the grid.
void run(const Shape &shape, void (*thread)(const void *), const void *parameters);
// Dynamic shared memory, and the start of the window it lies in, some bytes before.
unsigned char *shared_memory();
unsigned char *shared_window();
// Dynamic shared memory whose first bytes will hold public tables: all of it, or so many.
unsigned char *shared_tables(std::size_t bytes = SIZE_MAX);
void block_barrier();
void warpgroup_barrier();
void warp_barrier();

// What `multiply_bits` of ../common/tensor.cuh takes of a lane: words of the left and the right
// operand. All lanes of the warp take part.
struct BitOperands {
    unsigned left[4], right[2];
};
void multiply_bits(unsigned (&sum)[4], const BitOperands &mine);

// Copies of this thread, made no earlier than it waits for them: reading too early shows.
void copy_async(uint4 *to, const uint4 *from, bool is_there);
void commit_copies();
void wait_copies(unsigned groups);

// What ../common/warpgroup.cuh has: products and copies in bulk are made no earlier than somebody waits
// for them, and see of shared memory what was published. Addresses are those in the shared window.
void publish_shared();
void prepare_products();
void start_products(unsigned *sums, unsigned upper, unsigned lower, unsigned right);
void add_products(unsigned *sums, unsigned left, unsigned left_half, unsigned right,
                  unsigned right_half);
void wait_products();
void init_arrival(unsigned address);
void copy_bulk(unsigned to, const void *from, unsigned bytes, unsigned address);
void wait_arrival(unsigned address, unsigned parity);
void drop_arrival(unsigned address);

}  // namespace host

extern constinit thread_local Dimension threadIdx, blockIdx, blockDim, gridDim;

inline void __syncthreads() { host::block_barrier(); }
// Whether any thread of the block passes other than zero.
int __syncthreads_or(int predicate);
inline void __syncwarp() { host::warp_barrier(); }
// Thread blocks may run on several threads of the host.
inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline unsigned atomicInc(unsigned *word, unsigned most) {
    const std::atomic_ref<unsigned> shared(*word);
    unsigned old = shared.load();
    while (!shared.compare_exchange_weak(old, old >= most ? 0 : old + 1)) {}
    return old;
}
[[noreturn]] void __trap();
// The value that lane `lane` of this warp passes; all lanes take part.
unsigned __shfl_sync(unsigned mask, unsigned value, unsigned lane);
// A bit for every lane that passes other than zero; all lanes take part.
unsigned __ballot_sync(unsigned mask, int predicate);
inline int __popc(unsigned word) { return __builtin_popcount(word); }
inline unsigned __brev(unsigned word) {
    unsigned result = 0;
    for (unsigned i = 0; i < 32; i++) result |= (word >> i & 1) << (31 - i);
    return result;
}
inline std::uint64_t min(std::uint64_t left, std::uint64_t right) {
    return left < right ? left : right;
}

// Selects four of the eight bytes of (low, high); only the selectors 0 to 7 are used.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    const std::uint64_t bytes = std::uint64_t(high) << 32 | low;
    unsigned result = 0;
    for (unsigned i = 0; i < 4; i++) {
        result |= unsigned(bytes >> (8 * (selector >> (4 * i) & 7)) & 0xff) << (8 * i);
    }
    return result;
}

// ANCHOR: host_kernel
// The kernel as a C function. It returns a null pointer, or what it should have been launched with
// where it was not run. The caller's block may be less aligned than the kernel's.
#define KERNEL(name, launch, Parameters)                                                     \
    static void name##_thread(const Parameters &parameters);                                 \
    extern "C" const host::Expected *name(const host::Shape *shape, const void *parameters,  \
                                          std::size_t size) {                                \
        static constexpr host::Expected expected = host::expected(launch, sizeof(Parameters)); \
        if (!host::fits(expected, *shape, size)) return &expected;                           \
        Parameters aligned;                                                                  \
        std::memcpy(&aligned, parameters, sizeof aligned);                                   \
        host::run(*shape, [](const void *p) {                                                \
            name##_thread(*static_cast<const Parameters *>(p));                              \
        }, &aligned);                                                                        \
        return nullptr;                                                                      \
    }                                                                                        \
    static void name##_thread(const Parameters &parameters)
// ANCHOR_END: host_kernel
