// HIGHT by look-ups of F0 and F1, the form of KISA's source code: P3's first row on the GPU. The
// tables lie in shared memory, once.
#include "hight.cuh"
#include "quads.cuh"

namespace {

constexpr u32 ENTRIES = 256;
constexpr Launch LAUNCH = {1024, 2 * ENTRIES, QUAD_A_THREAD};
constexpr Launch CHAIN = {1024, 2 * ENTRIES, QUAD_A_LANE};

DEVICE u32 rotate8(u32 byte, u32 by) { return (byte << by | byte >> (8 - by)) & 0xff; }

// ANCHOR: operations
// One block; a byte is the low byte of a word.
struct OneBlock {
    typedef u32 Byte;
    const HightKeys &keys;
    const u8 *f0, *f1;

    DEVICE void add_f1(u32 &x, u32 y, u32 w, u32 b) const {
        x = (x + (f1[y] ^ keys.bytes[w][b])) & 0xff;
    }
    DEVICE void subtract_f1(u32 &x, u32 y, u32 w, u32 b) const {
        x = (x - (f1[y] ^ keys.bytes[w][b])) & 0xff;
    }
    DEVICE void xor_f0(u32 &x, u32 y, u32 w, u32 b) const {
        x ^= (f0[y] + keys.bytes[w][b]) & 0xff;
    }
    DEVICE void add_key_byte(u32 &x, u32 w, u32 b) const { x = (x + keys.bytes[w][b]) & 0xff; }
    DEVICE void subtract_key_byte(u32 &x, u32 w, u32 b) const { x = (x - keys.bytes[w][b]) & 0xff; }
    DEVICE void xor_key_byte(u32 &x, u32 w, u32 b) const { x ^= keys.bytes[w][b] & 0xff; }
};
// ANCHOR_END: operations

// The tables in shared memory, a thread an entry as P3 has it.
template <bool encrypts>
struct Table {
    OneBlock one;

    DEVICE Table(const HightKeys &keys, u8 *shared) : one{keys, shared, shared + ENTRIES} {
        for (u32 i = threadIdx.x; i < ENTRIES; i += blockDim.x) {
            shared[i] = u8(rotate8(i, 1) ^ rotate8(i, 2) ^ rotate8(i, 7));
            shared[ENTRIES + i] = u8(rotate8(i, 3) ^ rotate8(i, 4) ^ rotate8(i, 6));
        }
        __syncthreads();
    }

    // The block in memory has P7 first.
    DEVICE void operator()(Block8 (&quad)[QUAD]) const {
        ROLLED for (u32 k = 0; k < QUAD; k++) {
            u32 x[8];
            UNROLL for (u32 j = 0; j < 4; j++) {
                x[input_place<encrypts>(7 - j)] = byte_of(quad[0].x, j);
                x[input_place<encrypts>(3 - j)] = byte_of(quad[0].y, j);
            }
            run<encrypts>(one, x);
            Block8 result = make_uint2(0, 0);
            UNROLL for (u32 j = 0; j < 4; j++) {
                result.x |= x[output_place<encrypts>(7 - j)] << (8 * j);
                result.y |= x[output_place<encrypts>(3 - j)] << (8 * j);
            }
            // The four take turns, so that the loop's body names one register pair.
            UNROLL for (u32 i = 0; i + 1 < QUAD; i++) quad[i] = quad[i + 1];
            quad[QUAD - 1] = result;
        }
    }
};

}  // namespace

HIGHT_QUADS(hight_table, LAUNCH, CHAIN, true, Table)
HIGHT_QUADS(hight_table_uncoalesced, LAUNCH, CHAIN, false, Table)
