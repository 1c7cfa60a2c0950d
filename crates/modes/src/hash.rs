//! GHASH under a key (SP 800-38D, 6.4): by the CPU's instructions, or by the crate `ghash` where it has
//! none.

use core::fmt;

use cipher::{Array, consts::U16};
use ghash::{GHash, universal_hash::UniversalHash};
use lanecrypt_core::{HashPowers, Secret, modes::gcm, on_cleared_stack_of};
use lanecrypt_slicing::HashKey;

use crate::cleared;

/// A key of GHASH on any CPU, cleared when dropped (feature `zeroize`).
///
/// ```
/// use lanecrypt_modes::GhashKey;
///
/// // Test case 2 of the GCM specification: H is AES of zeros under the key of zeros.
/// let key = GhashKey::new(&0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e_u128.to_be_bytes().into());
/// let mut hash = key.start();
/// key.add(&mut hash, &0x0388_dace_60b6_a392_f328_c2b9_71b2_fe78_u128.to_be_bytes());
/// let expected = 0xf38c_bb1a_d692_23dc_c345_7ae5_b6b0_f885_u128.to_be_bytes();
/// assert_eq!(key.finish(hash, [0, 16]), expected);
/// ```
#[derive(Clone)]
pub struct GhashKey {
    /// For instructions, by its powers.
    powers: HashKey,
    /// H, for the crate `ghash`. No enum has the two: where one is moved, what lay on the stack goes with the
    /// bytes that a variant does not use, and no drop clears them.
    h: Secret<[u8; 16]>,
    is_portable: bool,
}

impl GhashKey {
    /// Of the block of zeros, encrypted.
    #[must_use]
    pub fn new(h: &Array<u8, U16>) -> Self {
        cleared(|| Self::of(h))
    }

    /// [`new`](Self::new), whose temporaries stay on the stack.
    #[inline]
    pub(crate) fn of(h: &Array<u8, U16>) -> Self {
        match HashKey::new(&h.0) {
            Some(powers) => Self { powers, h: Secret::new([0; 16]), is_portable: false },
            None => Self::portable(h),
        }
    }

    /// The same without instructions.
    pub(crate) fn portable(h: &Array<u8, U16>) -> Self {
        Self { powers: HashKey::nothing(), h: Secret::new(h.0), is_portable: true }
    }

    /// The hash of nothing.
    #[must_use]
    #[allow(clippy::unused_self, reason = "a hash is of a key")]
    pub fn start(&self) -> Ghash {
        Ghash(Secret::new([0; 16]))
    }

    /// Runs `work` with the powers of the key, where there are: what [`Engine::gcm`](lanecrypt_core::Engine::gcm)
    /// takes.
    #[inline]
    pub(crate) fn with_powers<R>(&self, work: impl FnOnce(&HashPowers) -> R) -> Option<R> {
        if self.is_portable { None } else { Some(self.powers.with_powers(work)) }
    }

    /// The counter block J0 of an IV (SP 800-38D, 7.1, step 2).
    pub(crate) fn first_counter(&self, iv: &[u8]) -> [u8; 16] {
        gcm::first_counter(iv).unwrap_or_else(|| {
            let mut hash = self.start();
            self.add(&mut hash, iv);
            self.finish(hash, [0, iv.len() as u64])
        })
    }

    /// [`with_powers`](Self::with_powers) and the hash so far.
    pub(crate) fn by_powers<R>(
        &self,
        hash: &mut Ghash,
        work: impl FnOnce(&HashPowers, &mut [u8; 16]) -> R,
    ) -> Option<R> {
        self.with_powers(|powers| work(powers, &mut hash.0))
    }

    /// Adds a string, filled up with zeros to whole blocks. The hash is one that this key
    /// [started](Self::start).
    pub fn add(&self, hash: &mut Ghash, data: &[u8]) {
        if self.is_portable {
            absorb::<false>(&self.h, &mut hash.0, data);
        } else {
            self.powers.absorb(&mut hash.0, data);
        }
    }

    /// Adds a string as [`add`](Self::add) does, the bytes of every block in reverse order.
    fn add_reversed(&self, hash: &mut Ghash, data: &[u8]) {
        if self.is_portable {
            absorb::<true>(&self.h, &mut hash.0, data);
        } else {
            self.powers.absorb_reversed(&mut hash.0, data);
        }
    }

    /// Adds two lengths in bytes, and gives the hash. GCM has no length of 2^61 bytes or more: of such a
    /// length the hash has the number of bits modulo 2^64.
    #[must_use]
    pub fn finish(&self, mut hash: Ghash, lengths: [u64; 2]) -> [u8; 16] {
        self.add(&mut hash, &gcm::lengths(lengths));
        *hash.0
    }
}

/// Bytes of stack that the crate `ghash` takes at most.
const ABSORBING: usize = 2 << 10;

