//! ARIA on every other GPU: the family of generated kernels.

use cipher::Array;
use lanecrypt_slicing::{Form, Schedule};
use lanecrypt_wgpu::{DirectedKeys, Family, KeyPair, programs};
use zeroize::Zeroizing;

use crate::{Bits, Key128, Key192, Key256, KeyLength, RoundKeys, sliced::exchange};

/// Bit-sliced, 32 blocks per thread.
pub static BITSLICE: Family = Family::new(&crate::ARIA, &programs::ARIA, key_pair);

fn key_pair(key: &[u8]) -> KeyPair {
    match key.len() {
        16 => sized_key_pair::<Key128>(key, "of_12_rounds"),
        24 => sized_key_pair::<Key192>(key, "of_14_rounds"),
        _ => sized_key_pair::<Key256>(key, "of_16_rounds"),
    }
}

/// The keys from one whose length the family has checked. One whole serves both directions.
fn sized_key_pair<K: KeyLength>(key: &[u8], whole: &'static str) -> KeyPair {
    let round_keys = RoundKeys::<K>::new(&Zeroizing::new(Array::from_fn(|i| key[i])));
    KeyPair::new(|direction| {
        let keys = Bits::<K>::keys(&round_keys, direction);
        let last = keys.len() - 1;
        let in_order = keys.iter().enumerate().flat_map(|(i, key)| {
            (0..16).flat_map(move |byte| key[byte ^ exchange(i, last)].iter().copied())
        });
        DirectedKeys::new(whole, in_order)
    })
}
