//! Pieces of host memory on their way through a device.

use super::{
    Error, Options,
    measuring::{self, Row, key, median_on_clock},
};
use crate::cuda::{
    Device, Piece,
    kernels::Task::{XtsDecrypt, XtsEncrypt},
};

/// Bytes of pieces that are tried; without a limit they are chosen by the length of the data.
const PIECES: [usize; 4] = [256 << 10, 512 << 10, 1 << 20, 2 << 20];
/// Shorter data is a piece or two.
const SHORTEST: usize = 1 << 20;
/// Longer data passes as this does.
const LONGEST: usize = 256 << 20;
/// What a limit must gain to be worth it: more than passes differ from each other.
const GAIN: f64 = 1.05;

/// The pieces that are faster than those of no limit, with nothing for a family where none is. XTS has
/// pieces of its own.
pub(super) fn measure(
    device: &Device,
    row: &Row,
    options: &Options,
    data: &mut [u8],
) -> Result<Vec<Piece>, Error> {
    let mut sizes =
        options.sizes.iter().copied().filter(|bytes| (SHORTEST..=LONGEST).contains(bytes));
    if matches!(row.task, XtsEncrypt | XtsDecrypt) {
        return Ok(Vec::new());
    }
    let mut pieces = Vec::new();
    let mut is_worth_it = false;
    let engine = row.family.engine(device, &key(row.key_bytes))?;
    let operation = measuring::operation(row.task, row.family.cipher().block_bytes);
    sizes.try_for_each(|bytes| {
        let data = &mut data[..bytes];
        let mut seconds = |limit: usize| -> Result<f64, Error> {
            engine.limit_chunk(limit);
            let pass = || engine.run_host_memory(operation, (&mut *data).into());
            Ok(median_on_clock(options.time.saturating_mul(4), pass)?.as_secs_f64())
        };
        let usual = seconds(usize::MAX)?;
        let mut fastest = (usize::MAX, usual / GAIN);
        for piece in PIECES.into_iter().filter(|piece| *piece < bytes) {
            let seconds = seconds(piece)?;
            if seconds < fastest.1 {
                fastest = (piece, seconds);
            }
        }
        is_worth_it |= fastest.0 != usize::MAX;
        // What is no limit is longer than any piece.
        let piece_bytes = (fastest.0 as u64).min(1 << 40);
        pieces.push(Piece { bytes: bytes as u64, piece_bytes });
        Ok::<(), Error>(())
    })?;
    Ok(if is_worth_it { pieces } else { Vec::new() })
}
