//! Camellia as RFC 3713 reads: one byte after the other, for checking, not for use.

use core::marker::PhantomData;

use cipher::{Array, consts::U16};
use lanecrypt_core::{ConstantTime, Direction, OneBlock};
use lanecrypt_reference::{diffusion::CAMELLIA_P, sbox::CAMELLIA};

use crate::schedule::KeyLength;

/// Camellia by the book. Not constant-time: its S-boxes are tables.
#[derive(Clone)]
pub struct Reference<K> {
    subkeys: Subkeys,
    key_length: PhantomData<K>,
}

impl<K> Reference<K> {
    /// The key scheduling part, of a key of 16, 24 or 32 bytes (section 2.2).
    fn expand(key: &[u8]) -> Self {
        let subkeys = if key.len() == 16 { short_subkeys(key) } else { long_subkeys(key) };
        Self { subkeys, key_length: PhantomData }
    }

    /// Sections 2.3.1 and 2.3.2.
    fn encrypt(&self, block: [u8; 16]) -> [u8; 16] {
        run(block, &self.subkeys)
    }

    /// Encryption with the subkeys in reverse order (section 2.3.3).
    fn decrypt(&self, block: [u8; 16]) -> [u8; 16] {
        run(block, &self.subkeys.reversed())
    }
}

/// The subkeys as section 2.2 names them, less one.
#[derive(Clone)]
struct Subkeys {
    /// kw1 to kw4.
    kw: [u64; 4],
    /// k1 to k18 or k24.
    k: [u64; 24],
    /// ke1 to ke4 or ke6.
    ke: [u64; 6],
    /// 18 or 24.
    rounds: usize,
}

impl Subkeys {
    /// kw1 with kw3, kw2 with kw4, k1 with k18, ke1 with ke4 and so on exchanged (section 2.3.3).
    fn reversed(&self) -> Self {
        let mut reversed = self.clone();
        reversed.kw.rotate_left(2);
        reversed.k[..self.rounds].reverse();
        reversed.ke[..self.rounds / 3 - 2].reverse();
        reversed
    }
}

/// The data randomizing part (section 2.3).
fn run(block: [u8; 16], Subkeys { kw, k, ke, rounds }: &Subkeys) -> [u8; 16] {
    let [mut d1, mut d2] = halves(u128::from_be_bytes(block));
    d1 ^= kw[0];
    d2 ^= kw[1];
    for round in (0..*rounds).step_by(2) {
        if round == 6 || round == 12 || round == 18 {
            d1 = fl(d1, ke[round / 3 - 2]);
            d2 = flinv(d2, ke[round / 3 - 1]);
        }
        d2 ^= f(d1, k[round]);
        d1 ^= f(d2, k[round + 1]);
    }
    d2 ^= kw[2];
    d1 ^= kw[3];
    joined(d2, d1).to_be_bytes()
}

/// Sigma1 to Sigma6 (section 2.2).
const SIGMA: [u64; 6] = [
    0xa09e_667f_3bcc_908b,
    0xb67a_e858_4caa_73b2,
    0xc6ef_372f_e94f_82be,
    0x54ff_53a5_f1d3_6f1c,
    0x10e5_27fa_de68_2d1d,
    0xb056_88c2_b3e6_c1fd,
];

/// KL and KR, and of them KA and KB (section 2.2).
fn variables(key: &[u8]) -> [u128; 4] {
    let mut padded = [0; 32];
    padded[..key.len()].copy_from_slice(key);
    if key.len() == 24 {
        for i in 16..24 {
            padded[i + 8] = !key[i];
        }
    }
    let [kl, kr] = [0, 1].map(|half| u128::from_be_bytes(padded.as_chunks().0[half]));
    let [mut d1, mut d2] = halves(kl ^ kr);
    d2 ^= f(d1, SIGMA[0]);
    d1 ^= f(d2, SIGMA[1]);
    let [kl_left, kl_right] = halves(kl);
    d1 ^= kl_left;
    d2 ^= kl_right;
    d2 ^= f(d1, SIGMA[2]);
    d1 ^= f(d2, SIGMA[3]);
    let ka = joined(d1, d2);
    [d1, d2] = halves(ka ^ kr);
    d2 ^= f(d1, SIGMA[4]);
    d1 ^= f(d2, SIGMA[5]);
    [kl, kr, ka, joined(d1, d2)]
}

