//! AES on every other GPU: the family of generated kernels.

use cipher::Array;
use lanecrypt_core::Direction;
use lanecrypt_slicing::Form;
use lanecrypt_wgpu::{DirectedKeys, Family, KeyPair, programs};
use zeroize::Zeroizing;

use crate::{Bits, Key128, Key192, Key256, RoundKeys, schedule::AesSchedule};

/// Bit-sliced, 32 blocks per thread.
pub static BITSLICE: Family = Family::new(&crate::AES, &programs::AES, key_pair);

fn key_pair(key: &[u8]) -> KeyPair {
    match key.len() {
        16 => sized_key_pair::<RoundKeys<Key128>>(
            key,
            ["of_10_rounds_encryption", "of_10_rounds_decryption"],
        ),
        24 => sized_key_pair::<RoundKeys<Key192>>(
            key,
            ["of_12_rounds_encryption", "of_12_rounds_decryption"],
        ),
        _ => sized_key_pair::<RoundKeys<Key256>>(
            key,
            ["of_14_rounds_encryption", "of_14_rounds_decryption"],
        ),
    }
}

/// The keys from one whose length the family has checked, for the wholes of the two directions.
fn sized_key_pair<S: AesSchedule>(key: &[u8], wholes: [&'static str; 2]) -> KeyPair {
    let schedule = S::new(&Zeroizing::new(Array::from_fn(|i| key[i])));
    KeyPair::new(|direction| {
        let keys = Bits::<S>::keys(&schedule, direction);
        let round_keys = keys.keys[..keys.count].as_flattened().as_flattened();
        let whole = wholes[usize::from(direction == Direction::Decrypt)];
        DirectedKeys::new(whole, round_keys.iter().copied())
    })
}
