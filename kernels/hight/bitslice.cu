// Bit-sliced HIGHT, 32 blocks a thread: see common/sliced64.cuh. Constant-time: nothing is looked
// up.
//
// Sixty-four registers hold the state, XOR and rotation cost nothing but names, and an addition is
// a ripple adder of three-input lookups: a sum bit is x ^ y ^ carry, the next carry the majority.
#include "../common/sliced64.cuh"
#include "hight.cuh"

namespace {

constexpr u32 THREADS = 384;  // for 168 registers
constexpr u32 KEY_BYTE_WORDS = 16;
constexpr u32 EXPANDED_WORDS = KEY_WORDS * 4 * KEY_BYTE_WORDS;

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

// A key byte in every block.
struct KeyByte {
    PlaneByte key;      // a word full of every bit
    PlaneByte factors;  // and what `add_key` multiplies by
};

DEVICE void load(const Block16 *words, PlaneByte &to) {
    const Block16 low = words[0], high = words[1];
    to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
    to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
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
struct Planes {
    typedef PlaneByte Byte;
    const u32 *keys;  // in shared memory, see `expand_keys`

    DEVICE KeyByte key(u32 w, u32 b) const {
        KeyByte k;
        const Block16 *words = reinterpret_cast<const Block16 *>(keys + (4 * w + b) * KEY_BYTE_WORDS);
        load(words, k.key);
        load(words + 2, k.factors);
        return k;
    }

    // F1(y) ^ key; bit 0 needs no carry, and so its sum has room for the key.
    DEVICE void f1_and_key(PlaneByte &f, const PlaneByte &y, u32 w, u32 b) const {
        const KeyByte k = key(w, b);
        f[0] = f1(y, 0) ^ k.key[0];
        UNROLL for (u32 i = 1; i < 8; i++) f[i] = add_key(f1(y, i), k.key[i], k.factors[i]);
    }

    DEVICE void add_f1(PlaneByte &x, const PlaneByte &y, u32 w, u32 b) const {
        PlaneByte f;
        f1_and_key(f, y, w, b);
        add(x, f);
    }
    DEVICE void subtract_f1(PlaneByte &x, const PlaneByte &y, u32 w, u32 b) const {
        PlaneByte f;
        f1_and_key(f, y, w, b);
        subtract(x, f);
    }
    DEVICE void xor_f0(PlaneByte &x, const PlaneByte &y, u32 w, u32 b) const {
        const KeyByte k = key(w, b);
        u32 f = f0(y, 0);
        u32 carry = f & k.key[0];
        x[0] = xor3(x[0], f, k.key[0]);
        UNROLL for (u32 i = 1; i < 8; i++) {
            f = f0(y, i);
            x[i] = xor3(x[i], add_key(f, k.key[i], k.factors[i]), carry);
            carry = majority(f, k.key[i], carry);
        }
    }
    DEVICE void add_key_byte(PlaneByte &x, u32 w, u32 b) const { add(x, key(w, b).key); }
    DEVICE void subtract_key_byte(PlaneByte &x, u32 w, u32 b) const { subtract(x, key(w, b).key); }
    DEVICE void xor_key_byte(PlaneByte &x, u32 w, u32 b) const {
        const KeyByte k = key(w, b);
        UNROLL for (u32 i = 0; i < 8; i++) x[i] ^= k.key[i];
    }
};
// ANCHOR_END: operations

// Expands every bit of the key words for the whole thread block: the eight words of a byte, then
// their factors.
DEVICE void expand_keys(u32 *words, const HightKeys &keys) {
    for (u32 i = threadIdx.x; i < EXPANDED_WORDS; i += blockDim.x) {
        const u32 byte = i / KEY_BYTE_WORDS, bit = i % 8;
        const u32 key = spread_bit(keys.bytes[byte / 4][byte % 4], bit);
        words[i] = i % KEY_BYTE_WORDS < 8 ? key : key_factor(key);
    }
    __syncthreads();
}

// The planes of blocks that have P0 first, for those that have P7 first, and back.
DEVICE void reverse_bytes(Planes64 &state) {
    UNROLL for (u32 i = 0; i < 32; i++) {
        const u32 j = 8 * (7 - i / 8) + i % 8;
        const u32 plane = state[i];
        state[i] = state[j];
        state[j] = plane;
    }
}

template <bool encrypts>
struct Bitslice {
    Planes planes;
    bool is_reversed;

    // The block in memory has P7 first: planes 8m .. 8m + 7 are P(7 - m).
    DEVICE void operator()(Planes64 &state) const {
        if (is_reversed) reverse_bytes(state);
        PlaneByte x[8];
        UNROLL for (u32 j = 0; j < 8; j++) {
            const u32 place = input_place<encrypts>(j);
            UNROLL for (u32 i = 0; i < 8; i++) x[place][i] = state[8 * (7 - j) + i];
        }
        run<encrypts>(planes, x);
        UNROLL for (u32 j = 0; j < 8; j++) {
            const u32 place = output_place<encrypts>(j);
            UNROLL for (u32 i = 0; i < 8; i++) state[8 * (7 - j) + i] = x[place][i];
        }
        if (is_reversed) reverse_bytes(state);
    }
};

}  // namespace

#define HIGHT_BITSLICE(name, encrypts, mode)                              \
    KERNEL(hight_bitslice_##name, THREADS, HightParameters) {             \
        SHARED_MEMORY(shared);                                            \
        u32 *words = reinterpret_cast<u32 *>(shared);                     \
        expand_keys(words, parameters.keys);                              \
        mode(parameters, Bitslice<encrypts>{{words}, parameters.keys.is_reversed != 0}); \
        clear_shared(words, EXPANDED_WORDS);                              \
    }

HIGHT_BITSLICE(ecb_encrypt, true, sliced64_ecb)
HIGHT_BITSLICE(ecb_decrypt, false, sliced64_ecb)
HIGHT_BITSLICE(ctr, true, sliced64_ctr)
