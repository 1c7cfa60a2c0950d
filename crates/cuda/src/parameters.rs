//! The parameter block of every kernel, as `kernels/common/parameters.cuh` declares it.

use lanecrypt_kernels::HEADER_WORDS;
use zeroize::Zeroizing;

/// Round keys in the layout of a kernel family: little-endian 32-bit words, a multiple of four.
/// Cleared when dropped.
pub struct Keys {
    words: Zeroizing<Vec<u32>>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

impl Keys {
    /// Takes the words over; the kernels align keys to 16 bytes, so they are filled up with zeros.
    #[must_use]
    pub fn new(words: Zeroizing<Vec<u32>>) -> Self {
        let mut words = words;
        let length = words.len().next_multiple_of(4);
        if length > words.capacity() {
            // Growing in place would leave a copy of the keys behind.
            let mut larger = Zeroizing::new(Vec::with_capacity(length));
            larger.extend_from_slice(&words);
            words = larger;
        }
        words.resize(length, 0);
        Self { words }
    }

    /// The words, of which there are a multiple of four.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// The parameter block of a launch.
    pub(crate) fn parameters(
        &self,
        input: u64,
        output: u64,
        blocks: u64,
        counter: u128,
    ) -> Zeroizing<Vec<u64>> {
        let mut block = Zeroizing::new(Vec::with_capacity(HEADER_WORDS / 2 + self.words.len() / 2));
        block.extend([input, output, blocks, (counter >> 64) as u64, counter as u64, 0]);
        block.extend(
            self.words.chunks_exact(2).map(|pair| u64::from(pair[1]) << 32 | u64::from(pair[0])),
        );
        block
    }
}