/// The subkeys of 128-bit keys (section 2.2).
fn short_subkeys(key: &[u8]) -> Subkeys {
    let [kl, _, ka, _] = variables(key);
    let [kw1, kw2] = halves(kl);
    let [k1, k2] = halves(ka);
    let [k3, k4] = halves(kl.rotate_left(15));
    let [k5, k6] = halves(ka.rotate_left(15));
    let [ke1, ke2] = halves(ka.rotate_left(30));
    let [k7, k8] = halves(kl.rotate_left(45));
    let [k9, _] = halves(ka.rotate_left(45));
    let [_, k10] = halves(kl.rotate_left(60));
    let [k11, k12] = halves(ka.rotate_left(60));
    let [ke3, ke4] = halves(kl.rotate_left(77));
    let [k13, k14] = halves(kl.rotate_left(94));
    let [k15, k16] = halves(ka.rotate_left(94));
    let [k17, k18] = halves(kl.rotate_left(111));
    let [kw3, kw4] = halves(ka.rotate_left(111));
    Subkeys {
        kw: [kw1, kw2, kw3, kw4],
        k: [
            k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12, k13, k14, k15, k16, k17, k18, 0, 0,
            0, 0, 0, 0,
        ],
        ke: [ke1, ke2, ke3, ke4, 0, 0],
        rounds: 18,
    }
}

/// The subkeys of 192-bit and 256-bit keys (section 2.2).
fn long_subkeys(key: &[u8]) -> Subkeys {
    let [kl, kr, ka, kb] = variables(key);
    let [kw1, kw2] = halves(kl);
    let [k1, k2] = halves(kb);
    let [k3, k4] = halves(kr.rotate_left(15));
    let [k5, k6] = halves(ka.rotate_left(15));
    let [ke1, ke2] = halves(kr.rotate_left(30));
    let [k7, k8] = halves(kb.rotate_left(30));
    let [k9, k10] = halves(kl.rotate_left(45));
    let [k11, k12] = halves(ka.rotate_left(45));
    let [ke3, ke4] = halves(kl.rotate_left(60));
    let [k13, k14] = halves(kr.rotate_left(60));
    let [k15, k16] = halves(kb.rotate_left(60));
    let [k17, k18] = halves(kl.rotate_left(77));
    let [ke5, ke6] = halves(ka.rotate_left(77));
    let [k19, k20] = halves(kr.rotate_left(94));
    let [k21, k22] = halves(ka.rotate_left(94));
    let [k23, k24] = halves(kl.rotate_left(111));
    let [kw3, kw4] = halves(kb.rotate_left(111));
    Subkeys {
        kw: [kw1, kw2, kw3, kw4],
        k: [
            k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12, k13, k14, k15, k16, k17, k18, k19,
            k20, k21, k22, k23, k24,
        ],
        ke: [ke1, ke2, ke3, ke4, ke5, ke6],
        rounds: 24,
    }
}

/// The F-function (section 2.4.1).
fn f(f_in: u64, ke: u64) -> u64 {
    let [sbox1, sbox2, sbox3, sbox4] = &CAMELLIA;
    let sboxes = [sbox1, sbox2, sbox3, sbox4, sbox2, sbox3, sbox4, sbox1];
    let x = (f_in ^ ke).to_be_bytes();
    let t: [u8; 8] = core::array::from_fn(|i| sboxes[i][usize::from(x[i])]);
    let y = CAMELLIA_P.map(|row| row.iter().fold(0, |y, &i| y ^ t[usize::from(i) - 1]));
    u64::from_be_bytes(y)
}

/// The FL-function (section 2.4.2).
fn fl(fl_in: u64, ke: u64) -> u64 {
    let (mut x1, mut x2) = ((fl_in >> 32) as u32, fl_in as u32);
    let (k1, k2) = ((ke >> 32) as u32, ke as u32);
    x2 ^= (x1 & k1).rotate_left(1);
    x1 ^= x2 | k2;
    u64::from(x1) << 32 | u64::from(x2)
}

/// The inverse of the FL-function (section 2.4.2).
fn flinv(flinv_in: u64, ke: u64) -> u64 {
    let (mut y1, mut y2) = ((flinv_in >> 32) as u32, flinv_in as u32);
    let (k1, k2) = ((ke >> 32) as u32, ke as u32);
    y1 ^= y2 | k2;
    y2 ^= (y1 & k1).rotate_left(1);
    u64::from(y1) << 32 | u64::from(y2)
}

/// The left and the right 64 bits.
fn halves(word: u128) -> [u64; 2] {
    [(word >> 64) as u64, word as u64]
}

fn joined(left: u64, right: u64) -> u128 {
    u128::from(left) << 64 | u128::from(right)
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
impl Drop for Subkeys {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.kw);
        zeroize::Zeroize::zeroize(&mut self.k);
        zeroize::Zeroize::zeroize(&mut self.ke);
    }
}

#[cfg(feature = "zeroize")]
impl<K> zeroize::ZeroizeOnDrop for Reference<K> {}
