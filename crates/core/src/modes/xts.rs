//! XTS: a tweak a data unit, a mask a block, and ciphertext stealing.

use cipher::InOutBuf;

use super::{in_pieces, wiped, with_scratch, xor};
use crate::{Direction, Engine, Error, Mode, Operation};

/// Bytes of a block.
const BLOCK: usize = 16;
/// Data units that are shorter run together, in calls of ECB: alone they would not fill batches.
const SHORT: usize = 1024;

/// One XTS data unit (IEEE 1619), with ciphertext stealing where the length is no multiple of the
/// block. `engine` has the data key, `tweak_engine` the tweak key; `tweak` is the unit's number as
/// 16 bytes, least significant first. A unit may have 2^20 blocks (SP 800-38E, 4): that a longer one is not passed is up
/// to the caller.
///
/// # Errors
/// [`Error::BlockLength`] for ciphers of other than 128-bit blocks, [`Error::IvLength`],
/// [`Error::DataUnitLength`] for less than a block; the engines' own errors.
pub fn xts<E: Engine + ?Sized, T: Engine + ?Sized>(
    engine: &E,
    tweak_engine: &T,
    tweak: &[u8],
    direction: Direction,
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let mut mask = first_mask(engine, tweak_engine, tweak, data.len())?;
    // As long as `data` is not put into a closure it is not copied, which would be in one piece right after its parts
    // were stored.
    let result = if data.len() == BLOCK {
        engine.run(Operation::Xts(direction, &mask), data)
    } else {
        unit(engine, &mut mask, direction, data)
    };
    wiped(&mut mask, |_| ());
    result
}

/// One XTS data unit as GB/T 17964-2021 has it: as [`xts`], but the masks follow each other in the order of bits that
/// GCM has, where the first bit of the first byte stands for 1.
///
/// # Errors
/// As [`xts`].
pub fn xts_gb<E: Engine + ?Sized, T: Engine + ?Sized>(
    engine: &E,
    tweak_engine: &T,
    tweak: &[u8],
    direction: Direction,
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let mut mask = first_mask(engine, tweak_engine, tweak, data.len())?;
    let (whole, last) = split_before_stealing(data);
    wiped(&mut mask, |mask| {
        with_scratch(engine, whole.len(), |scratch| {
            in_pieces(whole, scratch.len(), |_, piece| {
                let masks = &mut scratch[..piece.len()];
                fill_gb(mask, masks);
                masked_ecb(engine, direction, masks, piece)
            })
        })?;
        if last.is_empty() {
            return Ok(());
        }
        wiped(&mut [0; 2 * BLOCK], |mask_pair| {
            fill_gb(mask, mask_pair);
            steal(engine, mask_pair, direction, last)
        })
    })
}

/// Checks one data unit of `bytes` and makes its first mask of its tweak.
#[inline]
fn first_mask<E: Engine + ?Sized, T: Engine + ?Sized>(
    engine: &E,
    tweak_engine: &T,
    tweak: &[u8],
    bytes: usize,
) -> Result<[u8; BLOCK], Error> {
    check(engine, tweak_engine, bytes)?;
    let Ok(mut mask) = <[u8; BLOCK]>::try_from(tweak) else {
        return Err(Error::IvLength { mode: Mode::Xts, given: tweak.len(), accepted: BLOCK });
    };
    tweak_engine.ecb(Direction::Encrypt, mask.as_mut_slice().into())?;
    Ok(mask)
}

/// The whole blocks that run by themselves, and what runs with stealing: nothing, or the last whole block, which waits
/// for the part that follows it, and that part.
fn split_before_stealing<'i, 'o>(
    data: InOutBuf<'i, 'o, u8>,
) -> (InOutBuf<'i, 'o, u8>, InOutBuf<'i, 'o, u8>) {
    let stolen = data.len() % BLOCK;
    let plain = data.len() - if stolen == 0 { 0 } else { stolen + BLOCK };
    data.split_at(plain)
}

