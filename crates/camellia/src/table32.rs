//! Camellia by tables of 32-bit words that join S-box and permutation P (specification, 5.2).
//!
//! Inside either group of four bytes of a half, P adds every S-box output to three of four bytes.
//! With `A` the sum of what bytes 1 to 4 contribute and `B` that of bytes 5 to 8, the left part of F
//! is `A + B` and the right one that plus `A` rotated by a byte. Not constant-time: addresses
//! depend on key and data.

use cipher::{Array, consts::U16};
use lanecrypt_core::{ConstantTime, Direction, OneBlock};
use lanecrypt_reference::sbox::CAMELLIA;

use crate::{
    schedule::{self, KeyLength, RoundFunction, Subkeys},
    words,
};

/// `SP[i][x]` is the output of SBOX`i+1` in all bytes of a word but one: SP1110, SP0222, SP3033 and
/// SP4404, named after the bytes that it is in.
static SP: [[u32; 256]; 4] = {
    let masks = [0xffff_ff00, 0x00ff_ffff, 0xff00_ffff, 0xffff_00ff];
    let mut tables = [[0; 256]; 4];
    let mut index = 0;
    while index < 4 * 256 {
        let (sbox, x) = (index / 256, index % 256);
        tables[sbox][x] = (CAMELLIA[sbox][x] as u32 * 0x0101_0101) & masks[sbox];
        index += 1;
    }
    tables
};

/// F by look-ups.
struct LookUps;

impl RoundFunction for LookUps {
    // ANCHOR: f
    #[inline]
    fn f<const N: usize>(halves: [u64; N]) -> [u64; N] {
        let look_up = |sbox: usize, byte: u8| SP[sbox][usize::from(byte)];
        halves.map(|half| {
            let [t1, t2, t3, t4, t5, t6, t7, t8] = half.to_be_bytes();
            let a = look_up(0, t1) ^ look_up(1, t2) ^ look_up(2, t3) ^ look_up(3, t4);
            let b = look_up(1, t5) ^ look_up(2, t6) ^ look_up(3, t7) ^ look_up(0, t8);
            words::join([a ^ b, a ^ b ^ a.rotate_right(8)])
        })
    }
    // ANCHOR_END: f
}

/// Camellia by tables. Not constant-time.
#[derive(Clone)]
pub struct Table32<K: KeyLength> {
    keys: Subkeys<K>,
}

impl<K: KeyLength> OneBlock for Table32<K> {
    type BlockSize = U16;
    type KeySize = K::Size;
    const NAME: &'static str = K::NAME;
    const CONSTANT_TIME: ConstantTime = ConstantTime::LOOKS_UP;

    fn new(key: &Array<u8, K::Size>) -> Self {
        Self { keys: Subkeys::expand(key, schedule::mix::<LookUps>) }
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U16>) {
        let keys = self.keys.of(direction);
        words::run::<LookUps, 1>(&keys, core::array::from_mut(&mut block.0));
    }
}

impl<K: KeyLength> core::fmt::Debug for Table32<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Table32").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<K: KeyLength> zeroize::ZeroizeOnDrop for Table32<K> {}
