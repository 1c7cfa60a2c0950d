// Batches of messages by SM4, each under a key of its own: key schedules (GB/T 32907, section 7.3), and every mode, by
// four tables in every bank.
#include "../batch/entry.cuh"
#include "sm4.cuh"

namespace {

typedef ConflictFreeFour<Sm4Boxes> Tables;

// The S-box alone on every byte, for the key schedule. In the second byte of its word a table has the S-box's output
// rotated by two bits.
DEVICE u32 tau(const Tables &tables, u32 word) {
    const u32 turned = (tables.look_up<0>(word, 0) & 0x0000ff00) | (tables.look_up<1>(word, 1) & 0x00ff0000)
                     | (tables.look_up<2>(word, 2) & 0xff000000) | (tables.look_up<3>(word, 3) & 0x000000ff);
    return rotate_left((turned >> 2 & 0x3f3f3f3f) | (turned << 6 & 0xc0c0c0c0), 24);
}

// What kernels/batch/entry.cuh wants of a cipher. A row of a session has the keys of four rounds.
struct Sm4Batch : ExpandsFirst<Sm4Batch, Tables> {
    typedef NothingShared<Sm4Batch> Counters;
    typedef NothingSliced Sliced;
    static constexpr u32 KEY_ROWS = SM4_ROUNDS / 4;

    static DEVICE void expand_key(const Tables &tables, const KeyOf &key, const Session &session) {
        const bool is_inverse = is_decrypted(key.mode);
        u32 k[4] = {byte_swap(key.words[0]) ^ 0xa3b1bac6, byte_swap(key.words[1]) ^ 0x56aa3350,
                    byte_swap(key.words[2]) ^ 0x677d9197, byte_swap(key.words[3]) ^ 0xb27022dc};
        u32 constant = 0x00070e15;  // CK: multiples of seven, a byte each
        ROLLED for (u32 i = 0; i < KEY_ROWS; i++) {
            UNROLL for (u32 j = 0; j < 4; j++) {
                const u32 image = tau(tables, xor3(k[(j + 1) % 4], k[(j + 2) % 4], k[(j + 3) % 4])
                                            ^ constant);
                k[j] ^= xor3(image, rotate_left(image, 13), rotate_left(image, 23));
                constant = ((constant & 0x7f7f7f7f) + 0x1c1c1c1c) ^ (constant & 0x80808080);
            }
            session.row(is_inverse ? KEY_ROWS - 1 - i : i) =
                is_inverse ? make_uint4(k[3], k[2], k[1], k[0]) : make_uint4(k[0], k[1], k[2], k[3]);
        }
    }

    template <u32 count, class Keys>
    static DEVICE void run(const Tables &tables, Block16 (&blocks)[count], const Keys &keys) {
        UNROLL for (u32 b = 0; b < count; b++) blocks[b] = swapped(blocks[b]);
        ROLLED for (u32 i = 0; i < KEY_ROWS; i++) {
            const Block16 key = keys.key(i);
            UNROLL for (u32 b = 0; b < count; b++) {
                Block16 &s = blocks[b];
                two_rounds(tables, s.x, s.y, s.z, s.w, key.x, key.y);
                two_rounds(tables, s.z, s.w, s.x, s.y, key.z, key.w);
            }
        }
        UNROLL for (u32 b = 0; b < count; b++) {
            const Block16 s = blocks[b];
            blocks[b] = swapped(make_uint4(s.w, s.z, s.y, s.x));
        }
    }
};

}  // namespace

BATCH_KERNELS(sm4, Sm4Batch)