/// The numbers of XTS data units one after another, modulo 2^128: `first.into()` where they are consecutive.
///
/// ```
/// use lanecrypt_core::modes::UnitNumbers;
///
/// // Sectors of 4 KiB, of which the tweaks count 512 bytes each.
/// let mut numbers = UnitNumbers { first: 24, step: 8 };
/// assert_eq!([numbers.take(), numbers.take()], [24, 32]);
/// assert_eq!(UnitNumbers::from(24), UnitNumbers { first: 24, step: 1 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitNumbers {
    /// That of the first unit.
    pub first: u128,
    /// From a unit to the next one.
    pub step: u128,
}

impl UnitNumbers {
    /// The first one, after which the next is the first.
    pub fn take(&mut self) -> u128 {
        let number = self.first;
        self.first = number.wrapping_add(self.step);
        number
    }
}

impl From<u128> for UnitNumbers {
    fn from(first: u128) -> Self {
        Self { first, step: 1 }
    }
}

/// XTS data units of `unit_bytes` each, of which the last may be shorter, with these `numbers`: the sectors of a
/// disk.
///
/// # Errors
/// As [`xts`], for any of the units before anything is written.
pub fn xts_units<E: Engine + ?Sized, T: Engine + ?Sized>(
    engine: &E,
    tweak_engine: &T,
    numbers: impl Into<UnitNumbers>,
    unit_bytes: usize,
    direction: Direction,
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    check(engine, tweak_engine, unit_bytes)?;
    if data.len() % unit_bytes != 0 {
        check(engine, tweak_engine, data.len() % unit_bytes)?;
    }
    // Their first masks are made together.
    wiped(&mut [0; 64 * BLOCK], |masks| {
        let mut numbers = numbers.into();
        in_pieces(data, unit_bytes.saturating_mul(64), |_, piece| {
            let units = piece.len().div_ceil(unit_bytes);
            let masks = masks[..units * BLOCK].as_chunks_mut::<BLOCK>().0;
            for mask in &mut *masks {
                *mask = numbers.take().to_le_bytes();
            }
            tweak_engine.ecb(Direction::Encrypt, masks.as_flattened_mut().into())?;
            let run_together = unit_bytes < SHORT && unit_bytes.is_multiple_of(BLOCK);
            let together = if run_together { piece.len() / unit_bytes } else { 0 };
            let (first, others) = masks.split_at_mut(together);
            let (short, piece) = piece.split_at(together * unit_bytes);
            short_units(engine, first, unit_bytes, direction, short)?;
            let mut masks = others.iter_mut();
            in_pieces(piece, unit_bytes, |_, data| {
                masks.next().map_or(Ok(()), |mask| unit(engine, mask, direction, data))
            })
        })
    })
}

#[inline]
fn check<E: Engine + ?Sized, T: Engine + ?Sized>(
    engine: &E,
    tweak_engine: &T,
    unit_bytes: usize,
) -> Result<(), Error> {
    for given in [engine.block_bytes(), tweak_engine.block_bytes()] {
        if given != BLOCK {
            return Err(Error::BlockLength { mode: Mode::Xts, given });
        }
    }
    if unit_bytes < BLOCK {
        return Err(Error::DataUnitLength { given: unit_bytes, block: BLOCK });
    }
    Ok(())
}

/// A data unit whose first mask is `mask`.
#[inline(never)] // of one block nothing of this is wanted
fn unit<E: Engine + ?Sized>(
    engine: &E,
    mask: &mut [u8; BLOCK],
    direction: Direction,
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let (whole, last) = split_before_stealing(data);
    let blocks = (whole.len() / BLOCK) as u64;
    engine.run(Operation::Xts(direction, mask), whole)?;
    if last.is_empty() {
        return Ok(());
    }
    *mask = times_power_of_x(mask, blocks);
    wiped(&mut [0; 2 * BLOCK], |mask_pair| {
        Masks(mask).fill(mask_pair);
        steal(engine, mask_pair, direction, last)
    })
}

