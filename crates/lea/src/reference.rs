//! LEA as KS X 3246 reads: one word after the other, for checking, not for use.

use core::{fmt, marker::PhantomData};

use cipher::{Array, consts::U16};
use lanecrypt_core::{ConstantTime, Direction, OneBlock, Secret};

use crate::schedule::KeyLength;

/// The constants of the key schedule, from the square root of 766965: 76, 69 and 65 are the letters L, E, A.
const DELTA: [u32; 8] = [
    0xc3ef_e9db,
    0x4462_6b02,
    0x79e2_7c8a,
    0x78df_30ec,
    0x715e_a49e,
    0xc785_da0a,
    0xe04e_f22a,
    0xe5c4_0957,
];

/// LEA by the book: a block at a time, constant-time since it looks nothing up.
#[derive(Clone)]
pub struct Reference<K> {
    key_size: PhantomData<K>,
    /// RK of every round, as many as there are.
    round_keys: Secret<[[u32; 6]; 32]>,
    rounds: usize,
}

/// Words are little-endian.
fn words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    core::array::from_fn(|i| u32::from_le_bytes(bytes.as_chunks::<4>().0[i]))
}

/// Fills the round keys of a key.
type KeySchedule = fn(&[u8], &mut [[u32; 6]]);

// ANCHOR: key_schedule
/// The key schedule for 128 bits.
fn round_keys_128(key: &[u8], round_keys: &mut [[u32; 6]]) {
    let mut t: [u32; 4] = words(key);
    for (i, rk) in (0..).zip(round_keys) {
        let delta = DELTA[i as usize % 4];
        t[0] = t[0].wrapping_add(delta.rotate_left(i)).rotate_left(1);
        t[1] = t[1].wrapping_add(delta.rotate_left(i + 1)).rotate_left(3);
        t[2] = t[2].wrapping_add(delta.rotate_left(i + 2)).rotate_left(6);
        t[3] = t[3].wrapping_add(delta.rotate_left(i + 3)).rotate_left(11);
        *rk = [t[0], t[1], t[2], t[1], t[3], t[1]];
    }
}
// ANCHOR_END: key_schedule

/// The key schedule for 192 bits.
fn round_keys_192(key: &[u8], round_keys: &mut [[u32; 6]]) {
    let mut t: [u32; 6] = words(key);
    for (i, rk) in (0..).zip(round_keys) {
        let delta = DELTA[i as usize % 6];
        t[0] = t[0].wrapping_add(delta.rotate_left(i)).rotate_left(1);
        t[1] = t[1].wrapping_add(delta.rotate_left(i + 1)).rotate_left(3);
        t[2] = t[2].wrapping_add(delta.rotate_left(i + 2)).rotate_left(6);
        t[3] = t[3].wrapping_add(delta.rotate_left(i + 3)).rotate_left(11);
        t[4] = t[4].wrapping_add(delta.rotate_left(i + 4)).rotate_left(13);
        t[5] = t[5].wrapping_add(delta.rotate_left(i + 5)).rotate_left(17);
        *rk = t;
    }
}

/// The key schedule for 256 bits: six of eight words a round, by turns.
fn round_keys_256(key: &[u8], round_keys: &mut [[u32; 6]]) {
    let mut t: [u32; 8] = words(key);
    for (i, rk) in (0..).zip(round_keys) {
        let delta = DELTA[i as usize % 8];
        for (j, by) in (0..).zip([1, 3, 6, 11, 13, 17]) {
            let at = (6 * i + j) as usize % 8;
            t[at] = t[at].wrapping_add(delta.rotate_left(i + j)).rotate_left(by);
            rk[j as usize] = t[at];
        }
    }
}

// ANCHOR: rounds
/// A round of encryption.
fn round(x: [u32; 4], rk: &[u32; 6]) -> [u32; 4] {
    [
        (x[0] ^ rk[0]).wrapping_add(x[1] ^ rk[1]).rotate_left(9),
        (x[1] ^ rk[2]).wrapping_add(x[2] ^ rk[3]).rotate_right(5),
        (x[2] ^ rk[4]).wrapping_add(x[3] ^ rk[5]).rotate_right(3),
        x[0],
    ]
}

/// A round of decryption.
fn inverse_round(x: [u32; 4], rk: &[u32; 6]) -> [u32; 4] {
    let x0 = x[3];
    let x1 = x[0].rotate_right(9).wrapping_sub(x0 ^ rk[0]) ^ rk[1];
    let x2 = x[1].rotate_left(5).wrapping_sub(x1 ^ rk[2]) ^ rk[3];
    let x3 = x[2].rotate_left(3).wrapping_sub(x2 ^ rk[4]) ^ rk[5];
    [x0, x1, x2, x3]
}
// ANCHOR_END: rounds

impl<K: KeyLength> OneBlock for Reference<K> {
    type BlockSize = U16;
    type KeySize = K::Size;

    const NAME: &'static str = K::NAME;
    const CONSTANT_TIME: ConstantTime = ConstantTime::Yes;

    fn new(key: &Array<u8, K::Size>) -> Self {
        let mut round_keys = Secret::new([[0; 6]; 32]);
        let (rounds, expand): (_, KeySchedule) = match key.len() {
            16 => (24, round_keys_128),
            24 => (28, round_keys_192),
            _ => (32, round_keys_256),
        };
        expand(key, &mut round_keys[..rounds]);
        Self { key_size: PhantomData, round_keys, rounds }
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U16>) {
        let round_keys = &self.round_keys[..self.rounds];
        let mut x = words(block);
        match direction {
            Direction::Encrypt => {
                for rk in round_keys {
                    x = round(x, rk);
                }
            }
            Direction::Decrypt => {
                for rk in round_keys.iter().rev() {
                    x = inverse_round(x, rk);
                }
            }
        }
        for (bytes, word) in block.as_chunks_mut().0.iter_mut().zip(x) {
            *bytes = word.to_le_bytes();
        }
    }
}

impl<K> fmt::Debug for Reference<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reference").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<K> zeroize::ZeroizeOnDrop for Reference<K> {}
