//! A key of GHASH, and its powers, which are made when a message first wants them.

use core::fmt;

use lanecrypt_core::{HashPowers, Secret};

use crate::{
    ghash::{Absorb, AbsorbFew, Block, MakePowers, POWERS, Polyval, times_x},
    has_aes,
    kept::Kept,
    on_cleared_stack,
};

/// The coefficient of 1 alone.
const ONE: Block = 0x80_u128.to_le_bytes();

/// A key of GHASH on a CPU that has instructions for it. Cleared when dropped.
///
/// Making it takes no time: its powers are made when a message first wants them, and kept. A short string that
/// comes before takes as many as it has blocks, and keeps none.
///
/// ```
/// use lanecrypt_slicing::HashKey;
///
/// // Test case 2 of the GCM specification: H is AES of zeros under the key of zeros.
/// let h = 0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e_u128.to_be_bytes();
/// if let Some(key) = HashKey::new(&h) {
///     let mut hash = [0; 16];
///     key.absorb(&mut hash, &0x0388_dace_60b6_a392_f328_c2b9_71b2_fe78_u128.to_be_bytes());
///     key.absorb(&mut hash, &128_u128.to_be_bytes());
///     assert_eq!(hash, 0xf38c_bb1a_d692_23dc_c345_7ae5_b6b0_f885_u128.to_be_bytes());
/// }
/// ```
#[derive(Clone)]
pub struct HashKey {
    /// The key itself, times x.
    first: Secret<Block>,
    powers: Kept,
}

impl HashKey {
    /// Of the hash key H, the block of zeros encrypted; `None` where this CPU multiplies no
    /// polynomials.
    #[must_use]
    #[inline] // so that it is made where it stays
    pub fn new(h: &[u8; 16]) -> Option<Self> {
        // What multiplies polynomials comes with AES.
        has_aes().then(|| Self { first: Secret::new(times_x(h)), powers: Kept::nothing() })
    }

    /// The room of a key, for a CPU without the instructions: zeros, and a hash by it panics there.
    #[must_use]
    #[inline]
    pub fn nothing() -> Self {
        Self { first: Secret::new([0; 16]), powers: Kept::nothing() }
    }

    /// The key whose [powers](Self::with_powers) these are, on the CPU that made them.
    #[must_use]
    pub fn of_powers(powers: &HashPowers) -> Self {
        let key = Self { first: Secret::new(powers[POWERS - 1]), powers: Kept::nothing() };
        key.powers.keep(powers);
        key
    }

    /// The key that is this one to the power `exponent`, one at least: adding a block of zeros to a hash
    /// under it is adding `exponent` blocks of zeros under this one. The time depends on the exponent, never on the key.
    #[must_use]
    pub fn power(&self, exponent: u64) -> Self {
        // The block of 1, multiplied by the squares of the key that the exponent has.
        let mut result = Secret::new(ONE);
        let mut square = self.clone();
        let mut rest = exponent.max(1);
        loop {
            if rest & 1 == 1 {
                square.absorb(&mut result, &[0; 16]);
            }
            rest >>= 1;
            if rest == 0 {
                return Self::another(&result);
            }
            let mut next = Secret::new(ONE);
            square.absorb(&mut next, &[0; 32]);
            square = Self::another(&next);
        }
    }

    /// A key where there was one before.
    fn another(h: &Block) -> Self {
        Self::new(h).expect(INSTRUCTIONS)
    }

    /// Runs `work` with the powers of the key, times x, that [`Hashing`](crate::Hashing) takes. The first call makes
    /// them.
    #[inline]
    pub fn with_powers<R>(&self, work: impl FnOnce(&HashPowers) -> R) -> R {
        match self.powers.get() {
            Some(powers) => work(powers),
            None => self.with_new_powers(work),
        }
    }

    /// Where another thread is about to keep them, this one has its own and does not wait.
    #[cold]
    fn with_new_powers<R>(&self, work: impl FnOnce(&HashPowers) -> R) -> R {
        let mut powers = Secret::new([[0; 16]; POWERS]);
        let body = MakePowers { first: &self.first, powers: &mut powers };
        on_cleared_stack::<MAKING, MAKING, _>(|| run_carryless(body)).expect(INSTRUCTIONS);
        self.powers.keep(&powers);
        work(self.powers.get().unwrap_or(&powers))
    }

    /// Adds a string, filled up with zeros to whole blocks, to a hash, which is zero in the beginning.
    pub fn absorb(&self, hash: &mut [u8; 16], bytes: &[u8]) {
        self.absorb_as::<false>(hash, bytes);
    }

    /// [`absorb`](Self::absorb) of blocks whose bytes are in reverse order, which POLYVAL has (RFC 8452,
    /// appendix A); those of the hash are not.
    pub fn absorb_reversed(&self, hash: &mut [u8; 16], bytes: &[u8]) {
        self.absorb_as::<true>(hash, bytes);
    }

    fn absorb_as<const REVERSED: bool>(&self, hash: &mut [u8; 16], bytes: &[u8]) {
        let is_short = bytes.len() <= 16 * (POWERS / 2);
        // What does not find room in registers is on the stack, powers among it.
        let done = on_cleared_stack::<MAKING, MAKING, _>(|| {
            if is_short && self.powers.get().is_none() {
                return run_carryless(AbsorbFew::<REVERSED> { first: &self.first, hash, bytes });
            }
            self.with_powers(|powers| run_carryless(Absorb::<REVERSED> { powers, hash, bytes }))
        });
        done.expect(INSTRUCTIONS);
    }
}

