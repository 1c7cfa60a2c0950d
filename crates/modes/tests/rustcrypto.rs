//! The types of modes against RustCrypto's, over the same ciphers: pieces, padding, seeks, states.

mod fails;

use std::panic::{AssertUnwindSafe, catch_unwind};

use cipher::{
    Array, BlockModeDecrypt, BlockModeEncrypt, InOutBuf, IvState, KeyInit, KeyIvInit, StreamCipher,
    StreamCipherSeek, block_padding::Pkcs7, common::SetIvState, typenum::Unsigned,
};
use fails::Fails;
use lanecrypt_aes::Aes192;
use lanecrypt_core::{Direction, Error};
use lanecrypt_des::TdesEde3;
use lanecrypt_modes::{
    Ctr, Ofb, Xts, cbc, cfb,
    ctr::{Ctr32BE, Ctr64LE, Ctr128BE},
    get_tweak_default,
    ofb::OfbCore,
    xts_halves_are_equal,
};
use proptest::{collection::vec, prelude::*};

fn message() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..9000)
}

/// Where a message is cut.
fn cuts() -> impl Strategy<Value = Vec<usize>> {
    vec(0..700_usize, 0..12)
}

/// Runs `work` on pieces of the lengths in `cuts`, and on the rest.
fn in_pieces<T>(mut data: &mut [T], cuts: &[usize], mut work: impl FnMut(&mut [T])) {
    for cut in cuts {
        let (piece, rest) = data.split_at_mut((*cut).min(data.len()));
        work(piece);
        data = rest;
    }
    work(data);
}

/// The same test for AES-192, with blocks of 16 bytes, and triple DES, with blocks of 8.
macro_rules! both_sizes {
    ($name:ident, $test:ident) => {
        mod $name {
            use super::*;
            proptest! {
                #![proptest_config(ProptestConfig::with_cases(24))]

                #[test]
                fn aes(key: [u8; 24], iv: [u8; 16], data in message(), cuts in cuts()) {
                    $test!(Aes192, ::aes::Aes192, key, iv, data, cuts);
                }

                #[test]
                fn triple_des(key: [u8; 24], iv: [u8; 8], data in message(), cuts in cuts()) {
                    $test!(TdesEde3, ::des::TdesEde3, key, iv, data, cuts);
                }
            }
        }
    };
}

macro_rules! cbc_test {
    ($ours:ty, $theirs:ty, $key:ident, $iv:ident, $data:ident, $cuts:ident) => {
        let (key, iv) = (&$key.into(), &$iv.into());
        let expected =
            ::cbc::Encryptor::<$theirs>::new(key, iv).encrypt_padded_vec::<Pkcs7>(&$data);
        let ours = cbc::Encryptor::<$ours>::new(key, iv).encrypt_padded_vec::<Pkcs7>(&$data);
        prop_assert_eq!(&ours, &expected);
        let back = cbc::Decryptor::<$ours>::new(key, iv).decrypt_padded_vec::<Pkcs7>(&ours);
        prop_assert_eq!(back.expect("our own padding"), $data);

        let mut blocks: Vec<_> = expected
            .chunks_exact($iv.len())
            .map(|block| cipher::Array::try_from(block).expect("a block"))
            .collect();
        let mut theirs = blocks.clone();
        let mut decryptor = cbc::Decryptor::<$ours>::new(key, iv);
        in_pieces(&mut blocks, &$cuts, |piece| match piece {
            [block] => decryptor.decrypt_block(block),
            _ => decryptor.decrypt_blocks(piece),
        });
        let mut reference = ::cbc::Decryptor::<$theirs>::new(key, iv);
        reference.decrypt_blocks(&mut theirs);
        prop_assert_eq!(&blocks, &theirs);
        prop_assert_eq!(decryptor.iv_state(), reference.iv_state());
    };
}
both_sizes!(cbc_is_the_same, cbc_test);

