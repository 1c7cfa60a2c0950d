//! ARIA as RFC 5794 reads: one byte after the other, for checking, not for use.

use core::marker::PhantomData;

use cipher::{Array, consts::U16};
use lanecrypt_core::{ConstantTime, Direction, OneBlock};
use lanecrypt_reference::{
    diffusion::ARIA_A,
    sbox::{AES, AES_INVERSE, ARIA_S2, ARIA_S2_INVERSE},
};

use crate::schedule::KeyLength;

/// 128 bits, the leftmost the most significant.
type Word = u128;

/// Round keys of the longest key.
const MAX_KEYS: usize = 17;

/// ARIA by the book. Not constant-time: its S-boxes are tables.
#[derive(Clone)]
pub struct Reference<K> {
    /// ek1 and so on.
    encryption_keys: [Word; MAX_KEYS],
    /// dk1 and so on.
    decryption_keys: [Word; MAX_KEYS],
    /// n.
    rounds: usize,
    key_length: PhantomData<K>,
}

impl<K> Reference<K> {
    /// The key scheduling part, of a key of 16, 24 or 32 bytes (section 2.2).
    fn expand(key: &[u8]) -> Self {
        let rounds = key.len() / 4 + 8;
        let encryption_keys = encryption_keys(key);
        // dk1 = ek{n+1}, dk2 = A(ek{n}), ..., dk{n} = A(ek2), dk{n+1} = ek1.
        let mut decryption_keys = [0; MAX_KEYS];
        for (i, key) in decryption_keys[..=rounds].iter_mut().enumerate() {
            let ek = encryption_keys[rounds - i];
            *key = if i == 0 || i == rounds { ek } else { a(ek) };
        }
        Self { encryption_keys, decryption_keys, rounds, key_length: PhantomData }
    }

    /// Section 2.3.1.
    fn encrypt(&self, block: [u8; 16]) -> [u8; 16] {
        self.run(block, &self.encryption_keys)
    }

    /// Encryption under the keys of decryption (section 2.3.2).
    fn decrypt(&self, block: [u8; 16]) -> [u8; 16] {
        self.run(block, &self.decryption_keys)
    }

    /// The data randomizing part (section 2.3): FO and FE by turns, the last round without A.
    fn run(&self, block: [u8; 16], keys: &[Word; MAX_KEYS]) -> [u8; 16] {
        let mut p = Word::from_be_bytes(block);
        for i in 1..self.rounds {
            p = if i % 2 == 1 { fo(p, keys[i - 1]) } else { fe(p, keys[i - 1]) };
        }
        (sl2(p ^ keys[self.rounds - 1]) ^ keys[self.rounds]).to_be_bytes()
    }
}

/// C1, C2 and C3 (section 2.2).
const CONSTANTS: [Word; 3] = [
    0x517c_c1b7_2722_0a94_fe13_abe8_fa9a_6ee0,
    0x6db1_4acc_9e21_c820_ff28_b1d5_ef5d_e2b0,
    0xdb92_371d_2126_e970_0324_9775_04e8_c90e,
];

/// KL and KR, from them W0 to W3, and from those ek1 to ek17 (section 2.2).
fn encryption_keys(key: &[u8]) -> [Word; MAX_KEYS] {
    let mut padded = [0; 32];
    padded[..key.len()].copy_from_slice(key);
    let [kl, kr] = [0, 1].map(|half| Word::from_be_bytes(padded.as_chunks().0[half]));
    let [c1, c2, c3] = CONSTANTS;
    let [ck1, ck2, ck3] = match key.len() {
        16 => [c1, c2, c3],
        24 => [c2, c3, c1],
        _ => [c3, c1, c2],
    };
    let w0 = kl;
    let w1 = fo(w0, ck1) ^ kr;
    let w2 = fe(w1, ck2) ^ w0;
    let w3 = fo(w2, ck3) ^ w1;
    [
        w0 ^ w1.rotate_right(19),
        w1 ^ w2.rotate_right(19),
        w2 ^ w3.rotate_right(19),
        w0.rotate_right(19) ^ w3,
        w0 ^ w1.rotate_right(31),
        w1 ^ w2.rotate_right(31),
        w2 ^ w3.rotate_right(31),
        w0.rotate_right(31) ^ w3,
        w0 ^ w1.rotate_left(61),
        w1 ^ w2.rotate_left(61),
        w2 ^ w3.rotate_left(61),
        w0.rotate_left(61) ^ w3,
        w0 ^ w1.rotate_left(31),
        w1 ^ w2.rotate_left(31),
        w2 ^ w3.rotate_left(31),
        w0.rotate_left(31) ^ w3,
        w0 ^ w1.rotate_left(19),
    ]
}

/// The odd round function (section 2.4.1).
fn fo(d: Word, rk: Word) -> Word {
    a(sl1(d ^ rk))
}

/// The even round function (section 2.4.1).
fn fe(d: Word, rk: Word) -> Word {
    a(sl2(d ^ rk))
}

/// The substitution layer of odd rounds (section 2.4.2): SB1 to SB4 by turns.
fn sl1(x: Word) -> Word {
    substitute(x, [&AES, &ARIA_S2, &AES_INVERSE, &ARIA_S2_INVERSE])
}

/// The substitution layer of even rounds (section 2.4.2): SB3, SB4, SB1 and SB2 by turns.
fn sl2(x: Word) -> Word {
    substitute(x, [&AES_INVERSE, &ARIA_S2_INVERSE, &AES, &ARIA_S2])
}

fn substitute(x: Word, sboxes: [&[u8; 256]; 4]) -> Word {
    let x = x.to_be_bytes();
    Word::from_be_bytes(core::array::from_fn(|i| sboxes[i % 4][usize::from(x[i])]))
}

/// The diffusion layer A (section 2.4.3).
fn a(x: Word) -> Word {
    let x = x.to_be_bytes();
    Word::from_be_bytes(ARIA_A.map(|row| row.iter().fold(0, |y, &i| y ^ x[usize::from(i)])))
}

impl<K: KeyLength> OneBlock for Reference<K> {
    type BlockSize = U16;
    type KeySize = K::Size;

    const NAME: &'static str = K::NAME;
    const CONSTANT_TIME: ConstantTime = ConstantTime::LOOKS_UP;

    fn new(key: &Array<u8, K::Size>) -> Self {
        Self::expand(key)
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U16>) {
        block.0 = match direction {
            Direction::Encrypt => self.encrypt(block.0),
            Direction::Decrypt => self.decrypt(block.0),
        };
    }
}

impl<K> core::fmt::Debug for Reference<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reference").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<K> Drop for Reference<K> {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.encryption_keys);
        zeroize::Zeroize::zeroize(&mut self.decryption_keys);
    }
}

#[cfg(feature = "zeroize")]
impl<K> zeroize::ZeroizeOnDrop for Reference<K> {}
