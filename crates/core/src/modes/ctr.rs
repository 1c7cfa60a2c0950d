//! CTR: counters of the whole block, and of its last 32 bits.

use cipher::InOutBuf;

use super::{MAX_BLOCK, in_pieces, with_scratch, xor};
use crate::{Counter, Direction, Engine, Error};

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
    let mut next = Counter::of_engine(engine, counter)?;
    // Up to where it wraps it counts as the whole block does.
    loop {
        let blocks = next.blocks_before_wrap32();
        let most = usize::try_from(blocks.saturating_mul(block as u64)).unwrap_or(usize::MAX);
        let bytes = most.min(data.len());
        let (piece, rest) = data.split_at(bytes);
        let mut first = [0; MAX_BLOCK];
        next.fill(&mut first[..block]);
        engine.ctr(&first[..block], piece)?;
        if rest.is_empty() {
            return Ok(());
        }
        next = next.plus32(u128::from(blocks));
        data = rest;
    }
}
