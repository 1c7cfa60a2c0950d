//! Fields of binary headers: big-endian numbers and text that ends with a zero.

use crate::Error;

/// A header that is as long as its format says.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl Fields<'_> {
    pub(crate) fn u16_at(&self, at: usize) -> u16 {
        u16::from_be_bytes(self.array_at(at))
    }

    pub(crate) fn u32_at(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.array_at(at))
    }

    pub(crate) fn u64_at(&self, at: usize) -> u64 {
        u64::from_be_bytes(self.array_at(at))
    }

    pub(crate) fn array_at<const BYTES: usize>(&self, at: usize) -> [u8; BYTES] {
        let mut array = [0; BYTES];
        array.copy_from_slice(&self.0[at..at + BYTES]);
        array
    }

    /// The text of a field of `bytes` bytes.
    pub(crate) fn text_at(&self, at: usize, bytes: usize) -> Result<String, Error> {
        let field = &self.0[at..at + bytes];
        let end = field.iter().position(|&byte| byte == 0).unwrap_or(bytes);
        let text = str::from_utf8(&field[..end]);
        text.map(str::to_owned)
            .map_err(|_| Error::damaged(format!("the field at byte {at} is no text")))
    }
}
