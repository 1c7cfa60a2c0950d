// What blocks of GCM (SP 800-38D) are in GF(2^128), and the blocks that are not whole or come last.
#pragma once
#include "field.cuh"

namespace {

// GCM writes the coefficient of 1 first, in the highest bit of a byte: bytes of an element are those
// of the block with their bits reversed. And back.
DEVICE u32 reversed_bytes(u32 word) { return byte_swap(__brev(word)); }
DEVICE Block16 reversed(Block16 block) {
    return make_uint4(reversed_bytes(block.x), reversed_bytes(block.y), reversed_bytes(block.z),
                      reversed_bytes(block.w));
}

// Word `i` of a block or an element. All are read, where `i` is none of the compiler's constants.
DEVICE u32 word_of(Block16 a, u32 i) { return i == 0 ? a.x : i == 1 ? a.y : i == 2 ? a.z : a.w; }

// A block of the first bytes, fewer than 16, filled up with zeros. They begin at a multiple of 16; whole words are loaded
// at once.
DEVICE Block16 padded(const u8 *bytes, u32 count) {
    u32 words[4] = {};
    UNROLL for (u32 i = 0; i < 4; i++) {
        if (count >= 4 * i + 4) words[i] = reinterpret_cast<const u32 *>(bytes)[i];
    }
    const u32 whole = count / 4 * 4;
    u32 rest = 0;
    UNROLL for (u32 k = 0; k < 3; k++) {
        if (whole + k < count) rest |= u32(bytes[whole + k]) << 8 * k;
    }
    UNROLL for (u32 i = 0; i < 4; i++) {
        if (4 * i == whole) words[i] = rest;
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// Block `i` of `length` bytes, which are there, filled up with zeros.
DEVICE Block16 block_at(const u8 *data, u64 length, u64 i) {
    if (16 * i + 16 <= length) return *reinterpret_cast<const Block16 *>(data + 16 * i);
    return padded(data + 16 * i, u32(length - 16 * i));
}

// Stores the first bytes of a block, fewer than 16, from a multiple of 16 on: eight of them at once, four, two and one, as
// many as there are.
DEVICE void store_part(u8 *to, Block16 block, u32 count) {
    const u64 first = u64(block.y) << 32 | block.x, second = u64(block.w) << 32 | block.z;
    u64 half = first;
    if (count & 8) *reinterpret_cast<u64 *>(to) = first, to += 8, half = second;
    if (count & 4) *reinterpret_cast<u32 *>(to) = u32(half), to += 4, half >>= 32;
    if (count & 2) *reinterpret_cast<u16 *>(to) = u16(half), to += 2, half >>= 16;
    if (count & 1) *to = u8(half);
}

// The last block that is hashed of a message: two lengths, in bits.
DEVICE Block16 lengths_block(u64 first, u64 second) {
    return make_uint4(byte_swap(u32(first >> 32)), byte_swap(u32(first)),
                      byte_swap(u32(second >> 32)), byte_swap(u32(second)));
}

}  // namespace
