//! Key sizes, the key schedule, and the order of the rounds (RFC 3713, sections 2.2 and 2.3).

use core::{fmt, marker::PhantomData};

use cipher::{
    Array,
    array::ArraySize,
    consts::{U16, U24, U26, U32, U34},
    typenum::Unsigned,
};
use lanecrypt_core::Direction;

/// Rounds between two FL layers.
pub(crate) const GROUP: usize = 6;
/// Subkeys that a group has with the FL layer after it.
const STRIDE: usize = GROUP + 2;

/// A Camellia key size, as a type.
pub trait KeyLength: Clone + Copy + fmt::Debug + Send + Sync + 'static {
    /// Bytes of the key.
    type Size: ArraySize;
    /// Subkeys: one a round, two an FL layer, and four.
    type Subkeys: ArraySize;
    /// RustCrypto's name of the cipher.
    const NAME: &'static str;
}

/// The key size of `Size` bytes, from which `SUBKEYS` subkeys are made.
///
/// The three that there are have names: [`Key128`], [`Key192`] and [`Key256`].
#[derive(Clone, Copy, Debug)]
pub struct KeySize<Size, const SUBKEYS: usize>(PhantomData<fn() -> Size>);

macro_rules! key_length {
    ($name:ident, $size:ty, $subkeys:ty, $cipher:literal, $rounds:literal) => {
        #[doc = concat!("The key size of ", $cipher, ": ", $rounds, " rounds.")]
        pub type $name = KeySize<$size, { <$subkeys>::USIZE }>;

        impl KeyLength for $name {
            type Size = $size;
            type Subkeys = $subkeys;
            const NAME: &'static str = $cipher;
        }
    };
}
key_length!(Key128, U16, U26, "Camellia128", "18");
key_length!(Key192, U24, U34, "Camellia192", "24");
key_length!(Key256, U32, U34, "Camellia256", "24");

/// The subkeys, in a form that suits an implementation. Cleared when dropped.
///
/// In the order in which encryption takes them: kw1 and kw2, k1 to k6, ke1 and ke2, and so on to kw3
/// and kw4.
#[derive(Clone)]
pub(crate) struct Subkeys<K: KeyLength, T: Subkey> {
    keys: Array<T, K::Subkeys>,
}

/// A subkey in some form, by default zeros.
pub(crate) trait Subkey: Clone + Default {}

impl Subkey for u64 {}

/// Camellia's steps on the halves of one block, or of many.
pub(crate) trait Steps {
    /// A half of every block.
    type Half;
    /// A subkey.
    type Key: Subkey;
    /// Adds a subkey.
    fn add(half: &mut Self::Half, key: &Self::Key);
    /// Adds F of the other half.
    fn add_f(half: &mut Self::Half, other: &Self::Half, key: &Self::Key);
    /// FL.
    fn fl(half: &mut Self::Half, key: &Self::Key);
    /// The inverse of FL.
    fn fl_inverse(half: &mut Self::Half, key: &Self::Key);
}

impl<K: KeyLength, T: Subkey> Subkeys<K, T> {
    /// Groups of six rounds: 3 or 4.
    pub(crate) const GROUPS: usize = (K::Subkeys::USIZE - 2) / STRIDE;

    // ANCHOR: run
    /// Runs the halves of a block, which are stored in the order in which they are left.
    #[allow(clippy::inline_always, reason = "the steps are the whole of a cipher")]
    #[inline(always)]
    pub(crate) fn run<S: Steps<Key = T>>(
        &self,
        direction: Direction,
        [left, right]: &mut [S::Half; 2],
    ) {
        let [before, after] = self.whitening(direction);
        S::add(left, &before[0]);
        S::add(right, &before[1]);
        for pair in 0..GROUP / 2 * Self::GROUPS {
            if pair > 0 && pair % (GROUP / 2) == 0 {
                let layer = 2 * pair / (GROUP / 2) - 2;
                S::fl(left, self.layer(direction, layer));
                S::fl_inverse(right, self.layer(direction, layer + 1));
            }
            S::add_f(right, left, self.round(direction, 2 * pair));
            S::add_f(left, right, self.round(direction, 2 * pair + 1));
        }
        S::add(right, &after[0]);
        S::add(left, &after[1]);
        core::mem::swap(left, right);
    }
    // ANCHOR_END: run

    /// Another form of every subkey.
    pub(crate) fn map<U: Subkey>(&self, form: impl Fn(&T) -> U) -> Subkeys<K, U> {
        Subkeys { keys: Array::from_fn(|i| form(&self.keys[i])) }
    }

    /// The subkeys added before the first round and after the last one.
    pub(crate) fn whitening(&self, direction: Direction) -> [&[T]; 2] {
        let (first, last) = (&self.keys[..2], &self.keys[K::Subkeys::USIZE - 2..]);
        match direction {
            Direction::Encrypt => [first, last],
            Direction::Decrypt => [last, first],
        }
    }

    /// The subkey of a round, counted from 0.
    pub(crate) fn round(&self, direction: Direction, round: usize) -> &T {
        let round = in_order(direction, round, GROUP * Self::GROUPS);
        &self.keys[2 + round / GROUP * STRIDE + round % GROUP]
    }

