//! GCM against `aes-gcm`, against the plain mode, and against what it must refuse.

mod fails;
mod flipped;

use aes_gcm::{AesGcm, aes};
use cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, InOutBuf, KeyInit,
    consts::{U1, U12, U13, U16, U60},
};
use fails::{Fails, nothing_out};
use flipped::flip_bit;
use lanecrypt_aes::{Aes128, Aes192, Aes256};
use lanecrypt_camellia::Camellia256;
use lanecrypt_core::{CpuEngine, Engine, Error};
use lanecrypt_modes::{Gcm, MAX_AAD_BYTES, MAX_MESSAGE_BYTES, aead::AeadInOut};
use lanecrypt_reference::modes::{BlockCipher, gcm_decrypt, gcm_encrypt};
use proptest::{collection::vec, prelude::*};

/// A cipher for the plain mode.
struct Plain<C>(C);

impl<C: BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt> BlockCipher for Plain<C> {
    fn block_bytes(&self) -> usize {
        16
    }
    fn encrypt_block(&self, block: &mut [u8]) {
        self.0.encrypt_block(Array::slice_as_mut_array(block).expect("16 bytes"));
    }
    fn decrypt_block(&self, block: &mut [u8]) {
        self.0.decrypt_block(Array::slice_as_mut_array(block).expect("16 bytes"));
    }
}

/// With instructions where there are, and without.
fn both<C: Engine + Clone>(cipher: &C) -> [Gcm<C>; 2] {
    [Gcm::of(cipher.clone()), Gcm::with_portable_hash(cipher.clone())]
        .map(|gcm| gcm.expect("128 bits"))
}

