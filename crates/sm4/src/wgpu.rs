//! SM4 on every other GPU: the family of generated kernels.

use cipher::Array;
use lanecrypt_slicing::{Form, Schedule};
use lanecrypt_wgpu::{DirectedKeys, Family, KeyPair, programs};
use zeroize::Zeroizing;

use crate::{Bits, RoundKeys};

/// Bit-sliced, 32 blocks per thread.
pub static BITSLICE: Family = Family::new(&crate::SM4, &programs::SM4, key_pair);

/// The keys from one whose length the family has checked. One whole serves both directions.
fn key_pair(key: &[u8]) -> KeyPair {
    let round_keys = RoundKeys::new(&Zeroizing::new(Array::from_fn(|i| key[i])));
    KeyPair::new(|direction| {
        let keys = Bits::keys(&round_keys, direction);
        let masks = keys.as_flattened().as_flattened().as_flattened();
        DirectedKeys::new("of_32_rounds", masks.iter().copied())
    })
}
