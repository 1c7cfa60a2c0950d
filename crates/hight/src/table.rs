//! HIGHT with F0 and F1 as tables, a byte at a time: the form of KISA's own source, which P3
//! measures the others against. Not constant-time: addresses depend on key and data.
//!
//! A round is four look-ups, four additions and four XORs. Instead of moving the bytes of the
//! state after every round, eight rounds are written out in which the bytes change their names.

use cipher::{
    Array,
    consts::{U8, U16},
};
use lanecrypt_core::{ConstantTime, Direction, OneBlock};
use lanecrypt_reference::hight::{f0, f1};
use lanecrypt_slicing::Schedule;

use crate::schedule::{ByteOrder, Keys, Subkeys};

pub(crate) static F0: [u8; 256] = tabulate(true);
pub(crate) static F1: [u8; 256] = tabulate(false);

const fn tabulate(is_f0: bool) -> [u8; 256] {
    let mut table = [0; 256];
    let mut x = 0;
    while x < 256 {
        table[x] = if is_f0 { f0(x as u8) } else { f1(x as u8) };
        x += 1;
    }
    table
}

/// One round on bytes that are named in the standard's order, from `X[7]` to `X[0]`.
macro_rules! round {
    ($x7:ident $x6:ident $x5:ident $x4:ident $x3:ident $x2:ident $x1:ident $x0:ident, $sk:expr, $add:ident) => {
        $x1 = $x1.$add(F1[usize::from($x0)] ^ $sk[0]);
        $x3 ^= F0[usize::from($x2)].wrapping_add($sk[1]);
        $x5 = $x5.$add(F1[usize::from($x4)] ^ $sk[2]);
        $x7 ^= F0[usize::from($x6)].wrapping_add($sk[3]);
    };
}

fn encrypt(block: &mut [u8; 8], keys: &Keys<u8>) {
    let [mut p7, mut p6, mut p5, mut p4, mut p3, mut p2, mut p1, mut p0] = *block;
    let wk = &keys.whitening;
    p0 = p0.wrapping_add(wk[0]);
    p2 ^= wk[1];
    p4 = p4.wrapping_add(wk[2]);
    p6 ^= wk[3];
    for sk in keys.rounds.as_chunks::<8>().0 {
        round!(p7 p6 p5 p4 p3 p2 p1 p0, sk[0], wrapping_add);
        round!(p6 p5 p4 p3 p2 p1 p0 p7, sk[1], wrapping_add);
        round!(p5 p4 p3 p2 p1 p0 p7 p6, sk[2], wrapping_add);
        round!(p4 p3 p2 p1 p0 p7 p6 p5, sk[3], wrapping_add);
        round!(p3 p2 p1 p0 p7 p6 p5 p4, sk[4], wrapping_add);
        round!(p2 p1 p0 p7 p6 p5 p4 p3, sk[5], wrapping_add);
        round!(p1 p0 p7 p6 p5 p4 p3 p2, sk[6], wrapping_add);
        round!(p0 p7 p6 p5 p4 p3 p2 p1, sk[7], wrapping_add);
    }
    // The last round leaves the bytes where they are: X[0] is still p1.
    p1 = p1.wrapping_add(wk[4]);
    p3 ^= wk[5];
    p5 = p5.wrapping_add(wk[6]);
    p7 ^= wk[7];
    *block = [p0, p7, p6, p5, p4, p3, p2, p1];
}

fn decrypt(block: &mut [u8; 8], keys: &Keys<u8>) {
    let [mut p0, mut p7, mut p6, mut p5, mut p4, mut p3, mut p2, mut p1] = *block;
    let wk = &keys.whitening;
    p1 = p1.wrapping_sub(wk[4]);
    p3 ^= wk[5];
    p5 = p5.wrapping_sub(wk[6]);
    p7 ^= wk[7];
    for sk in keys.rounds.as_chunks::<8>().0.iter().rev() {
        round!(p0 p7 p6 p5 p4 p3 p2 p1, sk[7], wrapping_sub);
        round!(p1 p0 p7 p6 p5 p4 p3 p2, sk[6], wrapping_sub);
        round!(p2 p1 p0 p7 p6 p5 p4 p3, sk[5], wrapping_sub);
        round!(p3 p2 p1 p0 p7 p6 p5 p4, sk[4], wrapping_sub);
        round!(p4 p3 p2 p1 p0 p7 p6 p5, sk[3], wrapping_sub);
        round!(p5 p4 p3 p2 p1 p0 p7 p6, sk[2], wrapping_sub);
        round!(p6 p5 p4 p3 p2 p1 p0 p7, sk[1], wrapping_sub);
        round!(p7 p6 p5 p4 p3 p2 p1 p0, sk[0], wrapping_sub);
    }
    p0 = p0.wrapping_sub(wk[0]);
    p2 ^= wk[1];
    p4 = p4.wrapping_sub(wk[2]);
    p6 ^= wk[3];
    *block = [p7, p6, p5, p4, p3, p2, p1, p0];
}

/// HIGHT by tables of F0 and F1, bytes in the order `O`. Not constant-time.
#[derive(Clone)]
pub struct Table<O> {
    keys: Subkeys<O>,
}

impl<O: ByteOrder> OneBlock for Table<O> {
    type BlockSize = U8;
    type KeySize = U16;
    const NAME: &'static str = O::NAME;
    const CONSTANT_TIME: ConstantTime = ConstantTime::LOOKS_UP;

    fn new(key: &Array<u8, U16>) -> Self {
        Self { keys: Subkeys::new(key) }
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U8>) {
        if O::IS_REVERSED {
            block.reverse();
        }
        match direction {
            Direction::Encrypt => encrypt(&mut block.0, self.keys.get()),
            Direction::Decrypt => decrypt(&mut block.0, self.keys.get()),
        }
        if O::IS_REVERSED {
            block.reverse();
        }
    }
}

impl<O> core::fmt::Debug for Table<O> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Table").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<O> zeroize::ZeroizeOnDrop for Table<O> {}
