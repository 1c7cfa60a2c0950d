// Byte-sliced HIGHT, four blocks a thread: a word holds the same byte of each (P3, 3.2, without
// gaps). Constant-time: nothing is looked up.
#include "hight.cuh"
#include "quads.cuh"

namespace {

constexpr Launch LAUNCH = {768, 0, QUAD_A_THREAD};
constexpr Launch CHAIN = {768, 0, QUAD_A_LANE};

constexpr u32 LOW_BITS = 0x7f7f7f7f;
constexpr u32 TOP_BITS = 0x80808080;

// All four bytes rotated: the bits that stay inside their byte from the shift to the left, the
// others from the shift to the right.
template <u32 by>
DEVICE u32 rotate_bytes(u32 word) {
    constexpr u32 stay = (0xff << by & 0xff) * 0x01010101u;
    return lop3<0xca>(stay, word << by, word >> (8 - by));
}

DEVICE u32 f0(u32 x) { return xor3(rotate_bytes<1>(x), rotate_bytes<2>(x), rotate_bytes<7>(x)); }
DEVICE u32 f1(u32 x) { return xor3(rotate_bytes<3>(x), rotate_bytes<4>(x), rotate_bytes<6>(x)); }

// ANCHOR: operations
// Four blocks. The low seven bits of the bytes are added without the top ones, so that no carry
// leaves a byte; the top bits are added without carry: (x ^ y) & 0x80.
struct FourBlocks {
    typedef u32 Byte;
    const HightKeys &keys;

    static DEVICE u32 low_sum(u32 x, u32 y) { return (x & LOW_BITS) + (y & LOW_BITS); }
    static DEVICE u32 top_sum(u32 x, u32 y) { return lop3<0x28>(x, y, TOP_BITS); }
    static DEVICE u32 add(u32 x, u32 y) { return low_sum(x, y) ^ top_sum(x, y); }
    // The top bit set first takes the borrow.
    static DEVICE u32 subtract(u32 x, u32 y) {
        return ((x | TOP_BITS) - (y & LOW_BITS)) ^ lop3<0x82>(x, y, TOP_BITS);
    }

    DEVICE void add_f1(u32 &x, u32 y, u32 w, u32 b) const { x = add(x, f1(y) ^ keys.bytes[w][b]); }
    DEVICE void subtract_f1(u32 &x, u32 y, u32 w, u32 b) const {
        x = subtract(x, f1(y) ^ keys.bytes[w][b]);
    }
    DEVICE void xor_f0(u32 &x, u32 y, u32 w, u32 b) const {
        const u32 f = f0(y), key = keys.bytes[w][b];
        x = xor3(x, low_sum(f, key), top_sum(f, key));
    }
    DEVICE void add_key_byte(u32 &x, u32 w, u32 b) const { x = add(x, keys.bytes[w][b]); }
    DEVICE void subtract_key_byte(u32 &x, u32 w, u32 b) const { x = subtract(x, keys.bytes[w][b]); }
    DEVICE void xor_key_byte(u32 &x, u32 w, u32 b) const { x ^= keys.bytes[w][b]; }
};
// ANCHOR_END: operations

// ANCHOR: transpose
// The 4x4 byte transpose: byte j of word k becomes byte k of word j. It is its own inverse.
DEVICE void transpose_bytes(u32 &a, u32 &b, u32 &c, u32 &d) {
    const u32 ab_low = __byte_perm(a, b, 0x5140), ab_high = __byte_perm(a, b, 0x7362);
    const u32 cd_low = __byte_perm(c, d, 0x5140), cd_high = __byte_perm(c, d, 0x7362);
    a = __byte_perm(ab_low, cd_low, 0x5410);
    b = __byte_perm(ab_low, cd_low, 0x7632);
    c = __byte_perm(ab_high, cd_high, 0x5410);
    d = __byte_perm(ab_high, cd_high, 0x7632);
}
// ANCHOR_END: transpose

template <bool encrypts>
struct Byteslice {
    FourBlocks four;

    DEVICE Byteslice(const HightKeys &keys, u8 *) : four{keys} {}

    // The block in memory has P7 first.
    DEVICE void operator()(Block8 (&quad)[QUAD]) const {
        u32 x[8];
        UNROLL for (u32 k = 0; k < QUAD; k++) {
            x[input_place<encrypts>(7 - k)] = quad[k].x;
            x[input_place<encrypts>(3 - k)] = quad[k].y;
        }
        transpose<input_place<encrypts>>(x);
        run<encrypts>(four, x);
        transpose<output_place<encrypts>>(x);
        UNROLL for (u32 k = 0; k < QUAD; k++) {
            quad[k].x = x[output_place<encrypts>(7 - k)];
            quad[k].y = x[output_place<encrypts>(3 - k)];
        }
    }

   private:
    template <u32 (*at)(u32)>
    static DEVICE void transpose(u32 (&x)[8]) {
        transpose_bytes(x[at(7)], x[at(6)], x[at(5)], x[at(4)]);
        transpose_bytes(x[at(3)], x[at(2)], x[at(1)], x[at(0)]);
    }
};

}  // namespace

HIGHT_QUADS(hight_byteslice, LAUNCH, CHAIN, true, Byteslice)
HIGHT_QUADS(hight_byteslice_uncoalesced, LAUNCH, CHAIN, false, Byteslice)
