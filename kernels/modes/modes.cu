// What modes need beside a cipher: bytes that lie apart, brought together and put back.
// Constant-time: addresses follow from lengths alone.
#include "../common/parameters.cuh"

namespace {

constexpr Launch LAUNCH = {256, 0, BLOCK_A_THREAD};

// The place of the keys, of which there are none.
struct NoKeys {
    u32 padding[4];
};
typedef Parameters<NoKeys> ModeParameters;

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
