//! Masks of XTS (IEEE 1619) for ciphers that have no pass of their own: made and added in registers, where a chain of
//! masks and sums by 16 bytes would take half as long as the cipher.

#![allow(
    clippy::inline_always,
    reason = "SIMD code must be inlined into the region that has the instructions"
)]

use cipher::typenum::Unsigned;
use lanecrypt_core::Secret;

use crate::{AesBlocks, Body, aes::MASKS_AT_ONCE, eight_masks};

/// `Implementation::add_next_masks`.
pub(crate) struct AddNextMasks<'a> {
    pub(crate) mask: &'a mut [u8; 16],
    pub(crate) masks: &'a mut [u8],
    pub(crate) data: &'a mut [u8],
}

impl<I: AesBlocks> Body<I> for AddNextMasks<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let Self { mask, masks, data } = self;
        let bytes = 16 * I::Lanes::USIZE;
        let mut eight = Secret::new(eight_masks(*mask));
        let mut next = [isa.broadcast(mask); MASKS_AT_ONCE];
        for (register, masks) in next.iter_mut().zip(eight.as_flattened().chunks_exact(bytes)) {
            *register = isa.load(masks);
        }
        let (pieces, rest) = data.as_chunks_mut::<{ 16 * MASKS_AT_ONCE }>();
        let (kept, kept_rest) = masks.split_at_mut(16 * MASKS_AT_ONCE * pieces.len());
        for (piece, kept) in pieces.iter_mut().zip(kept.chunks_exact_mut(16 * MASKS_AT_ONCE)) {
            let parts = piece.chunks_exact_mut(bytes).zip(kept.chunks_exact_mut(bytes));
            for (register, (data, kept)) in next.iter_mut().zip(parts) {
                isa.store(*register, kept);
                isa.store(*register ^ isa.load(data), data);
                *register = isa.times_x8(*register);
            }
        }
        let parts = eight.as_flattened_mut().chunks_exact_mut(bytes);
        for (register, masks) in next.iter().zip(parts) {
            isa.store(*register, masks);
        }
        let left = rest.len() / 16;
        kept_rest.copy_from_slice(&eight.as_flattened()[..16 * left]);
        for (byte, mask) in rest.iter_mut().zip(kept_rest) {
            *byte ^= *mask;
        }
        *mask = eight[left];
    }
}

/// `Implementation::add_masks`.
pub(crate) struct AddMasks<'a> {
    pub(crate) masks: &'a [u8],
    pub(crate) data: &'a mut [u8],
}

impl<I: AesBlocks> Body<I> for AddMasks<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, isa: I) {
        let bytes = 16 * I::Lanes::USIZE;
        for (data, masks) in self.data.chunks_mut(bytes).zip(self.masks.chunks(bytes)) {
            isa.store_part(isa.load_part(data) ^ isa.load_part(masks), data);
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use lanecrypt_reference::gf128::{basis, xts_masks};

    use super::*;

    /// Blocks of data, and masks one after the other by the standard.
    fn expected(first: u128, blocks: usize) -> (Vec<u8>, Vec<u8>, u128) {
        let data: Vec<u8> = (0..16 * blocks).map(|i| ((i * i) >> 3) as u8).collect();
        let mut mask = first;
        let mut masks = Vec::new();
        for _ in 0..blocks {
            masks.extend(mask.to_le_bytes());
            mask = (mask << 1) ^ if mask >> 127 == 1 { 0x87 } else { 0 };
        }
        (data, masks, mask)
    }

    fn check<I: AesBlocks>() {
        let Ok(isa) = I::detect() else {
            return std::println!("skipped: this CPU lacks {}", core::any::type_name::<I>());
        };
        for blocks in 0..40 {
            let first = 0xf123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978 >> (blocks % 5);
            let (data, masks, after) = expected(first, blocks);
            let (mut mask, mut kept, mut sum) =
                (first.to_le_bytes(), std::vec![0; data.len()], data.clone());
            isa.run(AddNextMasks { mask: &mut mask, masks: &mut kept, data: &mut sum });
            assert_eq!((&kept, u128::from_le_bytes(mask)), (&masks, after), "{blocks} blocks");
            let added: Vec<u8> = data.iter().zip(&masks).map(|(byte, mask)| byte ^ mask).collect();
            assert_eq!(sum, added, "{blocks} blocks");
            isa.run(AddMasks { masks: &masks, data: &mut sum });
            assert_eq!(sum, data, "{blocks} blocks");
        }
    }

    /// Doubling on every basis block, by steps of one and of eight, and in every lane.
    fn check_basis<I: AesBlocks>() {
        const BLOCKS: usize = 39;
        let Ok(isa) = I::detect() else { return };
        for first in basis() {
            let eight: Vec<_> = xts_masks(first).take(MASKS_AT_ONCE).collect();
            assert_eq!(eight_masks(first)[..], eight, "from {first:02x?}");
            let expected: Vec<u8> = xts_masks(first).take(BLOCKS).flatten().collect();
            let (mut mask, mut kept, mut sum) = (first, [0; 16 * BLOCKS], [0; 16 * BLOCKS]);
            isa.run(AddNextMasks { mask: &mut mask, masks: &mut kept, data: &mut sum });
            assert_eq!(Some(mask), xts_masks(first).nth(BLOCKS), "{isa:?}, from {first:02x?}");
            assert_eq!((&kept[..], &sum[..]), (&expected[..], &expected[..]), "{isa:?}");
        }
    }

    #[test]
    fn masks_are_the_standards_and_are_added_twice() {
        #[cfg(target_arch = "x86_64")]
        {
            check::<crate::AesNi>();
            check::<crate::Avx2Aes>();
            check::<crate::Avx2Vaes>();
            check::<crate::Avx2Gfni>();
            check::<crate::Avx512>();
        }
        #[cfg(target_arch = "aarch64")]
        check::<crate::NeonAes>();
    }

    #[test]
    fn masks_from_every_basis_block() {
        #[cfg(target_arch = "x86_64")]
        {
            check_basis::<crate::AesNi>();
            check_basis::<crate::Avx2Aes>();
            check_basis::<crate::Avx2Vaes>();
            check_basis::<crate::Avx2Gfni>();
            check_basis::<crate::Avx512>();
        }
        #[cfg(target_arch = "aarch64")]
        check_basis::<crate::NeonAes>();
    }
}
