// ARIA in P1's 8-bit form: see common/bytewise.cuh.
#include "../common/bytewise.cuh"
#include "keys.cuh"
#include "rows.cuh"
#include "tables.cuh"

namespace {

constexpr u32 THREADS = 256;
constexpr u32 TABLE_BYTES = 256 * 4;
constexpr Launch LAUNCH = {THREADS, TABLE_BYTES + THREADS, BYTE_A_THREAD};
constexpr Launch RANGES = {THREADS, TABLE_BYTES + THREADS, BYTE_A_LANE};

// ANCHOR: cipher
// The cipher on one byte of sixteen. S1, S2 and their inverses stand side by side in the words of
// `sboxes`; byte j takes the one of number j in odd rounds and j + 2 in even ones, modulo 4.
DEVICE u32 cipher(const u32 *sboxes, const Exchange &bytes, u32 value, const AriaKeys &keys) {
    const u32 digits = DIFFUSION.digits[bytes.index];
    value ^= key_byte(keys.first, bytes.index);
    for (u32 i = 1; i <= keys.rounds; i++) {
        const u32 box = (bytes.index + (i % 2 == 1 ? 0 : 2)) % 4;
        value = sboxes[value] >> (8 * box) & 0xff;
        if (i == keys.rounds) break;
        value = bytes.sum(value, [&](const u8 *block) {
            u32 sum = 0;
            UNROLL for (u32 k = 0; k < 7; k++) sum ^= block[digits >> (4 * k) & 15];
            return sum;
        }) ^ key_byte(keys.middle[i - 1], bytes.index);
    }
    return value ^ key_byte(keys.last, bytes.index);
}
// ANCHOR_END: cipher

DEVICE const u32 *copy_sboxes(u8 *shared) {
    u32 *words = reinterpret_cast<u32 *>(shared);
    for (u32 x = threadIdx.x; x < 256; x += blockDim.x) words[x] = ARIA_SBOXES.entries[x];
    __syncthreads();
    return words;
}

template <bool is_cfb>
DEVICE void chain(const AriaParameters &parameters, u8 *shared) {
    const u32 *sboxes = copy_sboxes(shared);
    const auto work = [&](const Exchange &bytes, u32 value) {
        return cipher(sboxes, bytes, value, parameters.keys);
    };
    bytewise_chain<is_cfb>(parameters, shared, TABLE_BYTES, work);
}

}  // namespace

KERNEL(aria_bytewise_ecb, LAUNCH, AriaParameters) {
    SHARED_MEMORY(shared);
    const u32 *sboxes = copy_sboxes(shared);
    bytewise_ecb(parameters, shared, TABLE_BYTES, [&](const Exchange &bytes, u32 value) {
        return cipher(sboxes, bytes, value, parameters.keys);
    });
}

KERNEL(aria_bytewise_ctr, LAUNCH, AriaParameters) {
    SHARED_MEMORY(shared);
    const u32 *sboxes = copy_sboxes(shared);
    bytewise_ctr(parameters, shared, TABLE_BYTES, [&](const Exchange &bytes, u32 value) {
        return cipher(sboxes, bytes, value, parameters.keys);
    });
}

KERNEL(aria_bytewise_cbc_decrypt, RANGES, AriaParameters) {
    SHARED_MEMORY(shared);
    chain<false>(parameters, shared);
}

KERNEL(aria_bytewise_cfb_decrypt, RANGES, AriaParameters) {
    SHARED_MEMORY(shared);
    chain<true>(parameters, shared);
}

KERNEL(aria_bytewise_xts, RANGES, AriaParameters) {
    SHARED_MEMORY(shared);
    const u32 *sboxes = copy_sboxes(shared);
    bytewise_xts(parameters, shared, TABLE_BYTES, [&](const Exchange &bytes, u32 value) {
        return cipher(sboxes, bytes, value, parameters.keys);
    });
}
