//! The parameter block of every kernel, as `kernels/common/parameters.cuh` declares it.

use lanecrypt_kernels::{HEADER_WORDS, modes::NO_KEY_WORDS};
use zerocopy::{Immutable, IntoBytes, transmute, transmute_ref};
use zeroize::Zeroizing;

/// Round keys in the layout of a kernel family: little-endian 32-bit words, a multiple of four.
/// Cleared when dropped.
pub struct Keys {
    words: Zeroizing<Vec<u32>>,
}

/// What of a parameter block is before the keys: `Parameters` of `kernels/common/parameters.cuh`.
#[derive(Clone, Copy, Debug, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Header {
    /// Address of the input.
    pub(crate) input: u64,
    /// Address of the output.
    pub(crate) output: u64,
    /// Blocks of either.
    pub(crate) blocks: u64,
    /// What the mode starts from.
    pub(crate) mode: [u64; 3],
}

/// The block of a kernel without keys.
#[derive(IntoBytes, Immutable)]
#[repr(C)]
struct WithoutKeys {
    header: Header,
    keys: [u32; NO_KEY_WORDS],
}

impl Header {
    fn words(&self) -> &[u64; HEADER_WORDS / 2] {
        transmute_ref!(self)
    }

    /// The parameter block of a kernel without keys, cleared when dropped: of what a mode starts from, masks and key
    /// stream are secret.
    pub(crate) fn without_keys(self) -> Zeroizing<[u64; HEADER_WORDS / 2 + NO_KEY_WORDS / 2]> {
        Zeroizing::new(transmute!(WithoutKeys { header: self, keys: [0; NO_KEY_WORDS] }))
    }
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
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The parameter block of a launch, of `bytes` bytes: the kernel takes the first of the words.
    ///
    /// # Panics
    /// Where there are fewer than it takes.
    pub(crate) fn parameters(&self, header: Header, bytes: usize) -> Zeroizing<Vec<u64>> {
        let mut block = Zeroizing::new(vec![0; bytes / 8]);
        let (first, keys) = block.split_at_mut(HEADER_WORDS / 2);
        first.copy_from_slice(header.words());
        let keys = keys.as_mut_bytes();
        keys.copy_from_slice(&self.words.as_bytes()[..keys.len()]);
        block
    }
}
