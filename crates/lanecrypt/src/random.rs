//! Random numbers from AES's key stream: the same on a CPU and on a GPU, wherever a request is cut.
//!
//! A [`Generator`] has a key, the number of a stream and a place in it. Each number is made of the bytes of key stream that
//! lie at its place, so that a million numbers are the same in one request or in many, on the CPU or on a device, and
//! streams of one key never meet. Its key is drawn by `CTR_DRBG` (SP 800-90A) from the system's entropy, or from a seed.
//!
//! ```
//! use lanecrypt::random::Generator;
//!
//! let mut random = Generator::from_seed(7);
//! let mut dice = [0_u32; 100];
//! random.integers(1..7, &mut dice)?;
//! assert!(dice.iter().all(|pips| (1..=6).contains(pips)));
//!
//! let saved = random.state();
//! let mut noise = [0.0_f32; 1000];
//! random.normals(&mut noise)?;
//!
//! let mut again = [0.0_f32; 1000];
//! Generator::from_state(&saved)?.normals(&mut again)?;
//! assert_eq!(noise, again);
//! # Ok::<(), lanecrypt::random::RandomError>(())
//! ```
//!
//! | of 32 bits | of 64 bits | is |
//! |---|---|---|
//! | [`Draw::Integers32`] | [`Draw::Integers64`] | an integer of a range, each as likely |
//! | [`Draw::Units32`] | [`Draw::Units64`] | a multiple of 2^-24 or 2^-53 in [0, 1), each as likely |
//! | [`Draw::Normals32`] | [`Draw::Normals64`] | of the standard normal distribution |
//!
//! Where secrecy matters: who knows the key, or a seed, knows all numbers. The CPU's AES is constant-time; the device looks
//! up in tables. Time tells which integers were drawn twice, and nothing of those that were taken.

#[cfg(feature = "cuda")]
mod device;
mod draws;
mod normal;
mod number;

use std::{fmt, ops::Range};

use cipher::KeyInit;
use lanecrypt_aes::{Aes128, Aes256};
use lanecrypt_core::{Counter, Engine, Operation, Secret};
use lanecrypt_modes::ctr_drbg::{CtrDrbg, DrbgError};
#[cfg(feature = "parallel")]
use rayon::prelude::*;
use zerocopy::IntoBytes as _;

pub use self::{
    draws::{Draw, Span},
    number::{Integer, Real},
};

/// Streams of one key.
pub const STREAMS: u64 = 1 << 48;
/// Bytes of a saved [`Generator::state`].
pub const STATE_BYTES: usize = 32;

const BLOCK: usize = 16;
const KEY_BYTES: usize = 16;
/// Key stream that is made and turned into numbers at once; it stays in a core's first cache.
const PART_BYTES: usize = 16 << 10;
/// What a thread takes at once of a long request.
#[cfg(feature = "parallel")]
const THREAD_BYTES: usize = 1 << 20;

