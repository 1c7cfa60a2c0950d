// Bit-sliced ciphers of 64-bit blocks: a thread takes 32 blocks, a bit of each in a register.
//
// A warp takes 1,024 consecutive blocks. Lane l reads blocks l, 32 + l, 64 + l and so on, so that
// each of its 32 loads is one of a row of 256 bytes that the warp reads together:
//
//   block number in the warp's 1,024    k4 k3 k2 k1 k0 | l4 l3 l2 l1 l0     bit k of a plane, lane
//   plane                               h | b2 b1 b0 .. of the 64 bits      bit p of the block,
//                                                                           least significant first
#pragma once
#include "parameters.cuh"
#include "transpose.cuh"

constexpr u32 RUN_BLOCKS64 = 32 * WARP;

// The planes of 32 blocks: plane p holds bit p % 8 of byte p / 8 of each.
typedef u32 Planes64[64];

DEVICE u32 (&low_square(Planes64 &planes))[32] {
    return reinterpret_cast<u32 (&)[32]>(planes[0]);
}
DEVICE u32 (&high_square(Planes64 &planes))[32] {
    return reinterpret_cast<u32 (&)[32]>(planes[32]);
}

// Blocks to planes, and planes to blocks: rows 0 .. 31 hold the first words of the blocks, rows
// 32 .. 63 the second ones.
DEVICE void transpose64(Planes64 &planes) {
    transpose32(low_square(planes));
    transpose32(high_square(planes));
}

// A thread's 32 blocks in memory; where the warp's run lies all inside the data, no block of it is
// tested by itself.
struct Rows64 {
    u64 first;     // number of this thread's block 0; may be huge: before the data
    u64 blocks;    // number of blocks there are
    bool is_whole;

    DEVICE Rows64(u64 run, u64 skipped, u64 blocks)
        : first(run + threadIdx.x % WARP - skipped), blocks(blocks),
          is_whole(run >= skipped && run - skipped + RUN_BLOCKS64 <= blocks) {}

    // Calls `work(k, number)` for every one of rows `begin` to `end` that is inside the data.
    template <class Work>
    DEVICE void each(u32 begin, u32 end, Work work) const {
        if (is_whole) {
            UNROLL for (u32 k = begin; k < end; k++) work(k, first + k * WARP);
        } else {
            UNROLL for (u32 k = begin; k < end; k++) {
                const u64 number = first + k * WARP;
                if (number < blocks) work(k, number);
            }
        }
    }
};

// Runs `cipher` on every run of blocks.
template <class Keys, class Cipher>
DEVICE void sliced64_ecb(const Parameters<Keys, Block8> &parameters, Cipher cipher) {
    every_run<RUN_BLOCKS64>(parameters.blocks, [&](u64 run) {
        const Rows64 rows(run, 0, parameters.blocks);
        Planes64 planes = {};
        rows.each(0, 32, [&](u32 k, u64 number) {
            const Block8 block = parameters.input[number];
            planes[k] = block.x;
            planes[32 + k] = block.y;
        });
        transpose64(planes);
        cipher(planes);
        transpose64(planes);
        rows.each(0, 32, [&](u32 k, u64 number) {
            parameters.output[number] = make_uint2(planes[k], planes[32 + k]);
        });
    });
}

// ANCHOR: counter_planes64
// The planes of the counters `counter` + 32 k, whose bits 5 to 9 are zero at k = 0. Bit i of a
// big-endian counter is bit i % 8 of byte 7 - i / 8.
DEVICE void counter_planes64(Planes64 &planes, Counter counter) {
    const Block8 block = counter.block8();
    UNROLL for (u32 p = 0; p < 64; p++) {
        const u32 i = 8 * (7 - p / 8) + p % 8;
        planes[p] = i >= 5 && i < 10 ? number_plane(i - 5)
                                     : spread_bit(p < 32 ? block.x : block.y, p % 32);
    }
}
// ANCHOR_END: counter_planes64

// XORs the key stream over every run of blocks.
template <class Keys, class Cipher>
DEVICE void sliced64_ctr(const Parameters<Keys, Block8> &parameters, Cipher cipher) {
    // Runs start at counters that are a multiple of 1,024; the first may begin before the data.
    const Counter first = first_counter(parameters);
    const u64 skipped = first.low % RUN_BLOCKS64;
    const Counter base = {0, first.low - skipped};
    every_run<RUN_BLOCKS64>(parameters.blocks + skipped, [&](u64 run) {
        const Rows64 rows(run, skipped, parameters.blocks);
        Planes64 planes;
        counter_planes64(planes, base.plus(run + threadIdx.x % WARP));
        cipher(planes);
        transpose64(planes);
        // A part's loads come before its stores, which might be to the same memory.
        constexpr u32 PART = 8;
        UNROLL for (u32 begin = 0; begin < 32; begin += PART) {
            Block8 data[PART] = {};
            rows.each(begin, begin + PART, [&](u32 k, u64 number) {
                data[k - begin] = parameters.input[number];
            });
            rows.each(begin, begin + PART, [&](u32 k, u64 number) {
                parameters.output[number] =
                    data[k - begin] ^ make_uint2(planes[k], planes[32 + k]);
            });
        }
    });
}
