//! What can go wrong: what was given, and what is accepted. Texts never contain key material.

use std::io;

use lanecrypt::Brief;

/// What can go wrong with keysets, sealed files and jobs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A segment is not what was sealed: changed, moved, of another file, or cut off.
    #[error("segment {segment} is not authentic: the data was changed, moved or cut off")]
    NotAuthentic {
        /// The number of the segment, from 0.
        segment: u64,
    },
    /// No enabled key of the keyset opens the first segment.
    #[error(
        "not authentic: {} this with this associated data, or the beginning was changed{}{}",
        none_opens(tried), wanted(*key_bits), gone(destroyed)
    )]
    NoKeyOpens {
        /// The enabled keys of the size that the header asks for: none of them opens it.
        tried: Vec<u32>,
        /// Bits of the AES keys that sealed it, as the header says: all that the format tells of its key.
        key_bits: Option<u16>,
        /// Keys of the keyset that are destroyed: one of them may have sealed it.
        destroyed: Vec<u32>,
    },
    /// A key opens the first segment, but it is disabled, so that nothing is opened with it.
    #[error("not authentic: the key {id} opens this, but it is disabled in the keyset")]
    KeyDisabled {
        /// The id.
        id: u32,
    },
    /// Sealed data cannot have this length.
    #[error("not authentic: sealed data of {given} bytes does not end where a segment may")]
    Truncated {
        /// Bytes there are.
        given: u64,
    },
    /// The format has at most 2^32 segments.
    #[error("{given} bytes of plaintext; with these segments at most {most} can be sealed")]
    TooLong {
        /// Bytes given.
        given: u64,
        /// Bytes accepted.
        most: u64,
    },
    /// A segment, given by itself, has a length that its place does not allow.
    #[error("segment {segment} of {given} bytes of plaintext; it must have {accepted}")]
    SegmentLength {
        /// The number of the segment, from 0.
        segment: u64,
        /// Bytes given.
        given: u64,
        /// Bytes of a full segment, or where it is the last one, the most.
        accepted: u64,
    },
    /// Frames are not what was sealed: changed, swapped, of another key, of other associated data or cut off.
    #[error("not authentic: {}", numbered(frames))]
    FramesNotAuthentic {
        /// Their numbers in the call, from 0, in order.
        frames: Vec<u64>,
    },
    /// A call has another number of something than it should.
    #[error("{given} {what}; expected are {expected}")]
    Count {
        /// Of what.
        what: &'static str,
        /// The number given.
        given: usize,
        /// The number accepted.
        expected: usize,
    },
    /// Memory for sealed data has another length than that will have.
    #[error("{given} bytes of memory for sealed data; it has {expected}")]
    MemoryLength {
        /// Bytes given.
        given: u64,
        /// Bytes of the sealed data.
        expected: u64,
    },
    /// A range lies outside the plaintext.
    #[error("there are no bytes {start} to {end} in a plaintext of {length} bytes")]
    Range {
        /// The first byte asked for.
        start: u64,
        /// The byte after the last one asked for.
        end: u64,
        /// Bytes there are.
        length: u64,
    },
    /// A parameter is outside what Tink allows.
    #[error("{what} is {given}; accepted is {accepted}")]
    Parameter {
        /// Which one.
        what: &'static str,
        /// What it is.
        given: u64,
        /// What it may be.
        accepted: &'static str,
    },
    /// A keyset, a key, a header, a frame or a job does not have the form it should.
    #[error("malformed: {what}")]
    Malformed {
        /// What was expected.
        what: &'static str,
    },
    /// Text is not the JSON that it should be; not what stands there, which may be a key.
    #[error("line {line}, column {column} is not the JSON of a {of}")]
    Json {
        /// What it should describe.
        of: &'static str,
        /// The line, from 1.
        line: usize,
        /// The column.
        column: usize,
    },
    /// The keyset has no enabled key for sealed files with this id.
    #[error("the keyset has no enabled streaming key with the id {id}")]
    NoSuchKey {
        /// The id.
        id: u32,
    },
    /// The keyset has no key with this id.
    #[error("the keyset has no key with the id {id}")]
    NotInKeyset {
        /// The id.
        id: u32,
    },
    /// A key's status does not allow what was asked for.
    #[error("the key {id} {is}")]
    KeyStatus {
        /// The id.
        id: u32,
        /// What it is.
        is: &'static str,
    },
    /// The passphrase does not open the keyset, or the keyset was changed.
    #[error("the passphrase is wrong, or the encrypted keyset was changed")]
    WrongPassphrase,
    /// A passphrase would cost more than this library is willing to spend, or what is not possible.
    #[error("the passphrase's {what} is {given}; accepted is {least} to {most}")]
    Cost {
        /// Which cost.
        what: &'static str,
        /// What the file asks for.
        given: u64,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// The source is another one than it was, so what was read of it must not be used.
    #[error("the source changed: its {what} was {} and is {}", Brief(before), Brief(after))]
    SourceChanged {
        /// What changed.
        what: &'static str,
        /// What it was.
        before: String,
        /// What it is.
        after: String,
    },
    /// The memory that was asked for cannot be had.
    #[error("no memory for {bytes} bytes")]
    Memory {
        /// Bytes asked for.
        bytes: u64,
    },
    /// A job has no such part.
    #[error("there is no part {part} in a job of {parts} parts; the first part is 0")]
    NoSuchPart {
        /// The part asked for.
        part: u64,
        /// Parts there are.
        parts: u64,
    },
    /// Parts of a job are not there yet, so that it cannot be committed.
    #[error("{missing} of {parts} parts are missing, the first of them is {first}")]
    PartsMissing {
        /// How many.
        missing: u64,
        /// Parts there are.
        parts: u64,
        /// The first one missing, from 0.
        first: u64,
    },
    /// A job's output is not the one that its parts were written to.
    #[error("the job's output has {given} bytes and should have {expected}")]
    OutputLength {
        /// Bytes there are.
        given: u64,
        /// Bytes there should be.
        expected: u64,
    },
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// A cipher failed.
    #[error(transparent)]
    Engine(#[from] lanecrypt::Error),
    /// The system provided no random numbers.
    #[error("the system provided no random numbers: {0}")]
    Random(#[from] getrandom::Error),
    /// Reading or writing failed.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was tried.
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
}

fn none_opens(tried: &[u32]) -> String {
    match tried {
        [] => "no enabled key of the keyset opens".to_owned(),
        [id] => format!("the key {id} does not open"),
        ids => format!("none of the keys {} opens", listed(ids)),
    }
}

fn wanted(key_bits: Option<u16>) -> String {
    key_bits.map_or_else(String::new, |bits| format!("; its header asks for a key of AES-{bits}"))
}

fn gone(destroyed: &[u32]) -> String {
    match destroyed {
        [] => String::new(),
        ids => format!("; destroyed in the keyset: {}", listed(ids)),
    }
}

/// Names frames, the first few by their numbers.
fn numbered(frames: &[u64]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<_> = frames.iter().take(SHOWN).map(u64::to_string).collect();
    let more = match frames.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let plural = if frames.len() == 1 { "" } else { "s" };
    format!("frame{plural} {}{more}", shown.join(", "))
}

fn listed(ids: &[u32]) -> String {
    ids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

impl Error {
    /// Whether the data is not what was sealed, as opposed to what could not be read or written.
    #[must_use]
    pub fn is_not_authentic(&self) -> bool {
        matches!(
            self,
            Self::NotAuthentic { .. }
                | Self::NoKeyOpens { .. }
                | Self::KeyDisabled { .. }
                | Self::Truncated { .. }
                | Self::FramesNotAuthentic { .. }
                | Self::WrongPassphrase
        )
    }

    /// An error of a stream: one of ours that passed an [`io::Error`] on its way, or one of the system.
    pub(crate) fn of_io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.downcast() {
            Ok(error) => error,
            Err(source) => Self::Io { doing: doing.into(), source },
        }
    }
}

/// Of the system, where what was done is in the error.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::of_io("go on")(error)
    }
}

