//! Why a call failed, in the codes that OpenSSL's own providers give.

/// What was wrong. Programs find the same codes in OpenSSL's error queue as with its own providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Data came before a key.
    #[error("no key is set")]
    NoKey,
    /// The key has another length than the algorithm's.
    #[error("the key has the wrong length")]
    KeyLength,
    /// The IV has another length than the mode's.
    #[error("the IV has the wrong length")]
    IvLength,
    /// There is less room for the output than it takes.
    #[error("the output is too small")]
    OutputTooSmall,
    /// The mode cannot do this, or not now.
    #[error("the cipher cannot do this")]
    Operation,
    /// The last block is incomplete.
    #[error("the last block is incomplete")]
    FinalBlock,
    /// The padding is not right: another key, or other data.
    #[error("the padding is wrong")]
    BadDecrypt,
    /// The tag does not match, or is missing at the end.
    #[error("the tag does not match")]
    NotAuthentic,
    /// There is no tag, or it has a length that tags do not have.
    #[error("the tag is missing or has the wrong length")]
    Tag,
    /// CCM has no tags of this length.
    #[error("the tag has a length that CCM does not have")]
    TagLength,
    /// A tag is asked for that was not made.
    #[error("no tag was made")]
    TagNotSet,
    /// A tag is given to an encryption, which makes it.
    #[error("an encryption takes no tag")]
    TagNotNeeded,
    /// A parameter cannot be read as what it should be.
    #[error("the parameter cannot be read")]
    GetParameter,
    /// A parameter cannot be written into what was given for it, or has a value that it does not take.
    #[error("the parameter cannot be set")]
    SetParameter,
    /// The associated data of a TLS record is none.
    #[error("the associated data is wrong")]
    Data,
    /// A data unit of XTS has more than 2^20 blocks.
    #[error("the data unit is too large")]
    DataUnitTooLarge,
    /// Both keys of XTS are the same.
    #[error("both keys of XTS are the same")]
    DuplicatedKeys,
    /// Two records would have the same IV.
    #[error("there are too many records")]
    TooManyRecords,
    /// A known answer was not given: nothing is encrypted.
    #[error("the self-test failed")]
    SelfTest,
    /// There is no memory.
    #[error("out of memory")]
    Memory,
    /// An argument is none that the call takes.
    #[error("the argument is wrong")]
    Argument,
    /// A defect of this library.
    #[error("internal error")]
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
            Self::TagLength => 118,
            Self::TagNotSet => 119,
            Self::TagNotNeeded => 120,
            Self::TooManyRecords => 126,
            Self::DataUnitTooLarge => 148,
            Self::DuplicatedKeys => 149,
            Self::SelfTest => 215,
            Self::Memory => FATAL + 256,
            Self::Internal => FATAL + 259,
            Self::Argument => COMMON + 262,
        };
        Some(PROVIDERS + reason)
    }
}

impl From<lanecrypt::Error> for Reason {
    /// Lengths of keys, IVs and tags are checked before: whatever else is refused, OpenSSL says that the operation failed.
    fn from(_: lanecrypt::Error) -> Self {
        Self::Operation
    }
}
