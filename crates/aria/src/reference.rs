//! ARIA as RFC 5794 reads: one byte after the other, for checking, not for use.

use cipher::{Array, consts::U1};
use lanecrypt_core::{Block, Direction, Implementation};
use lanecrypt_reference::sbox::{AES, AES_INVERSE, ARIA_S2, ARIA_S2_INVERSE};

use crate::schedule::{BothKeys, Bytes, KeyLength, Layer, Steps};

/// The steps as section 2.4 has them.
struct Bytewise;

/// The S-boxes of SL1 in their order; SL2 begins with the third.
const SBOXES: [&[u8; 256]; 4] = [&AES, &ARIA_S2, &AES_INVERSE, &ARIA_S2_INVERSE];

impl Steps for Bytewise {
    type State = Bytes;
    type Key = Bytes;

    fn add(state: &mut Bytes, key: &Bytes) {
        for (byte, key) in state.iter_mut().zip(key) {
            *byte ^= key;
        }
    }

    fn substitute(state: &mut Bytes, layer: Layer) {
        let first = match layer {
            Layer::One => 0,
            Layer::Two => 2,
        };
        for (i, byte) in state.iter_mut().enumerate() {
            *byte = SBOXES[(first + i) % 4][usize::from(*byte)];
        }
    }

    fn substitute_and_diffuse(state: &mut Bytes, layer: Layer) {
        Self::substitute(state, layer);
        *state = a(state);
    }
}

/// The diffusion layer A (section 2.4.3): an involution.
fn a(x: &Bytes) -> Bytes {
    [
        x[3] ^ x[4] ^ x[6] ^ x[8] ^ x[9] ^ x[13] ^ x[14],
        x[2] ^ x[5] ^ x[7] ^ x[8] ^ x[9] ^ x[12] ^ x[15],
        x[1] ^ x[4] ^ x[6] ^ x[10] ^ x[11] ^ x[12] ^ x[15],
        x[0] ^ x[5] ^ x[7] ^ x[10] ^ x[11] ^ x[13] ^ x[14],
        x[0] ^ x[2] ^ x[5] ^ x[8] ^ x[11] ^ x[14] ^ x[15],
        x[1] ^ x[3] ^ x[4] ^ x[9] ^ x[10] ^ x[14] ^ x[15],
        x[0] ^ x[2] ^ x[7] ^ x[9] ^ x[10] ^ x[12] ^ x[13],
        x[1] ^ x[3] ^ x[6] ^ x[8] ^ x[11] ^ x[12] ^ x[13],
        x[0] ^ x[1] ^ x[4] ^ x[7] ^ x[10] ^ x[13] ^ x[15],
        x[0] ^ x[1] ^ x[5] ^ x[6] ^ x[11] ^ x[12] ^ x[14],
        x[2] ^ x[3] ^ x[5] ^ x[6] ^ x[8] ^ x[13] ^ x[15],
        x[2] ^ x[3] ^ x[4] ^ x[7] ^ x[9] ^ x[12] ^ x[14],
        x[1] ^ x[2] ^ x[6] ^ x[7] ^ x[9] ^ x[11] ^ x[12],
        x[0] ^ x[3] ^ x[6] ^ x[7] ^ x[8] ^ x[10] ^ x[13],
        x[0] ^ x[3] ^ x[4] ^ x[5] ^ x[9] ^ x[11] ^ x[14],
        x[1] ^ x[2] ^ x[4] ^ x[5] ^ x[8] ^ x[10] ^ x[15],
    ]
}

/// ARIA by the book. Not constant-time: its S-boxes are tables.
#[derive(Clone)]
pub struct Reference<K: KeyLength> {
    keys: BothKeys<K, Bytes>,
}

impl<K: KeyLength> Implementation for Reference<K> {
    type BlockSize = cipher::consts::U16;
    type KeySize = K::Size;
    type Lanes = U1;
    type BatchKeys = ();

    const NAME: &'static str = K::NAME;

    fn new(key: &Array<u8, K::Size>) -> Self {
        let keys = BothKeys::expand(key, |mut state, layer| {
            Bytewise::substitute_and_diffuse(&mut state, layer);
            state
        });
        Self { keys }
    }

    fn batch_keys(&self) {}

    fn batch(&self, (): &(), direction: Direction, blocks: &mut Array<Block<Self>, U1>) {
        self.few(direction, blocks);
    }

    fn few(&self, direction: Direction, blocks: &mut [Block<Self>]) {
        for block in blocks {
            self.keys.of(direction).run::<Bytewise>(&mut block.0);
        }
    }
}

impl<K: KeyLength> core::fmt::Debug for Reference<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reference").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<K: KeyLength> zeroize::ZeroizeOnDrop for Reference<K> {}
