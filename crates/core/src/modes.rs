//! CTR, CBC and XTS over any engine, in chunks that suit it.
//!
//! Input and output are one [`InOutBuf`]: in place or disjoint. On an error the output is
//! unspecified. CBC encryption is serial by nature: it hands the engine one block at a time.

use cipher::InOutBuf;

use crate::{Counter, Direction, Engine, Error, Mode, engine::whole_blocks};

/// Bytes of scratch memory that the modes take from the stack.
pub const STACK_CHUNK: usize = 4096;

/// The largest block in bytes.
const MAX_BLOCK: usize = 16;

/// Runs `work` with scratch memory of whole blocks: as much as `engine` likes where there is an
/// allocator, from the stack otherwise, and never more than the `bytes` at hand (rounded up).
fn with_scratch<E: Engine + ?Sized, R>(
    engine: &E,
    bytes: usize,
    work: impl FnOnce(&mut [u8]) -> R,
) -> R {
    let bytes = bytes.next_multiple_of(MAX_BLOCK);
    #[cfg(feature = "alloc")]
    if engine.chunk_bytes() > STACK_CHUNK && bytes > STACK_CHUNK {
        let chunk = engine.chunk_bytes() / MAX_BLOCK * MAX_BLOCK;
        return wiped(&mut alloc::vec![0; chunk.min(bytes)], work);
    }
    let _ = engine;
    wiped(&mut [0; STACK_CHUNK][..bytes.min(STACK_CHUNK)], work)
}

/// Runs `work`, then clears what it left in `scratch`: key stream, masks or plaintext.
pub(crate) fn wiped<R>(scratch: &mut [u8], work: impl FnOnce(&mut [u8]) -> R) -> R {
    let result = work(scratch);
    scratch.fill(0);
    // The optimiser must take the zeros for read, and so write them.
    core::hint::black_box(scratch);
    result
}

