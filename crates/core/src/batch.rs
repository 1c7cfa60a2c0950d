//! Batches: many messages in one call, each with its own key, mode and length.
//!
//! A [`Job`] is one message. What runs them is elsewhere: `lanecrypt::batch` on all cores or on a GPU,
//! `lanecrypt_cuda` on a GPU. A job that fails, fails alone: an `Outcome` names it, and all others are
//! complete.

use core::fmt;

use cipher::InOutBuf;

use crate::{
    Error, Mode,
    engine::whole_blocks,
    modes::{self, gcm},
};

/// What is done to the message of a [`Job`].
pub enum JobMode<'a> {
    /// ECB encryption of whole blocks.
    EcbEncrypt,
    /// ECB decryption of whole blocks.
    EcbDecrypt,
    /// CTR over any length; the counter is the whole block, big-endian, and wraps.
    Ctr {
        /// The first counter block.
        counter: &'a [u8],
    },
    /// CTR over any length; the counter is the last 32 bits of the block, and wraps by itself.
    Ctr32 {
        /// The first counter block.
        counter: &'a [u8],
    },
    /// CBC encryption of whole blocks, without padding.
    CbcEncrypt {
        /// A block.
        iv: &'a [u8],
    },
    /// CBC decryption of whole blocks, without padding.
    CbcDecrypt {
        /// A block.
        iv: &'a [u8],
    },
    /// GCM encryption over any length.
    GcmEncrypt {
        /// Of any length but zero; never used twice under one key.
        iv: &'a [u8],
        /// Associated data.
        aad: &'a [u8],
        /// Filled with the tag, of 4 to 16 bytes.
        tag: &'a mut [u8],
    },
    /// GCM decryption over any length. Where the tag is wrong the output is the ciphertext, or what it was.
    GcmDecrypt {
        /// Of any length but zero.
        iv: &'a [u8],
        /// Associated data.
        aad: &'a [u8],
        /// The tag, of 4 to 16 bytes.
        tag: &'a [u8],
    },
}

impl JobMode<'_> {
    /// The same for a shorter time.
    pub fn reborrow(&mut self) -> JobMode<'_> {
        match self {
            Self::EcbEncrypt => JobMode::EcbEncrypt,
            Self::EcbDecrypt => JobMode::EcbDecrypt,
            Self::Ctr { counter } => JobMode::Ctr { counter },
            Self::Ctr32 { counter } => JobMode::Ctr32 { counter },
            Self::CbcEncrypt { iv } => JobMode::CbcEncrypt { iv },
            Self::CbcDecrypt { iv } => JobMode::CbcDecrypt { iv },
            Self::GcmEncrypt { iv, aad, tag } => JobMode::GcmEncrypt { iv, aad, tag },
            Self::GcmDecrypt { iv, aad, tag } => JobMode::GcmDecrypt { iv, aad, tag },
        }
    }

    /// The mode of operation.
    #[must_use]
    pub fn mode(&self) -> Mode {
        match self {
            Self::EcbEncrypt | Self::EcbDecrypt => Mode::Ecb,
            Self::Ctr { .. } | Self::Ctr32 { .. } => Mode::Ctr,
            Self::CbcEncrypt { .. } | Self::CbcDecrypt { .. } => Mode::Cbc,
            Self::GcmEncrypt { .. } | Self::GcmDecrypt { .. } => Mode::Gcm,
        }
    }

    /// Checks all lengths, in bytes, for a message of `length` bytes in blocks of `block`: what every
    /// way to run a batch refuses, before it writes anything.
    ///
    /// # Errors
    /// [`Error::NotWholeBlocks`], [`Error::IvLength`]; for GCM [`Error::BlockLength`],
    /// [`Error::EmptyIv`], [`Error::TagLength`], [`Error::MessageLength`].
    pub fn check(&self, length: usize, block: usize) -> Result<(), Error> {
        let mode = self.mode();
        let is_iv = |iv: &[u8]| {
            if iv.len() == block {
                return Ok(());
            }
            Err(Error::IvLength { mode, given: iv.len(), accepted: block })
        };
        let is_gcm = |iv: &[u8], aad: &[u8], tag: &[u8]| {
            if block != modes::MAX_BLOCK {
                return Err(Error::BlockLength { mode, given: block });
            }
            gcm::check_lengths(iv.len(), aad.len(), length, tag.len())
        };
        match self {
            Self::EcbEncrypt | Self::EcbDecrypt => whole_blocks(mode, length, block),
            Self::Ctr { counter } | Self::Ctr32 { counter } => is_iv(counter),
            Self::CbcEncrypt { iv } | Self::CbcDecrypt { iv } => {
                is_iv(iv)?;
                whole_blocks(mode, length, block)
            }
            Self::GcmEncrypt { iv, aad, tag } => is_gcm(iv, aad, tag),
            Self::GcmDecrypt { iv, aad, tag } => is_gcm(iv, aad, tag),
        }
    }
}

impl fmt::Debug for JobMode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EcbEncrypt => "EcbEncrypt",
            Self::EcbDecrypt => "EcbDecrypt",
            Self::Ctr { .. } => "Ctr",
            Self::Ctr32 { .. } => "Ctr32",
            Self::CbcEncrypt { .. } => "CbcEncrypt",
            Self::CbcDecrypt { .. } => "CbcDecrypt",
            Self::GcmEncrypt { .. } => "GcmEncrypt",
            Self::GcmDecrypt { .. } => "GcmDecrypt",
        })
    }
}

