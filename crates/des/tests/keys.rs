//! What keys of DES have beyond their bytes: parity, and weak ones, which are those of the `des` crate.

use cipher::{BlockCipherEncrypt, KeyInit};
use lanecrypt_des::{TdesEde3, WeakKeyError, weak_key_test};
use proptest::{collection::vec, prelude::*};

proptest! {
    #[test]
    fn parity_bits_carry_no_key(key in any::<[u8; 24]>(), flipped in any::<[bool; 24]>()) {
        let mut other = key;
        for (byte, flip) in other.iter_mut().zip(flipped) {
            *byte ^= u8::from(flip);
        }
        let (mut a, mut b) = ([0x5a; 8].into(), [0x5a; 8].into());
        TdesEde3::new(&key.into()).encrypt_block(&mut a);
        TdesEde3::new(&other.into()).encrypt_block(&mut b);
        assert_eq!(a, b);
        assert_eq!(weak_key_test(&key), weak_key_test(&other));
    }

    /// On keys with odd parity, which is all that `des` knows, the verdict is that of `des`.
    #[test]
    fn weak_keys_are_those_of_the_des_crate(
        bytes in vec(prop::sample::select(vec![0x01, 0x1f, 0xe0, 0xfe, 0x0e, 0xf1, 0x67]), 24),
        parts in 1_usize..=3,
    ) {
        let key = &bytes[..8 * parts];
        assert_eq!(weak_key_test(key).is_ok(), des::weak_key_test(key).is_ok(), "{key:02x?}");
    }
}

/// Both halves of a key in all sixteen patterns that repeat every four bits: the weak keys are
/// among these 256, and `des` lists the same 64 of them.
#[test]
fn weak_keys_of_every_pattern() {
    let mut weak = 0;
    for pattern in 0..256_u32 {
        let mut key = [0; 8];
        for (i, byte) in key.iter_mut().enumerate() {
            let (upper, lower) = (pattern >> (i % 4) & 1, pattern >> (4 + i % 4) & 1);
            // Bits 1 to 3 (4 in the last bytes) belong to C, the others but parity to D.
            let uppers = if i < 4 { 0xe0 } else { 0xf0 };
            *byte = (uppers * upper as u8) | ((0xfe & !uppers) * lower as u8);
            *byte |= u8::from(byte.count_ones() % 2 == 0);
        }
        let verdict = weak_key_test(&key);
        assert_eq!(verdict.is_ok(), des::weak_key_test(&key).is_ok(), "{key:02x?}");
        weak += usize::from(verdict.is_err());
    }
    assert_eq!(weak, 64);
}

#[test]
fn weak_key_test_of_other_keys() {
    assert_eq!(weak_key_test(&[]), Err(WeakKeyError));
    assert_eq!(weak_key_test(&[0x13; 9]), Err(WeakKeyError));
    assert_eq!(weak_key_test(&[0x13; 32]), Err(WeakKeyError));
    let strong = *b"\x13\x34\x57\x79\x9b\xbc\xdf\xf1\x02\x46\x8a\xce\x13\x57\x9b\xdf";
    assert_eq!(weak_key_test(&strong), Ok(()));
    let mut twice = strong;
    twice.copy_within(..8, 8);
    twice[12] ^= 1; // parity only
    assert_eq!(weak_key_test(&twice), Err(WeakKeyError));
}