/// Adds a string to a hash, `REVERSED` where the bytes of its blocks are in reverse order. The crate's hashes begin at
/// zero: what the hash is so far goes into the first block.
fn absorb<const REVERSED: bool>(h: &[u8; 16], hash: &mut [u8; 16], data: &[u8]) {
    if data.is_empty() {
        return;
    }
    on_cleared_stack_of::<ABSORBING, _>(|| {
        let mut sum = GHash::new(Array::cast_from_core(h));
        let block_of = |part: &[u8]| {
            let mut block = Array([0; 16]);
            block[..part.len()].copy_from_slice(part);
            if REVERSED {
                block.reverse();
            }
            block
        };
        let (first, rest) = data.split_at(data.len().min(16));
        let mut block = block_of(first);
        for (byte, so_far) in block.iter_mut().zip(&*hash) {
            *byte ^= so_far;
        }
        sum.update(&[block]);
        if REVERSED {
            rest.chunks(16).for_each(|part| sum.update(&[block_of(part)]));
        } else {
            sum.update_padded(rest); // some at once, where it can
        }
        hash.copy_from_slice(&sum.finalize());
    });
}

impl fmt::Debug for GhashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GhashKey").finish_non_exhaustive()
    }
}

/// A hash so far, of [`GhashKey::start`]. Cleared when dropped (feature `zeroize`).
#[derive(Clone)]
pub struct Ghash(Secret<[u8; 16]>);

impl fmt::Debug for Ghash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ghash").finish_non_exhaustive()
    }
}

/// POLYVAL of one message under a key of its own (RFC 8452, 3), which is GHASH of blocks whose bytes are
/// reversed, under the key times x (appendix A).
pub(crate) struct Polyval {
    key: GhashKey,
    hash: Ghash,
}

impl Polyval {
    /// The hash of nothing, by a key that `make` makes. Temporaries stay on the stack.
    pub(crate) fn new(h: &[u8; 16], make: impl Fn(&Array<u8, U16>) -> GhashKey) -> Self {
        let h = u128::from_le_bytes(*h);
        // In GHASH's order of bits, x moves them down: the one that falls out becomes the modulus.
        let times_x = (h >> 1) ^ ((h & 1).wrapping_neg() & (0xe1 << 120));
        let key = make(&Secret::new(Array(times_x.to_be_bytes())));
        let hash = key.start();
        Self { key, hash }
    }

    /// Adds a string, filled up with zeros to whole blocks.
    pub(crate) fn add(&mut self, data: &[u8]) {
        self.key.add_reversed(&mut self.hash, data);
    }

    /// The block of two lengths in bytes, which ends a hash.
    pub(crate) fn lengths(lengths: [u64; 2]) -> [u8; 16] {
        let [first, second] = lengths.map(|bytes| u128::from(bytes.wrapping_mul(8)));
        (first | second << 64).to_le_bytes()
    }

    /// Adds two lengths in bytes, and gives the hash.
    pub(crate) fn finish(&self, lengths: [u64; 2]) -> [u8; 16] {
        // Reversed, the block of the lengths is that of GHASH with its halves exchanged.
        let [first, second] = lengths;
        let mut hash = self.key.finish(self.hash.clone(), [second, first]);
        hash.reverse();
        hash
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_reference::gf128::{basis, ghash_product, polyval_product};

    use super::*;

    /// With instructions and without, on all 128 times 128 pairs of basis blocks.
    #[test]
    fn products_of_the_basis() {
        for h in basis() {
            for make in [GhashKey::of, GhashKey::portable] {
                let key = make(&Array(h));
                for block in basis() {
                    let mut hash = key.start();
                    key.add(&mut hash, &block);
                    assert_eq!(*hash.0, ghash_product(block, h), "{block:02x?}, {h:02x?}");
                    let mut polyval = Polyval::new(&h, make);
                    polyval.add(&block);
                    let mut found = *polyval.hash.0;
                    found.reverse();
                    assert_eq!(found, polyval_product(block, h), "{block:02x?}, {h:02x?}");
                }
            }
        }
    }

    /// RFC 8452, appendix A.
    #[test]
    fn polyval_of_the_rfc() {
        let h = 0x2562_9347_5892_4276_1d31_f826_ba4b_757b_u128.to_be_bytes();
        let blocks = [
            0x4f4f_9566_8c83_dfb6_4017_62bb_2d01_a262_u128,
            0xd1a2_4ddd_2721_d006_bbe4_5f20_d3c9_f362_u128,
        ];
        let expected = 0xf7a3_b47b_8461_19fa_e5b7_866c_f5e5_b77e_u128.to_be_bytes();
        for make in [GhashKey::of, GhashKey::portable] {
            let mut polyval = Polyval::new(&h, make);
            for block in blocks {
                polyval.add(&block.to_be_bytes());
            }
            let mut hash = *polyval.hash.0;
            hash.reverse();
            assert_eq!(hash, expected);
        }
    }

    #[test]
    fn lengths_are_64_bits_of_bits() {
        let h = Array([0x5a; 16]);
        for key in [GhashKey::new(&h), GhashKey::portable(&h)] {
            for lengths in [[0, 1_u64], [1 << 29, 1 << 30], [(1 << 61) - 1, (1 << 36) - 32]] {
                let mut block = Array([0; 16]);
                block[..8].copy_from_slice(&(8 * lengths[0]).to_be_bytes());
                block[8..].copy_from_slice(&(8 * lengths[1]).to_be_bytes());
                let mut expected = GHash::new(&h);
                expected.update(&[block]);
                assert_eq!(key.finish(key.start(), lengths), expected.finalize().0, "{lengths:?}");
            }
            let too_long = key.finish(key.start(), [1 << 61, u64::MAX]);
            assert_eq!(too_long, key.finish(key.start(), [0, (1 << 61) - 1]));
        }
    }
}