macro_rules! cfb_test {
    ($ours:ty, $theirs:ty, $key:ident, $iv:ident, $data:ident, $cuts:ident) => {
        let (key, iv) = (&$key.into(), &$iv.into());
        let (mut expected, mut ours) = ($data.clone(), $data.clone());
        cfb_mode::Encryptor::<$theirs>::new(key, iv).encrypt(&mut expected);
        cfb::Encryptor::<$ours>::new(key, iv).encrypt(&mut ours);
        prop_assert_eq!(&ours, &expected);
        let mut output = vec![0xee; ours.len()];
        let buffer = InOutBuf::new(&ours, &mut output).expect("equal lengths");
        cfb::Decryptor::<$ours>::new(key, iv).decrypt_inout(buffer);
        prop_assert_eq!(&output, &$data);

        let mut blocks: Vec<_> = expected
            .chunks_exact($iv.len())
            .map(|block| cipher::Array::try_from(block).expect("a block"))
            .collect();
        let mut decryptor = cfb::Decryptor::<$ours>::new(key, iv);
        in_pieces(&mut blocks, &$cuts, |piece| decryptor.decrypt_blocks(piece));
        prop_assert_eq!(
            cipher::Array::slice_as_flattened(&blocks),
            &$data[..cipher::Array::slice_as_flattened(&blocks).len()]
        );
        let mut encryptor = cfb::Encryptor::<$ours>::new(key, iv);
        in_pieces(&mut blocks, &$cuts, |piece| encryptor.encrypt_blocks(piece));
        prop_assert_eq!(
            cipher::Array::slice_as_flattened(&blocks),
            &expected[..cipher::Array::slice_as_flattened(&blocks).len()]
        );
    };
}
both_sizes!(cfb_is_the_same, cfb_test);

macro_rules! ofb_test {
    ($ours:ty, $theirs:ty, $key:ident, $iv:ident, $data:ident, $cuts:ident) => {
        let (key, iv) = (&$key.into(), &$iv.into());
        let (mut expected, mut ours) = ($data.clone(), $data.clone());
        ::ofb::Ofb::<$theirs>::new(key, iv).apply_keystream(&mut expected);
        let mut stream = Ofb::<$ours>::new(key, iv);
        in_pieces(&mut ours, &$cuts, |piece| stream.apply_keystream(piece));
        prop_assert_eq!(&ours, &expected);
    };
}
both_sizes!(ofb_is_the_same, ofb_test);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// `before` blocks before the counter of 32 bits wraps, and at any position.
    #[test]
    fn ctr_of_32_bits_is_the_same(
        key: [u8; 24], mut iv: [u8; 16], before in 0..600_u32, data in message(), cuts in cuts(),
        position in 0..1_u64 << 36,
    ) {
        iv[12..].copy_from_slice(&before.wrapping_neg().to_be_bytes());
        for position in [0, position] {
            let mut theirs = ::ctr::Ctr32BE::<::aes::Aes192>::new(&key.into(), &iv.into());
            let mut ours = Ctr::with_32_bits(Aes192::new(&key.into()), &iv).expect("a block");
            let room = ((1_u64 << 36) - position).min(data.len() as u64);
            let data = &data[..usize::try_from(room).expect("short")];
            let (mut expected, mut output) = (data.to_vec(), data.to_vec());
            theirs.seek(position);
            theirs.apply_keystream(&mut expected);
            ours.seek(position);
            in_pieces(&mut output, &cuts, |piece| ours.apply_keystream(piece));
            prop_assert_eq!(&output, &expected);
        }
    }

    #[test]
    fn xts_is_the_same(
        keys: [[u8; 24]; 2], first in 0..u128::from(u64::MAX), sector in 16..700_usize,
        data in vec(any::<u8>(), 16..9000),
    ) {
        // The last sector is a block at least.
        let rest = data.len() % sector;
        let data = &data[..data.len() - if rest < 16 { rest } else { 0 }];
        let [a, b] = keys.map(|key| ::aes::Aes192::new(&key.into()));
        let theirs = xts_mode::Xts128::new(a, b);
        let [a, b] = keys.map(|key| Aes192::new(&key.into()));
        let ours = Xts::new(a, b);
        let (mut expected, mut output) = (data.to_vec(), data.to_vec());
        theirs.encrypt_area(&mut expected, sector, first, xts_mode::get_tweak_default);
        ours.encrypt_area(&mut output, sector, first, get_tweak_default);
        prop_assert_eq!(&output, &expected);
        ours.decrypt_area(&mut output, sector, first, get_tweak_default);
        prop_assert_eq!(&output, data);
        ours.units(Direction::Encrypt, first, sector, output.as_mut_slice().into())
            .expect("good units");
        prop_assert_eq!(&output, &expected);
    }
}