/// Encrypts and decrypts in place and out of place, with tags of every length; a message with one
/// bit changed anywhere is refused, and of the plaintext nothing is left.
fn check<C>(cipher: &C, iv: &[u8], aad: &[u8], message: &[u8], flip: usize)
where
    C: Engine + Clone + BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt,
{
    let plain = Plain(cipher.clone());
    let mut expected = message.to_vec();
    let full = gcm_encrypt(&plain, iv, aad, &mut expected).expect("an IV");
    let mut back = expected.clone();
    assert!(gcm_decrypt(&plain, iv, aad, &mut back, &full).expect("an IV"));
    assert_eq!(back, message);
    for gcm in both(cipher) {
        for length in 4..=16 {
            let mut tag = vec![0; length];
            let mut data = message.to_vec();
            gcm.encrypt(iv, aad, data.as_mut_slice().into(), &mut tag).expect("good lengths");
            assert_eq!((&data, &tag[..]), (&expected, &full[..length]), "in place");
            let mut output = vec![0xee; message.len()];
            let buffer = InOutBuf::new(message, &mut output).expect("equal lengths");
            gcm.encrypt(iv, aad, buffer, &mut tag).expect("good lengths");
            assert_eq!((&output, &tag[..]), (&expected, &full[..length]), "out of place");
            gcm.decrypt(iv, aad, data.as_mut_slice().into(), &tag).expect("authentic");
            assert_eq!(data, message);
        }
        let (good_iv, good_aad) = (iv, aad);
        let (mut iv, mut aad, mut data, mut tag) =
            (iv.to_vec(), aad.to_vec(), expected.clone(), full.to_vec());
        flip_bit(&mut [&mut iv, &mut aad, &mut data, &mut tag], flip);
        let mut output = vec![0xee; data.len()];
        let buffer = InOutBuf::new(&data, &mut output).expect("equal lengths");
        assert!(matches!(gcm.decrypt(&iv, &aad, buffer, &tag), Err(Error::NotAuthentic)));
        assert_eq!(output, data, "the ciphertext is given out");
        for i in 0..16 {
            let mut tag = full;
            tag[i] ^= 1 << (flip % 8);
            let mut data = expected.clone();
            let refused = gcm.decrypt(good_iv, good_aad, data.as_mut_slice().into(), &tag);
            assert!(matches!(refused, Err(Error::NotAuthentic)), "byte {i} of the tag");
        }
        let before = data.clone();
        let refused = gcm.decrypt(&iv, &aad, data.as_mut_slice().into(), &tag);
        assert!(matches!(refused, Err(Error::NotAuthentic)));
        assert_eq!(data, before, "nothing is decrypted in place");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_message(
        key: [u8; 32], iv in vec(any::<u8>(), 1..80), aad in vec(any::<u8>(), 0..600),
        message in vec(any::<u8>(), 0..1500), flip: usize,
    ) {
        let short: [u8; 16] = key[..16].try_into().expect("16 bytes");
        let middle: [u8; 24] = key[..24].try_into().expect("24 bytes");
        check(&Aes128::new(&short.into()), &iv, &aad, &message, flip);
        check(&Aes192::new(&middle.into()), &iv, &aad, &message, flip);
        check(&Camellia256::new(&key.into()), &iv, &aad, &message, flip);
    }

    #[test]
    fn as_aes_gcm_has_it(
        key: [u8; 32], nonce: [u8; 60], aad in vec(any::<u8>(), 0..100),
        message in vec(any::<u8>(), 0..70_000),
    ) {
        macro_rules! same {
            ($($nonce:ty: $length:literal, $tag:ty;)*) => {$({
                let theirs = AesGcm::<aes::Aes256, $nonce, $tag>::new(&key.into());
                let ours = Gcm::<Aes256, $nonce, $tag>::new(&key.into());
                let nonce = nonce[..$length].try_into().expect("so many bytes");
                let (mut a, mut b) = (message.clone(), message.clone());
                let tag = theirs.encrypt_inout_detached(nonce, &aad, a.as_mut_slice().into());
                let ours_tag = ours.encrypt_inout_detached(nonce, &aad, b.as_mut_slice().into());
                prop_assert_eq!(tag.expect("theirs"), ours_tag.expect("ours"));
                prop_assert!(a == b, "ciphertexts differ");
                ours.decrypt_inout_detached(nonce, &aad, a.as_mut_slice().into(), &tag.expect("theirs"))
                    .expect("authentic");
                prop_assert!(a == message, "plaintexts differ");
                theirs.decrypt_inout_detached(nonce, &aad, b.as_mut_slice().into(), &ours_tag.expect("ours"))
                    .expect("authentic for theirs");
                prop_assert!(b == message, "plaintexts differ");
            })*};
        }
        same!(U12: 12, U16; U1: 1, U12; U16: 16, U13; U60: 60, U16;);
    }
}

#[test]
fn lengths_round_pieces_and_groups() {
    let message: Vec<u8> = (0..40_000_u32).map(|i| ((i * i) >> 5) as u8).collect();
    let cipher = Aes256::new(&[0x5c; 32].into());
    for around in [0_usize, 16, 64, 128, 512, 1024, 16 << 10, 32 << 10] {
        for length in around.saturating_sub(17)..=around + 17 {
            let mut expected = message[..length].to_vec();
            let full = gcm_encrypt(
                &Plain(cipher.clone()),
                &[9; 12],
                &message[..around % 99],
                &mut expected,
            );
            for gcm in both(&cipher) {
                let (mut data, mut tag) = (message[..length].to_vec(), [0; 16]);
                let aad = &message[..around % 99];
                gcm.encrypt(&[9; 12], aad, data.as_mut_slice().into(), &mut tag).expect("lengths");
                assert_eq!(Ok(tag), full, "{length} bytes");
                assert!(data == expected, "{length} bytes");
            }
        }
    }
}

#[test]
fn an_engine_that_fails_gives_nothing_out() {
    let (message, iv) = (vec![0x77; 50_000], [2; 12]);
    let (mut sealed, mut tag) = (message.clone(), [0; 16]);
    let gcm = Gcm::<Aes128>::new(&[1; 16].into());
    gcm.encrypt(&iv, b"", sealed.as_mut_slice().into(), &mut tag).expect("short");
    let failing = Gcm::<Fails>::new(&[1; 16].into());
    nothing_out(&message, &sealed, &tag, |data, tag| failing.decrypt(&iv, b"", data, tag));
}

#[test]
fn bad_input_is_named_and_left_alone() {
    let gcm = Gcm::<Aes128>::new(&[1; 16].into());
    let mut data = [7; 20];
    let mut refused = |iv: &[u8], tag: &mut [u8], parts: &[&str]| {
        let tag_before = tag.to_vec();
        let results = [
            gcm.encrypt(iv, b"", data.as_mut_slice().into(), tag),
            gcm.decrypt(iv, b"", data.as_mut_slice().into(), tag),
        ];
        for result in results {
            let text = result.expect_err("bad input was accepted").to_string();
            for part in parts {
                assert!(text.contains(part), "{text:?} does not name {part:?}");
            }
        }
        assert_eq!(data, [7; 20]);
        assert_eq!(tag, tag_before);
    };
    refused(&[], &mut [0; 16], &["IV", "0 bytes"]);
    refused(&[1], &mut [0; 3], &["tag", "3 bytes", "4 to 16"]);
    refused(&[1], &mut [0; 17], &["tag", "17 bytes", "4 to 16"]);
    let small = CpuEngine::new(lanecrypt_des::Des::new(&[1; 8].into()));
    let error = Gcm::<_>::of(small).map(drop).expect_err("64 bits").to_string();
    assert!(error.contains("GCM") && error.contains("8 bytes") && error.contains("16"), "{error}");
    assert_eq!(MAX_MESSAGE_BYTES, 68_719_476_704);
    assert_eq!(MAX_AAD_BYTES, 2_305_843_009_213_693_951);
}
