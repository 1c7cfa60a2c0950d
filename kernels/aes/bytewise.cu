// AES in P1's 8-bit form: sixteen threads work on one block, a byte each, and exchange bytes
// through shared memory.
#include "../common/bytewise.cuh"
#include "aes.cuh"

namespace {

constexpr u32 THREADS = 256;
constexpr u32 SBOX_BYTES = 256;
constexpr Launch LAUNCH = {THREADS, SBOX_BYTES + THREADS, BYTE_A_THREAD};
constexpr Launch RANGES = {THREADS, SBOX_BYTES + THREADS, BYTE_A_LANE};

// The byte that ShiftRows (`step` 1) or InvShiftRows (`step` 3) brings to `index`.
DEVICE u32 shifted(u32 index, u32 step) { return (index + 4 * step * (index % 4)) % BLOCK_BYTES; }

// Row `index % 4` of MixColumns with `factors`, row i's factor in byte i - row modulo 4.
DEVICE u32 mix(const Exchange &bytes, u32 value, u32 factors) {
    return bytes.sum(value, [&](const u8 *block) {
        u32 sum = 0;
        UNROLL for (u32 i = 0; i < 4; i++) {
            const u32 neighbour = (bytes.index & ~3u) | ((bytes.index + i) & 3);
            sum ^= multiply(block[neighbour], factors >> (8 * i) & 0xff);
        }
        return sum;
    });
}

// ANCHOR: cipher
// The cipher on one byte of sixteen. Decryption is the equivalent inverse cipher, whose keys went
// through InvMixColumns on the host.
template <bool encrypts>
DEVICE u32 cipher(const u8 *sbox, const Exchange &bytes, u32 value, const AesKeys &keys) {
    const u32 source = shifted(bytes.index, encrypts ? 1 : 3);
    const u32 factors = encrypts ? 0x01010302 : 0x090d0b0e;
    value ^= key_byte(keys.first, bytes.index);
    for (u32 i = 0; i + 1 < keys.rounds; i++) {
        value = bytes.swap(sbox[value], source);
        value = mix(bytes, value, factors) ^ key_byte(keys.middle[i], bytes.index);
    }
    return bytes.swap(sbox[value], source) ^ key_byte(keys.last, bytes.index);
}
// ANCHOR_END: cipher

// The S-box in shared memory, before the exchanged bytes.
DEVICE const u8 *copy_sbox(const Bytes256 &table, u8 *shared) {
    for (u32 i = threadIdx.x; i < SBOX_BYTES; i += blockDim.x) shared[i] = table.entries[i];
    __syncthreads();
    return shared;
}

template <bool encrypts>
DEVICE void ecb(const Parameters<AesKeys> &parameters, u8 *shared) {
    const u8 *sbox = copy_sbox(encrypts ? SBOX : INV_SBOX, shared);
    bytewise_ecb(parameters, shared, SBOX_BYTES, [&](const Exchange &bytes, u32 value) {
        return cipher<encrypts>(sbox, bytes, value, parameters.keys);
    });
}

template <bool is_cfb>
DEVICE void chain(const Parameters<AesKeys> &parameters, u8 *shared) {
    const u8 *sbox = copy_sbox(is_cfb ? SBOX : INV_SBOX, shared);
    const auto work = [&](const Exchange &bytes, u32 value) {
        return cipher<is_cfb>(sbox, bytes, value, parameters.keys);
    };
    bytewise_chain<is_cfb>(parameters, shared, SBOX_BYTES, work);
}

template <bool encrypts>
DEVICE void xts(const Parameters<AesKeys> &parameters, u8 *shared) {
    const u8 *sbox = copy_sbox(encrypts ? SBOX : INV_SBOX, shared);
    bytewise_xts(parameters, shared, SBOX_BYTES, [&](const Exchange &bytes, u32 value) {
        return cipher<encrypts>(sbox, bytes, value, parameters.keys);
    });
}

}  // namespace

KERNEL(aes_bytewise_ecb_encrypt, LAUNCH, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    ecb<true>(parameters, shared);
}

KERNEL(aes_bytewise_ecb_decrypt, LAUNCH, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    ecb<false>(parameters, shared);
}

KERNEL(aes_bytewise_ctr, LAUNCH, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    const u8 *sbox = copy_sbox(SBOX, shared);
    bytewise_ctr(parameters, shared, SBOX_BYTES, [&](const Exchange &bytes, u32 value) {
        return cipher<true>(sbox, bytes, value, parameters.keys);
    });
}

KERNEL(aes_bytewise_cbc_decrypt, RANGES, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    chain<false>(parameters, shared);
}

KERNEL(aes_bytewise_cfb_decrypt, RANGES, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    chain<true>(parameters, shared);
}

KERNEL(aes_bytewise_xts_encrypt, RANGES, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    xts<true>(parameters, shared);
}

KERNEL(aes_bytewise_xts_decrypt, RANGES, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    xts<false>(parameters, shared);
}