    /// A subkey of the FL layers: an even one of FL, then an odd one of its inverse.
    pub(crate) fn layer(&self, direction: Direction, layer: usize) -> &T {
        let layer = in_order(direction, layer, 2 * (Self::GROUPS - 1));
        &self.keys[STRIDE + layer / 2 * STRIDE + layer % 2]
    }
}

/// Decryption takes the subkeys of the rounds and layers backwards.
fn in_order(direction: Direction, index: usize, count: usize) -> usize {
    match direction {
        Direction::Encrypt => index,
        Direction::Decrypt => count - 1 - index,
    }
}

/// The constants Sigma1 to Sigma6: digits of the square roots of the first six primes.
const SIGMA: [u64; 6] = [
    0xa09e_667f_3bcc_908b,
    0xb67a_e858_4caa_73b2,
    0xc6ef_372f_e94f_82be,
    0x54ff_53a5_f1d3_6f1c,
    0x10e5_27fa_de68_2d1d,
    0xb056_88c2_b3e6_c1fd,
];

/// Where a subkey comes from: one of KL, KR, KA and KB (0 to 3), rotated left by so many bits, and
/// which half of it (0 the left one).
type Origin = (usize, u32, usize);

const KL: usize = 0;
const KR: usize = 1;
const KA: usize = 2;
const KB: usize = 3;

/// Both halves of each.
const fn halves<const PAIRS: usize, const ALL: usize>(
    origins: [(usize, u32); PAIRS],
) -> [Origin; ALL] {
    let mut all = [(0, 0, 0); ALL];
    let mut i = 0;
    while i < ALL {
        all[i] = (origins[i / 2].0, origins[i / 2].1, i % 2);
        i += 1;
    }
    all
}

/// The subkeys of keys of 128 bits. Of KA at 45 only the left half is used, of KL at 60 the right
/// one.
#[rustfmt::skip]
const SHORT: [Origin; 26] = {
    let mut origins = halves([
        (KL, 0),
        (KA, 0), (KL, 15), (KA, 15),
        (KA, 30),
        (KL, 45), (KA, 45), (KA, 60),
        (KL, 77),
        (KL, 94), (KA, 94), (KL, 111),
        (KA, 111),
    ]);
    origins[13] = (KL, 60, 1);
    origins
};

/// The subkeys of keys of 192 and 256 bits.
#[rustfmt::skip]
const LONG: [Origin; 34] = halves([
    (KL, 0),
    (KB, 0), (KR, 15), (KA, 15),
    (KR, 30),
    (KB, 30), (KL, 45), (KA, 45),
    (KL, 60),
    (KR, 60), (KB, 60), (KL, 77),
    (KA, 77),
    (KR, 94), (KA, 94), (KL, 111),
    (KB, 111),
]);

impl<K: KeyLength> Subkeys<K, u64> {
    /// The key schedule, with an F of the implementation's own: a table is fast, the circuit is
    /// constant-time.
    pub(crate) fn expand<F: RoundFunction>(key: &Array<u8, K::Size>) -> Self {
        let origins: &[Origin] = if key.len() == 16 { &SHORT } else { &LONG };
        let sources = sources::<F>(key);
        let subkey = |i: usize| {
            let (source, rotation, half) = origins[i];
            let rotated: u128 = sources[source].rotate_left(rotation);
            (rotated >> (64 - 64 * half)) as u64
        };
        Self { keys: Array::from_fn(subkey) }
    }
}

/// F without the addition of its subkey.
pub(crate) trait RoundFunction {
    /// F of the halves of several blocks.
    fn f<const N: usize>(halves: [u64; N]) -> [u64; N];
}

/// KL, KR, KA and KB.
fn sources<F: RoundFunction>(key: &[u8]) -> [u128; 4] {
    let mut bytes = [0; 32];
    bytes[..key.len()].copy_from_slice(key);
    if key.len() == 24 {
        for i in 16..24 {
            bytes[i + 8] = !bytes[i];
        }
    }
    let [left, right] = [0, 16].map(|at| {
        let half = bytes[at..].first_chunk::<16>();
        half.map_or(0, |half| u128::from_be_bytes(*half))
    });
    // Two rounds of Feistel on the halves of a word.
    let two_rounds = |word: u128, sigma: [u64; 2]| {
        let (mut d1, mut d2) = ((word >> 64) as u64, word as u64);
        d2 ^= f_of::<F>(d1 ^ sigma[0]);
        d1 ^= f_of::<F>(d2 ^ sigma[1]);
        u128::from(d1) << 64 | u128::from(d2)
    };
    let [s1, s2, s3, s4, s5, s6] = SIGMA;
    let ka = two_rounds(two_rounds(left ^ right, [s1, s2]) ^ left, [s3, s4]);
    let kb = two_rounds(ka ^ right, [s5, s6]);
    [left, right, ka, kb]
}

fn f_of<F: RoundFunction>(half: u64) -> u64 {
    let [image] = F::f([half]);
    image
}

#[cfg(feature = "zeroize")]
impl<K: KeyLength, T: Subkey> Drop for Subkeys<K, T> {
    fn drop(&mut self) {
        self.keys.fill(T::default());
        // Keeps the writes above from being optimised away: the keys are used afterwards.
        core::hint::black_box(&mut self.keys);
    }
}
