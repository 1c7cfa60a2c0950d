//! HIGHT's F0 and F1 by look-ups on three byte lanes of a word, as P3 has it: eight operations and
//! three loads. Not constant-time.

#![allow(
    clippy::inline_always,
    reason = "an operation of a few instructions, met a thousand times a batch"
)]

use lanecrypt_core::{ConstantTime, Unavailable};
use lanecrypt_slicing::{Body, ByteLanes, Bytes, Gapped, Isa, Portable, SplatBytes};

use crate::table;

/// [`Gapped<u32>`] with the XORs of rotations that HIGHT has looked up.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct LookedUp(Gapped<u32>);

/// Every lane, from bits 0, 12 and 24 on, replaced by its entry of a table.
#[inline(always)]
fn look_up(lanes: Gapped<u32>, table: &[u8; 256]) -> Gapped<u32> {
    let entry = |byte: u32| u32::from(table[byte as usize & 0xff]);
    Gapped(entry(lanes.0) | entry(lanes.0 >> 12) << 12 | entry(lanes.0 >> 24) << 24)
}

impl Bytes for LookedUp {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0))
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        Self(self.0.subtract(other.0))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0.xor(other.0))
    }

    #[inline(always)]
    fn rotate_left<const BY: u32>(self) -> Self {
        Self(self.0.rotate_left::<BY>())
    }

    #[inline(always)]
    fn xor_rotations<const A: u32, const B: u32, const C: u32>(self) -> Self {
        Self(match (A, B, C) {
            (1, 2, 7) => look_up(self.0, &table::F0),
            (3, 4, 6) => look_up(self.0, &table::F1),
            _ => self.0.xor_rotations::<A, B, C>(),
        })
    }
}

/// Byte lanes that are [`LookedUp`].
#[derive(Clone, Copy, Debug)]
pub struct LookUps(());

impl Isa for LookUps {
    const CONSTANT_TIME: ConstantTime = ConstantTime::LOOKS_UP;

    fn detect() -> Result<Self, Unavailable> {
        Ok(Self(()))
    }

    #[inline]
    fn run<B: Body<Self>>(self, body: B) -> B::Output {
        body.run(self)
    }
}

impl lanecrypt_core::AnyCpu for LookUps {
    fn get() -> Self {
        Self(())
    }
}

impl SplatBytes for LookUps {
    type Bytes = LookedUp;

    #[inline(always)]
    fn splat(self, four: u32) -> LookedUp {
        LookedUp(Portable::<Gapped<u32>>::new().splat(four))
    }
}

impl ByteLanes for LookUps {
    type Lanes = <Portable<Gapped<u32>> as ByteLanes>::Lanes;

    #[inline(always)]
    fn slice(self, blocks: &[u8], bytes: &mut [LookedUp]) {
        with_gapped(bytes, |gapped| Portable::<Gapped<u32>>::new().slice(blocks, gapped));
    }

    #[inline(always)]
    fn unslice(self, bytes: &mut [LookedUp], blocks: &mut [u8]) {
        with_gapped(bytes, |gapped| Portable::<Gapped<u32>>::new().unslice(gapped, blocks));
    }
}

/// Does something with the lanes of up to 16 rows.
#[inline(always)]
fn with_gapped(bytes: &mut [LookedUp], work: impl FnOnce(&mut [Gapped<u32>])) {
    let mut gapped = [Gapped(0); 16];
    let gapped = &mut gapped[..bytes.len()];
    for (gapped, byte) in gapped.iter_mut().zip(bytes.iter()) {
        *gapped = byte.0;
    }
    work(gapped);
    for (byte, gapped) in bytes.iter_mut().zip(gapped) {
        byte.0 = *gapped;
    }
}
