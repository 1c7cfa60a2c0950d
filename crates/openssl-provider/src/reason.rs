//! Why a call failed, in the codes that OpenSSL's own providers give.

use std::fmt;

/// What was wrong. Programs find the same codes in OpenSSL's error queue as with its own providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Data came before a key.
    NoKey,
    /// The key has another length than the algorithm's.
    KeyLength,
    /// The IV has another length than the mode's.
    IvLength,
    /// There is less room for the output than it takes.
    OutputTooSmall,
    /// The mode cannot do this, or not now.
    Operation,
    /// The last block is not whole.
    FinalBlock,
    /// The padding is not right: another key, or other data.
    BadDecrypt,
    /// The tag is another one, or missing at the end.
    NotAuthentic,
    /// There is no tag, or it has a length that tags do not have.
    Tag,
    /// A parameter cannot be read as what it should be.
    GetParameter,
    /// A parameter cannot be written into what was given for it.
    SetParameter,
    /// The associated data of a TLS record is none.
    Data,
    /// Two records would have the same IV.
    TooManyRecords,
    /// There is no memory.
    Memory,
    /// An argument is none that the call takes.
    Argument,
    /// A defect of this library.
    Internal,
}

impl Reason {
    /// The code: OpenSSL's library of errors of providers, and the reason's number in `proverr.h`, or
    /// in `err.h` with its flags. A wrong tag has none: programs tell it by that.
    #[must_use]
    pub fn code(self) -> Option<u32> {
        const PROVIDERS: u32 = 57 << 23;
        const FATAL: u32 = 3 << 18;
        const COMMON: u32 = 2 << 18;
        let reason = match self {
            Self::NotAuthentic => return None,
            Self::BadDecrypt => 100,
            Self::Operation => 102,
            Self::GetParameter => 103,
            Self::SetParameter => 104,
            Self::KeyLength => 105,
            Self::OutputTooSmall => 106,
            Self::FinalBlock => 107,
            Self::IvLength => 109,
            Self::Tag => 110,
            Self::NoKey => 114,
            Self::Data => 115,
            Self::TooManyRecords => 126,
            Self::Memory => FATAL + 256,
            Self::Internal => FATAL + 259,
            Self::Argument => COMMON + 262,
        };
        Some(PROVIDERS + reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoKey => "no key is set",
            Self::KeyLength => "the key has the wrong length",
            Self::IvLength => "the IV has the wrong length",
            Self::OutputTooSmall => "the output is too small",
            Self::Operation => "the cipher cannot do this",
            Self::FinalBlock => "the last block is not whole",
            Self::BadDecrypt => "the padding is wrong",
            Self::NotAuthentic => "the tag does not match",
            Self::Tag => "the tag is missing or has the wrong length",
            Self::GetParameter => "the parameter cannot be read",
            Self::SetParameter => "the parameter cannot be written",
            Self::Data => "the associated data is wrong",
            Self::TooManyRecords => "there are too many records",
            Self::Memory => "there is no memory",
            Self::Argument => "the argument is wrong",
            Self::Internal => "internal error",
        })
    }
}

impl std::error::Error for Reason {}

impl From<lanecrypt::Error> for Reason {
    /// Lengths are checked before, so that what an engine says is of its own.
    fn from(error: lanecrypt::Error) -> Self {
        match error {
            lanecrypt::Error::KeyLength { .. } => Self::KeyLength,
            lanecrypt::Error::IvLength { .. } | lanecrypt::Error::EmptyIv => Self::IvLength,
            lanecrypt::Error::TagLength { .. } => Self::Tag,
            lanecrypt::Error::NotAuthentic => Self::NotAuthentic,
            _ => Self::Operation,
        }
    }
}
