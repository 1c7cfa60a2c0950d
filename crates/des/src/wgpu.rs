//! DES and triple DES on every other GPU: the family of generated kernels.

use cipher::Array;
use lanecrypt_slicing::{Form, Schedule};
use lanecrypt_wgpu::{DirectedKeys, Family, KeyPair, programs};
use zeroize::Zeroizing;

use crate::{Bits, Ede2, Ede3, Eee2, Eee3, Keying, Single, schedule::RoundKeys, sliced::Masks};

/// The family of each description.
macro_rules! families {
    ($($(#[$doc:meta])* $cipher:ident, $keys:expr;)*) => {$(
        $(#[$doc])*
        pub static $cipher: Family = Family::new(&crate::$cipher, &programs::DES, $keys);
    )*};
}
families! {
    /// DES, bit-sliced, 32 blocks per thread.
    DES, key_pair::<Single>;
    /// Triple DES, encrypt-decrypt-encrypt.
    TDES, |key| if key.len() == 16 { key_pair::<Ede2>(key) } else { key_pair::<Ede3>(key) };
    /// Triple DES, three times encryption.
    TDES_EEE, |key| if key.len() == 16 { key_pair::<Eee2>(key) } else { key_pair::<Eee3>(key) };
}

/// The keys from one whose length the family has checked. One whole serves both directions and orders.
fn key_pair<K: Keying>(key: &[u8]) -> KeyPair {
    let round_keys = RoundKeys::<K>::new(&Zeroizing::new(Array::from_fn(|i| key[i])));
    let whole = if K::PASSES.len() == 1 { "of_one_pass" } else { "of_three_passes" };
    KeyPair::new(|direction| {
        DirectedKeys::new(whole, in_order(&Bits::<K>::keys(&round_keys, direction)))
    })
}

/// The masks in the order in which the plan's steps take them.
fn in_order(masks: &Masks) -> impl Iterator<Item = u32> {
    let passes = masks.passes[..masks.count].iter().flat_map(|pass| {
        let rounds = pass
            .rounds
            .iter()
            .flat_map(|round| round.offsets.iter().chain(round.outer.as_flattened()));
        pass.first.iter().chain(rounds)
    });
    passes.chain(&masks.last).copied()
}
