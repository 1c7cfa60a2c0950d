//! Errors: what was given, and what is accepted.

use core::fmt;

/// A mode of operation, for error texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Electronic codebook.
    Ecb,
    /// Cipher block chaining.
    Cbc,
    /// Counter mode.
    Ctr,
    /// Cipher feedback, with segments of a whole block.
    Cfb,
    /// Output feedback.
    Ofb,
    /// Galois counter mode (SP 800-38D).
    Gcm,
    /// Galois counter mode that withstands the misuse of nonces (RFC 8452).
    GcmSiv,
    /// Counter mode with CBC-MAC (SP 800-38C).
    Ccm,
    /// XEX with ciphertext stealing (IEEE 1619).
    Xts,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ecb => "ECB",
            Self::Cbc => "CBC",
            Self::Ctr => "CTR",
            Self::Cfb => "CFB",
            Self::Ofb => "OFB",
            Self::Gcm => "GCM",
            Self::GcmSiv => "GCM-SIV",
            Self::Ccm => "CCM",
            Self::Xts => "XTS",
        })
    }
}

/// Whether run time depends on key or data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantTime {
    /// No branch and no address depends on key or data.
    Yes,
    /// It does depend on them; how.
    No(&'static str),
}

impl ConstantTime {
    /// The claim of implementations that look tables up.
    pub const LOOKS_UP: Self = Self::No("table addresses depend on key and data");
}

impl fmt::Display for ConstantTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yes => f.write_str("yes"),
            Self::No(how) => write!(f, "no: {how}"),
        }
    }
}

/// Why a backend cannot run on this machine, as one sentence for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    #[cfg(feature = "alloc")]
    reason: alloc::borrow::Cow<'static, str>,
    #[cfg(not(feature = "alloc"))]
    reason: &'static str,
    is_of_the_cpu: bool,
}

impl Unavailable {
    /// A reason known beforehand.
    #[must_use]
    #[allow(clippy::useless_conversion, reason = "with `alloc` the field is a Cow")]
    pub fn because(reason: &'static str) -> Self {
        Self { reason: reason.into(), is_of_the_cpu: false }
    }

    /// The instructions that this CPU lacks: the one reason that is no defect of a machine set up
    /// for tests.
    #[must_use]
    pub fn of_the_cpu(reason: &'static str) -> Self {
        Self { is_of_the_cpu: true, ..Self::because(reason) }
    }

    /// Whether this CPU lacks instructions.
    #[must_use]
    pub fn is_of_the_cpu(&self) -> bool {
        self.is_of_the_cpu
    }

    /// A reason composed at run time.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn because_of(reason: alloc::string::String) -> Self {
        Self { reason: reason.into(), is_of_the_cpu: false }
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.reason, f)
    }
}

impl core::error::Error for Unavailable {}

/// What can go wrong in an engine or a mode. Texts never contain key material or data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The key has a length that the cipher does not take.
    #[error("{cipher} key of {given} bytes; accepted are {accepted:?} bytes")]
    KeyLength {
        /// The cipher's name.
        cipher: &'static str,
        /// Bytes given.
        given: usize,
        /// Bytes accepted.
        accepted: &'static [usize],
    },
    /// The IV, counter block or tweak has the wrong length.
    #[error("{mode} IV of {given} bytes; the block of this cipher takes {accepted}")]
    IvLength {
        /// The mode it was given to.
        mode: Mode,
        /// Bytes given.
        given: usize,
        /// Bytes accepted.
        accepted: usize,
    },
    /// Input and output differ in length.
    #[error("output of {output} bytes for an input of {input} bytes; they must be equally long")]
    OutputLength {
        /// Bytes of input.
        input: usize,
        /// Bytes of output.
        output: usize,
    },
    /// The data is not a whole number of blocks.
    #[error("{mode} over {given} bytes; the length must be a multiple of the {block}-byte block")]
    NotWholeBlocks {
        /// The mode it was given to.
        mode: Mode,
        /// Bytes given.
        given: usize,
        /// Bytes of a block.
        block: usize,
    },
    /// An XTS data unit is shorter than a block, so nothing can be stolen from.
    #[error("XTS data unit of {given} bytes; at least one block of {block} bytes is needed")]
    DataUnitLength {
        /// Bytes given.
        given: usize,
        /// Bytes of a block.
        block: usize,
    },
    /// The mode is defined for 128-bit blocks only, in XTS of the tweak's cipher as well.
    #[error("{mode} with a block of {given} bytes; it is defined for 16 bytes only")]
    BlockLength {
        /// The mode.
        mode: Mode,
        /// Bytes of the cipher's block.
        given: usize,
    },
    /// GCM takes an IV of any length but zero.
    #[error("GCM IV of 0 bytes; at least 1 is needed, and 12 are usual")]
    EmptyIv,
    /// CCM takes nonces of 7 to 13 bytes.
    #[error("CCM nonce of {given} bytes; accepted are 7 to 13")]
    NonceLength {
        /// Bytes given.
        given: usize,
    },
    /// GCM has tags of 4 to 16 bytes, CCM of an even number of them.
    #[error("{mode} tag of {given} bytes; accepted are {} from 4 to 16", tags(*mode))]
    TagLength {
        /// The mode.
        mode: Mode,
        /// Bytes given.
        given: usize,
    },
    /// There is more data than the mode takes under one IV.
    #[error("{given} bytes of {what} for {mode}; one nonce allows at most {most}")]
    MessageLength {
        /// The mode.
        mode: Mode,
        /// What there is too much of.
        what: &'static str,
        /// Bytes given.
        given: u64,
        /// Bytes accepted.
        most: u64,
    },
    /// Associated data of GCM came after data, which it has to come before.
    #[error("associated data of GCM after its data; it must come first")]
    LateAssociatedData,
    /// The tag is not that of this ciphertext, IV, associated data and key. Nothing was decrypted.
    #[error("the tag does not match: the message, associated data, IV, tag or key is wrong")]
    NotAuthentic,
    /// A seek or a write would pass the end of the key stream.
    #[error("position {position} is beyond the key stream of {length} bytes")]
    KeystreamEnd {
        /// The position asked for, saturated at `u128::MAX`.
        position: u128,
        /// Bytes of the key stream, as far as positions go.
        length: u128,
    },
    /// The backend cannot run here.
    #[error("{0}")]
    Unavailable(#[from] Unavailable),
    /// The device failed; the source says in which call.
    #[cfg(feature = "alloc")]
    #[error("{0}")]
    Device(alloc::boxed::Box<dyn core::error::Error + Send + Sync>),
}

/// Which lengths of tags a mode takes.
fn tags(mode: Mode) -> &'static str {
    if mode == Mode::Ccm { "even numbers" } else { "all" }
}

/// What is wrong with messages of one call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MessagesError {
    /// A message is refused, and nothing was written.
    #[error("message {number}: {error}")]
    Message {
        /// Its number among those of the call, from 0.
        number: usize,
        /// Why.
        #[source]
        error: Error,
    },
    /// There are not as many tags as messages; nothing was written.
    #[error("{tags} tags for {messages} messages; there must be one for each")]
    TagCount {
        /// Messages given.
        messages: usize,
        /// Tags given.
        tags: usize,
    },
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] Error),
}
