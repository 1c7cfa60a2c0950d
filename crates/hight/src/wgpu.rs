//! HIGHT on every other GPU: the family of generated kernels.

use cipher::Array;
use lanecrypt_core::Direction;
use lanecrypt_slicing::{Schedule, masks};
use lanecrypt_wgpu::{DirectedKeys, Family, KeyPair, programs};
use zeroize::Zeroizing;

use crate::{
    Kisa, Standard,
    schedule::{ByteOrder, Keys, Subkeys},
};

/// The family of each description.
macro_rules! families {
    ($($(#[$doc:meta])* $cipher:ident, $order:ident;)*) => {$(
        $(#[$doc])*
        pub static $cipher: Family =
            Family::new(&crate::$cipher, &programs::HIGHT, key_pair::<$order>);
    )*};
}
families! {
    /// Blocks and keys as the standard writes them; bit-sliced, 32 blocks per thread.
    HIGHT, Standard;
    /// Blocks and keys in the order of KISA's C source.
    HIGHT_KISA, Kisa;
}

/// The keys from one whose length the family has checked.
fn key_pair<O: ByteOrder>(key: &[u8]) -> KeyPair {
    let subkeys = Subkeys::<O>::new(&Zeroizing::new(Array::from_fn(|i| key[i])));
    KeyPair::new(|direction| {
        let whole = match (direction, O::IS_REVERSED) {
            (Direction::Encrypt, false) => "encryption",
            (Direction::Decrypt, false) => "decryption",
            (Direction::Encrypt, true) => "encryption_bytes_reversed",
            (Direction::Decrypt, true) => "decryption_bytes_reversed",
        };
        DirectedKeys::new(whole, in_order(subkeys.get(), direction).flat_map(masks))
    })
}

/// The bytes of keys in the order in which the plan's steps take them: four of whitening, those of the rounds, four of
/// whitening.
fn in_order(keys: &Keys<u8>, direction: Direction) -> impl Iterator<Item = u8> {
    let [start, end] = [&keys.whitening[..4], &keys.whitening[4..]];
    let last = keys.rounds.len() - 1;
    let rounds = (0..=last).flat_map(move |i| match direction {
        Direction::Encrypt => keys.rounds[i],
        Direction::Decrypt => keys.rounds[last - i],
    });
    let (first, after) = match direction {
        Direction::Encrypt => (start, end),
        Direction::Decrypt => (end, start),
    };
    first.iter().copied().chain(rounds).chain(after.iter().copied())
}
