//! CTR: counters of the whole block, and of its last 32 bits.

use cipher::InOutBuf;

use super::{in_pieces, iv_block, with_scratch, xor};
use crate::{Counter, Direction, Engine, Error, Mode};

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

/// CTR whose counter is the last 32 bits of the block and wraps, the rest of it staying as it is:
/// as GCM counts (SP 800-38D, 6.5), and with it TLS and SSH. `data` may have any length.
///
/// # Errors
/// [`Error::IvLength`] where `counter` is not one block; the engine's own errors.
pub fn ctr32<E: Engine + ?Sized>(
    engine: &E,
    counter: &[u8],
    mut data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let block = engine.block_bytes();
    Counter::of_engine(engine, counter)?;
    let mut first = iv_block(Mode::Ctr, counter, block)?;
    // Up to where it wraps it counts as the whole block does.
    loop {
        let digits = &mut first[block - 4..block];
        let count = digits.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let before_wrap = ((1 << 32) - count).saturating_mul(block as u64);
        let bytes = usize::try_from(before_wrap).unwrap_or(usize::MAX).min(data.len());
        let (piece, rest) = data.split_at(bytes);
        engine.ctr(&first[..block], piece)?;
        if rest.is_empty() {
            return Ok(());
        }
        first[block - 4..block].fill(0);
        data = rest;
    }
}
