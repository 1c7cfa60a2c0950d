// The first two rounds of AES-CTR as four table entries.
//
// In a counter block all but bytes 12 to 15, column 3, are the same for 2^32 counters. ShiftRows brings
// each of the four to a column of its own, and in round 2 one byte of each column to every column:
//
//   counter      after ShiftRows   after round 1         after ShiftRows       after round 2
//   . . . 12     . . . 12          15 14 13 12           15 14 13 12
//   . . . 13     . . 13 .          15 14 13 12           14 13 12 15           sums of one byte
//   . . . 14     . 14 . .          15 14 13 12           13 12 15 14           of each sort
//   . . . 15     15 . . .          15 14 13 12           12 15 14 13
//
// A number says which byte of the counter a byte of the state depends on. No byte ever depends on two of
// them before MixColumns of round 2 adds up, and that is linear: the state after round 2 is
//
//   f15(byte 15) ^ f14(byte 14) ^ f13(byte 13) ^ f12(byte 12)
//
// Every thread block makes the four tables of 256 blocks in shared memory, of round keys and the upper
// 96 bits of the counter. So a launch must not cross a multiple of 2^32; the host cuts it there. What is
// looked up is public: bytes of a counter.
#pragma once
#include "../common/parameters.cuh"

constexpr u32 SEPARABLE_BLOCKS = 4 * 256;

// Where the entry for the value `value` of byte 15 - `place` lies.
DEVICE constexpr u32 separable_entry(u32 place, u32 value) { return 256 * place + value; }

// ANCHOR: fill_separable
// Fills the tables; `after_two_rounds(counter)` is the state after round 2, in which every table gets a
// share: that of byte 15 has the constant part, which is the state of a counter that ends with 32 zeros.
// All threads of the thread block take part, and the caller synchronises.
template <class AfterTwoRounds>
DEVICE void fill_separable(Block16 *entries, Counter first, AfterTwoRounds after_two_rounds) {
    const Counter base = {first.high, first.low & ~u64(0xffffffff)};
    const Block16 constant = after_two_rounds(base);
    for (u32 i = threadIdx.x; i < SEPARABLE_BLOCKS; i += blockDim.x) {
        const u32 place = i / 256, value = i % 256;
        const Block16 state = after_two_rounds(base.plus(u64(value) << (8 * place)));
        entries[separable_entry(place, value)] = place == 0 ? state : state ^ constant;
    }
}
// ANCHOR_END: fill_separable

// What all bytes but the last add to the state of a counter whose low word is `counter`.
DEVICE Block16 separable_upper(const Block16 *entries, u32 counter) {
    return entries[separable_entry(1, byte_of(counter, 1))] ^
           entries[separable_entry(2, byte_of(counter, 2))] ^
           entries[separable_entry(3, byte_of(counter, 3))];
}
