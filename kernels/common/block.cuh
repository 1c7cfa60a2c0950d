// Blocks of a cipher as values: sums, bytes the other way round, and passing them from lane to lane.
#pragma once
#include "word.cuh"

DEVICE Block8 operator^(Block8 left, Block8 right) {
    return make_uint2(left.x ^ right.x, left.y ^ right.y);
}

DEVICE Block16 operator^(Block16 left, Block16 right) {
    return make_uint4(left.x ^ right.x, left.y ^ right.y, left.z ^ right.z, left.w ^ right.w);
}

// A block as words that have the first byte on top, and back.
DEVICE Block16 swapped(Block16 a) {
    return make_uint4(byte_swap(a.x), byte_swap(a.y), byte_swap(a.z), byte_swap(a.w));
}

DEVICE Block16 xor3(Block16 a, Block16 b, Block16 c) {
    return make_uint4(xor3(a.x, b.x, c.x), xor3(a.y, b.y, c.y), xor3(a.z, b.z, c.z),
                      xor3(a.w, b.w, c.w));
}

DEVICE Block16 not_hoisted(Block16 block) {
    return make_uint4(not_hoisted(block.x), not_hoisted(block.y), not_hoisted(block.z),
                      not_hoisted(block.w));
}

// The block that another lane of this warp passes; all lanes take part.
DEVICE Block8 from_lane(Block8 block, u32 lane) {
    return make_uint2(__shfl_sync(0xffffffff, block.x, lane), __shfl_sync(0xffffffff, block.y, lane));
}
DEVICE Block16 from_lane(Block16 block, u32 lane) {
    return make_uint4(__shfl_sync(0xffffffff, block.x, lane), __shfl_sync(0xffffffff, block.y, lane),
                      __shfl_sync(0xffffffff, block.z, lane), __shfl_sync(0xffffffff, block.w, lane));
}
