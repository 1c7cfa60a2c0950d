//! Memory of the host, as what is read.

use std::io;

use crate::{Identity, Source, Version};

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
