//! A block as two 32-bit halves, with the initial and the final permutation as exchanges of bits.

/// The left and the right half, the standard's bit 1 the most significant of the left one.
pub(crate) type Halves = [u32; 2];

/// Exchanges the bits of `low` under `mask` with those of `high` that lie `distance` higher.
fn exchange(high: &mut u32, low: &mut u32, distance: u32, mask: u32) {
    let difference = (*high >> distance ^ *low) & mask;
    *low ^= difference;
    *high ^= difference << distance;
}

/// The halves of a block after the initial permutation.
pub(crate) fn load(block: [u8; 8]) -> Halves {
    let block = u64::from_be_bytes(block);
    let (mut left, mut right) = ((block >> 32) as u32, block as u32);
    // IP gathers the columns of the block's 8x8 bits: what index bits of row and column say is
    // exchanged one pair after the other.
    exchange(&mut left, &mut right, 4, 0x0f0f_0f0f);
    exchange(&mut left, &mut right, 16, 0x0000_ffff);
    exchange(&mut right, &mut left, 2, 0x3333_3333);
    exchange(&mut right, &mut left, 8, 0x00ff_00ff);
    exchange(&mut left, &mut right, 1, 0x5555_5555);
    [left, right]
}

/// The block whose halves before the final permutation these are: the inverse of [`load`].
pub(crate) fn store([mut left, mut right]: Halves) -> [u8; 8] {
    exchange(&mut left, &mut right, 1, 0x5555_5555);
    exchange(&mut right, &mut left, 8, 0x00ff_00ff);
    exchange(&mut right, &mut left, 2, 0x3333_3333);
    exchange(&mut left, &mut right, 16, 0x0000_ffff);
    exchange(&mut left, &mut right, 4, 0x0f0f_0f0f);
    (u64::from(left) << 32 | u64::from(right)).to_be_bytes()
}
