// AES's key stream as the numbers that people draw: stored, and never XORed over data. One T-table in every bank, which fits
// every GPU.
//
// A number is made of the bytes of key stream that lie where it lies: word i of 32 bits, or i of 64, so that it does not
// depend on how a request is cut. A word that cannot be taken, since a share would be unequal, is drawn again from other
// counters:
//
//   bits 127..112   111..64        63..0
//        0          the stream     the number of the block
//        attempt    the stream     the place of the number in bytes
#include "../common/draws.cuh"
#include "conflict_free.cuh"

namespace {

using Tables = ConflictFree<1, true>;
constexpr Launch DRAW = CONFLICT_FREE_CTR<1>;

// A word of the counter that an attempt to draw again has for the number at a place.
struct Again {
    const Tables &tables;
    const AesKeys &keys;
    u64 stream, place;

    DEVICE u64 operator()(u32 attempt) const {
        const Counter counter = {stream | u64(attempt) << 48, place};
        const Block16 block = cipher(tables, counter.block(), keys);
        return u64(block.y) << 32 | block.x;
    }
};

// Stores what `number(word, again)` makes of each word of a block. `Word` is u32 or u64.
template <class Word>
struct Split;

template <>
struct Split<u32> {
    template <class Number>
    static DEVICE Block16 map(Block16 block, Again again, Number number) {
        const auto word = [&](u32 word, u32 i) {
            return number(word, Again{again.tables, again.keys, again.stream, again.place + 4 * i});
        };
        return make_uint4(word(block.x, 0), word(block.y, 1), word(block.z, 2), word(block.w, 3));
    }
};

template <>
struct Split<u64> {
    template <class Number>
    static DEVICE Block16 map(Block16 block, Again again, Number number) {
        const u64 low = number(u64(block.y) << 32 | block.x, again);
        again.place += 8;
        const u64 high = number(u64(block.w) << 32 | block.z, again);
        return make_uint4(u32(low), u32(low >> 32), u32(high), u32(high >> 32));
    }
};

template <class Word, class Number>
DEVICE void draw(const Parameters<AesKeys> &parameters, u8 *shared, Number number) {
    const Tables tables(shared);
    const Counter first = first_counter(parameters);
    cached_blocks<CachedRounds<Tables>>(parameters, tables, [&](u64 i, auto key_stream) {
        const u64 place = (first.low + i) * sizeof(Block16);
        const Again again = {tables, parameters.keys, first.high, place};
        parameters.output[i] = Split<Word>::map(key_stream(), again, number);
    });
}

// The first number of a range, and how many it has, where the kernel draws below a bound.
DEVICE u64 lowest(const Parameters<AesKeys> &parameters) { return u64(parameters.input); }
DEVICE u64 range(const Parameters<AesKeys> &parameters) { return parameters.mode2; }

}  // namespace

#define DRAW_KERNEL(name, Word, ...)                                    \
    KERNEL(name, DRAW, Parameters<AesKeys>) {                           \
        SHARED_TABLES(shared);                                          \
        draw<Word>(parameters, shared, [&](Word word, const Again &again) -> Word { \
            (void)again;                                                \
            return __VA_ARGS__;                                         \
        });                                                             \
    }

DRAW_KERNEL(aes_random_bytes, u64, word)
DRAW_KERNEL(aes_random_integers_32, u32,
            u32(lowest(parameters)) + below(word, u32(range(parameters)), again))
DRAW_KERNEL(aes_random_integers_64, u64, lowest(parameters) + below(word, range(parameters), again))
DRAW_KERNEL(aes_random_units_32, u32, bits_of(unit(word)))
DRAW_KERNEL(aes_random_units_64, u64, bits_of(unit(word)))
DRAW_KERNEL(aes_random_normals_32, u32, bits_of(normal(word)))
DRAW_KERNEL(aes_random_normals_64, u64, bits_of(normal(word)))
