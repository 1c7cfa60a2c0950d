//! CTR: counters of the whole block, and of its last 32 bits.

use cipher::InOutBuf;

use super::{in_pieces, with_scratch, xor};
use crate::{Counter, Direction, Engine, Error, Operation};

/// CTR whose counter is the last 32 bits of the block and wraps, the rest of it staying as it is:
/// as GCM counts (SP 800-38D, 6.5), and with it TLS and SSH. `data` may have any length.
///
/// # Errors
/// [`Error::IvLength`] where `counter` is not one block; the engine's own errors.
pub fn ctr32<E: Engine + ?Sized>(
    engine: &E,
    counter: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    engine.run(Operation::Ctr32(Counter::read(counter, engine.block_bytes())?), data)
}

/// CTR over counter blocks of any kind, by ECB: `fill` writes those from block `number` of the data on, over
/// whole blocks. For counters that are no [`Operation`], such as little-endian ones. `data` may have any length.
///
/// # Errors
/// The engine's own.
///
/// # Panics
/// Where the engine's blocks have neither 8 nor 16 bytes.
pub fn ctr_with<E: Engine + ?Sized>(
    engine: &E,
    data: InOutBuf<'_, '_, u8>,
    fill: impl Fn(u128, &mut [u8]),
) -> Result<(), Error> {
    let block = engine.block_bytes();
    assert!(matches!(block, 8 | 16), "blocks of 8 or 16 bytes, not {block}");
    with_scratch(engine, data.len(), |scratch| {
        let chunk = scratch.len();
        in_pieces(data, chunk, |offset, piece| {
            let keystream = &mut scratch[..piece.len().next_multiple_of(block)];
            fill((offset / block) as u128, keystream);
            engine.ecb(Direction::Encrypt, (&mut *keystream).into())?;
            xor(piece.into_out_with_copied_in(), keystream);
            Ok(())
        })
    })
}

/// [`Operation::Ctr`] by ECB.
pub(super) fn ctr_by_ecb(
    engine: &dyn Engine,
    first: Counter,
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    ctr_with(engine, data, |number, blocks| first.plus(number).fill(blocks))
}

/// [`Operation::Ctr32Le`] by ECB.
pub(super) fn ctr32_le_by_ecb(
    engine: &dyn Engine,
    first: Counter,
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    ctr_with(engine, data, |number, blocks| {
        for (number, block) in (number..).zip(blocks.chunks_exact_mut(first.block_bytes())) {
            first.plus32_le(number).fill(block);
        }
    })
}

/// [`Operation::Ctr32`] by CTR: up to where it wraps it counts as the whole block does.
pub(super) fn ctr32_by_ctr(
    engine: &dyn Engine,
    first: Counter,
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let block = engine.block_bytes();
    let (mut next, mut rest) = (first, data);
    loop {
        let blocks = next.blocks_before_wrap32();
        let most = usize::try_from(blocks.saturating_mul(block as u64)).unwrap_or(usize::MAX);
        let bytes = most.min(rest.len());
        let (piece, others) = rest.split_at(bytes);
        engine.run(Operation::Ctr(next), piece)?;
        if others.is_empty() {
            return Ok(());
        }
        (next, rest) = (next.plus32(u128::from(blocks)), others);
    }
}
