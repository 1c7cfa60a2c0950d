//! Key sizes, the key schedule, and the order of the rounds (RFC 3713, sections 2.2 and 2.3).

use core::{fmt, marker::PhantomData};

use cipher::{
    Array,
    array::ArraySize,
    consts::{U16, U24, U26, U32, U34},
    typenum::Unsigned,
};
use lanecrypt_core::{Clear, Direction, Secret};
use lanecrypt_slicing::{Schedule, run_in_lanes};

use crate::sliced::Mix;

/// Rounds between two FL layers.
pub(crate) const GROUP: usize = 6;
/// The most groups that there are.
pub(crate) const MAX_GROUPS: usize = 4;
/// Subkeys that a group has with the FL layer after it.
pub(crate) const STRIDE: usize = GROUP + 2;

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

/// Something for every subkey, in the order in which a direction takes them: kw1 and kw2, k1 to k6,
/// ke1 and ke2, and so on to kw3 and kw4.
pub(crate) type PerSubkey<K, T> = Secret<Array<T, <K as KeyLength>::Subkeys>>;

/// The subkeys of encryption.
#[derive(Clone)]
pub struct Subkeys<K: KeyLength>(PerSubkey<K, u64>);

/// Camellia's steps on the halves of one block, or of many.
pub(crate) trait Steps {
    /// A half of every block.
    type Half;
    /// A subkey.
    type Key;
    /// Adds a subkey.
    fn add(&self, half: &mut Self::Half, key: &Self::Key);
    /// Adds F of the other half.
    fn add_f(&self, half: &mut Self::Half, other: &Self::Half, key: &Self::Key);
    /// FL.
    fn fl(&self, half: &mut Self::Half, key: &Self::Key);
    /// The inverse of FL.
    fn fl_inverse(&self, half: &mut Self::Half, key: &Self::Key);
}

// ANCHOR: run
/// Runs the halves of a block, which are stored in the order in which they are left, under the
/// subkeys of a direction.
#[allow(clippy::inline_always, reason = "the steps are the whole of a cipher")]
#[inline(always)]
pub(crate) fn run<S: Steps>(steps: &S, keys: &[S::Key], [left, right]: &mut [S::Half; 2]) {
    let [kw1, kw2, middle @ .., kw3, kw4] = keys else {
        return;
    };
    steps.add(left, kw1);
    steps.add(right, kw2);
    for group in middle.chunks(STRIDE) {
        let (rounds, layers) = group.split_at(GROUP);
        for [first, second] in rounds.as_chunks::<2>().0 {
            steps.add_f(right, left, first);
            steps.add_f(left, right, second);
        }
        if let [fl, fl_inverse] = layers {
            steps.fl(left, fl);
            steps.fl_inverse(right, fl_inverse);
        }
    }
    steps.add(right, kw3);
    steps.add(left, kw4);
    core::mem::swap(left, right);
}
// ANCHOR_END: run

impl<K: KeyLength> Subkeys<K> {
    /// The subkeys in the order in which a direction takes them: decryption takes those of rounds
    /// and layers backwards, and the whitening of the other end.
    pub(crate) fn of(&self, direction: Direction) -> PerSubkey<K, u64> {
        let mut keys = self.0.clone();
        if direction == Direction::Decrypt {
            keys.reverse();
            let last = keys.len() - 1;
            keys.swap(0, 1);
            keys.swap(last - 1, last);
        }
        keys
    }

    /// Subkey `i` in the order of a direction.
    #[allow(clippy::inline_always, reason = "an index, met for every subkey")]
    #[inline(always)]
    pub(crate) fn at(&self, direction: Direction, i: usize) -> u64 {
        let last = self.0.len() - 1;
        match direction {
            Direction::Encrypt => self.0[i],
            // Whitening keys in their own order, the others backwards.
            Direction::Decrypt if i < 2 => self.0[last - 1 + i],
            Direction::Decrypt if i > last - 2 => self.0[i + 1 - last],
            Direction::Decrypt => self.0[last - i],
        }
    }
}

/// Another form of every subkey.
#[allow(clippy::inline_always, reason = "to be compiled with an instruction set")]
#[inline(always)]
pub(crate) fn map<K: KeyLength, T: Clear + Default>(
    keys: &PerSubkey<K, u64>,
    form: impl Fn(u64) -> T,
) -> PerSubkey<K, T> {
    let mut mapped = Secret::new(Array::default());
    for (mapped, key) in mapped.iter_mut().zip(keys.iter()) {
        *mapped = form(*key);
    }
    mapped
}

impl<K: KeyLength> Schedule for Subkeys<K> {
    type BlockSize = U16;
    type KeySize = K::Size;
    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        Self::expand(key, |keys| run_in_lanes(Mix(keys)))
    }
}

#[cfg(feature = "zeroize")]
impl<K: KeyLength> zeroize::ZeroizeOnDrop for Subkeys<K> {}

