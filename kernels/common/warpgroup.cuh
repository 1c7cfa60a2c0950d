// Products of bits that the four warps of a warpgroup make together, and copies in bulk: for modules
// that are compiled for compute capability 9.0 and no other.
//
// Both run beside the threads, who start them and wait for them. What a thread wrote to shared memory
// they see after `publish_shared` and a barrier.
#pragma once
#include "tensor.cuh"

constexpr u32 WARPGROUP = 4 * WARP;

// ANCHOR: wide_products
// Products of bits add up, for 64 rows and 128 columns, how many bits a row of the left operand and a
// column of the right one share, of 256. Thread 32w + 4g + t of a warpgroup gets
//
//   sums[4j + i]       row 16w + g, column 8j + 2t + i      (i = 0, 1; j = 0 .. 15)
//   sums[4j + 2 + i]   row 16w + g + 8, the same column
//
// An operand in shared memory is 2 x 128 bits a row or column: all rows of 16 bytes each for the first
// 128, and `half_bytes` after them those for the last.
struct BitOperand {
    u32 address;
    u32 half_bytes;
};
constexpr u32 WIDE_ROWS = 64, WIDE_COLUMNS = 128, WIDE_SUMS = 64;
// ANCHOR_END: wide_products

#ifdef __CUDACC__
#define SUMS_4(kind, n) kind(sums[n]), kind(sums[n + 1]), kind(sums[n + 2]), kind(sums[n + 3])
#define SUMS_16(kind, n) SUMS_4(kind, n), SUMS_4(kind, n + 4), SUMS_4(kind, n + 8), SUMS_4(kind, n + 12)
#define SUMS_64(kind) SUMS_16(kind, 0), SUMS_16(kind, 16), SUMS_16(kind, 32), SUMS_16(kind, 48)
#define SUMS_TEXT                                                                             \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "  \
    "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "   \
    "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "   \
    "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
#define WIDE_PRODUCTS "wgmma.mma_async.sync.aligned.m64n128k256.s32.b1.b1.and.popc " SUMS_TEXT

// How the instruction is told of an operand: eight rows or columns are 128 bytes, one after the other.
DEVICE u64 descriptor(BitOperand operand) {
    return operand.address >> 4 | u64(operand.half_bytes >> 4) << 16 | u64(128 >> 4) << 32;
}
#endif

// Zero in a register that no phase or address which starts as 0 is in: what follows it may be secret,
// and `cargo xtask ct` takes a register for secret as a whole.
DEVICE u32 zero_of_its_own() {
    u32 zero = 0;
#ifdef __CUDACC__
    asm volatile("mov.u32 %0, 0;" : "=r"(zero));
#endif
    return zero;
}

// Before the first products and after registers that they take were written.
DEVICE void prepare_products() {
#ifdef __CUDACC__
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#else
    host::prepare_products();
#endif
}

// Starts products over 128 bits, of a left operand that is in registers: word t of rows 16w + g
// (`upper`) and 16w + g + 8 (`lower`). What the sums were is not added.
DEVICE void start_products(u32 (&sums)[WIDE_SUMS], u32 upper, u32 lower, u32 right) {
#ifdef __CUDACC__
    // Zeros in the other 128 bits of the left operand make them nothing, whatever they are.
    asm volatile(WIDE_PRODUCTS ", {%64, %65, %66, %66}, %67, 0;"
                 : SUMS_64("=r") : "r"(upper), "r"(lower), "r"(0), "l"(descriptor({right, 0})));
#else
    host::start_products(sums, upper, lower, right);
#endif
}

// Starts to add products over 256 bits, both operands in shared memory.
DEVICE void add_products(u32 (&sums)[WIDE_SUMS], BitOperand left, BitOperand right) {
#ifdef __CUDACC__
    asm volatile(WIDE_PRODUCTS ", %64, %65, 1;"
                 : SUMS_64("+r") : "l"(descriptor(left)), "l"(descriptor(right)));
#else
    host::add_products(sums, left.address, left.half_bytes, right.address, right.half_bytes);
#endif
}

// Waits for all products that were started. Before, nobody may touch the sums or write operands.
DEVICE void wait_products(u32 (&sums)[WIDE_SUMS]) {
#ifdef __CUDACC__
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : SUMS_64("+r") : : "memory");
#else
    (void)sums;
    host::wait_products();
#endif
}

// Makes what this thread wrote to shared memory seen by products and copies in bulk that are started
// after a barrier.
DEVICE void publish_shared() {
#ifdef __CUDACC__
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
    host::publish_shared();
#endif
}

// A barrier of the `number`-th warpgroup of the thread block.
DEVICE void warpgroup_barrier(u32 number) {
#ifdef __CUDACC__
    // Number 0 is that of __syncthreads.
    asm volatile("bar.sync %0, 128;" :: "r"(number + 1) : "memory");
#else
    (void)number;
    host::warpgroup_barrier();
#endif
}

// A place in shared memory, 8 bytes, that counts what copies in bulk have brought, phase by phase: one
// copy a phase. It holds no secret; the last thing done to it is `drop`.
struct Arrival {
    u32 address;
    static constexpr u32 BYTES = 8;

    // One thread does this, and then `publish_shared`, before a barrier.
    DEVICE void init() const {
#ifdef __CUDACC__
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(address) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
        host::init_arrival(address);
#endif
    }

    // Starts a copy of whole blocks to shared memory, by one thread, after the phase before.
    DEVICE void copy(u32 to, const Block16 *from, u32 bytes) const {
#ifdef __CUDACC__
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :: "r"(address), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];"
                     :: "r"(to), "l"(from), "r"(bytes), "r"(address) : "memory");
#else
        host::copy_bulk(to, from, bytes, address);
#endif
    }

    // Waits for the copy of a phase, of which the lowest bit is looked at: by every thread that reads
    // what it brought.
    DEVICE void wait(u32 phase) const {
#ifdef __CUDACC__
        u32 is_over;
        do {
            // The name of a register of its own, which no other copy of this text has.
            asm volatile(".reg .pred %%over%=;\n\t"
                         "mbarrier.try_wait.parity.shared::cta.b64 %%over%=, [%1], %2;\n\t"
                         "selp.b32 %0, 1, 0, %%over%=;"
                         : "=r"(is_over) : "r"(address), "r"(phase & 1) : "memory");
        } while (!is_over);
#else
        host::wait_arrival(address, phase & 1);
#endif
    }

    // Ends its use, by one thread: its memory is memory again.
    DEVICE void drop() const {
#ifdef __CUDACC__
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(address) : "memory");
#else
        host::drop_arrival(address);
#endif
    }
};
