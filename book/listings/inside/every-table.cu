// Everything of the header that the other listings leave out: other key sizes, both directions, and keys made by threads.
// Launch: 1024 threads, 163840 bytes of dynamic shared memory.
#include <lanecrypt.cuh>

typedef unsigned int u32;
typedef unsigned long long u64;

struct Job {
    const uint4 *input;
    uint4 *output;
    u64 blocks;
    const u32 *key;  // 32 bytes, of which each size takes the first ones
    u64 key_bytes, tables, what;
};

enum { ENCRYPT, DECRYPT, ENCRYPT_EXPANDED, ENCRYPT_SLICED, DECRYPT_SLICED };

#define FIRST_16 0x60, 0x3d, 0xeb, 0x10, 0x15, 0xca, 0x71, 0xbe, 0x2b, 0x73, 0xae, 0xf0, 0x85, 0x7d, 0x77, 0x81
#define NEXT_8 0x1f, 0x35, 0x2c, 0x07, 0x3b, 0x61, 0x08, 0xd7
#define LAST_8 0x2d, 0x98, 0x10, 0xa3, 0x09, 0x14, 0xdf, 0xf4
constexpr lanecrypt::AesKeys ENCRYPT_16 = lanecrypt::aes_round_keys({FIRST_16});
constexpr lanecrypt::AesKeys ENCRYPT_24 = lanecrypt::aes_round_keys({FIRST_16, NEXT_8});
constexpr lanecrypt::AesKeys ENCRYPT_32 = lanecrypt::aes_round_keys({FIRST_16, NEXT_8, LAST_8});
constexpr lanecrypt::AesKeys DECRYPT_16 = lanecrypt::aes_inverse_round_keys(ENCRYPT_16);
constexpr lanecrypt::AesKeys DECRYPT_24 = lanecrypt::aes_inverse_round_keys(ENCRYPT_24);
constexpr lanecrypt::AesKeys DECRYPT_32 = lanecrypt::aes_inverse_round_keys(ENCRYPT_32);
__constant__ const lanecrypt::AesKeys KEYS[3] = {ENCRYPT_16, ENCRYPT_24, ENCRYPT_32};
__constant__ const lanecrypt::AesKeys INVERSE_KEYS[3] = {DECRYPT_16, DECRYPT_24, DECRYPT_32};
__constant__ const lanecrypt::AesSlicedKeys SLICED_KEYS[6] = {
    lanecrypt::aes_sliced_keys(ENCRYPT_16), lanecrypt::aes_sliced_keys(ENCRYPT_24),
    lanecrypt::aes_sliced_keys(ENCRYPT_32), lanecrypt::aes_sliced_keys(DECRYPT_16),
    lanecrypt::aes_sliced_keys(DECRYPT_24), lanecrypt::aes_sliced_keys(DECRYPT_32)};

template <class Work>
__device__ void every_block(const Job &job, Work work) {
    const u64 step = u64(gridDim.x) * blockDim.x;
    for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < job.blocks; i += step) {
        job.output[i] = work(job.input[i]);
    }
}

template <u32 count>
__device__ void look_up(const Job &job, unsigned char *shared) {
    const u32 size = u32(job.key_bytes - 16) / 8;
    if (job.what == DECRYPT) {
        const lanecrypt::AesInverseTables<count> tables(shared);
        every_block(job, [&](uint4 block) { return lanecrypt::aes_decrypt(tables, INVERSE_KEYS[size], block); });
        return;
    }
    const lanecrypt::AesTables<count> tables(shared);
    if (job.what == ENCRYPT) {
        every_block(job, [&](uint4 block) {
            uint4 two[2] = {block, block};
            lanecrypt::aes_encrypt(tables, KEYS[size], two);
            return two[1];
        });
        return;
    }
    const lanecrypt::AesKeys keys = size == 0   ? lanecrypt::aes_expand<16>(tables, job.key)
                                    : size == 1 ? lanecrypt::aes_expand<24>(tables, job.key)
                                                : lanecrypt::aes_expand<32>(tables, job.key);
    every_block(job, [&](uint4 block) { return lanecrypt::aes_encrypt(tables, keys, block); });
}

extern "C" __global__ void __launch_bounds__(1024, 1) every_table(const __grid_constant__ Job job) {
    extern __shared__ __align__(16) unsigned char shared[];
    if (job.what >= ENCRYPT_SLICED) {
        const bool decrypts = job.what == DECRYPT_SLICED;
        const lanecrypt::AesSlicedKeys &keys = SLICED_KEYS[(job.key_bytes - 16) / 8 + (decrypts ? 3 : 0)];
        every_block(job, [&](uint4 block) {
            uint4 eight[8];
#pragma unroll
            for (u32 k = 0; k < 8; k++) eight[k] = make_uint4(block.x ^ k, block.y, block.z, block.w);
            if (decrypts) lanecrypt::aes_decrypt_sliced(keys, eight);
            else lanecrypt::aes_encrypt_sliced(keys, eight);
            return eight[0];
        });
    } else if (job.tables == 4) look_up<4>(job, shared);
    else if (job.tables == 2) look_up<2>(job, shared);
    else look_up<1>(job, shared);
}
