//! CTR, CBC, CFB, OFB and XTS over any engine, in chunks that suit it.
//!
//! Input and output are one [`InOutBuf`]: in place or disjoint. On an error the output is
//! unspecified. Encryption in CBC and CFB, and OFB, are serial by nature: one block at a time.

mod chain;
mod ctr;
pub mod gcm;
mod xts;

use cipher::InOutBuf;

use crate::{Engine, Error, Mode};

pub use chain::{cbc_decrypt, cbc_encrypt, cfb_decrypt, cfb_encrypt, ofb};
pub(crate) use chain::{cbc_decrypt_blocks, cfb_decrypt_blocks, chain_blocks};
pub use ctr::{ctr, ctr32};
pub(crate) use xts::{Masks, xts_blocks};
pub use xts::{times_power_of_x, xts, xts_units};

/// Bytes of scratch memory that the modes take from the stack.
pub const STACK_CHUNK: usize = 4096;

/// The largest block in bytes.
pub(crate) const MAX_BLOCK: usize = 16;

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

/// XORs as many bytes of `mask` over `data` as `data` has. On one slice, where inout's own XOR from
/// one pointer to another cannot be vectorised in place.
pub(crate) fn xor(data: &mut [u8], mask: &[u8]) {
    for (byte, mask) in data.iter_mut().zip(mask) {
        *byte ^= mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_memory_is_cleared() {
        let mut scratch = [0; 100];
        let sum = wiped(&mut scratch, |scratch| {
            scratch.fill(7);
            scratch.iter().map(|&byte| u32::from(byte)).sum::<u32>()
        });
        assert_eq!((sum, scratch), (700, [0; 100]));
    }
}
