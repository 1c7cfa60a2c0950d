// Fibers that stand for the threads of a CUDA thread block: see shim.hpp.
#include "shim.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <bit>
#include <map>
#include <memory>
#include <vector>

constinit thread_local Dimension threadIdx{}, blockIdx{}, blockDim{}, gridDim{};

namespace host {
namespace {

// The next thread's stack begins so many bytes further on in its page: if all began at the same place, they would share
// a few sets of the caches, and every change of threads would miss.
constexpr std::size_t STACK_BYTES = 128 << 10, STACK_SHIFT = 9 * 64;
constexpr unsigned char POISON = 0xa5;
// What the system keeps at the start of the shared window: less than on the H200 (1,024), so that
// kernels that rely on that number fail here.
constexpr std::size_t RESERVED = 256;

constexpr unsigned WARPGROUP_THREADS = 4 * WARP_THREADS;
// Of the operands of `add_products` and `start_products`: bytes of a row or column in each of its two
// halves, rows and columns.
constexpr unsigned HALF_BYTES = 16, ROWS = 64, COLUMNS = 128;

enum class Stopped { Fresh, AtWarpBarrier, AtWarpgroupBarrier, AtBlockBarrier, Finished };

// A copy to shared memory that was asked for; `group` counts those that were ended before it.
struct Copy {
    uint4 *to;
    const uint4 *from;
    bool is_there;
    unsigned group;
};

// A row or column of an operand of products of bits, 2 x 128 bits.
struct BitRow {
    unsigned words[2][4];
};

// Products that were started, as far as they are this thread's: of two rows. Rows in shared memory are
// read no earlier than it waits for them.
struct Product {
    unsigned *sums;
    bool is_first;             // so that what the sums were is not added
    BitRow rows[2];
    unsigned left, left_half;  // where the rows are instead, unless `left` is 0
    unsigned right, right_half;
};

// What counts a copy in bulk, phase by phase.
struct Arrival {
    unsigned phase;
    bool is_under_way;
    unsigned to;
    const unsigned char *from;
    unsigned bytes;
};

// Where to go on: for the jumps of the compiler, which keep less than those of the library.
using Context = void *[5];

struct Fiber {
    std::unique_ptr<unsigned char[]> stack;
    Context context;
    bool started = false;
    Stopped stopped = Stopped::Fresh;
    std::vector<Copy> copies;
    unsigned groups = 0;
    std::vector<Product> products;
    bool is_prepared = false;
    unsigned exchanges = 0;  // values that it gave to its warp
    unsigned votes = 0;      // that it gave to its thread block
};

// Everything about the thread block that this host thread runs.
struct Block {
    std::vector<std::unique_ptr<Fiber>> fibers;
    std::vector<unsigned char> shared;
    Context scheduler;
    unsigned warp_end = 0;  // behind the last thread of the warp that runs
    ucontext_t entry;
    Fiber *current = nullptr;
    void (*thread)(const void *) = nullptr;
    const void *parameters = nullptr;
    std::size_t table_bytes = 0;  // that may stay, at the start of shared memory
    unsigned exchanged[2][WARP_THREADS];  // by turns: some may give the next while others still read
    bool votes[3] = {};  // by turns: while some give the next, others still read, and one is cleared
    BitOperands operands[WARP_THREADS];
    // Shared memory as products and copies in bulk see it: without what threads wrote since one of
    // them published what it wrote.
    std::vector<unsigned char> published;
    bool is_publishing = false;
    std::map<unsigned, Arrival> arrivals;  // by their addresses
};

// Set by `run`. A pointer, since what has a constructor would be asked for at every access, and since there is
// little room where a thread's own variables are found without a call.
constinit thread_local Block *block = nullptr;

[[noreturn]] void fail(const char *what) {
    fprintf(stderr, "kernel: thread %u of block %u %s\n", threadIdx.x, blockIdx.x, what);
    abort();
}

// Not in a function that is jumped into itself, which the compiler does not take.
[[noreturn, gnu::noinline]] void jump(Context &to) { __builtin_longjmp(to, 1); }

void fiber_main();

// Runs a thread from where it stopped, or from its start.
[[noreturn]] void go_on(unsigned index) {
    Fiber &fiber = *block->fibers[index];
    threadIdx.x = index;
    block->current = &fiber;
    if (fiber.started) jump(fiber.context);
    fiber.started = true;
    const std::size_t shift = index * STACK_SHIFT % STACK_BYTES;
    fiber.stack.reset(new unsigned char[shift + STACK_BYTES]);
    getcontext(&block->entry);
    block->entry.uc_stack.ss_sp = fiber.stack.get() + shift;
    block->entry.uc_stack.ss_size = STACK_BYTES;
    block->entry.uc_link = nullptr;
    makecontext(&block->entry, fiber_main, 0);
    setcontext(&block->entry);
    abort();  // unless there is no such context
}

// Lets the next thread of the warp run, or the scheduler behind the last one, until it is this one's turn again.
[[gnu::noinline]] void stop(Stopped reason) {
    Fiber *self = block->current;
    self->stopped = reason;
    if (__builtin_setjmp(self->context) != 0) return;
    if (threadIdx.x + 1 < block->warp_end) go_on(threadIdx.x + 1);
    jump(block->scheduler);
}

// The life of a fiber: one thread of one thread block after the other, on the same stack.
void fiber_main() {
    for (;;) {
        block->thread(block->parameters);
        if (!block->current->copies.empty()) fail("ends before its copies");
        if (!block->current->products.empty()) fail("ends before its products");
        stop(Stopped::Finished);
    }
}

// Runs the threads `first .. last` of a warp, one after the other, each until it stops.
[[gnu::noinline]] void run_warp(unsigned first, unsigned last) {
    block->warp_end = last;
    if (__builtin_setjmp(block->scheduler) == 0) go_on(first);
}

// ANCHOR: run_level
// Threads that have barriers in common: how many, at most, and what they have stopped for there.
struct Level {
    unsigned threads;
    Stopped barrier;
};
constexpr Level LEVELS[] = {{WARP_THREADS, Stopped::AtWarpBarrier},
                            {WARPGROUP_THREADS, Stopped::AtWarpgroupBarrier},
                            {~0u, Stopped::AtBlockBarrier}};

// Runs the threads `first .. last` of a level, part by part, until all have stopped for the same
// reason, passing the level's own barriers on the way; returns that reason.
Stopped run_level(unsigned level, unsigned first, unsigned last) {
    const bool is_warp = level == 0;
    for (const unsigned part = is_warp ? 1 : LEVELS[level - 1].threads;;) {
        Stopped reason = Stopped::Fresh;
        if (is_warp) run_warp(first, last);
        for (unsigned i = first; i < last; i += part) {
            const unsigned end = last - i > part ? i + part : last;
            const Stopped stopped =
                is_warp ? block->fibers[i]->stopped : run_level(level - 1, i, end);
            if (i == first) reason = stopped;
            if (stopped == reason) continue;
            fprintf(stderr, "kernel: threads %u and %u of block %u meet different barriers\n",
                    first, i, blockIdx.x);
            abort();
        }
        if (reason != LEVELS[level].barrier) return reason;
    }
}
// ANCHOR_END: run_level

// ANCHOR: require_clear
// Shared memory keeps what it holds when a thread block ends, for whoever runs there next: every
// byte behind public tables must be one that was never written, or cleared.
void require_clear(std::size_t shared_bytes) {
    const unsigned char *bytes = shared_memory();
    std::size_t left = 0, i = block->table_bytes;
    while (i < shared_bytes) {
        std::uint64_t word;  // nearly always eight bytes that are alike
        if (shared_bytes - i >= sizeof word) {
            memcpy(&word, bytes + i, sizeof word);
            if (word == 0 || word == POISON * (~std::uint64_t(0) / 0xff)) {
                i += sizeof word;
                continue;
            }
        }
        left += bytes[i] != 0 && bytes[i] != POISON;
        i++;
    }
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
    static thread_local const std::unique_ptr<Block> own(new Block);
    block = own.get();
    while (block->fibers.size() < shape.threads) block->fibers.emplace_back(new Fiber);
    block->thread = thread;
    block->parameters = parameters;
    blockDim.x = shape.threads;
    gridDim.x = shape.grid;
    for (unsigned i = 0; i < shape.grid; i++) {
        blockIdx.x = i;
        block->shared.assign(RESERVED + shape.shared_bytes + 16, POISON);
        block->table_bytes = 0;
        block->published.clear();
        block->is_publishing = false;
        for (bool &vote : block->votes) vote = false;
        for (const std::unique_ptr<Fiber> &fiber : block->fibers) fiber->votes = 0;
        run_level(2, 0, shape.threads);
        require_clear(shape.shared_bytes);
        if (!block->arrivals.empty()) fail("leaves arrivals in use");
    }
}

unsigned char *shared_window() {
    const auto address = reinterpret_cast<std::uintptr_t>(block->shared.data());
    return reinterpret_cast<unsigned char *>((address + 15) & ~std::uintptr_t(15));
}

unsigned char *shared_memory() { return shared_window() + RESERVED; }

unsigned char *shared_tables(std::size_t bytes) {
    block->table_bytes = bytes;
    return shared_memory();
}

void block_barrier() { stop(Stopped::AtBlockBarrier); }
void warpgroup_barrier() { stop(Stopped::AtWarpgroupBarrier); }
void warp_barrier() { stop(Stopped::AtWarpBarrier); }

// Lane 4g + t: words t of row g, t of row g + 8, 4 + t of row g and of row g + 8; words t and 4 + t of
// column g; the sums of row g with columns 2t and 2t + 1, then of row g + 8.
void multiply_bits(unsigned (&sum)[4], const BitOperands &mine) {
    const unsigned lane = threadIdx.x % WARP_THREADS;
    block->operands[lane] = mine;
    warp_barrier();
    for (unsigned i = 0; i < 4; i++) {
        const unsigned half = i / 2, column = lane % 4 * 2 + i % 2;
        for (unsigned t = 0; t < 4; t++) {
            const BitOperands &row = block->operands[lane / 4 * 4 + t];
            const BitOperands &other = block->operands[4 * column + t];
            sum[i] += unsigned(std::popcount(row.left[half] & other.right[0]) +
                               std::popcount(row.left[2 + half] & other.right[1]));
        }
    }
    warp_barrier();
}

void copy_async(uint4 *to, const uint4 *from, bool is_there) {
    block->current->copies.push_back({to, from, is_there, block->current->groups});
}

void commit_copies() { block->current->groups++; }

void wait_copies(unsigned groups) {
    Fiber &fiber = *block->current;
    std::erase_if(fiber.copies, [&](const Copy &copy) {
        if (copy.group + groups >= fiber.groups) return false;
        *copy.to = copy.is_there ? *copy.from : uint4{};
        return true;
    });
}

void publish_shared() { block->is_publishing = true; }

namespace {

// Shared memory as products and copies see it, at an address.
unsigned char *published(unsigned address) {
    const unsigned char *window = shared_window();
    const std::size_t bytes = block->shared.data() + block->shared.size() - window;
    if (block->published.empty()) block->published.assign(bytes, POISON);
    if (block->is_publishing) memcpy(block->published.data(), window, bytes);
    block->is_publishing = false;
    return block->published.data() + address;
}

// Row or column `i` of an operand that is there.
BitRow row_at(unsigned address, unsigned half_bytes, unsigned i) {
    BitRow row;
    for (unsigned half = 0; half < 2; half++) {
        memcpy(row.words[half], published(address + half * half_bytes + i * HALF_BYTES), HALF_BYTES);
    }
    return row;
}

void start(const Product &product) {
    if (!block->current->is_prepared) fail("starts products without having prepared them");
    block->current->products.push_back(product);
}

// Row 16w + g of thread 32w + 4g + t; the other one is eight rows further down.
unsigned first_row() {
    const unsigned warp = threadIdx.x % WARPGROUP_THREADS / WARP_THREADS;
    return 16 * warp + threadIdx.x % WARP_THREADS / 4;
}

// Sums 4j + 2r + i: row r of the two, column 8j + 2t + i.
void finish(const Product &product) {
    BitRow rows[2] = {product.rows[0], product.rows[1]};
    for (unsigned r = 0; product.left > 0 && r < 2; r++) {
        rows[r] = row_at(product.left, product.left_half, first_row() + 8 * r);
    }
    for (unsigned at = 0; at < ROWS * COLUMNS / WARPGROUP_THREADS; at++) {
        const unsigned column = at / 4 * 8 + threadIdx.x % 4 * 2 + at % 2;
        const BitRow &left = rows[at / 2 % 2];
        const BitRow right = row_at(product.right, product.right_half, column);
        unsigned sum = product.is_first ? 0 : product.sums[at];
        for (unsigned i = 0; i < 8; i++) {
            sum += unsigned(std::popcount(left.words[i / 4][i % 4] & right.words[i / 4][i % 4]));
        }
        product.sums[at] = sum;
    }
}

Arrival &arrival_at(unsigned address) {
    const auto found = block->arrivals.find(address);
    if (found == block->arrivals.end()) fail("uses an arrival that is none");
    return found->second;
}

}  // namespace

void prepare_products() { block->current->is_prepared = true; }

void start_products(unsigned *sums, unsigned upper, unsigned lower, unsigned right) {
    const unsigned lane = threadIdx.x % WARP_THREADS;
    block->operands[lane] = {{upper, lower}, {}};
    warp_barrier();
    Product product = {sums, true, {}, 0, 0, right, 0};
    for (unsigned t = 0; t < 4; t++) {
        for (unsigned r = 0; r < 2; r++) {
            product.rows[r].words[0][t] = block->operands[lane / 4 * 4 + t].left[r];
        }
    }
    warp_barrier();
    start(product);
}

void add_products(unsigned *sums, unsigned left, unsigned left_half, unsigned right,
                  unsigned right_half) {
    start({sums, false, {}, left, left_half, right, right_half});
}

void wait_products() {
    for (const Product &product : block->current->products) finish(product);
    block->current->products.clear();
    block->current->is_prepared = false;
}

void init_arrival(unsigned address) {
    if (address % 8 != 0 || block->arrivals.contains(address)) fail("makes no arrival there");
    memset(shared_window() + address, POISON ^ 0xff, 8);  // whatever: it is not to be read
    block->arrivals[address] = {};
}

void copy_bulk(unsigned to, const void *from, unsigned bytes, unsigned address) {
    Arrival &arrival = arrival_at(address);
    if (arrival.is_under_way) fail("starts a copy before the last one was waited for");
    const auto source = static_cast<const unsigned char *>(from);
    const bool is_aligned = to % 16 == 0 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
    if (bytes == 0 || bytes % 16 != 0 || !is_aligned) fail("copies what are no whole blocks");
    for (const std::unique_ptr<Fiber> &fiber : block->fibers) {
        for (const Product &product : fiber->products) {
            const bool is_left = product.left - to < bytes, is_right = product.right - to < bytes;
            if (is_left || is_right) fail("starts a copy over operands that are in use");
        }
    }
    arrival = {arrival.phase, true, to, source, bytes};
}

void wait_arrival(unsigned address, unsigned parity) {
    Arrival &arrival = arrival_at(address);
    if (arrival.phase % 2 != parity) return;  // it is over
    if (!arrival.is_under_way) fail("waits for a copy that nobody started");
    memcpy(published(arrival.to), arrival.from, arrival.bytes);
    memcpy(shared_window() + arrival.to, arrival.from, arrival.bytes);
    arrival.is_under_way = false;
    arrival.phase++;
}

void drop_arrival(unsigned address) {
    if (arrival_at(address).is_under_way) fail("drops an arrival before its copy");
    block->arrivals.erase(address);
}

}  // namespace host

// Tells the caller, before it calls anything else, what this library was built for.
extern "C" std::uint32_t lanecrypt_host_interface() { return host::INTERFACE; }

namespace {

// The values that all lanes of this warp give.
const unsigned *exchange(unsigned mask, unsigned value) {
    if (mask != 0xffffffff) __trap();
    unsigned *const values = host::block->exchanged[host::block->current->exchanges++ % 2];
    values[threadIdx.x % host::WARP_THREADS] = value;
    __syncwarp();
    return values;
}

}  // namespace

unsigned __shfl_sync(unsigned mask, unsigned value, unsigned lane) {
    return exchange(mask, value)[lane % host::WARP_THREADS];
}

int __syncthreads_or(int predicate) {
    const unsigned turn = host::block->current->votes++;
    bool *const votes = host::block->votes;
    votes[turn % 3] |= predicate != 0;
    host::block_barrier();
    votes[(turn + 2) % 3] = false;  // nobody gives that one before all have met again
    return votes[turn % 3];
}

unsigned __ballot_sync(unsigned mask, int predicate) {
    const unsigned *const values = exchange(mask, predicate != 0);
    unsigned result = 0;
    for (unsigned i = 0; i < host::WARP_THREADS; i++) result |= values[i] << i;
    return result;
}

void __trap() { host::fail("traps"); }
