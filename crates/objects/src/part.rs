//! A part that is sealed in memory, to be sent in one piece.

use std::{
    collections::BTreeMap,
    io,
    ops::Range,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use lanecrypt_tink::Target;
use object_store::PutPayload;

use crate::Error;

/// Pieces of a part, in any order and by several threads.
pub(crate) struct PartBuffer {
    range: Range<u64>,
    pieces: Mutex<BTreeMap<u64, Bytes>>,
}

impl PartBuffer {
    /// For this range of the sealed file.
    pub(crate) fn new(range: Range<u64>) -> Self {
        Self { range, pieces: Mutex::default() }
    }

    /// The part, if it is whole.
    pub(crate) fn into_payload(self) -> Result<PutPayload, Error> {
        let pieces = self.pieces.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut end = self.range.start;
        for (start, piece) in &pieces {
            if *start != end {
                break;
            }
            end += piece.len() as u64;
        }
        if end != self.range.end {
            let (given, expected) = (end - self.range.start, self.range.end - self.range.start);
            return Err(lanecrypt_tink::Error::OutputLength { given, expected }.into());
        }
        Ok(pieces.into_values().collect())
    }
}

impl Target for PartBuffer {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let piece = Bytes::copy_from_slice(bytes);
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner).insert(offset, piece);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where pieces start, and their bytes.
    type Pieces<'a> = &'a [(u64, &'a [u8])];

    #[test]
    fn only_a_whole_part_is_sent() {
        let part = |pieces: Pieces<'_>| {
            let buffer = PartBuffer::new(100..110);
            for (offset, bytes) in pieces {
                buffer.write_all_at(bytes, *offset).unwrap();
            }
            buffer.into_payload().map(Bytes::from)
        };
        assert_eq!(part(&[(104, b"efghij"), (100, b"abcd")]).unwrap(), "abcdefghij");
        // With the bytes from its beginning on.
        let broken: [(Pieces<'_>, u64); 4] = [
            (&[], 0),
            (&[(100, b"abcd")], 4),
            (&[(100, b"abcd"), (105, b"fghij")], 4),
            (&[(100, b"abcdef"), (105, b"fghij")], 6),
        ];
        for (pieces, complete) in broken {
            let Err(Error::Tink(lanecrypt_tink::Error::OutputLength { given, expected })) =
                part(pieces)
            else {
                panic!("{pieces:?}");
            };
            assert_eq!((given, expected), (complete, 10), "{pieces:?}");
        }
    }
}
