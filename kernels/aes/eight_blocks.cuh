// Bit-sliced AES with eight whole blocks a thread: what `mixed.cu` runs beside look-ups, since it asks
// nothing of shared memory.
//
// A warp takes 256 consecutive blocks. Lane l reads blocks l, 32 + l and so on to 224 + l, so that
// each of its eight loads is one of a row that the warp reads together:
//
//   block number in the warp's 256     k2 k1 k0 | l4 l3 l2 l1 l0     block of the thread, lane
//   plane                              r1 r0 | b2 b1 b0              bit b of row r
//   bit of a plane                     c1 c0 | k2 k1 k0              column, block
//
// A byte of a plane is a column, so that ShiftRows rotates words by bytes, and a bit of a round key is
// a byte full of it for every column: the same for all threads, made on the host, and read from the
// constant bank.
#pragma once
#include "../common/block.cuh"
#include "../common/transpose.cuh"
#include "keys.cuh"
#include "planes.cuh"

constexpr u32 THREAD_BLOCKS = 8;
constexpr u32 ROW_BLOCKS = THREAD_BLOCKS * WARP;

// A round key as planes.
struct KeyPlanes {
    const u32 *planes;

    DEVICE u32 word(u32 r, u32 b) const { return planes[8 * r + b]; }
    DEVICE u32 add(u32 x, u32 r, u32 b) const { return x ^ word(r, b); }
};

// The words of a thread's blocks: row 8 c + k is column c of block k.
struct BlockRows {
    u32 rows[32];

    DEVICE void set(u32 k, Block16 block) {
        rows[k] = block.x, rows[8 + k] = block.y, rows[16 + k] = block.z, rows[24 + k] = block.w;
    }
    DEVICE Block16 get(u32 k) const {
        return make_uint4(rows[k], rows[8 + k], rows[16 + k], rows[24 + k]);
    }
};

// Row r of a block as a word, column c as byte c.
DEVICE void bytes_by_row(Block16 block, u32 (&rows)[4]) {
    const u32 even01 = __byte_perm(block.x, block.y, 0x6240);  // rows 0 and 2 of two columns
    const u32 odd01 = __byte_perm(block.x, block.y, 0x7351);
    const u32 even23 = __byte_perm(block.z, block.w, 0x6240);
    const u32 odd23 = __byte_perm(block.z, block.w, 0x7351);
    rows[0] = __byte_perm(even01, even23, 0x5410);
    rows[1] = __byte_perm(odd01, odd23, 0x5410);
    rows[2] = __byte_perm(even01, even23, 0x7632);
    rows[3] = __byte_perm(odd01, odd23, 0x7632);
}

DEVICE void to_planes(BlockRows &blocks, RowPlanes &state) {
    transpose32(blocks.rows);
    UNROLL for (u32 i = 0; i < 32; i++) state[i / 8][i % 8] = blocks.rows[i];
}

// ANCHOR: shift_rows
// Row r moves r columns to the left, or to the right: bytes of words.
template <bool encrypts>
DEVICE void shift_rows(RowPlanes &state) {
    constexpr u32 BY_ONE = 0x0321, BY_TWO = 0x1032, BY_THREE = 0x2103;
    UNROLL for (u32 b = 0; b < 8; b++) {
        state[1][b] = __byte_perm(state[1][b], 0, encrypts ? BY_ONE : BY_THREE);
        state[2][b] = __byte_perm(state[2][b], 0, BY_TWO);
        state[3][b] = __byte_perm(state[3][b], 0, encrypts ? BY_THREE : BY_ONE);
    }
}
// ANCHOR_END: shift_rows

// ShiftRows and the way back to words. The transpose's first two stages move bytes, and so does
// ShiftRows: both together take the permutations of one.
template <bool encrypts>
DEVICE void shift_rows_to_blocks(const RowPlanes &state, BlockRows &blocks) {
    // Of two neighbouring rows, the bytes that columns 0 and 1, or 2 and 3, take in the end.
    constexpr u32 FROM_0 = encrypts ? 0x6150 : 0x4170, FROM_2 = encrypts ? 0x4372 : 0x6352;
    UNROLL for (u32 b = 0; b < 8; b++) {
        const u32 low01 = __byte_perm(state[0][b], state[1][b], FROM_0);
        const u32 high01 = __byte_perm(state[0][b], state[1][b], FROM_2);
        const u32 low23 = __byte_perm(state[2][b], state[3][b], FROM_2);
        const u32 high23 = __byte_perm(state[2][b], state[3][b], FROM_0);
        blocks.rows[b] = __byte_perm(low01, low23, 0x5410);
        blocks.rows[8 + b] = __byte_perm(low01, low23, 0x7632);
        blocks.rows[16 + b] = __byte_perm(high01, high23, 0x5410);
        blocks.rows[24 + b] = __byte_perm(high01, high23, 0x7632);
    }
    exchange_rows<4>(blocks.rows);
    exchange_rows<2>(blocks.rows);
    exchange_rows<1>(blocks.rows);
}

// The rounds of `rounds` from number `done` on but the last round's ShiftRows, and its key; round i + 1 has
// planes i. Where the S-boxes of the last round are a copy behind the loop, most kernels exceed the instruction
// cache; so `is_short` has a test in the loop instead, of what the compiler must not know.
template <bool encrypts, bool is_short>
DEVICE void sliced_rounds(const u32 (*planes)[32], u32 rounds, RowPlanes &state, u32 done) {
    ROLLED for (u32 i = done; i < (is_short ? rounds : rounds - 1); i++) {
        substitute<encrypts>(state);
        if (!is_short || not_hoisted(i + 1) < rounds) {
            shift_rows<encrypts>(state);
            if (!encrypts) prepare_inverse(state);
            mix_columns(state, KeyPlanes{planes[i]});
        }
    }
    if (!is_short) substitute<encrypts>(state);
}

// The cipher on blocks that the first round key was added to, without the addition of the last.
template <bool encrypts>
DEVICE void sliced_cipher(const MixedKeys &keys, BlockRows &blocks) {
    RowPlanes state;
    to_planes(blocks, state);
    sliced_rounds<encrypts, true>(keys.planes, keys.aes.rounds, state, 0);
    shift_rows_to_blocks<encrypts>(state, blocks);
}