#[test]
fn halves_of_xts_keys() {
    assert!(xts_halves_are_equal(&[3; 64]));
    assert!(!xts_halves_are_equal(&[[3; 32], [4; 32]].concat()));
    let last = [&[3; 32][..], &[3; 31], &[2]].concat();
    assert!(!xts_halves_are_equal(&last));
    assert!(!xts_halves_are_equal(&[3; 33]), "halves of different lengths");
}

/// The number after the last one is 0, in areas as in [`Xts::units`].
#[test]
fn sector_numbers_wrap() {
    let xts = Xts::new(Aes192::new(&[1; 24].into()), Aes192::new(&[2; 24].into()));
    let mut expected = [7; 3 * 32];
    for (sector, number) in expected.chunks_exact_mut(32).zip([u128::MAX - 1, u128::MAX, 0]) {
        xts.encrypt_sector(sector, get_tweak_default(number));
    }
    let mut area = [7; 3 * 32];
    xts.encrypt_area(&mut area, 32, u128::MAX - 1, get_tweak_default);
    assert_eq!(area, expected);
    xts.decrypt_area(&mut area, 32, u128::MAX - 1, get_tweak_default);
    assert_eq!(area, [7; 3 * 32]);
    xts.units(Direction::Encrypt, u128::MAX - 1, 32, area.as_mut_slice().into()).expect("units");
    assert_eq!(area, expected);
}

/// As the crate `xts-mode` does it.
#[test]
fn sectors_shorter_than_a_block_panic() {
    let xts = Xts::new(Aes192::new(&[1; 24].into()), Aes192::new(&[2; 24].into()));
    let tweak = get_tweak_default(0);
    panics_below_a_block(|sector| xts.encrypt_sector(sector, tweak));
    panics_below_a_block(|sector| xts.decrypt_sector(sector, tweak));
    panics_below_a_block(|area| xts.encrypt_area(area, 32, 0, get_tweak_default));
    panics_below_a_block(|area| xts.decrypt_area(area, 32, 0, get_tweak_default));
}

#[track_caller]
fn panics_below_a_block(call: impl Fn(&mut [u8])) {
    let panics = |bytes| catch_unwind(AssertUnwindSafe(|| call(&mut vec![7; bytes]))).is_err();
    assert!(panics(15));
    assert!(!panics(16));
}

#[test]
#[should_panic(expected = "16 bytes used of a block of 16")]
fn states_are_within_a_block() {
    let _ = cfb::BufEncryptor::from_state(Aes192::new(&[1; 24].into()), &[2; 16].into(), 16);
}

#[test]
fn a_stream_begins_anew_at_another_iv() {
    let of = |iv: u8| Ctr128BE::<Aes192>::new(&[1; 24].into(), &[iv; 16].into());
    let (mut found, mut expected) = ([7; 40], [7; 40]);
    let mut stream = of(2);
    stream.apply_keystream(&mut [0; 21]); // up to the middle of a block
    stream.set_iv(&[3; 16].into());
    stream.apply_keystream(&mut found);
    of(3).apply_keystream(&mut expected);
    assert_eq!(found, expected);
}

#[test]
fn a_look_ahead_leaves_the_place_in_a_block() {
    let of = || Ctr128BE::<Aes192>::new(&[1; 24].into(), &[2; 16].into());
    let (mut stream, mut found, mut expected) = (of(), [7; 61], [7; 61]);
    stream.apply_keystream(&mut found[..21]);
    let (mut ahead, rest) = ([7; 40], &mut found[21..]);
    stream.peek(|stream| stream.apply_keystream(&mut ahead));
    stream.apply_keystream(rest);
    of().apply_keystream(&mut expected);
    assert_eq!((found, &ahead[..]), (expected, &expected[21..]));
}

#[test]
fn copies_go_on_from_the_same_place() {
    fn blocks<M: KeyIvInit + BlockModeEncrypt + Clone>() {
        let mut mode = M::new(&Array::from_fn(|_| 1), &Array::from_fn(|_| 2));
        mode.encrypt_block(&mut Array::from_fn(|_| 3));
        let (mut copy, block) = (mode.clone(), Array::from_fn(|_| 4));
        let (mut found, mut expected) = (block.clone(), block);
        copy.encrypt_block(&mut found);
        mode.encrypt_block(&mut expected);
        assert_eq!(found, expected);
    }
    fn bytes<M: KeyIvInit + StreamCipher + Clone>() {
        let mut mode = M::new(&Array::from_fn(|_| 1), &Array::from_fn(|_| 2));
        mode.apply_keystream(&mut [3; 21]);
        let (mut copy, mut found, mut expected) = (mode.clone(), [4; 40], [4; 40]);
        copy.apply_keystream(&mut found);
        mode.apply_keystream(&mut expected);
        assert_eq!(found, expected);
    }
    blocks::<cbc::Encryptor<Aes192>>();
    blocks::<cfb::Encryptor<Aes192>>();
    blocks::<OfbCore<Aes192>>();
    bytes::<Ofb<Aes192>>();
    bytes::<Ctr128BE<Aes192>>();
    let mut pieces = cfb::BufEncryptor::<Aes192>::new(&[1; 24].into(), &[2; 16].into());
    pieces.encrypt(&mut [3; 21]);
    let (mut copy, mut found, mut expected) = (pieces.clone(), [4; 40], [4; 40]);
    copy.encrypt(&mut found);
    pieces.encrypt(&mut expected);
    assert_eq!(found, expected);
}

