//! Cycles per byte of a rung, in messages of several lengths.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use serde::Serialize;

use crate::{
    check::{blocks, round_keys},
    rungs::Encrypt,
};

/// Blocks of the messages that are measured: what programs call packets, and a batch.
pub(crate) const LENGTHS: [usize; 5] = [1, 4, 16, 94, 1024];
/// A pass is as long as this: short enough that most are left alone by what else the machine does.
const PASS: Duration = Duration::from_micros(15);

/// Passes between two readings of the clock, which changes from millisecond to millisecond.
const PASSES: u32 = 20;

/// Of the fastest tenth of passes, each with the clock beside it, the one with the middle number of cycles: a clock that
/// changes within a pass is a wrong one.
fn typical(mut passes: Vec<(Duration, f64)>) -> (Duration, f64) {
    passes.sort_unstable_by_key(|(pass, _)| *pass);
    passes.truncate(passes.len().div_ceil(10));
    passes.sort_by(|a, b| (a.0.as_secs_f64() * a.1).total_cmp(&(b.0.as_secs_f64() * b.1)));
    passes[passes.len() / 2]
}

/// What was measured of a rung.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Timing {
    /// For every length.
    pub(crate) lengths: Vec<OfLength>,
}

/// What was measured of messages of a length.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct OfLength {
    /// Bytes of a message.
    pub(crate) bytes: usize,
    /// Seconds for a message, of the fastest pass.
    pub(crate) seconds: f64,
    /// The core's clock then.
    pub(crate) gigahertz: f64,
    /// Cycles for a byte of a message.
    pub(crate) cycles_per_byte: f64,
}

impl Timing {
    /// Measures a rung, for so many milliseconds each length.
    pub(crate) fn of(encrypt: &Encrypt, milliseconds: u64) -> Self {
        let time = Duration::from_millis(milliseconds);
        Self { lengths: LENGTHS.map(|count| OfLength::of(encrypt, count, time)).to_vec() }
    }

    /// Of the longest messages.
    pub(crate) fn long(&self) -> OfLength {
        self.lengths[LENGTHS.len() - 1]
    }
}

impl OfLength {
    fn of(encrypt: &Encrypt, count: usize, time: Duration) -> Self {
        let keys = round_keys(b"a key of no use.");
        // Messages of their own, so that none waits for the one before it, and all stay in the first cache.
        let mut buffer = blocks(LENGTHS[LENGTHS.len() - 1]);
        let messages = buffer.len() / count;
        let mut run = |times: u32| {
            let start = Instant::now();
            for _ in 0..times {
                for message in black_box(&mut buffer[..]).chunks_exact_mut(count) {
                    encrypt(black_box(&keys), message);
                }
            }
            start.elapsed()
        };
        let times = (PASS.as_nanos() / run(1).as_nanos().max(1)).clamp(1, 10_000) as u32;
        let start = Instant::now();
        let mut passes = Vec::new();
        let mut before = lanecrypt_clock::gigahertz();
        while start.elapsed() < time || passes.is_empty() {
            let pass = (0..PASSES).map(|_| run(times)).min().unwrap_or_default();
            let after = lanecrypt_clock::gigahertz();
            passes.push((pass, f64::max(before, after)));
            before = after;
        }
        let (fastest, gigahertz) = typical(passes);
        let seconds = fastest.as_secs_f64() / f64::from(times) / messages as f64;
        let bytes = 16 * count;
        Self {
            bytes,
            seconds,
            gigahertz,
            cycles_per_byte: seconds * gigahertz * 1e9 / bytes as f64,
        }
    }

    /// Throughput.
    pub(crate) fn gigabytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.seconds / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_clock_and_a_slow_pass_count_for_nothing() {
        let pass = |i: u64| (Duration::from_nanos(1_000 + i), 4.0);
        let mut passes: Vec<_> = (0..30).map(pass).collect();
        passes[0].1 = 3.3;
        passes[29].0 = Duration::from_micros(9);
        assert_eq!(typical(passes), pass(1));
        assert_eq!(typical(vec![pass(5)]), pass(5));
    }
}
