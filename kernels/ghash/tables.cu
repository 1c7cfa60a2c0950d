// GHASH by look-ups, for any card: every thread of the grid has a sum of its own, of blocks that are a
// grid apart, and multiplies it by H^T with T threads, a byte at a time. Not constant-time.
#include "ghash.cuh"

namespace {

// ANCHOR: product_table
// The table has the product of every byte with H^T, eight times over. Lane l reads copy l % 8: what
// eight lanes read at once by 16 bytes each are 128 bytes of different banks, whatever they look up.
//
//   byte offset   14 .. 7      6 .. 4           3 .. 0
//                 entry e      copy (l % 8)     its 16 bytes
constexpr u32 COPIES = 8, ENTRIES = 256, ENTRY_BYTES = COPIES * sizeof(Block16);
// ANCHOR_END: product_table
constexpr Launch LAUNCH = {768, ENTRIES * ENTRY_BYTES, BLOCK_A_THREAD};

// Sums lie in registers as big-endian words, the coefficient of 1 in the highest bit of the first, so
// that bytes are looked up, and moved by whole bytes, as they are.
DEVICE Block16 big_endian(Block16 block) {
    return make_uint4(byte_swap(block.x), byte_swap(block.y), byte_swap(block.z), byte_swap(block.w));
}

// Entry `byte` is the byte, whose highest bit is the coefficient of 1, times `power`.
DEVICE Block16 entry(Block16 power, u32 byte) {
    Block16 sum = {};
    for (u32 i = 0; i < 8; i++) {
        const u32 take = 0 - (byte >> (7 - i) & 1);
        sum = sum ^ make_uint4(power.x & take, power.y & take, power.z & take, power.w & take);
        power = times_power(power, 1);
    }
    return make_uint4(__brev(sum.x), __brev(sum.y), __brev(sum.z), __brev(sum.w));
}

DEVICE void make_table(Block16 *table, Block16 power) {
    for (u32 i = threadIdx.x; i < ENTRIES; i += blockDim.x) {
        const Block16 product = entry(power, i);
        for (u32 copy = 0; copy < COPIES; copy++) table[i * COPIES + copy] = product;
    }
    __syncthreads();
}

// `high:low` to the right by `by` bits, 1 to 31: the low word.
DEVICE u32 shifted_out(u32 high, u32 low, u32 by) { return shifted_in(low, high, 32 - by); }

// Adds up the products of the bytes `r` of all words, each a word further to the right than the one
// before.
DEVICE void add_products(u32 table, const u32 (&words)[4], u32 r, u32 (&sum)[7]) {
    UNROLL for (u32 q = 0; q < 4; q++) {
        // ENTRY_BYTES times byte `r`, from the left, and the address of this lane's copy.
        const u32 address = dot_bytes(words[q], ENTRY_BYTES << 8 * (3 - r), table);
        const Block16 found = load_shared_block(address);
        sum[q] ^= found.x, sum[q + 1] ^= found.y, sum[q + 2] ^= found.z, sum[q + 3] ^= found.w;
    }
}

// Reduces 256 bits: what is above x^127 comes back times 1 + x + x^2 + x^7. The lowest byte of all is
// zero, so that nothing passes x^127 again.
DEVICE Block16 reduced_words(const u32 (&t)[8]) {
    u32 result[4];
    UNROLL for (u32 w = 0; w < 4; w++) {
        const u32 word = t[4 + w], above = w == 0 ? 0 : t[3 + w];
        const u32 moved = xor3(shifted_out(above, word, 1), shifted_out(above, word, 2),
                               shifted_out(above, word, 7));
        result[w] = xor3(t[w], word, moved);
    }
    return make_uint4(result[0], result[1], result[2], result[3]);
}

// ANCHOR: table_product
// The product of a sum and H^T. Products of byte r of every word are added up first and moved by r
// bytes together; the reduction comes once.
DEVICE Block16 table_product(u32 table, Block16 block) {
    const u32 words[4] = {block.x, block.y, block.z, block.w};
    u32 t[8] = {};
    UNROLL for (u32 r = 0; r < 4; r++) {
        u32 sum[7] = {};
        add_products(table, words, r, sum);
        UNROLL for (u32 w = 0; w < 8; w++) {
            const u32 word = w < 7 ? sum[w] : 0, above = w > 0 ? sum[w - 1] : 0;
            t[w] ^= r == 0 ? word : shifted_out(above, word, 8 * r);
        }
    }
    return reduced_words(t);
}
// ANCHOR_END: table_product

}  // namespace

// Writes a sum for every thread of the grid, that of the last block being the last thread's: in front
// of the message, where the first pass begins, are zeros.
KERNEL(ghash_tables, LAUNCH, HashParameters) {
    SHARED_MEMORY(shared);
    make_table(reinterpret_cast<Block16 *>(shared), parameters.powers[NAMED_POWER]);
    const u32 table = shared_address(shared) + threadIdx.x % COPIES * u32(sizeof(Block16));
    const u64 stride = grid_threads(), passes = (parameters.blocks + stride - 1) / stride;
    const u64 zeros = passes * stride - parameters.blocks;
    u64 i = grid_thread();
    Block16 sum = {}, next = {};
    if (i >= zeros) next = parameters.input[i - zeros];
    ROLLED for (u64 pass = 1; pass <= passes; pass++) {
        const Block16 block = next;
        i += stride;
        if (pass < passes) next = parameters.input[i - zeros];
        sum = big_endian(block) ^ table_product(table, sum);
    }
    parameters.output[grid_thread()] = big_endian(sum);
    clear_shared(reinterpret_cast<u32 *>(shared), ENTRIES * ENTRY_BYTES / 4);
}
