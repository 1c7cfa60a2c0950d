// LEA in 32-bit words, one thread a block.
#include "../common/entry.cuh"
#include "lea.cuh"

namespace {

constexpr Launch LAUNCH = {256, 0, BLOCK_A_THREAD};

template <bool encrypts>
DEVICE void ecb(const LeaParameters &parameters, Direction<encrypts> direction) {
    ecb_blocks(parameters,
               [&](Block16 block) { return cipher(direction, block, parameters.keys); });
}

DEVICE void ctr(const LeaParameters &parameters, Direction<true> direction) {
    ctr_blocks(parameters,
               [&](Block16 block) { return cipher(direction, block, parameters.keys); });
}

}  // namespace

// ANCHOR: kernels
#define LEA_KERNEL(name, launch, mode, encrypts) \
    KERNEL(lea_words_##name, launch, LeaParameters) { mode(parameters, Direction<encrypts>()); }

LEA_KERNEL(ecb_encrypt, LAUNCH, ecb, true)
LEA_KERNEL(ecb_decrypt, LAUNCH, ecb, false)
LEA_KERNEL(ctr, LAUNCH, ctr, true)
LEA_KERNEL(cbc_decrypt, in_ranges(LAUNCH), cbc_decrypt, false)
LEA_KERNEL(cfb_decrypt, in_ranges(LAUNCH), cfb_decrypt, true)
LEA_KERNEL(xts_encrypt, in_ranges(LAUNCH), xts, true)
LEA_KERNEL(xts_decrypt, in_ranges(LAUNCH), xts, false)
// ANCHOR_END: kernels