/// Bytes of stack that the making of powers takes at most, with a hash by them.
const MAKING: usize = 2 << 10;
const INSTRUCTIONS: &str = "a key is made where there are the instructions";

impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashKey").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl zeroize::ZeroizeOnDrop for HashKey {}

/// Makes `hash`, which is zeros, POLYVAL (RFC 8452, 3) of two strings, each filled up with zeros to whole blocks, and of
/// a last block, under a key for this alone, and returns true; false where this CPU multiplies no polynomials.
///
/// ```
/// // RFC 8452, appendix A.
/// let h = 0x2562_9347_5892_4276_1d31_f826_ba4b_757b_u128.to_be_bytes();
/// let first = 0x4f4f_9566_8c83_dfb6_4017_62bb_2d01_a262_u128.to_be_bytes();
/// let last = 0xd1a2_4ddd_2721_d006_bbe4_5f20_d3c9_f362_u128.to_be_bytes();
/// let mut hash = [0; 16];
/// if lanecrypt_slicing::polyval(&h, [&first, &[]], &last, &mut hash) {
///     assert_eq!(hash, 0xf7a3_b47b_8461_19fa_e5b7_866c_f5e5_b77e_u128.to_be_bytes());
/// }
/// ```
#[must_use]
pub fn polyval(key: &[u8; 16], strings: [&[u8]; 2], last: &[u8; 16], hash: &mut [u8; 16]) -> bool {
    run_carryless(Polyval { key, strings, last, hash }).is_some()
}

/// Runs a body with the widest instructions of this CPU, the same ones every time.
macro_rules! run_on_first {
    ($($isa:ident)*) => {
        #[inline]
        fn run_carryless<B>(body: B) -> Option<()>
        where
            B: $(crate::Body<crate::$isa, Output = ()> +)*
        {
            $(if let Ok(isa) = <crate::$isa as crate::Isa>::detect() {
                return Some(crate::Isa::run(isa, body));
            })*
            let _ = body;
            None
        }
    };
}
#[cfg(target_arch = "x86_64")]
run_on_first!(Avx512 Avx2Vaes AesNi);
#[cfg(target_arch = "aarch64")]
run_on_first!(NeonAes);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
run_on_first!();

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    const H: Block = 0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e_u128.to_be_bytes();

    #[test]
    fn a_power_of_a_key_stands_for_blocks_of_zeros() {
        let Some(key) = HashKey::new(&0x66e9_4bd4_ef8a_2c3b_u128.to_be_bytes()) else { return };
        let key = key.with_powers(HashKey::of_powers);
        for exponent in [1, 2, 3, 4, 5, 63, 64, 1000, 1 << 14, (1 << 14) + 7] {
            let (mut expected, mut found) = ([0x5a; 16], [0x5a; 16]);
            for _ in 0..exponent {
                key.absorb(&mut expected, &[0; 16]);
            }
            key.power(exponent).absorb(&mut found, &[0; 16]);
            assert_eq!(found, expected, "{exponent}");
        }
    }

    /// A string is hashed alike before the powers are there, by as many as it needs, and after.
    #[test]
    fn powers_change_no_hash() {
        let Some(kept) = HashKey::new(&H) else { return };
        // As many as the narrowest registers use.
        kept.with_powers(|powers| {
            assert!(powers[POWERS - 8..].iter().all(|power| *power != [0; 16]));
        });
        assert!(kept.powers.get().is_some());
        let text: std::vec::Vec<u8> = (0..1000_u32).map(|i| ((i * i) >> 3) as u8).collect();
        for length in 0..text.len() {
            let mut hashes = [[0x5a; 16]; 4];
            let [first, again, reversed, reversed_again] = &mut hashes;
            let fresh = HashKey::new(&H).expect("there was one");
            fresh.absorb(first, &text[..length]);
            assert_eq!(fresh.powers.get().is_some(), length > 256, "{length} bytes");
            kept.absorb(again, &text[..length]);
            HashKey::new(&H).expect("there was one").absorb_reversed(reversed, &text[..length]);
            kept.clone().absorb_reversed(reversed_again, &text[..length]);
            assert_eq!(hashes[0], hashes[1], "{length} bytes");
            assert_eq!(hashes[2], hashes[3], "{length} bytes, reversed");
        }
    }

    fn powers_of(key: &HashKey) -> HashPowers {
        key.with_powers(|powers| *powers)
    }

    #[test]
    fn threads_share_a_key() {
        let Some(key) = HashKey::new(&H) else { return };
        let other = HashKey::new(&H).expect("there was one");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| key.with_powers(|powers| assert_eq!(*powers, powers_of(&other))));
            }
        });
        assert!(key.powers.get().is_some(), "they are kept");
    }

    #[test]
    fn no_thread_waits_for_powers() {
        let Some(key) = HashKey::new(&H) else { return };
        let taken = HashKey { first: key.first.clone(), powers: Kept::being_filled() };
        assert_eq!(powers_of(&taken), powers_of(&key));
        assert!(taken.powers.get().is_none());
    }
}