/// What the traits of `std::io` take: of kind `InvalidData` where data is not authentic. It can be
/// got back by [`io::Error::downcast`].
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Io { source, .. } => source,
            error if error.is_not_authentic() => Self::new(io::ErrorKind::InvalidData, error),
            error => Self::other(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_named_by_number() {
        let text = |frames| Error::FramesNotAuthentic { frames }.to_string();
        assert_eq!(text(vec![3]), "not authentic: frame 3");
        assert_eq!(text((0..8).collect()), "not authentic: frames 0, 1, 2, 3, 4, 5, 6, 7");
        assert!(text((0..10).collect()).ends_with(", 6, 7 and 2 more"));
    }

    #[test]
    fn keys_that_do_not_open_are_named_by_id() {
        let text = |tried: &[u32]| {
            let (tried, destroyed) = (tried.to_vec(), vec![5]);
            Error::NoKeyOpens { tried, key_bits: Some(128), destroyed }.to_string()
        };
        let ends = "this with this associated data, or the beginning was changed; \
                    its header asks for a key of AES-128; destroyed in the keyset: 5";
        for (tried, begins) in [
            (&[][..], "no enabled key of the keyset opens"),
            (&[3], "the key 3 does not open"),
            (&[3, 4], "none of the keys 3, 4 opens"),
        ] {
            assert_eq!(text(tried), format!("not authentic: {begins} {ends}"));
        }
    }

    #[test]
    fn only_what_is_not_authentic_is_invalid_data() {
        let kind = |error: Error| io::Error::from(error).kind();
        assert_eq!(kind(Error::NotAuthentic { segment: 0 }), io::ErrorKind::InvalidData);
        assert_eq!(kind(Error::Cancelled), io::ErrorKind::Other);
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(kind(Error::of_io("write")(full)), io::ErrorKind::StorageFull);
    }
}
