//! RustCrypto's own tests on our types, and their modes over ours against the same over `aes`.

use cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit,
    KeyInit, KeyIvInit, StreamCipher, StreamCipherSeek, block_padding::NoPadding,
};
use lanecrypt_aes::{
    Aes128, Aes128Dec, Aes128Enc, Aes192, Aes192Dec, Aes192Enc, Aes256, Aes256Dec, Aes256Enc,
    Bitslice, Cipher, CpuEngine, Ctr, Key128, Key192, Key256, Reference, Table32,
};
use proptest::{collection::vec, prelude::*};

cipher::block_cipher_test!(aes128, Aes128);
cipher::block_cipher_test!(aes192, Aes192);
cipher::block_cipher_test!(aes256, Aes256);
cipher::block_cipher_test!(encrypt128, "aes128", Aes128Enc, encrypt_test);
cipher::block_cipher_test!(decrypt128, "aes128", Aes128Dec, decrypt_test);
cipher::block_cipher_test!(encrypt192, "aes192", Aes192Enc, encrypt_test);
cipher::block_cipher_test!(decrypt192, "aes192", Aes192Dec, decrypt_test);
cipher::block_cipher_test!(encrypt256, "aes256", Aes256Enc, encrypt_test);
cipher::block_cipher_test!(decrypt256, "aes256", Aes256Dec, decrypt_test);
cipher::block_cipher_test!(reference128, "aes128", Cipher<Reference<Key128>>);
cipher::block_cipher_test!(reference256, "aes256", Cipher<Reference<Key256>>);
cipher::block_cipher_test!(table128, "aes128", Cipher<Table32<Key128>>);
cipher::block_cipher_test!(table192, "aes192", Cipher<Table32<Key192>>);
cipher::block_cipher_test!(table256, "aes256", Cipher<Table32<Key256>>);
cipher::block_cipher_test!(bitslice32_128, "aes128", Cipher<Bitslice<u32, Key128>>);
cipher::block_cipher_test!(bitslice32_192, "aes192", Cipher<Bitslice<u32, Key192>>);
cipher::block_cipher_test!(bitslice64_192, "aes192", Cipher<Bitslice<u64, Key192>>);
cipher::block_cipher_test!(bitslice64_256, "aes256", Cipher<Bitslice<u64, Key256>>);

/// A message of up to five batches of the widest word and some bytes, and where to cut it.
fn message() -> impl Strategy<Value = (Vec<u8>, usize)> {
    vec(any::<u8>(), 0..5 * 64 * 16 + 17).prop_flat_map(|data| {
        let length = data.len();
        (Just(data), 0..=length)
    })
}