/// Why numbers are not drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RandomError {
    /// Memory that is no whole number of numbers.
    #[error("{given} bytes of memory; a number has {number}")]
    Length {
        /// Bytes given.
        given: usize,
        /// Bytes of a number.
        number: usize,
    },
    /// A range without numbers.
    #[error("the range from {lowest} to {end} is empty")]
    EmptyRange {
        /// Its first number.
        lowest: i128,
        /// The number behind its last.
        end: i128,
    },
    /// A range with integers that are not among those that are drawn.
    #[error("the range from {lowest} to {end}; a draw is of integers that all have {bits} bits")]
    WideRange {
        /// Its first number.
        lowest: i128,
        /// The number behind its last.
        end: i128,
        /// Bits that a number has.
        bits: u32,
    },
    /// A stream beyond the last.
    #[error("stream {given}; streams are numbered from 0 to 2^48 - 1")]
    NoSuchStream {
        /// The number given.
        given: u64,
    },
    /// The stream ends.
    #[error("{length} bytes from byte {place} of a stream of 2^64 bytes")]
    End {
        /// Where the generator is.
        place: u64,
        /// Bytes asked for.
        length: usize,
    },
    /// The system gave no entropy.
    #[cfg(feature = "getrandom")]
    #[error("no entropy of the system: {0}")]
    Entropy(#[from] getrandom::Error),
    /// AES failed.
    #[error(transparent)]
    Engine(#[from] lanecrypt_core::Error),
    /// The device failed.
    #[cfg(feature = "cuda")]
    #[error(transparent)]
    Device(#[from] lanecrypt_cuda::Error),
}

/// Draws numbers.
///
/// Two threads take two streams, since a generator is at one place at a time.
pub struct Generator {
    key: Secret<[u8; KEY_BYTES]>,
    cipher: Aes128,
    stream: u64,
    /// Bytes of the stream that are drawn.
    place: u64,
    #[cfg(feature = "cuda")]
    there: Option<lanecrypt_cuda::Engine>,
}

impl Generator {
    /// One that cannot be foreseen: its key is drawn by `CTR_DRBG` with AES-256 from the system's entropy.
    ///
    /// # Errors
    /// [`RandomError::Entropy`].
    #[cfg(feature = "getrandom")]
    pub fn from_system() -> Result<Self, RandomError> {
        let mut entropy = Secret::new([0; 48]);
        getrandom::fill(&mut *entropy)?;
        let drbg = CtrDrbg::<Aes256>::with_full_entropy(&*entropy, b"lanecrypt::random");
        Ok(Self::drawn(drbg))
    }

    /// One for simulations that are to be repeated: the same seed gives the same numbers, and who guesses it knows them.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        let mut entropy = Secret::new([0; 32]);
        entropy[..8].copy_from_slice(&seed.to_le_bytes());
        Self::drawn(CtrDrbg::<Aes256>::new(&*entropy, &[0; 16], b"lanecrypt::random"))
    }

    fn drawn(drbg: Result<CtrDrbg<Aes256>, DrbgError>) -> Self {
        let mut key = Secret::new([0; KEY_BYTES]);
        let drawn = drbg.and_then(|mut drbg| drbg.generate(&mut *key, b""));
        drawn.expect("AES on the CPU does not fail, and lengths are the standard's");
        Self::at(key, 0, 0)
    }

    fn at(key: Secret<[u8; KEY_BYTES]>, stream: u64, place: u64) -> Self {
        let cipher = Aes128::new((&*key).into());
        Self {
            key,
            cipher,
            stream,
            place,
            #[cfg(feature = "cuda")]
            there: None,
        }
    }

    /// A generator of another stream of this key, at its beginning.
    ///
    /// # Errors
    /// [`RandomError::NoSuchStream`] from [`STREAMS`] on.
    pub fn stream(&self, number: u64) -> Result<Self, RandomError> {
        if number >= STREAMS {
            return Err(RandomError::NoSuchStream { given: number });
        }
        Ok(Self::at(Secret::new(*self.key), number, 0))
    }

    /// Bytes of the stream that are drawn.
    #[must_use]
    pub fn place(&self) -> u64 {
        self.place
    }

    /// Goes to another place in the stream, in bytes.
    pub fn seek(&mut self, place: u64) {
        self.place = place;
    }

    /// What [`from_state`](Self::from_state) goes on from: key, stream and place. It is as secret as the numbers.
    #[must_use]
    pub fn state(&self) -> Secret<[u8; STATE_BYTES]> {
        let mut state = Secret::new([0; STATE_BYTES]);
        state[..KEY_BYTES].copy_from_slice(&*self.key);
        state[KEY_BYTES..24].copy_from_slice(&self.stream.to_le_bytes());
        state[24..].copy_from_slice(&self.place.to_le_bytes());
        state
    }

    /// The generator whose state this is.
    ///
    /// # Errors
    /// [`RandomError::NoSuchStream`] for bytes that are no state.
    pub fn from_state(state: &[u8; STATE_BYTES]) -> Result<Self, RandomError> {
        let mut key = Secret::new([0; KEY_BYTES]);
        key.copy_from_slice(&state[..KEY_BYTES]);
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&state[at..at + 8]);
            u64::from_le_bytes(word)
        };
        let (stream, place) = (word(KEY_BYTES), word(KEY_BYTES + 8));
        if stream >= STREAMS {
            return Err(RandomError::NoSuchStream { given: stream });
        }
        Ok(Self::at(key, stream, place))
    }

    /// Fills memory with random bytes.
    ///
    /// # Errors
    /// [`RandomError::End`].
    pub fn bytes(&mut self, output: &mut [u8]) -> Result<(), RandomError> {
        self.draw(Draw::Bytes, output)
    }

    /// Draws integers of a range, each as likely.
    ///
    /// # Errors
    /// [`RandomError::EmptyRange`], [`RandomError::End`].
    pub fn integers<T: Integer>(
        &mut self,
        range: Range<T>,
        output: &mut [T],
    ) -> Result<(), RandomError> {
        self.draw(T::draw(range)?, output.as_mut_bytes())
    }

    /// Draws numbers in [0, 1), each multiple of 2^-24 (`f32`) or 2^-53 (`f64`) as likely.
    ///
    /// # Errors
    /// [`RandomError::End`].
    pub fn units<T: Real>(&mut self, output: &mut [T]) -> Result<(), RandomError> {
        self.draw(T::UNITS, output.as_mut_bytes())
    }

    /// Draws numbers of the normal distribution with mean 0 and standard deviation 1.
    ///
    /// # Errors
    /// [`RandomError::End`].
    pub fn normals<T: Real>(&mut self, output: &mut [T]) -> Result<(), RandomError> {
        self.draw(T::NORMALS, output.as_mut_bytes())
    }

    /// Draws numbers into memory that is any, in the CPU's order of bytes.
    ///
    /// # Errors
    /// [`RandomError::Length`], [`RandomError::WideRange`], [`RandomError::End`].
    pub fn draw(&mut self, draw: Draw, output: &mut [u8]) -> Result<(), RandomError> {
        let place = self.take(draw, output.len())?;
        #[cfg(feature = "parallel")]
        if output.len() > THREAD_BYTES {
            let parts = output.par_chunks_mut(THREAD_BYTES).enumerate();
            return parts.try_for_each(|(i, part)| {
                self.draw_at(draw, place + (i * THREAD_BYTES) as u64, part)
            });
        }
        self.draw_at(draw, place, output)
    }

    /// Where a request begins: at the next place for a number. The generator goes to its end.
    fn take(&mut self, draw: Draw, length: usize) -> Result<u64, RandomError> {
        draw.check()?;
        let number = draw.number_bytes();
        if !length.is_multiple_of(number) {
            return Err(RandomError::Length { given: length, number });
        }
        let end = RandomError::End { place: self.place, length };
        let begin = self.place.checked_next_multiple_of(number as u64);
        let Some((begin, after)) = begin.and_then(|at| Some((at, at.checked_add(length as u64)?)))
        else {
            return Err(end);
        };
        self.place = after;
        Ok(begin)
    }

    fn draw_at(&self, draw: Draw, place: u64, output: &mut [u8]) -> Result<(), RandomError> {
        let mut place = place;
        for part in output.chunks_mut(PART_BYTES) {
            self.key_stream(place, part)?;
            draw.apply(part, |at, attempt| self.again(place + at as u64, attempt))?;
            place += part.len() as u64;
        }
        Ok(())
    }

    /// The key stream from a byte on.
    fn key_stream(&self, place: u64, output: &mut [u8]) -> Result<(), RandomError> {
        let mut counter = self.counter(0, place / BLOCK as u64);
        let lead = (place % BLOCK as u64) as usize;
        let (head, whole) = output.split_at_mut(((BLOCK - lead) % BLOCK).min(output.len()));
        if !head.is_empty() {
            let mut block = Secret::new([0; BLOCK]);
            self.cipher.run(Operation::Ctr(counter), block.as_mut_slice().into())?;
            head.copy_from_slice(&block[lead..lead + head.len()]);
            counter = counter.plus(1);
        }
        whole.fill(0);
        Ok(self.cipher.run(Operation::Ctr(counter), whole.into())?)
    }

    /// The word of an attempt to draw the number at a place again.
    fn again(&self, place: u64, attempt: u64) -> Result<u64, RandomError> {
        let mut block = Secret::new([0; BLOCK]);
        let counter = self.counter(attempt, place);
        self.cipher.run(Operation::Ctr(counter), block.as_mut_slice().into())?;
        Ok(u64::from_le_bytes(*block.first_chunk().expect("it has 16 bytes")))
    }

    /// ```text
    ///  bits 127..112   111..64       63..0
    ///     attempt     the stream    a number
    /// ```
    fn counter(&self, attempt: u64, number: u64) -> Counter {
        let upper = attempt << 48 | self.stream;
        Counter::from((u128::from(upper) << 64 | u128::from(number)).to_be_bytes())
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Generator");
        debug.field("stream", &self.stream).field("place", &self.place).finish_non_exhaustive()
    }
}