impl<K: KeyLength> fmt::Debug for Subkeys<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subkeys").finish_non_exhaustive()
    }
}

/// The constants Sigma1 to Sigma6: digits of the square roots of the first six primes.
pub(crate) const SIGMA: [u64; 6] = [
    0xa09e_667f_3bcc_908b,
    0xb67a_e858_4caa_73b2,
    0xc6ef_372f_e94f_82be,
    0x54ff_53a5_f1d3_6f1c,
    0x10e5_27fa_de68_2d1d,
    0xb056_88c2_b3e6_c1fd,
];

/// Where two subkeys come from: one of KL, KR, KA and KB (0 to 3), rotated left by a number of bits, the left
/// half first.
type Origin = (usize, u32);

const KL: usize = 0;
const KR: usize = 1;
const KA: usize = 2;
const KB: usize = 3;

/// The subkeys of keys of 128 bits. Of KA at 45 only the left half is used; the right one is that of KL at 60.
#[rustfmt::skip]
const SHORT: [Origin; 13] = [
    (KL, 0),
    (KA, 0), (KL, 15), (KA, 15),
    (KA, 30),
    (KL, 45), (KA, 45), (KA, 60),
    (KL, 77),
    (KL, 94), (KA, 94), (KL, 111),
    (KA, 111),
];

/// The subkeys of keys of 192 and 256 bits.
#[rustfmt::skip]
const LONG: [Origin; 17] = [
    (KL, 0),
    (KB, 0), (KR, 15), (KA, 15),
    (KR, 30),
    (KB, 30), (KL, 45), (KA, 45),
    (KL, 60),
    (KR, 60), (KB, 60), (KL, 77),
    (KA, 77),
    (KR, 94), (KA, 94), (KL, 111),
    (KB, 111),
];

impl<K: KeyLength> Subkeys<K> {
    /// The key schedule; the implementation makes KA and KB of KL and KR. With tables that is fast, with
    /// instructions and by the circuit it is constant-time.
    pub(crate) fn expand(
        key: &Array<u8, K::Size>,
        mix: impl FnOnce(Keys<'_>) -> [u128; 2],
    ) -> Self {
        let word = |bytes: &[u8]| bytes.iter().fold(0, |sum, &byte| sum << 8 | u128::from(byte));
        let (left, right) = key.split_at(16);
        let (kl, mut kr) = (word(left), word(right));
        if right.len() == 8 {
            kr = kr << 64 | kr ^ u128::from(u64::MAX); // and its complement
        }
        let is_long = !right.is_empty();
        let [ka, kb] = mix(Keys { kl: &kl, kr: is_long.then_some(&kr) });
        let sources = [kl, kr, ka, kb];
        let mut subkeys = Self(Secret::new(Array::default()));
        if is_long {
            subkeys.fill(&sources, &LONG);
        } else {
            subkeys.fill(&sources, &SHORT);
            subkeys.0[13] = kl.rotate_left(60) as u64;
        }
        subkeys
    }

    #[allow(clippy::inline_always, reason = "rotations by constants")]
    #[inline(always)]
    fn fill(&mut self, sources: &[u128; 4], origins: &[Origin]) {
        for (halves, &(source, by)) in self.0.as_chunks_mut::<2>().0.iter_mut().zip(origins) {
            let rotated: u128 = sources[source].rotate_left(by);
            *halves = [(rotated >> 64) as u64, rotated as u64];
        }
    }
}

/// KL, and KR of a key that has more than 128 bits: of another one it is zero, and KB is not wanted.
pub(crate) struct Keys<'a> {
    pub(crate) kl: &'a u128,
    pub(crate) kr: Option<&'a u128>,
}

/// F without the addition of its subkey.
pub(crate) trait RoundFunction {
    /// F of the halves of several blocks.
    fn f<const N: usize>(halves: [u64; N]) -> [u64; N];
}

/// KA and KB, on words.
pub(crate) fn mix<F: RoundFunction>(Keys { kl, kr }: Keys<'_>) -> [u128; 2] {
    // Two rounds of Feistel on the halves of a word.
    let two_rounds = |word: u128, sigma: [u64; 2]| {
        let (mut d1, mut d2) = ((word >> 64) as u64, word as u64);
        d2 ^= f_of::<F>(d1 ^ sigma[0]);
        d1 ^= f_of::<F>(d2 ^ sigma[1]);
        u128::from(d1) << 64 | u128::from(d2)
    };
    let [s1, s2, s3, s4, s5, s6] = SIGMA;
    let start = two_rounds(kl ^ kr.unwrap_or(&0), [s1, s2]);
    let ka = two_rounds(start ^ kl, [s3, s4]);
    [ka, kr.map_or(0, |kr| two_rounds(ka ^ kr, [s5, s6]))]
}

fn f_of<F: RoundFunction>(half: u64) -> u64 {
    let [image] = F::f([half]);
    image
}
