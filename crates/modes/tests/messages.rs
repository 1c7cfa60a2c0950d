//! Many messages under one key: the serial modes against RustCrypto's, one after another, and CMAC against SP 800-38B
//! and the crate `cmac`.

mod fails;

use ::cmac::{Cmac, Mac};
use cipher::{Array, BlockModeEncrypt, KeyInit, KeyIvInit, StreamCipher, consts::U16};
use fails::Fails;
use lanecrypt_aes::{Aes128, Aes192};
use lanecrypt_core::{Error, MessagesError};
use lanecrypt_des::TdesEde3;
use lanecrypt_modes::{ChainedMessage, cbc, cfb, cmac::BatchCmac, ofb};
use proptest::{collection::vec, prelude::*};

const COUNTS: [usize; 10] = [0, 1, 2, 7, 8, 9, 63, 64, 65, 200];

/// Messages of equal lengths and of many, empty ones among them.
fn texts() -> impl Strategy<Value = Vec<Vec<u8>>> {
    (0..COUNTS.len()).prop_flat_map(|at| {
        let equal = (0..200_usize).prop_flat_map(move |length| {
            vec(vec(any::<u8>(), length..=length), COUNTS[at]..=COUNTS[at])
        });
        let ragged = vec(vec(any::<u8>(), 0..400), COUNTS[at]..=COUNTS[at]);
        prop_oneof![equal, ragged]
    })
}

