// Bit-sliced HIGHT, 32 blocks a thread: see common/sliced.cuh. Constant-time: nothing is looked
// up.
//
// Sixty-four registers hold the state, XOR and rotation cost nothing but names, and an addition is
// a ripple adder of three-input lookups: a sum bit is x ^ y ^ carry, the next carry the majority.
#include "../common/entry.cuh"
#include "../common/key_planes.cuh"
#include "../common/sliced.cuh"
#include "hight.cuh"

namespace {

constexpr u32 THREADS = 384;  // for 168 registers
constexpr u32 EXPANDED_WORDS = KEY_WORDS * 4 * KEY_BYTE_WORDS;
constexpr Launch ECB = {THREADS, EXPANDED_WORDS * 4, SLICED};
constexpr Launch CTR = {THREADS, EXPANDED_WORDS * 4, SLICED_CTR};

// Bit i of the same byte of 32 blocks, in word i.
typedef u32 PlaneByte[8];

DEVICE u32 majority(u32 x, u32 y, u32 z) { return lop3<0xe8>(x, y, z); }
// The borrow of x - y - z: y and z against not x.
DEVICE u32 borrow(u32 x, u32 y, u32 z) { return lop3<0x8e>(x, y, z); }

// Bit i of F0 and F1: three bits of the argument.
DEVICE u32 f0(const PlaneByte &y, u32 i) {
    return xor3(y[(i + 7) % 8], y[(i + 6) % 8], y[(i + 1) % 8]);
}
DEVICE u32 f1(const PlaneByte &y, u32 i) {
    return xor3(y[(i + 5) % 8], y[(i + 4) % 8], y[(i + 2) % 8]);
}

// x += y, x -= y.
DEVICE void add(PlaneByte &x, const PlaneByte &y) {
    u32 carry = 0;
    UNROLL for (u32 i = 0; i < 8; i++) {
        const u32 next = majority(x[i], y[i], carry);
        x[i] = xor3(x[i], y[i], carry);
        carry = next;
    }
}

DEVICE void subtract(PlaneByte &x, const PlaneByte &y) {
    u32 carry = 0;
    UNROLL for (u32 i = 0; i < 8; i++) {
        const u32 next = borrow(x[i], y[i], carry);
        x[i] = xor3(x[i], y[i], carry);
        carry = next;
    }
}

// ANCHOR: operations
struct PlaneBytes {
    typedef PlaneByte Byte;
    static constexpr u32 BODY = 4;
    const u32 *keys;  // in shared memory, see `expand_keys`

    DEVICE KeyByte key(u32 w, u32 b) const {
        return KeyByte(keys + (4 * w + b) * KEY_BYTE_WORDS);
    }

    // Bit i of F1(y) ^ key; bit 0 needs no carry, and so its sum has room for the key.
    static DEVICE u32 f1_and_key(const PlaneByte &y, const KeyByte &k, u32 i) {
        return i == 0 ? f1(y, 0) ^ k.key[0] : k.add(f1(y, i), i);
    }

    DEVICE void add_f1(PlaneByte &x, const PlaneByte &y, u32 w, u32 b) const {
        const KeyByte k = key(w, b);
        u32 carry = 0;
        UNROLL for (u32 i = 0; i < 8; i++) {
            const u32 f = f1_and_key(y, k, i);
            const u32 next = majority(x[i], f, carry);
            x[i] = xor3(x[i], f, carry);
            carry = next;
        }
    }
    DEVICE void subtract_f1(PlaneByte &x, const PlaneByte &y, u32 w, u32 b) const {
        const KeyByte k = key(w, b);
        PlaneByte f;
        UNROLL for (u32 i = 0; i < 8; i++) f[i] = f1_and_key(y, k, i);
        subtract(x, f);
    }
    DEVICE void xor_f0(PlaneByte &x, const PlaneByte &y, u32 w, u32 b) const {
        const KeyByte k = key(w, b);
        u32 f = f0(y, 0);
        u32 carry = f & k.key[0];
        x[0] = xor3(x[0], f, k.key[0]);
        UNROLL for (u32 i = 1; i < 8; i++) {
            f = f0(y, i);
            x[i] = xor3(x[i], k.add(f, i), carry);
            carry = majority(f, k.key[i], carry);
        }
    }
    DEVICE void add_key_byte(PlaneByte &x, u32 w, u32 b) const { add(x, key(w, b).key); }
    DEVICE void subtract_key_byte(PlaneByte &x, u32 w, u32 b) const { subtract(x, key(w, b).key); }
    DEVICE void xor_key_byte(PlaneByte &x, u32 w, u32 b) const {
        const KeyByte k = key(w, b);
        UNROLL for (u32 i = 0; i < 8; i++) x[i] ^= k.key[i];
    }
    DEVICE void exchange(PlaneByte &x, PlaneByte &y) const { exchange_planes(x, y); }
};
// ANCHOR_END: operations

DEVICE void expand_keys(u32 *words, const HightKeys &keys) {
    expand_key_bytes(words, KEY_WORDS * 4, [&](u32 i) { return keys.bytes[i / 4][i % 4]; });
    __syncthreads();
}

// The planes of blocks that have P0 first, for those that have P7 first, and back, `times` times. As a
// loop of one pass or none it costs nothing where there is none; an `if` becomes 64 selections.
DEVICE void reverse_bytes(u32 (&state)[64], u32 times) {
    ROLLED for (; times > 0; times--) {
        UNROLL for (u32 i = 0; i < 32; i++) {
            const u32 j = 8 * (7 - i / 8) + i % 8;
            const u32 plane = state[i];
            state[i] = state[j];
            state[j] = plane;
        }
    }
}

template <bool encrypts>
struct Bitslice {
    PlaneBytes bytes;
    u32 reversals;  // of the blocks, before and after: one or none

    static DEVICE Bitslice of(u32 *words, const HightKeys &keys) {
        return {{words}, u32(keys.is_reversed != 0)};
    }
    static DEVICE u32 words(const HightKeys &) { return EXPANDED_WORDS; }

    // The block in memory has P7 first: planes 8m .. 8m + 7 are P(7 - m).
    DEVICE void operator()(u32 (&state)[64]) const {
        reverse_bytes(state, reversals);
        PlaneByte x[8];
        UNROLL for (u32 j = 0; j < 8; j++) {
            const u32 place = input_place<encrypts>(j);
            UNROLL for (u32 i = 0; i < 8; i++) x[place][i] = state[8 * (7 - j) + i];
        }
        run<encrypts>(bytes, x);
        UNROLL for (u32 j = 0; j < 8; j++) {
            const u32 place = output_place<encrypts>(j);
            UNROLL for (u32 i = 0; i < 8; i++) state[8 * (7 - j) + i] = x[place][i];
        }
        reverse_bytes(state, reversals);
    }
};

}  // namespace

SLICED_KERNEL(hight_bitslice_ecb_encrypt, ECB, HightParameters, sliced_ecb, Bitslice<true>)
SLICED_KERNEL(hight_bitslice_ecb_decrypt, ECB, HightParameters, sliced_ecb, Bitslice<false>)
SLICED_KERNEL(hight_bitslice_ctr, CTR, HightParameters, sliced_ctr, Bitslice<true>)
SLICED_KERNEL(hight_bitslice_cbc_decrypt, ECB, HightParameters, sliced_cbc_decrypt, Bitslice<false>)
SLICED_KERNEL(hight_bitslice_cfb_decrypt, ECB, HightParameters, sliced_cfb_decrypt, Bitslice<true>)
