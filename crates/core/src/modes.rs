//! CTR, CBC, CFB, OFB and XTS over any engine, in chunks that suit it.
//!
//! Input and output are one [`InOutBuf`]: in place or disjoint. On an error the output is
//! unspecified. Encryption in CBC and CFB, and OFB, are serial by nature: one block at a time, but
//! [`SerialMode`] runs several messages side by side.

mod chain;
mod ctr;
pub mod gcm;
mod side_by_side;
mod xts;

use cipher::InOutBuf;

use crate::{Direction, Engine, Error, Mode, Operation, secret::clear_bytes};

pub use chain::{ChainedMode, cbc_decrypt, cbc_encrypt, cfb_decrypt, cfb_encrypt, ofb};
pub use ctr::{ctr_with, ctr32};
pub use side_by_side::{AbsorbedMessage, ChainedMessage, Chains, MOST_CHAINS, Message, SerialMode};
pub(crate) use xts::Masks;
pub use xts::{UnitNumbers, times_power_of_x, xts, xts_gb, xts_units};

/// Bytes of scratch memory that the modes take from the stack.
pub const STACK_CHUNK: usize = 4096;

/// Bytes of scratch memory for a few blocks, which run faster than [`STACK_CHUNK`] bytes are filled with zeros.
const SHORT: usize = 256;

/// The largest block in bytes.
pub(crate) const MAX_BLOCK: usize = 16;

/// Any operation but ECB by the engine's own ECB, and 32-bit counters by its CTR: for what an engine has no
/// faster way for.
///
/// # Errors
/// As [`Engine::run`].
///
/// # Panics
/// For [`Operation::Ecb`], which is the engine's to run.
///
/// There is one of it for all types of engines, each of which would have its own otherwise: a quarter of a cipher's crate.
#[inline(never)] // its scratch memory would be on the stack of the engine's own ECB, too
pub fn by_ecb(
    engine: &dyn Engine,
    operation: Operation<'_>,
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    operation.check(engine.block_bytes(), data.len())?;
    match operation {
        Operation::Ecb(_) => unreachable!("an engine has ECB of its own"),
        Operation::Ctr(first) => ctr::ctr_by_ecb(engine, first, data),
        Operation::Ctr32(first) => ctr::ctr32_by_ctr(engine, first, data),
        Operation::Ctr32Le(first) => ctr::ctr32_le_by_ecb(engine, first, data),
        Operation::Cbc(Direction::Decrypt, iv) => chain::cbc_decrypt_by_ecb(engine, iv, data),
        Operation::Cfb(Direction::Decrypt, iv) => chain::cfb_decrypt_by_ecb(engine, iv, data),
        Operation::Xts(direction, mask) => xts::xts_by_ecb(engine, direction, mask, data),
        Operation::Cbc(Direction::Encrypt, _)
        | Operation::Cfb(Direction::Encrypt, _)
        | Operation::Ofb(_) => chain::one_by_one_by_ecb(engine, operation, data),
    }
}

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
        return wiped(alloc::vec![0; chunk.min(bytes)].as_mut_slice(), work);
    }
    let _ = engine;
    if bytes <= SHORT {
        return wiped(&mut [0; SHORT][..bytes], work);
    }
    wiped(&mut [0; STACK_CHUNK][..bytes.min(STACK_CHUNK)], work)
}

/// Runs `work`, then clears what it left in `scratch`: key stream, masks or plaintext.
pub(crate) fn wiped<S: AsMut<[u8]> + ?Sized, R>(
    scratch: &mut S,
    work: impl FnOnce(&mut S) -> R,
) -> R {
    struct Wiped<'a, S: AsMut<[u8]> + ?Sized>(&'a mut S);

    // After a panic too.
    impl<S: AsMut<[u8]> + ?Sized> Drop for Wiped<'_, S> {
        fn drop(&mut self) {
            clear_bytes(self.0.as_mut());
        }
    }

    work(Wiped(scratch).0)
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

/// XORs as many bytes of `mask` over `data` as `data` has. On one slice, where inout's own XOR from
/// one pointer to another cannot be vectorised in place.
#[allow(clippy::inline_always, reason = "modes are compiled with a cipher's instruction set")]
#[inline(always)]
pub(crate) fn xor(data: &mut [u8], mask: &[u8]) {
    // Of known length it is one instruction, where a loop for any length goes byte by byte.
    if let (Ok(block), Ok(mask)) =
        (<&mut [u8; MAX_BLOCK]>::try_from(&mut *data), <&[u8; MAX_BLOCK]>::try_from(mask))
    {
        return each_xor(block, mask);
    }
    each_xor(data, mask);
}

#[allow(clippy::inline_always, reason = "as above")]
#[inline(always)]
fn each_xor(data: &mut [u8], mask: &[u8]) {
    for (byte, mask) in data.iter_mut().zip(mask) {
        *byte ^= mask;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn scratch_memory_is_cleared() {
        let mut scratch = [0; 100];
        let sum = wiped(&mut scratch, |scratch| {
            scratch.fill(7);
            scratch.iter().map(|&byte| u32::from(byte)).sum::<u32>()
        });
        assert_eq!((sum, scratch), (700, [0; 100]));
        // An engine of somebody else may panic.
        let panics = |scratch: &mut [u8; 100]| -> () {
            scratch.fill(7);
            panic!("an engine failed")
        };
        let unwound = catch_unwind(AssertUnwindSafe(|| wiped(&mut scratch, panics)));
        assert!(unwound.is_err() && scratch == [0; 100]);
    }
}