/// Cuts `data` into pieces of at most `bytes` and runs `work` on each with the offset it has.
fn in_pieces(
    mut data: InOutBuf<'_, '_, u8>,
    bytes: usize,
    mut work: impl FnMut(usize, InOutBuf<'_, '_, u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut offset = 0;
    while !data.is_empty() {
        let length = bytes.min(data.len());
        let (piece, rest) = data.split_at(length);
        work(offset, piece)?;
        offset += length;
        data = rest;
    }
    Ok(())
}

/// An IV as a block.
fn iv_block(mode: Mode, iv: &[u8], block: usize) -> Result<[u8; MAX_BLOCK], Error> {
    if iv.len() != block || block > MAX_BLOCK {
        return Err(Error::IvLength { mode, given: iv.len(), accepted: block });
    }
    let mut padded = [0; MAX_BLOCK];
    padded[..block].copy_from_slice(iv);
    Ok(padded)
}

/// XORs the CTR key stream over `data` (SP 800-38A, 6.5): the counter is the whole block, as one
/// big-endian integer that wraps. `data` may have any length.
///
/// # Errors
/// [`Error::IvLength`] where `counter` is not one block; the engine's own errors.
pub fn ctr<E: Engine + ?Sized>(
    engine: &E,
    counter: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let block = engine.block_bytes();
    let first = Counter::of_engine(engine, counter)?;
    with_scratch(engine, data.len(), |scratch| {
        let chunk = scratch.len();
        in_pieces(data, chunk, |offset, piece| {
            let keystream = &mut scratch[..piece.len().next_multiple_of(block)];
            first.plus((offset / block) as u128).fill(keystream);
            engine.ecb(Direction::Encrypt, (&mut *keystream).into())?;
            xor(piece.into_out_with_copied_in(), keystream);
            Ok(())
        })
    })
}

/// CBC encryption without padding (SP 800-38A, 6.2).
///
/// # Errors
/// [`Error::IvLength`], [`Error::NotWholeBlocks`]; the engine's own errors.
pub fn cbc_encrypt<E: Engine + ?Sized>(
    engine: &E,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let block = engine.block_bytes();
    let mut previous = iv_block(Mode::Cbc, iv, block)?;
    whole_blocks(Mode::Cbc, data.len(), block)?;
    in_pieces(data, block, |_, piece| {
        let output = piece.into_out_with_copied_in();
        xor(output, &previous[..block]);
        engine.ecb(Direction::Encrypt, (&mut *output).into())?;
        previous[..block].copy_from_slice(output);
        Ok(())
    })
}

/// CBC decryption without padding (SP 800-38A, 6.2), many blocks at once.
///
/// # Errors
/// [`Error::IvLength`], [`Error::NotWholeBlocks`]; the engine's own errors.
pub fn cbc_decrypt<E: Engine + ?Sized>(
    engine: &E,
    iv: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let block = engine.block_bytes();
    let mut previous = iv_block(Mode::Cbc, iv, block)?;
    whole_blocks(Mode::Cbc, data.len(), block)?;
    engine.cbc_decrypt_blocks(&mut previous[..block], data)
}

/// [`Engine::cbc_decrypt_blocks`] by ECB.
pub(crate) fn cbc_decrypt_blocks<E: Engine + ?Sized>(
    engine: &E,
    previous: &mut [u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let block = engine.block_bytes();
    with_scratch(engine, data.len(), |scratch| {
        let chunk = scratch.len() / block * block;
        in_pieces(data, chunk, |_, mut piece| {
            // The ciphertext is needed twice, and in place the output overwrites it.
            let ciphertext = &mut scratch[..piece.len()];
            ciphertext.copy_from_slice(piece.get_in());
            engine.ecb(Direction::Decrypt, piece.reborrow())?;
            let plaintext = piece.get_out();
            let (first, rest) = plaintext.split_at_mut(block);
            xor(first, previous);
            xor(rest, ciphertext);
            previous.copy_from_slice(&ciphertext[ciphertext.len() - block..]);
            Ok(())
        })
    })
}

/// XORs as many bytes of `mask` over `data` as `data` has. On one slice, where inout's own XOR from
/// one pointer to another cannot be vectorised in place.
pub(crate) fn xor(data: &mut [u8], mask: &[u8]) {
    for (byte, mask) in data.iter_mut().zip(mask) {
        *byte ^= mask;
    }
}

/// One XTS data unit (IEEE 1619), with ciphertext stealing where the length is no multiple of the
/// block. `engine` has the data key, `tweak_engine` the tweak key; `tweak` is the unit's number as
/// 16 bytes, least significant first.
///
/// # Errors
/// [`Error::XtsBlock`] for ciphers of other than 128-bit blocks, [`Error::IvLength`],
/// [`Error::DataUnitLength`] for less than a block; the engines' own errors.
pub fn xts<E: Engine + ?Sized, T: Engine + ?Sized>(
    engine: &E,
    tweak_engine: &T,
    tweak: &[u8],
    direction: Direction,
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    const BLOCK: usize = 16;
    for given in [engine.block_bytes(), tweak_engine.block_bytes()] {
        if given != BLOCK {
            return Err(Error::XtsBlock { given });
        }
    }
    if data.len() < BLOCK {
        return Err(Error::DataUnitLength { given: data.len(), block: BLOCK });
    }
    let mut first = FirstMask::new(tweak_engine, tweak)?;
    let stolen = data.len() % BLOCK;
    // With stealing, the last whole block waits for the part that follows it.
    let plain = data.len() - if stolen == 0 { 0 } else { stolen + BLOCK };
    let (whole, last) = data.split_at(plain);
    engine.xts_blocks(direction, &mut first.0, whole)?;
    if stolen == 0 { Ok(()) } else { steal(engine, &mut Masks(&mut first.0), direction, last) }
}

/// [`Engine::xts_blocks`] by ECB.
pub(crate) fn xts_blocks<E: Engine + ?Sized>(
    engine: &E,
    direction: Direction,
    mask: &mut [u8; 16],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    with_scratch(engine, data.len(), |scratch| {
        in_pieces(data, scratch.len(), |_, piece| {
            let masks = &mut scratch[..piece.len()];
            Masks(mask).fill(masks);
            let output = piece.into_out_with_copied_in();
            xor(output, masks);
            engine.ecb(direction, (&mut *output).into())?;
            xor(output, masks);
            Ok(())
        })
    })
}

/// The first mask of a data unit that is still to be used: the tweak, encrypted. Cleared when
/// dropped.
struct FirstMask([u8; 16]);

impl FirstMask {
    fn new<T: Engine + ?Sized>(tweak_engine: &T, tweak: &[u8]) -> Result<Self, Error> {
        let mut mask = Self(iv_block(Mode::Xts, tweak, 16)?);
        tweak_engine.ecb(Direction::Encrypt, mask.0.as_mut_slice().into())?;
        Ok(mask)
    }
}

impl Drop for FirstMask {
    fn drop(&mut self) {
        wiped(&mut self.0, |_| ());
    }
}

/// The masks of a data unit from the one at hand on, one a block, each x times the one before.
pub(crate) struct Masks<'a>(pub(crate) &'a mut [u8; 16]);

impl Masks<'_> {
    /// Writes the next masks over `blocks`, which are whole.
    pub(crate) fn fill(&mut self, blocks: &mut [u8]) {
        let mut mask = u128::from_le_bytes(*self.0);
        for block in blocks.as_chunks_mut::<16>().0 {
            *block = mask.to_le_bytes();
            mask = times_x(mask);
        }
        *self.0 = mask.to_le_bytes();
    }
}

/// The last whole block and the part after it, IEEE 1619 section 5.3.2 and 5.4.2: the part is
/// filled up with the end of the block before, which was run first and gives up that end.
fn steal<E: Engine + ?Sized>(
    engine: &E,
    masks: &mut Masks<'_>,
    direction: Direction,
    mut data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    const BLOCK: usize = 16;
    // Two masks, then the whole block and the one that the part becomes.
    wiped(&mut [0; 4 * BLOCK], |scratch| {
        let (mask_pair, blocks) = scratch.split_at_mut(2 * BLOCK);
        masks.fill(mask_pair);
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