/// Runs `run` over messages in place, each with an IV of its own, and returns the outputs and IVs.
fn side_by_side<const N: usize>(
    texts: &[Vec<u8>],
    run: impl FnOnce(&mut [ChainedMessage<'_>]) -> Result<(), MessagesError>,
) -> (Vec<Vec<u8>>, Vec<[u8; N]>) {
    let mut outputs = texts.to_vec();
    let mut ivs: Vec<_> = (0..texts.len()).map(iv::<N>).collect();
    let messages = ivs.iter_mut().zip(&mut outputs);
    let mut messages: Vec<_> = messages
        .map(|(iv, text)| ChainedMessage { iv, data: text.as_mut_slice().into() })
        .collect();
    run(&mut messages).expect("good lengths");
    (outputs, ivs)
}

fn iv<const N: usize>(number: usize) -> [u8; N] {
    core::array::from_fn(|i| (number * 31 + i * i) as u8)
}

/// The modes over a cipher of ours against RustCrypto's over theirs.
macro_rules! agree {
    ($ours:ty, $theirs:ty, $key:expr, $texts:expr, $block:literal) => {
        let (key, texts) = (&$key.into(), $texts);
        let mut whole = texts.clone();
        for text in &mut whole {
            text.truncate(text.len() / $block * $block);
        }
        let ours = cbc::BatchEncryptor::<$ours>::new(key);
        let (outputs, ivs) = side_by_side::<$block>(&whole, |messages| ours.run(messages));
        for (number, text) in whole.iter().enumerate() {
            let mut expected = text.clone();
            let blocks = Array::slice_as_chunks_mut(&mut expected).0;
            ::cbc::Encryptor::<$theirs>::new(key, &iv::<$block>(number).into())
                .encrypt_blocks(blocks);
            prop_assert_eq!(&outputs[number], &expected);
            let last = expected.last_chunk().copied().unwrap_or(iv::<$block>(number));
            prop_assert_eq!(ivs[number], last);
        }
        let ours = cfb::BatchEncryptor::<$ours>::new(key);
        let (outputs, _) = side_by_side::<$block>(&texts, |messages| ours.run(messages));
        for (number, text) in texts.iter().enumerate() {
            let mut expected = text.clone();
            cfb_mode::Encryptor::<$theirs>::new(key, &iv::<$block>(number).into())
                .encrypt(&mut expected);
            prop_assert_eq!(&outputs[number], &expected);
        }
        let ours = ofb::BatchOfb::<$ours>::new(key);
        let (outputs, _) = side_by_side::<$block>(&texts, |messages| ours.run(messages));
        for (number, text) in texts.iter().enumerate() {
            let mut expected = text.clone();
            ::ofb::Ofb::<$theirs>::new(key, &iv::<$block>(number).into())
                .apply_keystream(&mut expected);
            prop_assert_eq!(&outputs[number], &expected);
        }
        let refs: Vec<_> = texts.iter().map(Vec::as_slice).collect();
        let mut tags = vec![[0x5a; $block].into(); texts.len()];
        BatchCmac::<$ours>::new(key).tags(&refs, &mut tags).expect("as many tags");
        for (text, tag) in texts.iter().zip(&tags) {
            let mut expected = Cmac::<$theirs>::new(key);
            expected.update(text);
            let expected = expected.finalize().into_bytes();
            prop_assert_eq!(tag.as_slice(), expected.as_slice());
        }
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn aes(key: [u8; 24], texts in texts()) {
        agree!(Aes192, ::aes::Aes192, key, texts, 16);
    }

    #[test]
    fn triple_des(key: [u8; 24], texts in texts()) {
        agree!(TdesEde3, ::des::TdesEde3, key, texts, 8);
    }
}

/// The examples of SP 800-38B, D.1, for AES-128.
#[test]
fn published_tags() {
    let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
    let message = [
        0x6bc1_bee2_2e40_9f96_e93d_7e11_7393_172a_u128,
        0xae2d_8a57_1e03_ac9c_9eb7_6fac_45af_8e51,
        0x30c8_1c46_a35c_e411_e5fb_c119_1a0a_52ef,
        0xf69f_2445_df4f_9b17_ad2b_417b_e66c_3710,
    ]
    .map(u128::to_be_bytes);
    let expected = [
        (0, 0xbb1d_6929_e959_3728_7fa3_7d12_9b75_6746_u128),
        (16, 0x070a_16b4_6b4d_4144_f79b_dd9d_d04a_287c),
        (40, 0xdfa6_6747_de9a_e630_30ca_3261_1497_c827),
        (64, 0x51f0_bebf_7e3b_9d92_fc49_7417_7936_3cfe),
    ];
    let messages = expected.map(|(length, _)| &message.as_flattened()[..length]);
    let mut tags = [[0; 16].into(); 4];
    BatchCmac::<Aes128>::new(&key.into()).tags(&messages, &mut tags).expect("as many tags");
    assert_eq!(tags.map(|tag| u128::from_be_bytes(tag.into())), expected.map(|(_, tag)| tag));
}

#[test]
fn a_bad_message_is_named() {
    let cbc = cbc::BatchEncryptor::<Aes128>::new(&[1; 16].into());
    let (mut ivs, mut texts) = ([[2; 16]; 3], [vec![3; 16], vec![3; 32], vec![3; 40]]);
    let messages = ivs.iter_mut().zip(&mut texts);
    let mut messages: Vec<_> = messages
        .map(|(iv, text)| ChainedMessage { iv, data: text.as_mut_slice().into() })
        .collect();
    let refused = cbc.run(&mut messages);
    let is_named = matches!(
        refused,
        Err(MessagesError::Message { number: 2, error: Error::NotWholeBlocks { given: 40, .. } })
    );
    assert!(is_named, "{refused:?}");
    assert!(texts.iter().flatten().all(|&byte| byte == 3) && ivs == [[2; 16]; 3]);
}

#[test]
fn every_message_has_a_tag() {
    let cmac = BatchCmac::<Aes128>::new(&[1; 16].into());
    let mut tags = [Array::<u8, U16>::from([7; 16]); 2];
    let refused = cmac.tags(&[b"one"], &mut tags);
    let is_named = matches!(refused, Err(MessagesError::TagCount { messages: 1, tags: 2 }));
    assert!(is_named && tags == [[7; 16]; 2], "{refused:?}");
    let text = refused.expect_err("one is missing").to_string();
    assert!(text.starts_with("2 tags for 1 messages"), "{text}");
}

/// An engine that fails is reported, whichever call it fails in.
#[test]
fn an_engine_that_fails_is_reported() {
    let cmac = BatchCmac::<Fails>::new(&[1; 16].into());
    let message = [5; 40];
    // One for all blocks but the last, and one for that.
    for calls in 0..2 {
        fails::fail_after(calls);
        let result = cmac.tags(&[&message], &mut [Array::default()]);
        assert!(matches!(result, Err(MessagesError::Engine(_))), "{result:?} after {calls} calls");
    }
    fails::fail_after(usize::MAX);
    cmac.tags(&[&message], &mut [Array::default()]).expect("it works again");
}
