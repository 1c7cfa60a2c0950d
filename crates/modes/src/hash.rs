//! GHASH under a key (SP 800-38D, 6.4): by the CPU's instructions, or by the crate `ghash` where it has
//! none.

use cipher::{Array, consts::U16};
use ghash::{GHash, universal_hash::UniversalHash};
use lanecrypt_core::HashPowers;
use lanecrypt_slicing::HashKey;

/// A hash key.
#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "one a key, and no allocator is at hand")]
pub(crate) enum Key {
    /// Powers of it, for instructions.
    Powers(HashKey),
    /// A hash that nothing was added to yet.
    Portable(GHash),
}

impl Key {
    /// Of the block of zeros, encrypted.
    pub(crate) fn new(h: &Array<u8, U16>) -> Self {
        HashKey::new(&h.0).map_or_else(|| Self::portable(h), Self::Powers)
    }

    /// The same without instructions.
    pub(crate) fn portable(h: &Array<u8, U16>) -> Self {
        Self::Portable(GHash::new(h))
    }

    /// The hash of nothing.
    pub(crate) fn start(&self) -> Hash<'_> {
        match self {
            Self::Powers(key) => Hash::Powers(key, [0; 16]),
            Self::Portable(hash) => Hash::Portable(hash.clone()),
        }
    }
}

/// A hash so far.
#[allow(clippy::large_enum_variant, reason = "one a message")]
pub(crate) enum Hash<'a> {
    Powers(&'a HashKey, [u8; 16]),
    Portable(GHash),
}

impl Hash<'_> {
    /// The powers of the key and the hash so far, where there are powers.
    pub(crate) fn by_powers(&mut self) -> Option<(&HashPowers, &mut [u8; 16])> {
        match self {
            Self::Powers(key, hash) => Some((key.powers(), hash)),
            Self::Portable(_) => None,
        }
    }

    /// Adds a string, filled up with zeros to whole blocks.
    pub(crate) fn add(&mut self, data: &[u8]) {
        match self {
            Self::Powers(key, hash) => {
                let (blocks, rest) = data.split_at(data.len() / 16 * 16);
                key.absorb(hash, blocks);
                if !rest.is_empty() {
                    let mut last = [0; 16];
                    last[..rest.len()].copy_from_slice(rest);
                    key.absorb(hash, &last);
                }
            }
            Self::Portable(hash) => hash.update_padded(data),
        }
    }

    /// Adds two lengths in bytes, and gives the hash.
    pub(crate) fn finish(mut self, lengths: [u64; 2]) -> [u8; 16] {
        let mut block = [0; 16];
        for (half, bytes) in block.as_chunks_mut::<8>().0.iter_mut().zip(lengths) {
            *half = (8 * bytes).to_be_bytes();
        }
        self.add(&block);
        match self {
            Self::Powers(_, hash) => hash,
            Self::Portable(hash) => hash.finalize().0,
        }
    }
}
