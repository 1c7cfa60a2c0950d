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

// Adds the words `mode0` and `mode1`, key stream in memory order, to up to 16 bytes; `blocks` is their number.
KERNEL(modes_add_key_stream, LAUNCH, ModeParameters) {
    const u8 *input = reinterpret_cast<const u8 *>(parameters.input);
    u8 *output = reinterpret_cast<u8 *>(parameters.output);
    for (u64 i = grid_thread(); i < parameters.blocks; i += grid_threads()) {
        const u64 word = i < 8 ? parameters.mode0 : parameters.mode1;
        output[i] = u8(input[i] ^ word >> 8 * (i % 8));
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