/// CTR, CBC and XTS from RustCrypto over `Ours` and over `Theirs` give the same bytes.
fn modes_agree<Ours, Theirs>(key: &[u8], iv: [u8; 16], message: &[u8], cut: usize)
where
    Ours: KeyInit + BlockCipherEncrypt<BlockSize = cipher::consts::U16> + BlockCipherDecrypt,
    Theirs: KeyInit + BlockCipherEncrypt<BlockSize = cipher::consts::U16> + BlockCipherDecrypt,
{
    let (first, second) = key.split_at(key.len() / 2);
    let ours = || Ours::new_from_slice(first).expect("a key of the right size");
    let theirs = || Theirs::new_from_slice(first).expect("a key of the right size");

    let (mut a, mut b) = (message.to_vec(), message.to_vec());
    let mut stream = ctr::Ctr128BE::from_core(ctr::CtrCore::inner_iv_init(ours(), &iv.into()));
    stream.apply_keystream(&mut a[..cut]);
    stream.apply_keystream(&mut a[cut..]);
    let mut stream = ctr::Ctr128BE::from_core(ctr::CtrCore::inner_iv_init(theirs(), &iv.into()));
    stream.apply_keystream(&mut b);
    assert_eq!(a, b, "CTR");

    let whole = &message[..message.len() / 16 * 16];
    let ours_cbc =
        cbc::Encryptor::inner_iv_init(ours(), &iv.into()).encrypt_padded_vec::<NoPadding>(whole);
    let theirs_cbc =
        cbc::Encryptor::inner_iv_init(theirs(), &iv.into()).encrypt_padded_vec::<NoPadding>(whole);
    assert_eq!(ours_cbc, theirs_cbc, "CBC encryption");
    let back = cbc::Decryptor::inner_iv_init(ours(), &iv.into())
        .decrypt_padded_vec::<NoPadding>(&theirs_cbc)
        .expect("whole blocks");
    assert_eq!(back, whole, "CBC decryption");

    if message.len() >= 16 {
        let ours_tweak = Ours::new_from_slice(second).expect("a key of the right size");
        let theirs_tweak = Theirs::new_from_slice(second).expect("a key of the right size");
        let (mut a, mut b) = (message.to_vec(), message.to_vec());
        let ours = xts_mode::Xts128::new(ours(), ours_tweak);
        ours.encrypt_sector(&mut a, iv.into());
        xts_mode::Xts128::new(theirs(), theirs_tweak).encrypt_sector(&mut b, iv.into());
        assert_eq!(a, b, "XTS encryption");
        ours.decrypt_sector(&mut a, iv.into());
        assert_eq!(a, message, "XTS decryption");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn rustcrypto_modes_agree_128(
        key in vec(any::<u8>(), 32), iv: [u8; 16], (data, cut) in message(),
    ) {
        modes_agree::<Aes128, aes::Aes128>(&key, iv, &data, cut);
        modes_agree::<Cipher<Bitslice<u64, Key128>>, aes::Aes128>(&key, iv, &data, cut);
        modes_agree::<Cipher<Bitslice<u32, Key128>>, aes::Aes128>(&key, iv, &data, cut);
    }

    #[test]
    fn rustcrypto_modes_agree_192(
        key in vec(any::<u8>(), 48), iv: [u8; 16], (data, cut) in message(),
    ) {
        modes_agree::<Aes192, aes::Aes192>(&key, iv, &data, cut);
        modes_agree::<Cipher<Bitslice<u64, Key192>>, aes::Aes192>(&key, iv, &data, cut);
    }

    #[test]
    fn rustcrypto_modes_agree_256(
        key in vec(any::<u8>(), 64), iv: [u8; 16], (data, cut) in message(),
    ) {
        modes_agree::<Aes256, aes::Aes256>(&key, iv, &data, cut);
        modes_agree::<Cipher<Table32<Key256>>, aes::Aes256>(&key, iv, &data, cut);
    }

    /// Our own seekable CTR gives the bytes of theirs, from any position on, in any pieces.
    #[test]
    fn our_stream_is_ctr128be(
        key: [u8; 16], iv: [u8; 16], (data, cut) in message(), position in 0_u64..1 << 40,
    ) {
        let engine = CpuEngine::new(Cipher::<Bitslice<u64, Key128>>::new(&key.into()));
        let mut ours = Ctr::new(engine, &iv).expect("an IV of one block");
        let mut theirs = ctr::Ctr128BE::<aes::Aes128>::new(&key.into(), &iv.into());
        ours.seek(position);
        theirs.seek(position);
        let (mut a, mut b) = (data.clone(), data);
        ours.apply_keystream(&mut a[..cut]);
        ours.apply_keystream(&mut a[cut..]);
        theirs.apply_keystream(&mut b);
        prop_assert_eq!(&a, &b);
        prop_assert_eq!(ours.current_pos::<u64>(), position + a.len() as u64);
        prop_assert_eq!(ours.current_pos::<u64>(), theirs.current_pos::<u64>());
    }
}

#[test]
fn wrong_key_lengths_are_refused() {
    for length in [0, 15, 17, 24, 32] {
        assert!(Aes128::new_from_slice(&vec![0; length]).is_err(), "{length}");
    }
    assert!(Aes256::new_from_slice(&[0; 32]).is_ok());
}
