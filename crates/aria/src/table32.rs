//! ARIA by tables of 32-bit words that join S-box and a part of the diffusion (ARIA specification,
//! section 3.2).
//!
//! A group of four bytes is a word, the first byte the least significant. A is `M`, which makes every
//! byte of a group the sum of the three others, then a sum between the groups, an exchange of bytes
//! in them and the same sum again. The tables have an S-box output in the three bytes to which `M`
//! adds it, so a group takes four look-ups. Not constant-time: addresses depend on key and data.

use cipher::{Array, consts::U16};
use lanecrypt_core::{ConstantTime, Direction, OneBlock};
use lanecrypt_reference::sbox::{AES, AES_INVERSE, ARIA_S2, ARIA_S2_INVERSE};

use crate::{
    diffusion::{Words, bytes, diffuse_after_groups, words},
    schedule::{self, Block, KeyLength, KeySteps, Layer, PerRound, RoundKeys, Steps},
};

/// The S-boxes of SL1 in their order; SL2 begins with the third.
static SBOXES: [[u8; 256]; 4] = [AES, ARIA_S2, AES_INVERSE, ARIA_S2_INVERSE];

/// `SM[i][x]` is the output of `SBOXES[i]` in all bytes of a word but number `i`.
static SM: [[u32; 256]; 4] = {
    let mut tables = [[0; 256]; 4];
    let mut index = 0;
    while index < 4 * 256 {
        let (sbox, x) = (index / 256, index % 256);
        let everywhere = SBOXES[sbox][x] as u32 * 0x0101_0101;
        tables[sbox][x] = everywhere & !(0xff << (8 * sbox));
        index += 1;
    }
    tables
};

/// The steps on words.
struct LookUps;

impl Steps for LookUps {
    type State = Words;
    type Key = Words;

    fn add(&self, state: &mut Words, key: &Words) {
        for (word, key) in state.iter_mut().zip(key) {
            *word ^= key;
        }
    }

    fn substitute(&self, state: &mut Words, layer: Layer) {
        for word in state {
            let bytes = word.rotate_left(turn(layer)).to_le_bytes();
            let image = core::array::from_fn(|i| SBOXES[i][usize::from(bytes[i])]);
            *word = u32::from_le_bytes(image).rotate_left(turn(layer));
        }
    }

    // ANCHOR: round
    fn substitute_and_diffuse(&self, state: &mut Words, layer: Layer) {
        let sums = state.map(|word| {
            let [a, b, c, d] = word.rotate_left(turn(layer)).to_le_bytes().map(usize::from);
            (SM[0][a] ^ SM[1][b] ^ SM[2][c] ^ SM[3][d]).rotate_left(turn(layer))
        });
        *state = diffuse_after_groups(sums);
    }
    // ANCHOR_END: round
}

impl KeySteps for LookUps {
    fn round(&self, block: Block, layer: Layer) -> Block {
        let mut state = words(&block);
        self.substitute_and_diffuse(&mut state, layer);
        bytes(state)
    }
}

/// Bits by which a group is turned, so that the S-boxes come in the order of SL1.
fn turn(layer: Layer) -> u32 {
    match layer {
        Layer::One => 0,
        Layer::Two => 16,
    }
}

/// ARIA by tables. Not constant-time.
#[derive(Clone)]
pub struct Table32<K: KeyLength> {
    encrypt: PerRound<K, Words>,
    decrypt: PerRound<K, Words>,
}

impl<K: KeyLength> OneBlock for Table32<K> {
    type BlockSize = U16;
    type KeySize = K::Size;
    const NAME: &'static str = K::NAME;
    const CONSTANT_TIME: ConstantTime = ConstantTime::LOOKS_UP;

    fn new(key: &Array<u8, K::Size>) -> Self {
        let keys = RoundKeys::<K>::expand(key, &LookUps);
        let form = |direction| schedule::map::<K, Words>(keys.of(direction), words);
        Self { encrypt: form(Direction::Encrypt), decrypt: form(Direction::Decrypt) }
    }

    fn run(&self, direction: Direction, block: &mut Array<u8, U16>) {
        let mut state = words(&block.0);
        let keys = match direction {
            Direction::Encrypt => &self.encrypt,
            Direction::Decrypt => &self.decrypt,
        };
        schedule::run(&LookUps, keys, &mut state);
        block.0 = bytes(state);
    }
}

impl<K: KeyLength> core::fmt::Debug for Table32<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Table32").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<K: KeyLength> zeroize::ZeroizeOnDrop for Table32<K> {}
