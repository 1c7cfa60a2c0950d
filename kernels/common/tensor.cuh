// Products of bits on tensor cores, and copies to shared memory that run meanwhile: for modules that are
// compiled for compute capability 8.0.
#pragma once
#include "word.cuh"

// ANCHOR: multiply_bits
// Adds to `sum` how many bits a row of the left operand and a column of the right one share, of 256:
// 16 rows, 8 columns. Lane 4g + t passes and gets
//
//   word t of row g (0), of row g + 8 (1), words 4 + t of these (2, 3)    of the left operand
//   words t and 4 + t of column g                                         of the right one
//   columns 2t and 2t + 1 of row g, then of row g + 8                     of the sum
DEVICE void multiply_bits(u32 (&sum)[4], u32 left0, u32 left1, u32 left2, u32 left3,
                          const u32 (&right)[2]) {
#ifdef __CUDACC__
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(left0), "r"(left1), "r"(left2), "r"(left3), "r"(right[0]), "r"(right[1]));
#else
    host::multiply_bits(sum, {left0, left1, left2, left3, right[0], right[1]});
#endif
}
// ANCHOR_END: multiply_bits

// The same, with a sum that nothing was added to before.
DEVICE void begin_bits(u32 (&sum)[4], u32 left0, u32 left1, u32 left2, u32 left3,
                       const u32 (&right)[2]) {
#ifdef __CUDACC__
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
                 : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
                 : "r"(left0), "r"(left1), "r"(left2), "r"(left3), "r"(right[0]), "r"(right[1]),
                   "r"(0));
#else
    for (u32 &word : sum) word = 0;
    host::multiply_bits(sum, {left0, left1, left2, left3, right[0], right[1]});
#endif
}

// The same over 128 bits: the first of the two words each.
DEVICE void multiply_bits(u32 (&sum)[4], u32 left0, u32 left1, u32 right) {
#ifdef __CUDACC__
    asm volatile("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(left0), "r"(left1), "r"(right));
#else
    host::multiply_bits(sum, {left0, left1, 0, 0, right, 0});
#endif
}

// Columns of 8 bits that make a word of the result.
constexpr u32 TILES = 4;

// The lowest bits of sums of tiles, eight at most. Lane 4g + t has columns 2t and 2t + 1 of every tile, for
// row g and then for row g + 8: two bits a tile of each. It returns those of row g, and 16 bits above
// them those of row g + 8. Sums stay below 2^16.
template <u32 tiles>
DEVICE u32 packed(const u32 (&added)[tiles][4]) {
    u32 bits = 0;
    UNROLL for (u32 i = 0; i < 2 * tiles; i++) {
        const u32 both = added[i / 2][2 + i % 2] * 0x10000 + added[i / 2][i % 2];
        bits += (both & 0x00010001) * (1u << i);
    }
    return bits;
}

// Starts to copy a block to shared memory; zeros where `is_there` is false, and nothing is read then.
DEVICE void copy_async(Block16 *to, const Block16 *from, bool is_there) {
#ifdef __CUDACC__
    const u32 address = shared_address(reinterpret_cast<const u8 *>(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(address), "l"(from), "r"(is_there ? 16 : 0) : "memory");
#else
    host::copy_async(to, from, is_there);
#endif
}

// Ends a group of this thread's copies, perhaps an empty one.
DEVICE void commit_copies() {
#ifdef __CUDACC__
    asm volatile("cp.async.commit_group;" ::: "memory");
#else
    host::commit_copies();
#endif
}

// Waits until at most the last `groups` groups of this thread's copies are on their way.
template <u32 groups>
DEVICE void wait_copies() {
#ifdef __CUDACC__
    asm volatile("cp.async.wait_group %0;" :: "n"(groups) : "memory");
#else
    host::wait_copies(groups);
#endif
}
