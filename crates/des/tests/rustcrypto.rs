//! RustCrypto's own tests on our types, their modes over ours against the same over `des`, and the
//! interface that `des` has beyond the traits.

use cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit,
    KeyInit, StreamCipher, StreamCipherSeek, block_padding::NoPadding, consts::U8,
};
use lanecrypt_des::{
    Bitslice, Cipher, CpuEngine, Ctr, Des, Ede2, Ede3, Eee2, Eee3, Reference, Single, Table32,
    TdesEde2, TdesEde3, TdesEee2, TdesEee3, WeakKeyError, weak_key_test,
};
use proptest::{collection::vec, prelude::*};

/// A message of up to five batches of the widest word and some bytes, and where to cut it.
fn message() -> impl Strategy<Value = (Vec<u8>, usize)> {
    vec(any::<u8>(), 0..5 * 64 * 8 + 9).prop_flat_map(|data| {
        let length = data.len();
        (Just(data), 0..=length)
    })
}

/// CTR and CBC from RustCrypto over `Ours` and over `Theirs` give the same bytes, and so does our
/// own CTR.
fn modes_agree<Ours, Theirs>(key: &[u8], iv: [u8; 8], message: &[u8], cut: usize)
where
    Ours: KeyInit + BlockCipherEncrypt<BlockSize = U8> + BlockCipherDecrypt,
    Ours: std::fmt::Debug + Send + Sync + 'static,
    Theirs: KeyInit + BlockCipherEncrypt<BlockSize = U8> + BlockCipherDecrypt,
{
    let key = &key[..Ours::key_size()];
    let ours = || Ours::new_from_slice(key).expect("a key of the right size");
    let theirs = || Theirs::new_from_slice(key).expect("a key of the right size");

    let (mut a, mut b, mut c) = (message.to_vec(), message.to_vec(), message.to_vec());
    let mut stream = ctr::Ctr64BE::from_core(ctr::CtrCore::inner_iv_init(ours(), &iv.into()));
    stream.apply_keystream(&mut a[..cut]);
    stream.apply_keystream(&mut a[cut..]);
    let mut stream = ctr::Ctr64BE::from_core(ctr::CtrCore::inner_iv_init(theirs(), &iv.into()));
    stream.apply_keystream(&mut b);
    assert_eq!(a, b, "CTR");
    let mut stream = Ctr::new(CpuEngine::new(ours()), &iv).expect("an IV of one block");
    stream.seek(cut as u64);
    stream.apply_keystream(&mut c[cut..]);
    stream.seek(0_u64);
    stream.apply_keystream(&mut c[..cut]);
    assert_eq!(a, c, "our CTR");

    let whole = &message[..message.len() / 8 * 8];
    let encrypted =
        cbc::Encryptor::inner_iv_init(ours(), &iv.into()).encrypt_padded_vec::<NoPadding>(whole);
    let expected =
        cbc::Encryptor::inner_iv_init(theirs(), &iv.into()).encrypt_padded_vec::<NoPadding>(whole);
    assert_eq!(encrypted, expected, "CBC encryption");
    let back = cbc::Decryptor::inner_iv_init(ours(), &iv.into())
        .decrypt_padded_vec::<NoPadding>(&expected)
        .expect("whole blocks");
    assert_eq!(back, whole, "CBC decryption");
}

/// Every implementation of one keying against its counterpart in `des`.
fn keying_agrees<K, Theirs>(key: &[u8], iv: [u8; 8], message: &[u8], cut: usize)
where
    K: lanecrypt_des::Keying,
    Theirs: KeyInit + BlockCipherEncrypt<BlockSize = U8> + BlockCipherDecrypt,
{
    modes_agree::<Cipher<Reference<K>>, Theirs>(key, iv, message, cut);
    modes_agree::<Cipher<Table32<K>>, Theirs>(key, iv, message, cut);
    modes_agree::<Cipher<Bitslice<u32, K>>, Theirs>(key, iv, message, cut);
    modes_agree::<Cipher<Bitslice<u64, K>>, Theirs>(key, iv, message, cut);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_implementation_is_that_of_the_des_crate(
        key in any::<[u8; 24]>(),
        iv in any::<[u8; 8]>(),
        (message, cut) in message(),
    ) {
        keying_agrees::<Single, des::Des>(&key, iv, &message, cut);
        keying_agrees::<Ede2, des::TdesEde2>(&key, iv, &message, cut);
        keying_agrees::<Ede3, des::TdesEde3>(&key, iv, &message, cut);
        keying_agrees::<Eee2, des::TdesEee2>(&key, iv, &message, cut);
        keying_agrees::<Eee3, des::TdesEee3>(&key, iv, &message, cut);
    }

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

/// Every number of blocks around the batches, against block by block.
#[test]
fn bulk_is_block_by_block() {
    fn check<C: KeyInit + BlockCipherEncrypt<BlockSize = U8> + BlockCipherDecrypt>() {
        let key: Vec<u8> = (0..C::key_size()).map(|i| (i * 29 + 7) as u8).collect();
        let cipher = C::new_from_slice(&key).expect("a key of the right size");
        for count in (0..10).chain(28..36).chain(60..70).chain([127, 128, 129, 200]) {
            let plain: Vec<cipher::Array<u8, U8>> =
                (0..count).map(|i: usize| [i as u8, 1, 2, 3, 4, 5, 6, 7].into()).collect();
            let mut one_by_one = plain.clone();
            for block in &mut one_by_one {
                cipher.encrypt_block(block);
            }
            let mut blocks = plain.clone();
            cipher.encrypt_blocks(&mut blocks);
            assert!(blocks == one_by_one, "{count} blocks encrypted");
            cipher.decrypt_blocks(&mut blocks);
            assert!(blocks == plain, "{count} blocks decrypted");
            for block in &mut one_by_one {
                cipher.decrypt_block(block);
            }
            assert!(one_by_one == plain, "{count} blocks decrypted one by one");
        }
    }
    check::<Des>();
    check::<TdesEde2>();
    check::<TdesEde3>();
    check::<TdesEee2>();
    check::<TdesEee3>();
    check::<Cipher<Bitslice<u32, Single>>>();
    check::<Cipher<Table32<Ede3>>>();
}

#[test]
fn wrong_key_lengths_are_refused() {
    assert!(Des::new_from_slice(&[0; 7]).is_err());
    assert!(TdesEde2::new_from_slice(&[0; 24]).is_err());
}
