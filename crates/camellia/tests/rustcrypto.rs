//! RustCrypto's own tests on our types, and their modes over ours against the same over `camellia`.

use cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit,
    KeyInit, KeyIvInit, StreamCipher, StreamCipherSeek, block_padding::NoPadding,
};
use lanecrypt_camellia::{
    Bitslice, Camellia128, Camellia192, Camellia256, Cipher, CpuEngine, Ctr, Key128, Key192,
    Key256, Reference, Table32,
};
use proptest::{collection::vec, prelude::*};

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
        modes_agree::<Camellia128, camellia::Camellia128>(&key, iv, &data, cut);
        modes_agree::<Cipher<Bitslice<u32, Key128>>, camellia::Camellia128>(&key, iv, &data, cut);
        modes_agree::<Cipher<Table32<Key128>>, camellia::Camellia128>(&key, iv, &data, cut);
        modes_agree::<Cipher<Reference<Key128>>, camellia::Camellia128>(&key, iv, &data, cut);
    }

    #[test]
    fn rustcrypto_modes_agree_192(
        key in vec(any::<u8>(), 48), iv: [u8; 16], (data, cut) in message(),
    ) {
        modes_agree::<Camellia192, camellia::Camellia192>(&key, iv, &data, cut);
        modes_agree::<Cipher<Bitslice<u32, Key192>>, camellia::Camellia192>(&key, iv, &data, cut);
        modes_agree::<Cipher<Table32<Key192>>, camellia::Camellia192>(&key, iv, &data, cut);
        modes_agree::<Cipher<Reference<Key192>>, camellia::Camellia192>(&key, iv, &data, cut);
    }

    #[test]
    fn rustcrypto_modes_agree_256(
        key in vec(any::<u8>(), 64), iv: [u8; 16], (data, cut) in message(),
    ) {
        modes_agree::<Camellia256, camellia::Camellia256>(&key, iv, &data, cut);
        modes_agree::<Cipher<Bitslice<u32, Key256>>, camellia::Camellia256>(&key, iv, &data, cut);
        modes_agree::<Cipher<Table32<Key256>>, camellia::Camellia256>(&key, iv, &data, cut);
        modes_agree::<Cipher<Reference<Key256>>, camellia::Camellia256>(&key, iv, &data, cut);
    }

    /// Every number of blocks up to a batch and one more: single blocks, few and padded batches.
    #[test]
    fn any_number_of_blocks_agrees(key: [u8; 16], data in vec(any::<[u8; 16]>(), 66)) {
        let theirs = camellia::Camellia128::new(&key.into());
        let expected: Vec<cipher::Block<Camellia128>> = data
            .iter()
            .map(|block| {
                let mut block = (*block).into();
                theirs.encrypt_block(&mut block);
                block
            })
            .collect();
        let ours = Camellia128::new(&key.into());
        for count in 0..=data.len() {
            let mut blocks: Vec<_> = data[..count].iter().map(|block| (*block).into()).collect();
            ours.encrypt_blocks(&mut blocks);
            prop_assert_eq!(&blocks[..], &expected[..count]);
            ours.decrypt_blocks(&mut blocks);
            prop_assert!(blocks.iter().zip(&data).all(|(block, before)| block.0 == *before));
        }
    }

    /// Our own seekable CTR gives the bytes of theirs, from any position on, in any pieces.
    #[test]
    fn our_stream_is_ctr128be(
        key: [u8; 16], iv: [u8; 16], (data, cut) in message(), position in 0_u64..1 << 40,
    ) {
        let engine = CpuEngine::new(Camellia128::new(&key.into()));
        let mut ours = Ctr::new(engine, &iv).expect("an IV of one block");
        let mut theirs = ctr::Ctr128BE::<camellia::Camellia128>::new(&key.into(), &iv.into());
        ours.seek(position);
        theirs.seek(position);
        let (mut a, mut b) = (data.clone(), data);
        ours.apply_keystream(&mut a[..cut]);
        ours.apply_keystream(&mut a[cut..]);
        theirs.apply_keystream(&mut b);
        prop_assert_eq!(&a, &b);
        prop_assert_eq!(ours.current_pos::<u64>(), position + a.len() as u64);
    }
}

#[test]
fn wrong_key_lengths_are_refused() {
    for length in [0, 15, 17, 24, 32] {
        assert!(Camellia128::new_from_slice(&vec![0; length]).is_err(), "{length}");
    }
    assert!(Camellia192::new_from_slice(&[0; 24]).is_ok());
    assert!(Camellia256::new_from_slice(&[0; 32]).is_ok());
}
