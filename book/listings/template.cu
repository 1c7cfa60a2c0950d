// The porting template: AES-128 in ECB, a thread a block, tables and round keys in shared memory.
// Self-contained; build with `nvcc -std=c++17 -arch=native template.cu` and run without arguments.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

typedef unsigned char u8;
typedef unsigned int u32;

constexpr u32 ROUNDS = 10;
constexpr u32 KEY_WORDS = 4 * (ROUNDS + 1);
constexpr u32 BLOCK_BYTES = 16;

// ANCHOR: cipher
// The CPU's cipher, word for word: `table[x]` is the column (2 S(x), S(x), S(x), 3 S(x)), row r in
// byte r, and a column of the state is a little-endian word.
__host__ __device__ u32 rotate_left(u32 word, u32 by) {
    return by == 0 ? word : word << by | word >> (32 - by);
}

__host__ __device__ u32 byte_of(u32 word, u32 i) { return word >> (8 * i) & 0xff; }

__host__ __device__ void encrypt(const u32 *table, const u32 *keys, const u32 *input, u32 *output) {
    u32 state[4], next[4];
    for (u32 c = 0; c < 4; c++) state[c] = input[c] ^ keys[c];
    for (u32 round = 1; round < ROUNDS; round++) {
        for (u32 c = 0; c < 4; c++) {
            next[c] = keys[4 * round + c];
            for (u32 r = 0; r < 4; r++) {
                next[c] ^= rotate_left(table[byte_of(state[(c + r) % 4], r)], 8 * r);
            }
        }
        for (u32 c = 0; c < 4; c++) state[c] = next[c];
    }
    for (u32 c = 0; c < 4; c++) {
        output[c] = keys[4 * ROUNDS + c];
        for (u32 r = 0; r < 4; r++) {
            const u32 substituted = byte_of(table[byte_of(state[(c + r) % 4], r)], 1);
            output[c] ^= substituted << (8 * r);
        }
    }
}
// ANCHOR_END: cipher

// ANCHOR: kernel
__global__ void encrypt_blocks(const u32 *table, const u32 *keys, const u32 *input, u32 *output,
                               u32 blocks) {
    // Step 4: every thread copies its share of the table and of the round keys.
    __shared__ u32 shared_table[256];
    __shared__ u32 shared_keys[KEY_WORDS];
    for (u32 i = threadIdx.x; i < 256; i += blockDim.x) shared_table[i] = table[i];
    for (u32 i = threadIdx.x; i < KEY_WORDS; i += blockDim.x) shared_keys[i] = keys[i];
    // Step 5: nobody reads before everybody has written.
    __syncthreads();
    // Step 6: where this thread's block lies.
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= blocks) return;
    // Step 7: the CPU's code.
    encrypt(shared_table, shared_keys, input + 4 * i, output + 4 * i);
}
// ANCHOR_END: kernel

// Multiplication in GF(2^8) modulo 0x11b.
u32 multiply(u32 left, u32 right) {
    u32 product = 0;
    for (; right != 0; right >>= 1) {
        if (right & 1) product ^= left;
        left = (left << 1 ^ (left >> 7) * 0x11b) & 0xff;
    }
    return product;
}

// The S-box from its definition: the inverse, then the affine map of FIPS 197.
u32 substitute(u32 x) {
    u32 inverse = 1;
    for (u32 i = 0; i < 254; i++) inverse = multiply(inverse, x);
    const u32 spread = inverse ^ inverse << 1 ^ inverse << 2 ^ inverse << 3 ^ inverse << 4;
    return ((spread ^ spread >> 8) & 0xff) ^ 0x63;
}

// FIPS 197, 5.2, on little-endian words.
void expand_key(const u8 *key, const u32 *sbox, u32 *keys) {
    memcpy(keys, key, BLOCK_BYTES);
    u32 constant = 1;
    for (u32 i = 4; i < KEY_WORDS; i++) {
        u32 word = keys[i - 1];
        if (i % 4 == 0) {
            word = word >> 8 | word << 24;
            word = sbox[byte_of(word, 0)] | sbox[byte_of(word, 1)] << 8 |
                   sbox[byte_of(word, 2)] << 16 | sbox[byte_of(word, 3)] << 24;
            word ^= constant;
            constant = multiply(constant, 2);
        }
        keys[i] = keys[i - 4] ^ word;
    }
}

// ANCHOR: host
// Ends the program where a call failed; a launch reports through cudaGetLastError.
void check(cudaError_t result) {
    if (result == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(result));
    exit(1);
}

// Device memory with a copy of host memory in it.
u32 *upload(const std::vector<u32> &words) {
    u32 *device = nullptr;
    check(cudaMalloc(&device, words.size() * sizeof(u32)));
    check(cudaMemcpy(device, words.data(), words.size() * sizeof(u32), cudaMemcpyHostToDevice));
    return device;
}

std::vector<u32> encrypt_on_device(const std::vector<u32> &table, const std::vector<u32> &keys,
                                   const std::vector<u32> &plaintext) {
    u32 *device_table = upload(table);
    u32 *device_keys = upload(keys);
    u32 *device_input = upload(plaintext);
    u32 *device_output = nullptr;
    check(cudaMalloc(&device_output, plaintext.size() * sizeof(u32)));

    const u32 blocks = u32(plaintext.size() / 4);
    const u32 threads = 256;
    const u32 grid = (blocks + threads - 1) / threads;
    encrypt_blocks<<<grid, threads>>>(device_table, device_keys, device_input, device_output,
                                      blocks);
    check(cudaGetLastError());

    std::vector<u32> ciphertext(plaintext.size());
    check(cudaMemcpy(ciphertext.data(), device_output, ciphertext.size() * sizeof(u32),
                     cudaMemcpyDeviceToHost));
    for (u32 *memory : {device_table, device_keys, device_input, device_output}) {
        check(cudaFree(memory));
    }
    return ciphertext;
}
// ANCHOR_END: host

int main() {
    std::vector<u32> sbox(256), table(256), keys(KEY_WORDS);
    for (u32 x = 0; x < 256; x++) {
        sbox[x] = substitute(x);
        table[x] = multiply(sbox[x], 2) | sbox[x] << 8 | sbox[x] << 16 | multiply(sbox[x], 3) << 24;
    }
    // FIPS 197, appendix C.1: block 0 of the data has a published answer.
    const u8 key[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const u8 first[] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                        0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
    const u8 answer[] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                         0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
    expand_key(key, sbox.data(), keys.data());

    // A number of blocks that is no multiple of the threads of a thread block.
    std::vector<u32> plaintext(4 * 100'003);
    for (u32 i = 0; i < plaintext.size(); i++) plaintext[i] = i * 2654435761u;
    memcpy(plaintext.data(), first, BLOCK_BYTES);

    const std::vector<u32> ciphertext = encrypt_on_device(table, keys, plaintext);
    bool right = memcmp(ciphertext.data(), answer, BLOCK_BYTES) == 0;
    for (u32 i = 0; i < plaintext.size(); i += 4) {
        u32 expected[4];
        encrypt(table.data(), keys.data(), &plaintext[i], expected);
        right = right && memcmp(&ciphertext[i], expected, BLOCK_BYTES) == 0;
    }
    printf("%s\n", right ? "every block is right" : "wrong");
    return right ? 0 : 1;
}
