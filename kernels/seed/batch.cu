// Batches of messages by SEED, each under a key of its own: key schedules (RFC 4269, section 2.3), and every
// mode, by four tables in every bank.
#include "../batch/entry.cuh"
#include "seed.cuh"

namespace {

typedef ConflictFreeFour<SeedBoxes> Tables;

// What kernels/batch/entry.cuh wants of a cipher. A row of a session has the keys of two rounds.
struct SeedBatch : ExpandsFirst<SeedBatch, Tables> {
    typedef NothingShared<SeedBatch> Counters;
    typedef NothingSliced Sliced;
    static constexpr u32 KEY_ROWS = SEED_ROUNDS / 2;

    static DEVICE void expand_key(const Tables &tables, const KeyOf &key, const Session &session) {
        const bool is_inverse = is_decrypted(key.mode);
        u32 a = byte_swap(key.words[0]), b = byte_swap(key.words[1]);
        u32 c = byte_swap(key.words[2]), d = byte_swap(key.words[3]);
        u32 constant = 0x9e3779b9;  // a part of the golden ratio
        auto half = [&](u32 word) { return g(tables, word); };
        ROLLED for (u32 i = 0; i < KEY_ROWS; i++) {
            const u32 first = half(a + c - constant), second = half(b - d + constant);
            const u32 before = a;
            a = a >> 8 | b << 24;
            b = b >> 8 | before << 24;
            constant = rotate_left(constant, 1);
            const u32 third = half(a + c - constant), fourth = half(b - d + constant);
            const u32 high = c;
            c = c << 8 | d >> 24;
            d = d << 8 | high >> 24;
            constant = rotate_left(constant, 1);
            session.row(is_inverse ? KEY_ROWS - 1 - i : i) =
                is_inverse ? make_uint4(third, fourth, first, second)
                           : make_uint4(first, second, third, fourth);
        }
    }

    // Words of the blocks are l0, l1, r0 and r1, with the first byte on top.
    template <u32 count, class Keys>
    static DEVICE void run(const Tables &tables, Block16 (&blocks)[count], const Keys &keys) {
        UNROLL for (u32 b = 0; b < count; b++) blocks[b] = swapped(blocks[b]);
        ROLLED for (u32 i = 0; i < KEY_ROWS; i++) {
            const Block16 key = keys.key(i);
            const u32 first[2] = {key.x, key.y}, second[2] = {key.z, key.w};
            UNROLL for (u32 b = 0; b < count; b++) {
                Block16 &s = blocks[b];
                add_f(tables, s.x, s.y, s.z, s.w, first);
                add_f(tables, s.z, s.w, s.x, s.y, second);
            }
        }
        UNROLL for (u32 b = 0; b < count; b++) {
            const Block16 s = blocks[b];
            blocks[b] = swapped(make_uint4(s.z, s.w, s.x, s.y));
        }
    }
};

}  // namespace

BATCH_KERNELS(seed, SeedBatch)
