// AES in P1's 8-bit form: sixteen threads work on one block, a byte each, and exchange bytes
// through shared memory.
#include "aes.cuh"

namespace {

constexpr u32 THREADS = 256;
constexpr u32 BLOCK_BYTES = 16;

// ANCHOR: exchange
// The bytes of this thread's block, in shared memory, and which of them is this thread's.
struct Exchange {
    u8 *block;
    u32 index;

    // Publishes this thread's byte and takes another one. The threads of a block sit in one warp.
    DEVICE u32 swap(u32 value, u32 from) const {
        block[index] = u8(value);
        __syncwarp();
        const u32 taken = block[from];
        __syncwarp();
        return taken;
    }

    // Row `index % 4` of MixColumns with `factors`, row i's factor in byte i - row modulo 4.
    DEVICE u32 mix(u32 value, u32 factors) const {
        block[index] = u8(value);
        __syncwarp();
        u32 sum = 0;
        UNROLL for (u32 i = 0; i < 4; i++) {
            const u32 neighbour = (index & ~3u) | ((index + i) & 3);
            sum ^= multiply(block[neighbour], factors >> (8 * i) & 0xff);
        }
        __syncwarp();
        return sum;
    }
};
// ANCHOR_END: exchange

DEVICE u32 key_byte(const Block16 &key, u32 index) {
    const u32 word = index < 8 ? (index < 4 ? key.x : key.y) : (index < 12 ? key.z : key.w);
    return word >> (8 * (index % 4)) & 0xff;
}

// The byte that ShiftRows (`step` 1) or InvShiftRows (`step` 3) brings to `index`.
DEVICE u32 shifted(u32 index, u32 step) { return (index + 4 * step * (index % 4)) % BLOCK_BYTES; }

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
        value = bytes.mix(value, factors) ^ key_byte(keys.middle[i], bytes.index);
    }
    return bytes.swap(sbox[value], source) ^ key_byte(keys.last, bytes.index);
}
// ANCHOR_END: cipher

// Calls `work(sbox, bytes, byte number)` for every byte that this thread has. All threads make the
// same number of passes, so that they meet at every barrier; those past the end get `false`.
template <class Work>
DEVICE void every_byte(u64 blocks, const Bytes256 &table, u8 *shared, Work work) {
    u8 *sbox = shared;
    for (u32 i = threadIdx.x; i < 256; i += blockDim.x) sbox[i] = table.entries[i];
    __syncthreads();
    const u32 index = threadIdx.x % BLOCK_BYTES;
    const Exchange bytes = {shared + 256 + threadIdx.x - index, index};
    const u64 total = blocks * BLOCK_BYTES;
    for (u64 start = u64(blockIdx.x) * blockDim.x; start < total; start += grid_threads()) {
        work(sbox, bytes, start + threadIdx.x, start + threadIdx.x < total);
    }
}

template <bool encrypts>
DEVICE void ecb(const Parameters<AesKeys> &parameters, u8 *shared) {
    const u8 *input = reinterpret_cast<const u8 *>(parameters.input);
    u8 *output = reinterpret_cast<u8 *>(parameters.output);
    every_byte(parameters.blocks, encrypts ? SBOX : INV_SBOX, shared,
               [&](const u8 *sbox, const Exchange &bytes, u64 i, bool inside) {
                   const u32 value = inside ? input[i] : 0;
                   const u32 result = cipher<encrypts>(sbox, bytes, value, parameters.keys);
                   if (inside) output[i] = u8(result);
               });
}

}  // namespace

KERNEL(aes_bytewise_ecb_encrypt, THREADS, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    ecb<true>(parameters, shared);
}
KERNEL(aes_bytewise_ecb_decrypt, THREADS, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    ecb<false>(parameters, shared);
}
KERNEL(aes_bytewise_ctr, THREADS, Parameters<AesKeys>) {
    SHARED_MEMORY(shared);
    const u8 *input = reinterpret_cast<const u8 *>(parameters.input);
    u8 *output = reinterpret_cast<u8 *>(parameters.output);
    const Counter first = first_counter(parameters);
    every_byte(parameters.blocks, SBOX, shared,
               [&](const u8 *sbox, const Exchange &bytes, u64 i, bool inside) {
                   const Block16 counter = first.plus(i / BLOCK_BYTES).block();
                   const u32 value = key_byte(counter, bytes.index);
                   const u32 keystream = cipher<true>(sbox, bytes, value, parameters.keys);
                   if (inside) output[i] = u8(input[i] ^ keystream);
               });
}
