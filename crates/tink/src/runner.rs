//! Who runs segments: the CPU, or what takes many of them at once.

use std::{fmt, thread};

use crate::{Error, SegmentCipher};

/// A segment in memory, to be sealed or opened in place.
#[derive(Debug)]
pub struct Segment<'a> {
    /// Its number, from 0.
    pub number: u32,
    /// Whether it is the last of its file.
    pub is_last: bool,
    /// Its text.
    pub text: &'a mut [u8],
    /// Its tag, filled when sealing.
    pub tag: &'a mut [u8],
}

/// What seals and opens segments of one file, many in a call.
///
/// Files are cut into batches of about [`batch_bytes`](Self::batch_bytes), of which
/// [`threads`](Self::threads) are under way at once, each on a thread of its own: a CPU takes one
/// segment per core, a device many.
pub trait SegmentRunner: fmt::Debug + Send + Sync {
    /// Bytes of ciphertext that a call should have.
    fn batch_bytes(&self) -> usize;

    /// Calls that should run at once.
    fn threads(&self) -> usize;

    /// Seals segments of a file in place, in any order.
    ///
    /// # Errors
    /// Those of [`SegmentCipher::seal_segment`], and of a device.
    fn seal_batch(&self, cipher: &SegmentCipher, segments: &mut [Segment<'_>])
    -> Result<(), Error>;

    /// Opens segments of a file in place; those that fail have nothing of the plaintext.
    ///
    /// # Errors
    /// Those of [`SegmentCipher::open_segment`], and of a device.
    fn open_batch(&self, cipher: &SegmentCipher, segments: &mut [Segment<'_>])
    -> Result<(), Error>;
}

/// The CPU: every call runs on its own thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu {
    threads: usize,
}

impl Cpu {
    /// With this number of threads; 0 is as many as the machine has.
    #[must_use]
    pub const fn new(threads: usize) -> Self {
        Self { threads }
    }
}

impl SegmentRunner for Cpu {
    /// What is read, encrypted and written by one core should stay in its cache.
    fn batch_bytes(&self) -> usize {
        1 << 20
    }

    fn threads(&self) -> usize {
        match self.threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    fn seal_batch(
        &self,
        cipher: &SegmentCipher,
        segments: &mut [Segment<'_>],
    ) -> Result<(), Error> {
        segments.iter_mut().try_for_each(|segment| {
            cipher.seal_segment(segment.number, segment.is_last, segment.text, segment.tag)
        })
    }

    fn open_batch(
        &self,
        cipher: &SegmentCipher,
        segments: &mut [Segment<'_>],
    ) -> Result<(), Error> {
        segments.iter_mut().try_for_each(|segment| {
            cipher.open_segment(segment.number, segment.is_last, segment.text, segment.tag)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_has_the_threads_that_were_asked_for() {
        assert_eq!(Cpu::new(3).threads(), 3);
        assert_eq!(Cpu::default().threads(), thread::available_parallelism().unwrap().get());
    }
}
