//! How DES is keyed, and the key schedule (FIPS 46-3, appendix 1).

use core::fmt;

use cipher::{
    Array,
    array::ArraySize,
    consts::{U8, U16, U24, U32, U48},
};
use lanecrypt_core::Direction;
use lanecrypt_reference::des::{LEFT_SHIFTS, PC1, PC2};

/// Rounds of one pass of DES.
pub(crate) const ROUNDS: usize = 16;
/// Bytes of a block, and of the key of one pass.
pub(crate) const BLOCK: usize = 8;

/// A way to key DES, as a type: one pass, or three of them under two or three keys.
pub trait Keying: Clone + Copy + fmt::Debug + Send + Sync + 'static {
    /// Bytes of the key.
    type Size: ArraySize;
    /// Round keys: sixteen for every eight bytes of the key.
    type RoundKeys: ArraySize;
    /// RustCrypto's name of the cipher.
    const NAME: &'static str;
    /// The passes of encryption: which eight bytes of the key each takes, and its direction.
    const PASSES: &'static [(usize, Direction)];
}

macro_rules! keying {
    ($name:ident, $doc:literal, $cipher:literal, $size:ty, $keys:ty, $($part:literal $way:ident),*) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Keying for $name {
            type Size = $size;
            type RoundKeys = $keys;
            const NAME: &'static str = $cipher;
            const PASSES: &'static [(usize, Direction)] = &[$(($part, Direction::$way)),*];
        }
    };
}
keying!(Single, "One pass of DES.", "Des", U8, U16, 0 Encrypt);
keying!(Ede2, "Encrypt, decrypt, encrypt under K1, K2, K1.", "TdesEde2", U16, U32,
    0 Encrypt, 1 Decrypt, 0 Encrypt);
keying!(Ede3, "Encrypt, decrypt, encrypt under K1, K2, K3.", "TdesEde3", U24, U48,
    0 Encrypt, 1 Decrypt, 2 Encrypt);
keying!(Eee2, "Encrypt three times under K1, K2, K1.", "TdesEee2", U16, U32,
    0 Encrypt, 1 Encrypt, 0 Encrypt);
keying!(Eee3, "Encrypt three times under K1, K2, K3.", "TdesEee3", U24, U48,
    0 Encrypt, 1 Encrypt, 2 Encrypt);

/// The bits of `value` that `table` names, in its order; both numbered as the standard does, from 1
/// at the left of `width` bits. Constant-time: positions are public.
pub(crate) fn permute(value: u64, width: u32, table: &[u8]) -> u64 {
    table.iter().fold(0, |sum, &from| sum << 1 | value >> (width - u32::from(from)) & 1)
}

/// C and D after permuted choice 1: 28 bits each. The parity bits are gone.
pub(crate) fn halves_of_key(key: u64) -> [u32; 2] {
    let chosen = permute(key, 64, &PC1);
    [(chosen >> 28) as u32, chosen as u32 & HALF]
}

const HALF: u32 = (1 << 28) - 1;

pub(crate) fn rotate28(half: u32, by: u32) -> u32 {
    (half << by | half >> (28 - by)) & HALF
}

/// Key bit `input` (from the left, 0 to 5) of S-box `sbox` (0 to 7) in a round key.
pub(crate) fn key_bit(round_key: u64, sbox: usize, input: usize) -> bool {
    round_key >> (47 - 6 * sbox - input) & 1 == 1
}

/// The round keys that each eight bytes of the key have, in the order of encryption: sixteen that
/// are the standard's, or what a form of the cipher makes of them. Cleared when dropped.
#[derive(Clone)]
pub(crate) struct Rounds<K: Keying, T: RoundKey> {
    keys: Array<T, K::RoundKeys>,
}

/// A round key in some form, by default zeros.
pub(crate) trait RoundKey: Clone + Default {}

impl RoundKey for u64 {}
impl RoundKey for [u32; 2] {}

impl<K: Keying> Rounds<K, u64> {
    /// The key schedule: 48 bits a round, the standard's bit 1 the most significant.
    pub(crate) fn expand(key: &Array<u8, K::Size>) -> Self {
        let mut keys = Array::<u64, K::RoundKeys>::default();
        let parts = key.as_chunks::<BLOCK>().0;
        for (rounds, part) in keys.as_chunks_mut::<ROUNDS>().0.iter_mut().zip(parts) {
            expand_part(u64::from_be_bytes(*part), rounds);
        }
        Self { keys }
    }
}

impl<K: Keying, T: RoundKey> Rounds<K, T> {
    /// Another form of every round key.
    pub(crate) fn map<U: RoundKey>(&self, form: impl Fn(&T) -> U) -> Rounds<K, U> {
        Rounds { keys: Array::from_fn(|i| form(&self.keys[i])) }
    }

    /// The round keys in the order in which `direction` adds them.
    #[cfg(feature = "cuda")]
    pub(crate) fn in_order(&self, direction: Direction) -> impl Iterator<Item = &T> {
        let pass = move |pass| (0..ROUNDS).map(move |round| self.key(direction, pass, round));
        (0..K::PASSES.len()).flat_map(pass)
    }

    /// The round key that `direction` adds in a round of a pass: it takes the passes backwards to
    /// decrypt, and in each the rounds.
    #[allow(clippy::inline_always, reason = "an index")]
    #[inline(always)]
    fn key(&self, direction: Direction, pass: usize, round: usize) -> &T {
        let last = K::PASSES.len() - 1;
        let is_backwards = direction == Direction::Decrypt;
        let (part, of_pass) = K::PASSES[if is_backwards { last - pass } else { pass }];
        let round = if direction == of_pass { round } else { ROUNDS - 1 - round };
        &self.keys[part * ROUNDS + round]
    }

    // ANCHOR: run
    /// Runs every pass on the halves after the initial permutation and leaves them as they are
    /// before the final one. Between two passes the permutations cancel, which leaves an exchange.
    #[allow(clippy::inline_always, reason = "`add_f` is the whole of a cipher")]
    #[inline(always)]
    pub(crate) fn run<H>(
        &self,
        direction: Direction,
        [left, right]: &mut [H; 2],
        add_f: impl Fn(&mut H, &H, &T),
    ) {
        for pass in 0..K::PASSES.len() {
            for round in (0..ROUNDS).step_by(2) {
                add_f(left, right, self.key(direction, pass, round));
                add_f(right, left, self.key(direction, pass, round + 1));
            }
            core::mem::swap(left, right);
        }
    }
    // ANCHOR_END: run
}

#[cfg(feature = "zeroize")]
impl<K: Keying, T: RoundKey> Drop for Rounds<K, T> {
    fn drop(&mut self) {
        self.keys.fill(T::default());
        // Keeps the writes above from being optimised away: the keys are used afterwards.
        core::hint::black_box(&mut self.keys);
    }
}

/// The round keys of eight bytes of key.
fn expand_part(key: u64, rounds: &mut [u64; ROUNDS]) {
    let [mut c, mut d] = halves_of_key(key);
    for (round, &shift) in rounds.iter_mut().zip(&LEFT_SHIFTS) {
        c = rotate28(c, shift.into());
        d = rotate28(d, shift.into());
        *round = permute(u64::from(c) << 28 | u64::from(d), 56, &PC2);
    }
}
