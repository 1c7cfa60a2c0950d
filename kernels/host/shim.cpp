// Fibers that stand for the threads of a CUDA thread block: see shim.hpp.
#include "shim.hpp"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <bit>
#include <memory>
#include <vector>

thread_local Dimension threadIdx, blockIdx, blockDim, gridDim;

namespace host {
namespace {

constexpr std::size_t STACK_BYTES = 128 << 10;
constexpr unsigned char POISON = 0xa5;
// What the system keeps at the start of the shared window: less than on the H200 (1,024), so that
// kernels that rely on that number fail here.
constexpr std::size_t RESERVED = 256;

enum class Stopped { Fresh, AtWarpBarrier, AtBlockBarrier, Finished };

// A copy to shared memory that was asked for; `group` counts those that were ended before it.
struct Copy {
    uint4 *to;
    const uint4 *from;
    bool is_there;
    unsigned group;
};

struct Fiber {
    std::unique_ptr<unsigned char[]> stack;
    jmp_buf context;
    bool started = false;
    Stopped stopped = Stopped::Fresh;
    std::vector<Copy> copies;
    unsigned groups = 0;
};

// Everything about the thread block that this host thread runs.
struct Block {
    std::vector<std::unique_ptr<Fiber>> fibers;
    std::vector<unsigned char> shared;
    jmp_buf scheduler;
    ucontext_t entry;
    Fiber *current = nullptr;
    void (*thread)(const void *) = nullptr;
    const void *parameters = nullptr;
    std::size_t table_bytes = 0;  // that may stay, at the start of shared memory
    unsigned shuffled[WARP_THREADS];
    BitOperands operands[WARP_THREADS];
};

thread_local Block block;

// Goes back to the scheduler until it resumes this fiber.
void stop(Stopped reason) {
    Fiber *self = block.current;
    self->stopped = reason;
    if (_setjmp(self->context) == 0) _longjmp(block.scheduler, 1);
}

// The life of a fiber: one thread of one thread block after the other, on the same stack.
void fiber_main() {
    for (;;) {
        block.thread(block.parameters);
        if (!block.current->copies.empty()) {
            fprintf(stderr, "kernel: thread %u ends before its copies\n", threadIdx.x);
            abort();
        }
        stop(Stopped::Finished);
    }
}

void resume(Fiber &fiber, unsigned index) {
    threadIdx.x = index;
    block.current = &fiber;
    if (_setjmp(block.scheduler) != 0) return;
    if (fiber.started) _longjmp(fiber.context, 1);
    fiber.started = true;
    fiber.stack.reset(new unsigned char[STACK_BYTES]);
    getcontext(&block.entry);
    block.entry.uc_stack.ss_sp = fiber.stack.get();
    block.entry.uc_stack.ss_size = STACK_BYTES;
    block.entry.uc_link = nullptr;
    makecontext(&block.entry, fiber_main, 0);
    setcontext(&block.entry);
}

// ANCHOR: run_warp
// Runs the threads `first .. last` until all have stopped for the same reason, passing the warp
// barriers on the way; returns that reason.
Stopped run_warp(unsigned first, unsigned last) {
    for (;;) {
        for (unsigned i = first; i < last; i++) resume(*block.fibers[i], i);
        const Stopped reason = block.fibers[first]->stopped;
        for (unsigned i = first; i < last; i++) {
            if (block.fibers[i]->stopped == reason) continue;
            fprintf(stderr, "kernel: threads %u and %u of block %u meet different barriers\n",
                    first, i, blockIdx.x);
            abort();
        }
        if (reason != Stopped::AtWarpBarrier) return reason;
    }
}
// ANCHOR_END: run_warp

void run_block(unsigned threads) {
    for (Stopped reason = Stopped::Fresh; reason != Stopped::Finished;) {
        for (unsigned first = 0; first < threads; first += WARP_THREADS) {
            const unsigned last = first + WARP_THREADS < threads ? first + WARP_THREADS : threads;
            const Stopped warp = run_warp(first, last);
            if (first > 0 && warp != reason) {
                fprintf(stderr, "kernel: warps of block %u meet different barriers\n", blockIdx.x);
                abort();
            }
            reason = warp;
        }
    }
}

// ANCHOR: require_clear
// Shared memory keeps what it holds when a thread block ends, for whoever runs there next: every
// byte behind public tables must be one that was never written, or cleared.
void require_clear(std::size_t shared_bytes) {
    const unsigned char *bytes = shared_memory();
    std::size_t left = 0;
    for (std::size_t i = block.table_bytes; i < shared_bytes; i++) left += bytes[i] != 0 && bytes[i] != POISON;
    if (left == 0) return;
    fprintf(stderr, "kernel: thread block %u leaves %zu bytes of keys or data in shared memory\n",
            blockIdx.x, left);
    abort();
}
// ANCHOR_END: require_clear

}  // namespace

bool fits(const Expected &expected, const Shape &shape, std::size_t parameter_bytes) {
    return shape.threads > 0 && shape.threads <= expected.threads &&
           shape.threads % expected.group_threads == 0 &&
           shape.shared_bytes == expected.shared_bytes &&
           parameter_bytes == expected.parameter_bytes;
}

void run(const Shape &shape, void (*thread)(const void *), const void *parameters) {
    while (block.fibers.size() < shape.threads) block.fibers.emplace_back(new Fiber);
    block.thread = thread;
    block.parameters = parameters;
    blockDim.x = shape.threads;
    gridDim.x = shape.grid;
    for (unsigned i = 0; i < shape.grid; i++) {
        blockIdx.x = i;
        block.shared.assign(RESERVED + shape.shared_bytes + 16, POISON);
        block.table_bytes = 0;
        run_block(shape.threads);
        require_clear(shape.shared_bytes);
    }
}

unsigned char *shared_window() {
    const auto address = reinterpret_cast<std::uintptr_t>(block.shared.data());
    return reinterpret_cast<unsigned char *>((address + 15) & ~std::uintptr_t(15));
}

unsigned char *shared_memory() { return shared_window() + RESERVED; }

unsigned char *shared_tables(std::size_t bytes) {
    block.table_bytes = bytes;
    return shared_memory();
}

void block_barrier() { stop(Stopped::AtBlockBarrier); }
void warp_barrier() { stop(Stopped::AtWarpBarrier); }

// Lane 4g + t: words t of row g, t of row g + 8, 4 + t of row g and of row g + 8; words t and 4 + t of
// column g; the sums of row g with columns 2t and 2t + 1, then of row g + 8.
void multiply_bits(unsigned (&sum)[4], const BitOperands &mine) {
    const unsigned lane = threadIdx.x % WARP_THREADS;
    block.operands[lane] = mine;
    warp_barrier();
    for (unsigned i = 0; i < 4; i++) {
        const unsigned half = i / 2, column = lane % 4 * 2 + i % 2;
        for (unsigned t = 0; t < 4; t++) {
            const BitOperands &row = block.operands[lane / 4 * 4 + t];
            const BitOperands &other = block.operands[4 * column + t];
            sum[i] += unsigned(std::popcount(row.left[half] & other.right[0]) +
                               std::popcount(row.left[2 + half] & other.right[1]));
        }
    }
    warp_barrier();
}

void copy_async(uint4 *to, const uint4 *from, bool is_there) {
    block.current->copies.push_back({to, from, is_there, block.current->groups});
}

void commit_copies() { block.current->groups++; }

void wait_copies(unsigned groups) {
    Fiber &fiber = *block.current;
    std::erase_if(fiber.copies, [&](const Copy &copy) {
        if (copy.group + groups >= fiber.groups) return false;
        *copy.to = copy.is_there ? *copy.from : uint4{};
        return true;
    });
}

}  // namespace host

// Tells the caller, before it calls anything else, what this library was built for.
extern "C" std::uint32_t lanecrypt_host_interface() { return host::INTERFACE; }

unsigned __shfl_sync(unsigned mask, unsigned value, unsigned lane) {
    if (mask != 0xffffffff) __trap();
    host::block.shuffled[threadIdx.x % host::WARP_THREADS] = value;
    __syncwarp();
    const unsigned result = host::block.shuffled[lane % host::WARP_THREADS];
    __syncwarp();
    return result;
}

unsigned __ballot_sync(unsigned mask, int predicate) {
    if (mask != 0xffffffff) __trap();
    host::block.shuffled[threadIdx.x % host::WARP_THREADS] = predicate != 0;
    __syncwarp();
    unsigned result = 0;
    for (unsigned i = 0; i < host::WARP_THREADS; i++) result |= host::block.shuffled[i] << i;
    __syncwarp();
    return result;
}

void __trap() {
    fprintf(stderr, "kernel: trap in thread %u of block %u\n", threadIdx.x, blockIdx.x);
    abort();
}