/// The traits of RustCrypto have no errors: data is not taken for encrypted where the engine failed.
#[test]
fn an_engine_that_fails_panics() {
    #[track_caller]
    fn panics(mode: &str, call: impl FnOnce(&mut [u8])) {
        fails::fail_after(0);
        let result = catch_unwind(AssertUnwindSafe(|| call(&mut [7; 48])));
        fails::fail_after(usize::MAX);
        let panic = result.expect_err("it panics").downcast::<String>().expect("a text");
        assert!(panic.starts_with(mode), "{panic}");
    }
    let (key, iv) = (&[1; 16].into(), &[2; 16].into());
    panics("CFB: ", |data| cfb::Encryptor::<Fails>::new(key, iv).encrypt(data));
    panics("CFB: ", |data| cfb::Decryptor::<Fails>::new(key, iv).decrypt(data));
    panics("CBC: ", |_| {
        cbc::Encryptor::<Fails>::new(key, iv).encrypt_block(&mut [7; 16].into());
    });
    panics("OFB: ", |data| Ofb::<Fails>::new(key, iv).apply_keystream(data));
    panics("CTR: ", |data| Ctr128BE::<Fails>::new(key, iv).apply_keystream(data));
    let mut pieces = cfb::BufEncryptor::<Fails>::new(key, iv);
    panics("CFB: ", |data| pieces.encrypt(data));
}

/// No block of key stream twice, by the method that tells an engine's errors either; and a position below zero is none.
fn ends<S: KeyIvInit + StreamCipher + StreamCipherSeek>(
    blocks: u128,
    try_apply: impl Fn(&mut S, &mut [u8]) -> Result<(), Error>,
) {
    let block = S::IvSize::USIZE as u128;
    let last = (blocks - 1) * block; // the last block is not given out
    let new = || S::new(&Array::from_fn(|i| i as u8), &Array::from_fn(|i| 0xf0 | i as u8));
    let mut first = vec![0; 16];
    new().apply_keystream(&mut first);
    let mut stream = new();
    stream.seek(last - 20);
    let mut data = [0x5a; 40];
    let refused = try_apply(&mut stream, &mut data[..21]);
    let Err(Error::KeystreamEnd { position, length }) = refused else { panic!("{refused:?}") };
    assert_eq!((position, length), (last + 1, last));
    assert_eq!(data, [0x5a; 40], "nothing is written past the end");
    assert_eq!(stream.current_pos::<u128>(), last - 20);
    try_apply(&mut stream, &mut data[..20]).expect("up to the end");
    assert!(try_apply(&mut stream, &mut data[20..21]).is_err());
    assert_eq!(data[20..], [0x5a; 20]);
    for position in [-1, -16, i32::MIN] {
        assert!(stream.try_seek(position).is_err(), "{position}");
    }
    assert_eq!(stream.current_pos::<u128>(), last);
    // Without a check it begins anew, as the crate's does: after the last block comes the first.
    stream.unchecked_apply_keystream(&mut data[..block as usize]);
    let mut again = vec![0; 16];
    stream.unchecked_apply_keystream(&mut again);
    assert_eq!(again, first);
}

#[test]
fn a_stream_ends_before_its_counter_wraps() {
    ends::<Ctr32BE<Aes192>>(1 << 32, |stream, data| stream.try_apply(data.into()));
    ends::<Ctr64LE<Aes192>>(1 << 64, |stream, data| stream.try_apply(data.into()));
    ends::<Ctr32BE<TdesEde3>>(1 << 32, |stream, data| stream.try_apply(data.into()));
}
