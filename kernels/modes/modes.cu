// What modes need beside a cipher: bytes that lie apart, brought together and put back, and what XTS's
// masks are made of. Constant-time: addresses and branches follow from lengths and numbers alone.
#include "../common/masks.cuh"

// The place of the keys, of which there are none. Outside of the namespace, so that the kernels' types
// have external names: without any, the compiler puts a number of its own into the PTX at every run.
struct NoKeys {
    u32 padding[4];
};
typedef Parameters<NoKeys> ModeParameters;

namespace {

constexpr Launch LAUNCH = {256, 0, BLOCK_A_THREAD};

// The bits of 16 with a zero above each: their square as a polynomial.
DEVICE u32 spread(u32 half) {
    half = (half | half << 8) & 0x00ff00ff;
    half = (half | half << 4) & 0x0f0f0f0f;
    half = (half | half << 2) & 0x33333333;
    return (half | half << 1) & 0x55555555;
}

// The square in GF(2^128). What is above bit 127 comes back times x^7 + x^2 + x + 1.
DEVICE Block16 square(Block16 a) {
    const Block16 low = make_uint4(spread(a.x & 0xffff), spread(a.x >> 16), spread(a.y & 0xffff),
                                   spread(a.y >> 16));
    const Block16 high = make_uint4(spread(a.z & 0xffff), spread(a.z >> 16), spread(a.w & 0xffff),
                                    spread(a.w >> 16));
    return low ^ high ^ times_power(high, 1) ^ times_power(high, 2) ^ times_power(high, 7);
}

// ANCHOR: power_of_x
// x^exponent, which is public: its top seven bits name a bit of the result, every other one squares.
DEVICE Block16 power_of_x(u64 exponent) {
    u32 rest = 0;
    while (exponent >> rest >= 128) rest++;
    const u32 top = u32(exponent >> rest), bit = 1u << top % 32;
    Block16 power = make_uint4(top / 32 == 0 ? bit : 0, top / 32 == 1 ? bit : 0,
                               top / 32 == 2 ? bit : 0, top / 32 == 3 ? bit : 0);
    while (rest > 0) {
        rest--;
        power = times_power(square(power), u32(exponent >> rest) & 1);
    }
    return power;
}
// ANCHOR_END: power_of_x

// The product in GF(2^128), bit by bit of `factor`.
DEVICE Block16 product(Block16 mask, Block16 factor) {
    Block16 sum = {};
    ROLLED for (u32 i = 0; i < 128; i++) {
        const u32 take = 0 - (factor.x & 1);
        sum = make_uint4(sum.x ^ (mask.x & take), sum.y ^ (mask.y & take), sum.z ^ (mask.z & take),
                         sum.w ^ (mask.w & take));
        mask = times_power(mask, 1);
        factor = make_uint4(factor.x >> 1 | factor.y << 31, factor.y >> 1 | factor.z << 31,
                            factor.z >> 1 | factor.w << 31, factor.w >> 1);
    }
    return sum;
}

}  // namespace

// Copies rows of bytes, from rows that are `mode0` bytes apart to rows that are `mode1` apart; a row
// has `mode2` bytes, and `blocks` is their number in all rows.
KERNEL(modes_copy_rows, LAUNCH, ModeParameters) {
    const u8 *input = reinterpret_cast<const u8 *>(parameters.input);
    u8 *output = reinterpret_cast<u8 *>(parameters.output);
    for (u64 i = grid_thread(); i < parameters.blocks; i += grid_threads()) {
        const u64 row = i / parameters.mode2, byte = i % parameters.mode2;
        output[row * parameters.mode1 + byte] = input[row * parameters.mode0 + byte];
    }
}

// Writes the numbers of data units, least significant byte first, from the number on whose low and high
// half are `mode0` and `mode1`.
KERNEL(modes_xts_numbers, LAUNCH, ModeParameters) {
    for (u64 i = grid_thread(); i < parameters.blocks; i += grid_threads()) {
        const Counter number = Counter{parameters.mode1, parameters.mode0}.plus(i);
        parameters.output[i] = make_uint4(u32(number.low), u32(number.low >> 32),
                                          u32(number.high), u32(number.high >> 32));
    }
}

// Writes the masks of single blocks, those with the numbers `mode0`, `mode0` + `mode1` and so on, of
// units of `mode2` blocks whose first masks are the input.
KERNEL(modes_xts_masks, LAUNCH, ModeParameters) {
    for (u64 i = grid_thread(); i < parameters.blocks; i += grid_threads()) {
        const u64 block = parameters.mode0 + i * parameters.mode1;
        const Block16 first = parameters.input[block / parameters.mode2];
        parameters.output[i] = product(first, power_of_x(block % parameters.mode2));
    }
}
