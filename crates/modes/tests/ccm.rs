//! CCM against the crate `ccm`, against SP 800-38C, and against what it must refuse. `kat` runs it on vectors.

mod fails;
mod flipped;

use ccm::aead::AeadInOut;
use cipher::{
    InOutBuf, KeyInit,
    consts::{U4, U7, U8, U10, U12, U13, U14, U16},
};
use fails::{Fails, nothing_out};
use flipped::flip_bit;
use lanecrypt_aes::{Aes128, Aes192, Aes256};
use lanecrypt_camellia::Camellia256;
use lanecrypt_core::{CpuEngine, Error};
use lanecrypt_modes::Ccm;
use proptest::{collection::vec, prelude::*};

/// Both ways as `ccm` has it; a bit changed anywhere is refused, and the output is the ciphertext.
macro_rules! same {
    ($ours:ty, $theirs:ty, $key:expr, $tag:ty, $nonce:ty: $bytes:literal, $text:expr) => {{
        let (nonce, aad, message, flip): ([u8; 13], &Vec<u8>, &Vec<u8>, usize) = $text;
        let nonce: [u8; $bytes] = nonce[..$bytes].try_into().expect("so many bytes");
        let ours = Ccm::<$ours>::new(&$key.into());
        let theirs = ccm::Ccm::<$theirs, $tag, $nonce>::new(&$key.into());
        let (mut expected, mut output) = (message.clone(), vec![0xee; message.len()]);
        let buffer = expected.as_mut_slice().into();
        let tag = theirs.encrypt_inout_detached(&nonce.into(), aad, buffer).expect("theirs").0;
        let mut made = tag;
        made.fill(0xee);
        let buffer = InOutBuf::new(message, &mut output).expect("equal lengths");
        ours.encrypt(&nonce, aad, buffer, &mut made).expect("good lengths");
        prop_assert_eq!(made, tag);
        prop_assert!(output == expected, "ciphertexts differ");
        let buffer = InOutBuf::new(&expected, &mut output).expect("equal lengths");
        ours.decrypt(&nonce, aad, buffer, &tag).expect("authentic");
        prop_assert!(&output == message, "plaintexts differ");
        ours.encrypt(&nonce, aad, output.as_mut_slice().into(), &mut made).expect("lengths");
        prop_assert!(output == expected && made == tag, "in place it differs");

        let (mut nonce, mut aad, mut data, mut wrong) = (nonce, aad.clone(), expected, tag);
        flip_bit(&mut [&mut nonce, &mut aad, &mut data, &mut wrong], flip);
        let mut output = vec![0xee; data.len()];
        let buffer = InOutBuf::new(&data, &mut output).expect("equal lengths");
        let refused = ours.decrypt(&nonce, &aad, buffer, &wrong);
        prop_assert!(matches!(refused, Err(Error::NotAuthentic)));
        prop_assert!(output == data, "something else than the ciphertext is given out");
        let refused = ours.decrypt(&nonce, &aad, output.as_mut_slice().into(), &wrong);
        prop_assert!(matches!(refused, Err(Error::NotAuthentic)));
        prop_assert!(output == data, "in place it changes");
    }};
}

/// Associated data with a length of two bytes, or of six.
fn associated() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![4 => vec(any::<u8>(), 0..600), 1 => vec(any::<u8>(), 0xfefc..0xff04)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn as_ccm_has_it(
        key: [u8; 32], nonce: [u8; 13], aad in associated(),
        message in prop_oneof![vec(any::<u8>(), 0..300), vec(any::<u8>(), 0..60_000)],
        flip: usize,
    ) {
        let short: [u8; 16] = key[..16].try_into().expect("16 bytes");
        let middle: [u8; 24] = key[..24].try_into().expect("24 bytes");
        let text = (nonce, &aad, &message, flip);
        same!(Aes128, aes::Aes128, short, U16, U12: 12, text);
        same!(Aes192, aes::Aes192, middle, U8, U13: 13, text);
        same!(Aes256, aes::Aes256, key, U4, U7: 7, text);
        same!(Camellia256, camellia::Camellia256, key, U14, U8: 8, text);
        same!(Camellia256, camellia::Camellia256, key, U10, U10: 10, text);
    }
}

/// SP 800-38C, C.4: associated data of 65,536 bytes.
#[test]
fn the_standards_longest_example() {
    let ccm = Ccm::<Aes128>::new(&std::array::from_fn(|i| 0x40 + i as u8).into());
    let nonce: [u8; 13] = std::array::from_fn(|i| 0x10 + i as u8);
    let aad: Vec<u8> = (0..=u16::MAX).map(|i| i as u8).collect();
    let mut data: [u8; 32] = std::array::from_fn(|i| 0x20 + i as u8);
    let mut tag = [0; 14];
    ccm.encrypt(&nonce, &aad, data.as_mut_slice().into(), &mut tag).expect("good lengths");
    let expected =
        [0x6991_5dad_1e84_c637_6a68_c296_7e4d_ab61_u128, 0x5ae0_fd1f_aec4_4cc4_8482_8529_463c_cf72];
    assert_eq!(data, expected.map(u128::to_be_bytes).as_flattened());
    assert_eq!(tag, 0xb4ac_6bec_93e8_598e_7f0d_adbc_ea5b_u128.to_be_bytes()[2..]);
}

#[test]
fn an_engine_that_fails_gives_nothing_out() {
    let (message, nonce) = (vec![0x77; 50_000], [2; 12]);
    let (mut sealed, mut tag) = (message.clone(), [0; 16]);
    let ccm = Ccm::<Aes128>::new(&[1; 16].into());
    ccm.encrypt(&nonce, b"", sealed.as_mut_slice().into(), &mut tag).expect("short");
    let failing = Ccm::<Fails>::new(&[1; 16].into());
    nothing_out(&message, &sealed, &tag, |data, tag| failing.decrypt(&nonce, b"", data, tag));
}

#[test]
fn bad_input_is_named_and_left_alone() {
    let ccm = Ccm::<Aes128>::new(&[1; 16].into());
    let mut data = vec![7; 1 << 16];
    let mut refused = |length: usize, nonce: &[u8], tag: &mut [u8], parts: &[&str]| {
        let tag_before = tag.to_vec();
        let results = [
            ccm.encrypt(nonce, b"", data[..length].as_mut().into(), tag),
            ccm.decrypt(nonce, b"", data[..length].as_mut().into(), tag),
        ];
        for result in results {
            let text = result.expect_err("bad input was accepted").to_string();
            for part in parts {
                assert!(text.contains(part), "{text:?} does not name {part:?}");
            }
        }
        assert!(data.iter().all(|&byte| byte == 7));
        assert_eq!(tag, tag_before);
    };
    for length in [0, 6, 14, 16] {
        refused(20, &[1; 16][..length], &mut [0; 16], &["CCM", "nonce", "7 to 13"]);
    }
    for length in [0, 2, 3, 5, 15, 17] {
        refused(20, &[1; 12], &mut [0; 17][..length], &["CCM tag", "even", "4 to 16"]);
    }
    refused(1 << 16, &[1; 13], &mut [0; 16], &["65536 bytes of data", "CCM", "65535"]);
    let small = CpuEngine::new(lanecrypt_des::Des::new(&[1; 8].into()));
    let error = Ccm::<_>::of(small).map(drop).expect_err("64 bits").to_string();
    assert!(error.contains("CCM") && error.contains("8 bytes") && error.contains("16"), "{error}");
}