/// One message of a batch.
///
/// Input and output are the same memory or disjoint. Where a length is refused the output is as it was. GCM decryption
/// leaves no plaintext that was not found authentic: where the tag is wrong the output is as [`JobMode::GcmDecrypt`]
/// says, and where the engine fails it is zeros or what it was, unless the call that runs the batch says otherwise. On
/// every other error it is unspecified and must not be used.
pub struct Job<'a> {
    /// The key, of any length that the cipher takes; it may differ from job to job.
    pub key: &'a [u8],
    /// What is done.
    pub mode: JobMode<'a>,
    /// The message; any length, also none.
    pub data: JobData<'a>,
}

/// The message of a [`Job`], in place or from one slice to another: what `InOutBuf` is, but threads may
/// share a batch.
pub struct JobData<'a>(Text<'a>);

enum Text<'a> {
    InPlace(&'a mut [u8]),
    /// Both are equally long.
    Apart(&'a [u8], &'a mut [u8]),
}

impl<'a> JobData<'a> {
    /// From one slice to another.
    ///
    /// # Errors
    /// [`Error::OutputLength`] where they are not equally long.
    pub fn new(input: &'a [u8], output: &'a mut [u8]) -> Result<Self, Error> {
        if input.len() == output.len() {
            return Ok(Self(Text::Apart(input, output)));
        }
        Err(Error::OutputLength { input: input.len(), output: output.len() })
    }

    /// Bytes of the message.
    #[must_use]
    pub fn len(&self) -> usize {
        self.input().len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The message, as long as it was not overwritten.
    #[must_use]
    pub fn input(&self) -> &[u8] {
        match &self.0 {
            Text::InPlace(data) => data,
            Text::Apart(input, _) => input,
        }
    }

    /// Where the result comes.
    pub fn output(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Text::InPlace(data) | Text::Apart(_, data) => data,
        }
    }

    /// Both, as engines take them.
    ///
    /// # Errors
    /// [`Error::OutputLength`] where they are not equally long.
    pub fn inout(&mut self) -> Result<InOutBuf<'_, '_, u8>, Error> {
        match &mut self.0 {
            Text::InPlace(data) => Ok((&mut **data).into()),
            Text::Apart(from, to) => {
                let lengths = Error::OutputLength { input: from.len(), output: to.len() };
                InOutBuf::new(from, to).map_err(|_| lengths)
            }
        }
    }
}

impl<'a> From<&'a mut [u8]> for JobData<'a> {
    fn from(data: &'a mut [u8]) -> Self {
        Self(Text::InPlace(data))
    }
}

/// Tells the mode and the length, never the key.
impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("mode", &self.mode)
            .field("length", &self.data.len())
            .finish_non_exhaustive()
    }
}

/// Tells the length, never the data.
impl fmt::Debug for JobData<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobData").field("length", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(feature = "alloc")]
pub use outcome::{Failure, Outcome};

#[cfg(feature = "alloc")]
mod outcome {
    use alloc::vec::Vec;
    use core::fmt;

    use crate::Error;

    /// A job that failed.
    #[derive(Debug)]
    pub struct Failure {
        /// Its number among the jobs of the call, from 0.
        pub job: usize,
        /// Why.
        pub error: Error,
    }

    impl fmt::Display for Failure {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "job {}: {}", self.job, self.error)
        }
    }

    /// What became of a batch: the jobs that failed, by number; all others are complete.
    #[derive(Debug, Default)]
    #[must_use = "jobs may have failed"]
    pub struct Outcome {
        failures: Vec<Failure>,
    }

    impl Outcome {
        /// Of these failures, in any order.
        pub fn new(mut failures: Vec<Failure>) -> Self {
            failures.sort_by_key(|failure| failure.job);
            Self { failures }
        }

        /// Whether every job is complete.
        #[must_use]
        pub fn is_complete(&self) -> bool {
            self.failures.is_empty()
        }

        /// The jobs that failed, by number.
        #[must_use]
        pub fn failures(&self) -> &[Failure] {
            &self.failures
        }

        /// The jobs that failed, by number, owned.
        #[must_use]
        pub fn into_failures(self) -> Vec<Failure> {
            self.failures
        }

        /// The same, for `?` where one failure is one too many.
        ///
        /// # Errors
        /// Itself, if any job failed.
        pub fn into_result(self) -> Result<(), Self> {
            if self.is_complete() { Ok(()) } else { Err(self) }
        }
    }

    impl fmt::Display for Outcome {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            const SHOWN: usize = 3;
            match self.failures.len() {
                0 => return f.write_str("every job is complete"),
                1 => f.write_str("1 job failed")?,
                count => write!(f, "{count} jobs failed")?,
            }
            for (i, failure) in self.failures.iter().take(SHOWN).enumerate() {
                write!(f, "{} {failure}", if i == 0 { ":" } else { ";" })?;
            }
            if self.failures.len() > SHOWN { f.write_str("; ...") } else { Ok(()) }
        }
    }

    impl core::error::Error for Outcome {}
}
