//! Memory of the host: as what is read, and taken for lengths that a file says.

use std::io;

use crate::{Error, Identity, Source, Version};

/// Bytes at hand as a source.
#[derive(Clone, Copy, Debug)]
pub struct InMemory<'a>(pub &'a [u8]);

impl Source for InMemory<'_> {
    fn identity(&self) -> io::Result<Identity> {
        let version = Version::Object(String::new());
        Ok(Identity { size: self.0.len() as u64, version })
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let from = usize::try_from(offset).ok().and_then(|offset| self.0.get(offset..));
        let bytes = from.and_then(|from| from.get(..buffer.len()));
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// The length of memory that has this many bytes.
///
/// # Errors
/// [`Error::Memory`] where no memory has as many.
pub fn length_of(bytes: u64) -> Result<usize, Error> {
    usize::try_from(bytes).map_err(|_| Error::Memory { bytes })
}

/// Zeros.
///
/// # Errors
/// [`Error::Memory`] where there is not as much memory.
pub fn zeroed(bytes: u64) -> Result<Vec<u8>, Error> {
    let length = length_of(bytes)?;
    // Only asked for, and given back: the system clears the pages of the memory below when threads first write there, side
    // by side.
    Vec::<u8>::new().try_reserve_exact(length).map_err(|_| Error::Memory { bytes })?;
    Ok(vec![0; length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_at_hand_are_read_where_they_are() {
        let source = InMemory(b"abcdef");
        assert_eq!(source.identity().unwrap().size, 6);
        let mut read = [0; 3];
        source.read_exact_at(&mut read, 2).unwrap();
        assert_eq!(read, *b"cde");
        for offset in [4, 7, u64::MAX] {
            let error = source.read_exact_at(&mut read, offset).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        }
        assert_eq!(read, *b"cde");
    }

    #[test]
    fn memory_that_there_is_not() {
        assert_eq!(zeroed(3).unwrap(), [0; 3]);
        for bytes in [1 << 62, u64::MAX] {
            let error = zeroed(bytes).unwrap_err();
            assert_eq!(error.to_string(), format!("no memory for {bytes} bytes"));
        }
    }
}
