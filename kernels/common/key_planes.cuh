// Round keys of bit-sliced kernels in shared memory: a word for every bit, and what `add_key`
// multiplies by.
#pragma once
#include "parameters.cuh"
#include "transpose.cuh"

// Words of a key plane, and of a key byte: eight for its bits, least significant first, then their
// factors.
constexpr u32 PLANE_WORDS = 2;
constexpr u32 KEY_BYTE_WORDS = 8 * PLANE_WORDS;

// A key byte in every block.
struct KeyByte {
    u32 key[8];
    u32 factors[8];

    DEVICE explicit KeyByte(const u32 *words) {
        load_eight(reinterpret_cast<const Block16 *>(words), key);
        load_eight(reinterpret_cast<const Block16 *>(words) + 2, factors);
    }

    // XORs bit `i` over a plane.
    DEVICE u32 add(u32 plane, u32 i) const { return add_key(plane, key[i], factors[i]); }

   private:
    static DEVICE void load_eight(const Block16 *from, u32 (&to)[8]) {
        const Block16 low = from[0], high = from[1];
        to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
        to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
    }
};

// Expands `count` key planes for the whole thread block, `plane(i)` being plane i; the caller
// synchronises.
template <class Plane>
DEVICE void expand_key_planes(u32 *words, u32 count, Plane plane) {
    for (u32 i = threadIdx.x; i < count * PLANE_WORDS; i += blockDim.x) {
        const u32 key = plane(i / KEY_BYTE_WORDS * 8 + i % 8);
        words[i] = i % KEY_BYTE_WORDS < 8 ? key : key_factor(key);
    }
}

// The same of key bytes, `byte(i)` being byte i.
template <class Byte>
DEVICE void expand_key_bytes(u32 *words, u32 count, Byte byte) {
    expand_key_planes(words, 8 * count, [&](u32 i) { return spread_bit(byte(i / 8), i % 8); });
}

// Byte `i` of a block or of consecutive words, the least significant of the first word being 0.
DEVICE u32 byte_in(const u32 *words, u32 i) { return words[i / 4] >> (8 * (i % 4)) & 0xff; }
