//! The key schedule and the order of the rounds (GB/T 32907, sections 7.1 and 7.3).

use core::fmt;

use lanecrypt_core::{Clear, Direction, Secret};

/// RustCrypto's name of the cipher.
pub(crate) const NAME: &str = "Sm4";
/// Rounds, two at a time: the words that the one adds its image to and the other's are a half of the block.
pub(crate) const PAIRS: usize = 16;

/// Something for every round key, in the order in which a direction takes them.
pub(crate) type PerRound<T> = Secret<[[T; 2]; PAIRS]>;

/// The round keys of encryption; backwards they are those of decryption.
#[derive(Clone)]
pub struct RoundKeys(PerRound<u32>);

/// SM4's steps on the words of one block or of many.
pub(crate) trait Steps {
    /// A word of every block.
    type Word;
    /// A round key.
    type Key;
    /// Two rounds (section 7.1.1): to the first word T of the sum of the second, `others` and a key is added, then to the
    /// second T of the sum of the first, `others` and the next key.
    fn two_rounds(
        &self,
        words: &mut [Self::Word; 2],
        others: &[Self::Word; 2],
        keys: &[Self::Key; 2],
    );
}

// ANCHOR: run
/// Runs the words of a block, which are left in the order in which they are stored.
#[allow(clippy::inline_always, reason = "the steps are the whole of a cipher")]
#[inline(always)]
pub(crate) fn run<S: Steps>(
    steps: &S,
    keys: &[[S::Key; 2]; PAIRS],
    [first, second]: &mut [[S::Word; 2]; 2],
) {
    for [keys, next_keys] in keys.as_chunks::<2>().0 {
        steps.two_rounds(first, second, keys);
        steps.two_rounds(second, first, next_keys);
    }
    core::mem::swap(first, second);
    first.reverse();
    second.reverse();
}
// ANCHOR_END: run

impl RoundKeys {
    /// The round keys in the order in which a direction takes them.
    pub(crate) fn of(&self, direction: Direction) -> PerRound<u32> {
        let mut keys = self.0.clone();
        if direction == Direction::Decrypt {
            keys.as_flattened_mut().reverse();
        }
        keys
    }

    /// The keys of pair `i` of rounds in the order of a direction.
    #[allow(clippy::inline_always, reason = "an index, met for every round")]
    #[inline(always)]
    pub(crate) fn at(&self, direction: Direction, i: usize) -> [u32; 2] {
        match direction {
            Direction::Encrypt => self.0[i],
            Direction::Decrypt => {
                let [first, second] = self.0[PAIRS - 1 - i];
                [second, first]
            }
        }
    }
}

/// Another form of the round keys.
#[allow(clippy::inline_always, reason = "to be compiled with an instruction set")]
#[inline(always)]
pub(crate) fn map<T: Clear + Copy + Default>(
    keys: &PerRound<u32>,
    form: impl Fn(u32) -> T,
) -> PerRound<T> {
    let mut mapped = Secret::new([[T::default(); 2]; PAIRS]);
    for (mapped, key) in mapped.as_flattened_mut().iter_mut().zip(keys.as_flattened()) {
        *mapped = form(*key);
    }
    mapped
}

/// The system parameter FK (section 7.3.2).
pub(crate) const FK: [u32; 4] = [0xa3b1_bac6, 0x56aa_3350, 0x677d_9197, 0xb270_22dc];

/// The fixed parameters CK: byte `j` of word `i`, from the highest on, is 7 (4 i + j) modulo 256 (section 7.3.2).
pub(crate) const CK: [u32; 2 * PAIRS] = {
    let mut constants = [0; 2 * PAIRS];
    let mut i = 0;
    while i < constants.len() {
        let first = 28 * i as u32;
        constants[i] = u32::from_be_bytes([
            first as u8,
            (first + 7) as u8,
            (first + 14) as u8,
            (first + 21) as u8,
        ]);
        i += 1;
    }
    constants
};

/// The S-boxes in some way, on `N` words at once.
pub(crate) trait Sboxes {
    /// The S-box on every byte of every word.
    fn tau<const N: usize>(words: [u32; N]) -> [u32; N];

    /// T: the S-boxes, then L.
    #[inline]
    fn t<const N: usize>(words: [u32; N]) -> [u32; N] {
        Self::tau(words).map(linear)
    }
}

/// L (section 6.2).
fn linear(word: u32) -> u32 {
    // What is rotated by 2, 10 and 18 bits is rotated by 2, and then by bytes.
    let by_2 = word.rotate_left(2);
    word ^ word.rotate_left(24) ^ by_2 ^ by_2.rotate_left(8) ^ by_2.rotate_left(16)
}

impl RoundKeys {
    /// The round keys of a key, which `expand` writes.
    pub(crate) fn expanded(expand: impl FnOnce(&mut [[u32; 2]; PAIRS])) -> Self {
        let mut keys = Self(Secret::new([[0; 2]; PAIRS]));
        expand(&mut keys.0);
        keys
    }
}

/// The key schedule on words (section 7.3), with S-boxes in the implementation's own way.
pub(crate) fn expand<F: Sboxes>(key: &[u8; 16], keys: &mut [[u32; 2]; PAIRS]) {
    let words = key.as_chunks::<4>().0;
    let mut state: [u32; 4] = core::array::from_fn(|i| u32::from_be_bytes(words[i]) ^ FK[i]);
    for ((i, key), constant) in (0..).zip(keys.as_flattened_mut()).zip(CK) {
        let sum = state[(i + 1) % 4] ^ state[(i + 2) % 4] ^ state[(i + 3) % 4] ^ constant;
        let [image] = F::tau([sum]);
        state[i % 4] ^= image ^ image.rotate_left(13) ^ image.rotate_left(23);
        *key = state[i % 4];
    }
}

#[cfg(feature = "zeroize")]
impl zeroize::ZeroizeOnDrop for RoundKeys {}

impl fmt::Debug for RoundKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundKeys").finish_non_exhaustive()
    }
}