/// Whole [`SHORT`] units whose first masks are `masks`.
fn short_units<E: Engine + ?Sized>(
    engine: &E,
    masks: &mut [[u8; BLOCK]],
    unit_bytes: usize,
    direction: Direction,
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    with_scratch(engine, data.len(), |scratch| {
        let bytes = scratch.len() / unit_bytes * unit_bytes;
        let mut masks = masks.iter_mut();
        in_pieces(data, bytes, |_, piece| {
            let scratch = &mut scratch[..piece.len()];
            for (unit, mask) in scratch.chunks_exact_mut(unit_bytes).zip(&mut masks) {
                Masks(mask).fill(unit);
            }
            masked_ecb(engine, direction, scratch, piece)
        })
    })
}

/// [`Operation::Xts`] by ECB.
pub(super) fn xts_by_ecb(
    engine: &dyn Engine,
    direction: Direction,
    mask: &[u8; BLOCK],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    if data.len() == BLOCK {
        return masked_ecb(engine, direction, mask, data);
    }
    wiped(&mut { *mask }, |mask| {
        with_scratch(engine, data.len(), |scratch| {
            in_pieces(data, scratch.len(), |_, piece| {
                let masks = &mut scratch[..piece.len()];
                Masks(mask).fill(masks);
                masked_ecb(engine, direction, masks, piece)
            })
        })
    })
}

/// Blocks between two XORs of the same masks.
fn masked_ecb<E: Engine + ?Sized>(
    engine: &E,
    direction: Direction,
    masks: &[u8],
    blocks: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let output = blocks.into_out_with_copied_in();
    xor(output, masks);
    engine.ecb(direction, (&mut *output).into())?;
    xor(output, masks);
    Ok(())
}

/// The masks of a data unit from the one at hand on, one a block, each x times the one before.
pub(crate) struct Masks<'a>(pub(crate) &'a mut [u8; BLOCK]);

impl Masks<'_> {
    /// Writes the next masks over `blocks`, which are whole.
    pub(crate) fn fill(&mut self, blocks: &mut [u8]) {
        let mut mask = u128::from_le_bytes(*self.0);
        for block in blocks.as_chunks_mut::<BLOCK>().0 {
            *block = mask.to_le_bytes();
            mask = times_x(mask);
        }
        *self.0 = mask.to_le_bytes();
    }
}

/// Writes the next masks of GB/T 17964 over `blocks`, which are whole; `mask` is the first of them, and then the one
/// that follows. Without a branch: masks are secret.
fn fill_gb(mask: &mut [u8; BLOCK], blocks: &mut [u8]) {
    let mut next = u128::from_be_bytes(*mask);
    for block in blocks.as_chunks_mut::<BLOCK>().0 {
        *block = next.to_be_bytes();
        next = (next >> 1) ^ ((next & 1).wrapping_neg() & (0xe1 << 120));
    }
    *mask = next.to_be_bytes();
}

/// The last whole block and the part after it, IEEE 1619 section 5.3.2 and 5.4.2: the part is
/// filled up with the end of the block before, which was run first and gives up that end. `mask_pair` are
/// the masks of both.
fn steal<E: Engine + ?Sized>(
    engine: &E,
    mask_pair: &[u8],
    direction: Direction,
    mut data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    // The whole block and the one that the part becomes.
    wiped(&mut [0; 2 * BLOCK], |blocks| {
        let (first, second) = mask_pair.split_at(BLOCK);
        // Decryption takes the two masks in the other order.
        let (mask_first, mask_second) = match direction {
            Direction::Encrypt => (first, second),
            Direction::Decrypt => (second, first),
        };
        let masked = |mask: &[u8], block: &mut [u8]| {
            xor(block, mask);
            engine.ecb(direction, (&mut *block).into())?;
            xor(block, mask);
            Ok::<(), Error>(())
        };
        let (whole, filled) = blocks.split_at_mut(BLOCK);
        whole.copy_from_slice(&data.get_in()[..BLOCK]);
        masked(mask_first, whole)?;
        filled.copy_from_slice(whole);
        let stolen = data.len() - BLOCK;
        filled[..stolen].copy_from_slice(&data.get_in()[BLOCK..]);
        masked(mask_second, filled)?;
        let output = data.get_out();
        output[..BLOCK].copy_from_slice(filled);
        output[BLOCK..].copy_from_slice(&whole[..stolen]);
        Ok(())
    })
}

