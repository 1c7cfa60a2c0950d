//! GCM's limits, and how it counts: for every way to compute it.

use cipher::InOutBuf;

use crate::{Counter, Direction, Engine, Error, Mode, Operation};

/// The most bytes of data under one IV: 2^32 - 2 blocks (SP 800-38D, 5.2.1.1).
pub const MAX_MESSAGE_BYTES: u64 = (1 << 36) - 32;
/// The most bytes of associated data under one IV (SP 800-38D, 5.2.1.1).
pub const MAX_AAD_BYTES: u64 = (1 << 61) - 1;
/// Bytes that are best encrypted before they are hashed: they should still be in the first cache then.
const HASHED_AT_ONCE: usize = 16 << 10;

/// Checks all lengths of a message, in bytes: the IV's, the associated data's, the data's, the tag's.
///
/// # Errors
/// [`Error::EmptyIv`], [`Error::TagLength`], [`Error::MessageLength`].
pub fn check_lengths(iv: usize, aad: usize, message: usize, tag: usize) -> Result<(), Error> {
    if iv == 0 {
        return Err(Error::EmptyIv);
    }
    if !(4..=16).contains(&tag) {
        return Err(Error::TagLength { mode: Mode::Gcm, given: tag });
    }
    for (what, given, most) in [
        ("data", message as u64, MAX_MESSAGE_BYTES),
        ("associated data", aad as u64, MAX_AAD_BYTES),
    ] {
        if given > most {
            return Err(Error::MessageLength { mode: Mode::Gcm, what, given, most });
        }
    }
    Ok(())
}

/// The block that ends the hash: the lengths of associated data and data, given in bytes, in bits modulo 2^64
/// (SP 800-38D, 7.1, step 5).
#[must_use]
pub fn lengths(bytes: [u64; 2]) -> [u8; 16] {
    let mut block = [0; 16];
    for (half, bytes) in block.as_chunks_mut::<8>().0.iter_mut().zip(bytes) {
        *half = bytes.wrapping_mul(8).to_be_bytes();
    }
    block
}

/// Encrypts or decrypts whole blocks from the counter block after `before` on, in pieces that stay in the first
/// cache, and hands over the ciphertext of each to be hashed: for engines that have no [`Engine::gcm`].
///
/// # Errors
/// The engine's own.
pub fn run_hashed<E: Engine + ?Sized>(
    engine: &E,
    direction: Direction,
    before: Counter,
    data: InOutBuf<'_, '_, u8>,
    mut hash: impl FnMut(&[u8]),
) -> Result<(), Error> {
    in_pieces(engine, data, |blocks, mut piece| {
        let counter = before.plus32(1 + blocks as u128);
        if direction == Direction::Decrypt {
            hash(piece.get_in());
        }
        engine.run(Operation::Ctr32(counter), piece.reborrow())?;
        if direction == Direction::Encrypt {
            hash(piece.get_out());
        }
        Ok(())
    })
}

/// Cuts data into pieces of which what is hashed stays in the first cache, or as long as the engine wants them, and
/// runs `work` on each with the number of blocks before it.
///
/// # Errors
/// Those of `work`.
pub fn in_pieces<E: Engine + ?Sized>(
    engine: &E,
    data: InOutBuf<'_, '_, u8>,
    mut work: impl FnMut(usize, InOutBuf<'_, '_, u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    let bytes = HASHED_AT_ONCE.max(engine.chunk_bytes().next_multiple_of(16));
    super::in_pieces(data, bytes, |offset, piece| work(offset / 16, piece))
}

/// The counter block J0 of an IV of 12 bytes; other IVs are hashed (SP 800-38D, 7.1, step 2).
#[must_use]
pub fn first_counter(iv: &[u8]) -> Option<[u8; 16]> {
    let iv: [u8; 12] = iv.try_into().ok()?;
    let mut first = [0; 16];
    first[..12].copy_from_slice(&iv);
    first[15] = 1;
    Some(first)
}

/// The counter block of block `number` of the data, from 0: as far after J0, whose last four bytes
/// count and wrap.
#[must_use]
pub fn counter(first: &[u8; 16], number: u32) -> [u8; 16] {
    let mut counter = *first;
    Counter::from(*first).plus32(1 + u128::from(number)).fill(&mut counter);
    counter
}

#[cfg(test)]
#[cfg(target_pointer_width = "64")]
mod tests {
    use super::*;

    /// SP 800-38D, 5.2.1.1: 2^39 - 256 bits of data and 2^64 - 1 of associated data, in bytes.
    #[test]
    fn messages_have_an_end() {
        let (data, aad) = ((1 << 36) - 32, (1 << 61) - 1);
        check_lengths(12, aad, data, 16).expect("the longest there is");
        for (aad, data, what, most) in
            [(0, data + 1, "data", data), (aad + 1, 0, "associated data", aad)]
        {
            let Err(Error::MessageLength { mode: Mode::Gcm, what: named, given, most: limit }) =
                check_lengths(12, aad, data, 16)
            else {
                panic!("a byte too many of {what} is accepted");
            };
            assert_eq!((named, given, limit), (what, most as u64 + 1, most as u64));
        }
    }
}
