//! Round keys: as masks on the host, where they are cleared at once.

use std::fmt;

use lanecrypt_core::Direction;
use zeroize::Zeroizing;

/// Masks that a kernel's keys have room for.
pub(crate) const MASKS: usize = 4096;

/// The keys of a direction: which whole of the cipher's plan runs, and a mask for each of its key planes. Cleared when
/// dropped.
pub struct DirectedKeys {
    whole: &'static str,
    masks: Zeroizing<Vec<u32>>,
}

/// Without keys.
impl fmt::Debug for DirectedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirectedKeys").field("whole", &self.whole).finish_non_exhaustive()
    }
}

impl DirectedKeys {
    /// Of a whole, as `identifier` of `lanecrypt-circuit` writes its name, and the masks in the order in which its
    /// steps take them: zero or all ones each, 4096 at most.
    pub fn new(whole: &'static str, masks: impl IntoIterator<Item = u32>) -> Self {
        // With its room from the start, no copy is left behind.
        let mut all = Zeroizing::new(Vec::with_capacity(MASKS));
        all.extend(masks.into_iter().take(MASKS));
        all.resize(MASKS, 0);
        Self { whole, masks: all }
    }

    /// The whole: kernels are called `ecb_` or `ctr_` and then this.
    #[must_use]
    pub fn whole(&self) -> &'static str {
        self.whole
    }

    /// The masks, 4096 of them: those of the key planes, and zeros. Secret: whoever copies them clears the copy.
    #[must_use]
    pub fn masks(&self) -> &[u32] {
        &self.masks
    }
}

/// The keys of both directions.
#[derive(Debug)]
pub struct KeyPair {
    /// For encryption, and for modes that only encrypt, such as CTR.
    pub encrypt: DirectedKeys,
    /// For decryption.
    pub decrypt: DirectedKeys,
}

impl KeyPair {
    /// Those of each direction.
    pub fn new(keys: impl Fn(Direction) -> DirectedKeys) -> Self {
        Self { encrypt: keys(Direction::Encrypt), decrypt: keys(Direction::Decrypt) }
    }
}
