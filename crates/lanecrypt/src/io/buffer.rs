//! Memory for a piece of a stream, cleared when dropped.

use std::ops::{Deref, DerefMut};

use lanecrypt_core::clear_bytes;

use super::StreamMode;

/// The memory, zeros in the beginning.
pub(super) struct Buffer {
    bytes: Vec<u8>,
    /// Those that were written to: what was not need not be there either.
    used: usize,
}

impl Buffer {
    /// For pieces of a mode of at most `piece_bytes`, but one unit at least.
    pub(super) fn new(mode: &impl StreamMode, piece_bytes: usize) -> Self {
        let unit = mode.unit_bytes();
        Self { bytes: vec![0; piece_bytes.max(unit) / unit * unit], used: 0 }
    }

    /// Says that this number of bytes from the start were written to.
    pub(super) fn use_up_to(&mut self, end: usize) {
        self.used = self.used.max(end);
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        clear_bytes(&mut self.bytes[..self.used]);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{fs::File, os::unix::fs::FileExt};

    use lanecrypt_aes::{Aes128, cipher::KeyInit};
    use lanecrypt_core::Direction;

    use super::*;
    use crate::io::Ecb;

    /// Reads the freed memory, which Linux shows as a file. The allocator has written to its start.
    #[test]
    fn what_was_written_is_cleared() {
        const TEXT: u8 = 0xa7;
        let mode = Ecb::new(Aes128::new(&[1; 16].into()), Direction::Encrypt);
        let memory = File::open("/proc/self/mem").expect("Linux shows a process its memory");
        let mut left = vec![0; 4096];
        let mut buffer = Buffer::new(&mode, 4096);
        let address = buffer.as_ptr().addr() as u64;
        buffer[..3000].fill(TEXT);
        buffer.use_up_to(2000);
        buffer.use_up_to(3000);
        memory.read_exact_at(&mut left, address).expect("it is mapped");
        assert_eq!(left[..3000], [TEXT; 3000], "the scan finds what is there");
        drop(buffer);
        memory.read_exact_at(&mut left, address).expect("it is mapped");
        assert!(!left.contains(&TEXT), "bytes of the text are left");
    }
}
