//! GCM-SIV against RFC 8452 and Wycheproof, against `aes-gcm-siv`, and against what it must refuse.

mod fails;
mod flipped;

use aes_gcm_siv::{AesGcmSiv, aes};
use cipher::{InOutBuf, KeyInit};
use fails::{Fails, nothing_out};
use flipped::flip_bit;
use lanecrypt_aes::{Aes128, Aes256};
use lanecrypt_camellia::Camellia256;
use lanecrypt_core::Error;
use lanecrypt_modes::{GcmSiv, aead::AeadInOut};
use lanecrypt_reference::vectors::{Lines, Vector, VectorFile};
use proptest::{collection::vec, prelude::*};

fn vectors(name: &str) -> Vec<Vector> {
    let path = format!("{}/tests/gcm_siv/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    match VectorFile::read(path).expect("a good file").lines {
        Lines::Vectors(vectors) => vectors,
        other => panic!("vectors, not {other:?}"),
    }
}

fn encrypt(key: &[u8], nonce: &[u8; 12], aad: &[u8], data: InOutBuf<'_, '_, u8>) -> [u8; 16] {
    match key.len() {
        16 => GcmSiv::<Aes128>::new(key.try_into().expect("16")).encrypt(nonce, aad, data),
        _ => GcmSiv::<Aes256>::new(key.try_into().expect("32")).encrypt(nonce, aad, data),
    }
    .expect("a good length")
}

fn decrypt(
    key: &[u8],
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    tag: &[u8; 16],
) -> Result<(), Error> {
    match key.len() {
        16 => GcmSiv::<Aes128>::new(key.try_into().expect("16")).decrypt(nonce, aad, data, tag),
        _ => GcmSiv::<Aes256>::new(key.try_into().expect("32")).decrypt(nonce, aad, data, tag),
    }
}

/// The fields of a vector: nonce, associated data, tag.
fn fields(vector: &Vector) -> ([u8; 12], &[u8], [u8; 16]) {
    let field = |field: &'_ Option<Vec<u8>>| field.clone().expect("it is there");
    let nonce = field(&vector.iv).try_into().expect("12 bytes");
    (nonce, vector.aad.as_deref().expect("it is there"), field(&vector.tag).try_into().expect("16"))
}

#[test]
fn what_others_computed() {
    let vectors = vectors("aes");
    assert_eq!(vectors.len(), 186);
    for vector in &vectors {
        let (nonce, aad, tag) = fields(vector);
        let plaintext = vector.pt.as_ref().expect("it is there");
        let mut data = plaintext.clone();
        let found = encrypt(&vector.key, &nonce, aad, data.as_mut_slice().into());
        assert_eq!((&data, found), (&vector.ct, tag), "{}", vector.id);
        decrypt(&vector.key, &nonce, aad, data.as_mut_slice().into(), &tag).expect("authentic");
        assert_eq!(&data, plaintext, "{}", vector.id);
    }
}

#[test]
fn what_must_be_refused() {
    let vectors = vectors("aes_reject");
    assert_eq!(vectors.len(), 66);
    for vector in &vectors {
        let (nonce, aad, tag) = fields(vector);
        let mut data = vector.ct.clone();
        let refused = decrypt(&vector.key, &nonce, aad, data.as_mut_slice().into(), &tag);
        assert!(matches!(refused, Err(Error::NotAuthentic)), "{}", vector.id);
        assert_eq!(data, vector.ct, "{}", vector.id);
    }
}

/// Both ways as `aes-gcm-siv`; a bit changed anywhere is refused, and the output is the ciphertext.
macro_rules! same {
    ($ours:ty, $theirs:ty, $key:expr, $nonce:expr, $aad:expr, $message:expr, $flip:expr) => {{
        let ours = GcmSiv::<$ours>::new(&$key.into());
        let theirs = AesGcmSiv::<$theirs>::new(&$key.into());
        let (mut expected, mut output) = ($message.clone(), vec![0xee; $message.len()]);
        let tag =
            theirs.encrypt_inout_detached(&$nonce.into(), &$aad, expected.as_mut_slice().into());
        let tag = tag.expect("theirs").0;
        let buffer = InOutBuf::new(&$message, &mut output).expect("equal lengths");
        prop_assert_eq!(ours.encrypt(&$nonce, &$aad, buffer).expect("ours"), tag);
        prop_assert!(output == expected, "ciphertexts differ");
        let buffer = InOutBuf::new(&expected, &mut output).expect("equal lengths");
        ours.decrypt(&$nonce, &$aad, buffer, &tag).expect("authentic");
        prop_assert!(output == $message, "plaintexts differ");

        let (mut nonce, mut aad, mut data, mut wrong) = ($nonce, $aad.clone(), expected, tag);
        flip_bit(&mut [&mut nonce, &mut aad, &mut data, &mut wrong], $flip);
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn as_aes_gcm_siv_has_it(
        key: [u8; 32], nonce: [u8; 12], aad in vec(any::<u8>(), 0..300),
        message in vec(any::<u8>(), 0..70_000), flip: usize,
    ) {
        let short: [u8; 16] = key[..16].try_into().expect("16 bytes");
        same!(Aes128, aes::Aes128, short, nonce, aad, message, flip);
        same!(Aes256, aes::Aes256, key, nonce, aad, message, flip);
        same!(Camellia256, camellia::Camellia256, key, nonce, aad, message, flip);
    }
}

#[test]
fn every_byte_of_the_tag_counts() {
    let siv = GcmSiv::<Aes128>::new(&[1; 16].into());
    let mut data = [7; 20];
    let tag = siv.encrypt(&[2; 12], b"", data.as_mut_slice().into()).expect("short");
    for i in 0..16 {
        let (mut wrong, mut output) = (tag, data);
        wrong[i] ^= 0x80;
        let refused = siv.decrypt(&[2; 12], b"", output.as_mut_slice().into(), &wrong);
        assert!(matches!(refused, Err(Error::NotAuthentic)), "byte {i}");
        assert_eq!(output, data);
    }
}

#[test]
fn an_engine_that_fails_gives_nothing_out() {
    let (message, nonce) = (vec![0x77; 50_000], [2; 12]);
    let mut sealed = message.clone();
    let siv = GcmSiv::<Aes128>::new(&[1; 16].into());
    let tag = siv.encrypt(&nonce, b"", sealed.as_mut_slice().into()).expect("short");
    let failing = GcmSiv::<Fails>::new(&[1; 16].into());
    nothing_out(&message, &sealed, &tag, |data, tag| failing.decrypt(&nonce, b"", data, tag));
}
