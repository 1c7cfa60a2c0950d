//! What can be wrong with a container, a passphrase or a request.

use std::io;

use lanecrypt::Brief;

/// Why a container cannot be opened, read or written. No text depends on a key or a passphrase.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Neither a first header nor a second one of LUKS2.
    #[error("not a LUKS container: it does not begin with a LUKS header")]
    NotLuks,
    /// A version that is not defined.
    #[error("the header is of LUKS version {0}; supported are 1 and 2")]
    Version(u16),
    /// A header that contradicts itself, its checksum or its standard.
    #[error("the LUKS header is damaged: {0}")]
    Damaged(String),
    /// Something ends after the end of the container.
    #[error("the container is cut short: {what} ends at byte {end}, the container at byte {found}")]
    Truncated {
        /// What does not fit.
        what: &'static str,
        /// Where it should end.
        end: u64,
        /// Bytes of the container.
        found: u64,
    },
    /// A disk that would lie over the header with its key slots, and whose first write would destroy them.
    #[error(
        "the disk begins at byte {offset}, before its header ends, at byte {end}: a detached header, \
         whose disk lies elsewhere"
    )]
    Detached {
        /// Where the disk begins.
        offset: u64,
        /// Where the header ends with its key slots.
        end: u64,
    },
    /// A kind of cipher, hash, derivation or segment that is not supported.
    #[error("{what} {:?} is not supported; supported is {supported}", Brief(given))]
    Unsupported {
        /// What kind of thing.
        what: &'static str,
        /// Its name in the header.
        given: String,
        /// The names that are supported.
        supported: &'static str,
    },
    /// A feature that a reader of this LUKS2 container must know, such as a reencryption that has begun.
    #[error("the container requires {:?}, which is not supported", Brief(.0))]
    Requirement(String),
    /// A key slot asks for more work or memory than [`DerivationLimits`](crate::DerivationLimits) allow.
    #[error("a key slot asks for {given} {what}; the limit is {limit}")]
    Limit {
        /// The unit.
        what: &'static str,
        /// What the header says.
        given: u64,
        /// What is allowed.
        limit: u64,
    },
    /// The memory that a key slot asks for cannot be had.
    #[error("no memory for the {kib} KiB that a key slot's Argon2 takes")]
    Memory {
        /// What the header says.
        kib: u32,
    },
    /// No key slot gives the volume key.
    #[error(
        "none of the {tried} key slots tried opens: \
         the passphrase is wrong, or the key slots are damaged{}",
        skipped.as_ref().map(|error| format!(" (another was not tried: {error})")).unwrap_or_default()
    )]
    NoSlotOpens {
        /// Slots whose key was derived.
        tried: usize,
        /// Why the first of the others could not be tried.
        skipped: Option<Box<Self>>,
    },
    /// The file or device under the container.
    #[error("cannot {action} the container: {source}")]
    Storage {
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// A request beyond the end of the disk.
    #[error("bytes {offset} to {end} are beyond the disk's {disk} bytes")]
    OutOfBounds {
        /// The first byte.
        offset: u64,
        /// The byte after the last.
        end: u128,
        /// Bytes of the disk.
        disk: u64,
    },
    /// The cipher's engine.
    #[error("the cipher failed: {0}")]
    Cipher(#[from] lanecrypt::Error),
}

/// Why one key slot cannot be tried: an error that a header keeps, and that closes no other slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    Unsupported { what: &'static str, given: String, supported: &'static str },
    Damaged(String),
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Unsupported { what, given, supported } => {
                Self::Unsupported { what, given, supported }
            }
            Problem::Damaged(what) => Self::Damaged(what),
        }
    }
}

impl Error {
    /// The error number of the system, where it was the system that failed.
    #[must_use]
    pub fn raw_os_error(&self) -> Option<i32> {
        match self {
            Self::Storage { source, .. } => source.raw_os_error(),
            _ => None,
        }
    }

    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }

    /// Why a key slot's Argon2 gave no key. What it checks comes from the header; the memory is the machine's.
    pub(crate) fn of_argon2(error: argon2::Error, kib: u32) -> Self {
        match error {
            argon2::Error::OutOfMemory => Self::Memory { kib },
            error => Self::Damaged(format!("Argon2: {error}")),
        }
    }

    /// For `map_err`, of an error of the system while it was asked to do `action`.
    pub(crate) fn storage(action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Storage { action, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_memory_is_no_damage() {
        let text = Error::of_argon2(argon2::Error::OutOfMemory, 65_536).to_string();
        assert!(text.contains("no memory for the 65536 KiB"), "{text}");
        let error = Error::of_argon2(argon2::Error::SaltTooShort, 65_536);
        assert!(matches!(error, Error::Damaged(_)), "{error}");
    }

    /// Names of a header that anyone may have written.
    #[test]
    fn texts_of_a_header_are_cut_and_escaped() {
        let given = format!("\u{1b}[2J{}", "n".repeat(1 << 20));
        let errors = [
            Error::Requirement(given.clone()),
            Error::Unsupported { what: "hash", given, supported: "sha256" },
        ];
        for text in errors.map(|error| error.to_string()) {
            assert!(text.len() < 200 && !text.contains('\u{1b}') && text.contains('…'), "{text}");
        }
    }
}