/// Multiplication by x in GF(2^128) modulo x^128 + x^7 + x^2 + x + 1, least significant bit first,
/// without a branch: the mask is secret.
fn times_x(mask: u128) -> u128 {
    (mask << 1) ^ ((mask >> 127).wrapping_neg() & 0x87)
}

/// Blocks up to which [`times_power_of_x`] goes step by step: as many as a data unit of 4 KiB has.
const STEPS: u64 = 256;

/// A mask `blocks` blocks further on in its data unit: times x^blocks, least significant byte first.
/// Without a branch on the mask, which is secret; how far is public.
#[must_use]
pub fn times_power_of_x(mask: &[u8; BLOCK], blocks: u64) -> [u8; BLOCK] {
    let mask = u128::from_le_bytes(*mask);
    // A few steps are cheaper than products.
    if blocks <= STEPS {
        return (0..blocks).fold(mask, |mask, _| times_x(mask)).to_le_bytes();
    }
    let mut power = 1;
    for bit in (0..u64::BITS - blocks.leading_zeros()).rev() {
        power = product(power, power);
        if blocks >> bit & 1 == 1 {
            power = times_x(power);
        }
    }
    product(mask, power).to_le_bytes()
}

/// Bit by bit of `factor`.
fn product(mut mask: u128, factor: u128) -> u128 {
    let mut sum = 0;
    for bit in 0..u128::BITS {
        sum ^= mask & (factor >> bit & 1).wrapping_neg();
        mask = times_x(mask);
    }
    sum
}

#[cfg(test)]
mod tests {
    use core::array;

    use lanecrypt_reference::gf128::{MODULUS, basis, multiply, xts_masks};

    use super::*;

    /// The field is the same, and so is x; the bits of each byte lie the other way round.
    #[test]
    fn masks_of_gb_are_those_of_ieee_with_bits_reversed() {
        let reversed = |mask: [u8; BLOCK]| array::from_fn(|at| mask[at].reverse_bits());
        for first in basis() {
            let mut masks = [0; 130 * BLOCK];
            let mut next: [u8; BLOCK] = reversed(first);
            fill_gb(&mut next, &mut masks);
            let found = masks.as_chunks::<BLOCK>().0.iter().copied().chain([next]);
            assert!(found.map(reversed).eq(xts_masks(first).take(131)), "from {first:02x?}");
        }
    }

    #[test]
    fn powers_of_x_are_repeated_steps() {
        let first = 0x8123_4567_89ab_cdef_0123_4567_89ab_cdef_u128;
        let mut mask = first;
        for blocks in 0..1000 {
            let found = u128::from_le_bytes(times_power_of_x(&first.to_le_bytes(), blocks));
            assert_eq!(found, mask, "{blocks}");
            mask = times_x(mask);
        }
        // Squaring 128 times is the identity.
        assert_eq!((0..128).fold(2, |power, _| product(power, power)), 2);
    }

    #[test]
    fn masks_and_products_of_the_basis() {
        for first in basis() {
            let mut masks = [0; 130 * BLOCK];
            let mut next = first;
            Masks(&mut next).fill(&mut masks);
            let found = masks.as_chunks::<BLOCK>().0.iter().copied().chain([next]);
            assert!(found.eq(xts_masks(first).take(131)), "from {first:02x?}");
            for other in basis() {
                let [x, y] = [first, other].map(u128::from_le_bytes);
                assert_eq!(product(x, y), multiply(x, y, MODULUS), "{x:x} times {y:x}");
            }
        }
    }
}
