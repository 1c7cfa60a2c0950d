//! How DES is keyed, and the key schedule (FIPS 46-3, appendix 1).

use core::fmt;

use cipher::{
    Array,
    array::ArraySize,
    consts::{U1, U3, U8, U16, U24, U32, U48},
};
use lanecrypt_core::{Clear, Direction, Secret};
use lanecrypt_reference::des::{LEFT_SHIFTS, PC1, PC2};
use lanecrypt_slicing::Schedule;

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
    /// How many passes there are.
    type Passes: ArraySize;
    /// RustCrypto's name of the cipher.
    const NAME: &'static str;
    /// The passes of encryption: which eight bytes of the key each takes, and its direction.
    const PASSES: &'static [(usize, Direction)];
}

macro_rules! keying {
    ($name:ident, $doc:literal, $cipher:literal, $size:ty, $keys:ty, $passes:ty, $($part:literal $way:ident),*) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Keying for $name {
            type Size = $size;
            type RoundKeys = $keys;
            type Passes = $passes;
            const NAME: &'static str = $cipher;
            const PASSES: &'static [(usize, Direction)] = &[$(($part, Direction::$way)),*];
        }
    };
}
keying!(Single, "One pass of DES.", "Des", U8, U16, U1, 0 Encrypt);
keying!(Ede2, "Encrypt, decrypt, encrypt under K1, K2, K1.", "TdesEde2", U16, U32, U3,
    0 Encrypt, 1 Decrypt, 0 Encrypt);
keying!(Ede3, "Encrypt, decrypt, encrypt under K1, K2, K3.", "TdesEde3", U24, U48, U3,
    0 Encrypt, 1 Decrypt, 2 Encrypt);
keying!(Eee2, "Encrypt three times under K1, K2, K1.", "TdesEee2", U16, U32, U3,
    0 Encrypt, 1 Encrypt, 0 Encrypt);
keying!(Eee3, "Encrypt three times under K1, K2, K3.", "TdesEee3", U24, U48, U3,
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

/// Something for every round key, in the order of encryption: sixteen for each eight bytes of the
/// key.
pub(crate) type PerRound<K, T> = Secret<Array<T, <K as Keying>::RoundKeys>>;

/// The key schedule: 48 bits per round, the standard's bit 1 the most significant.
pub(crate) fn expand<K: Keying>(key: &Array<u8, K::Size>) -> PerRound<K, u64> {
    let mut keys: PerRound<K, u64> = Secret::new(Array::default());
    let parts = key.as_chunks::<BLOCK>().0;
    for (rounds, part) in keys.as_chunks_mut::<ROUNDS>().0.iter_mut().zip(parts) {
        expand_part(u64::from_be_bytes(*part), rounds);
    }
    keys
}

/// Another form of every round key.
pub(crate) fn map<K: Keying, T: Clear + Default>(
    keys: &PerRound<K, u64>,
    form: impl Fn(u64) -> T,
) -> PerRound<K, T> {
    let mut mapped: PerRound<K, T> = Secret::new(Array::default());
    for (mapped, key) in mapped.iter_mut().zip(keys.iter()) {
        *mapped = form(*key);
    }
    mapped
}

/// Which round key `direction` adds in a round of a pass: it takes the passes backwards to decrypt,
/// and in each the rounds.
#[allow(clippy::inline_always, reason = "an index")]
#[inline(always)]
pub(crate) fn number<K: Keying>(direction: Direction, pass: usize, round: usize) -> usize {
    let last = K::PASSES.len() - 1;
    let is_backwards = direction == Direction::Decrypt;
    let (part, of_pass) = K::PASSES[if is_backwards { last - pass } else { pass }];
    part * ROUNDS + if direction == of_pass { round } else { ROUNDS - 1 - round }
}

// ANCHOR: run
/// Runs every pass on the halves after the initial permutation and leaves them as they are before
/// the final one. Between two passes the permutations cancel, which leaves an exchange.
pub(crate) fn run<K: Keying, T: Clear + Copy>(
    keys: &PerRound<K, T>,
    direction: Direction,
    [left, right]: &mut [u32; 2],
    f: impl Fn(u32, T) -> u32,
) {
    for pass in 0..K::PASSES.len() {
        for round in (0..ROUNDS).step_by(2) {
            *left ^= f(*right, keys[number::<K>(direction, pass, round)]);
            *right ^= f(*left, keys[number::<K>(direction, pass, round + 1)]);
        }
        core::mem::swap(left, right);
    }
}
// ANCHOR_END: run

/// A round key in eight bytes, its bits where the bits of a half are that they are added to.
#[derive(Clone, Copy, Default)]
pub(crate) struct RoundKey {
    /// Those of the four inner inputs of every S-box: bits of a half that no two S-boxes share.
    pub(crate) inner: u32,
    /// Those of the first inputs, a nibble an S-box, S1 in the top one: in the nibble's lowest bit;
    /// and of the last inputs in the bit above. Other bits are zero.
    pub(crate) outer: u32,
}

impl RoundKey {
    pub(crate) fn new(round_key: u64) -> Self {
        let mut key = Self::default();
        for sbox in 0..8 {
            let six = (round_key >> (42 - 6 * sbox) & 0x3f) as u32;
            key.inner = key.inner << 4 | six >> 1 & 0xf;
            key.outer = key.outer << 4 | (six & 1) << 1 | six >> 5;
        }
        key
    }
}

impl Clear for RoundKey {
    fn clear(&mut self) {
        self.inner.clear();
        self.outer.clear();
    }
}

/// The round keys of a key.
#[derive(Clone)]
pub struct RoundKeys<K: Keying>(PerRound<K, RoundKey>);

impl<K: Keying> RoundKeys<K> {
    /// The round keys in the order of encryption.
    pub(crate) fn get(&self) -> &PerRound<K, RoundKey> {
        &self.0
    }
}

impl<K: Keying> Schedule for RoundKeys<K> {
    type BlockSize = U8;
    type KeySize = K::Size;
    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        Self(map::<K, _>(&expand::<K>(key), RoundKey::new))
    }
}

#[cfg(feature = "zeroize")]
impl<K: Keying> zeroize::ZeroizeOnDrop for RoundKeys<K> {}

impl<K: Keying> fmt::Debug for RoundKeys<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundKeys").finish_non_exhaustive()
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
