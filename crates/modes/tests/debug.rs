//! What `{:?}` shows of modes: their names, and nothing that follows from a key.

use std::fmt::Debug;

use cipher::{InnerIvInit, Key, KeyInit, KeyIvInit, array::Array, consts::U12};
use lanecrypt_aes::Aes256;
use lanecrypt_core::Engine;
use lanecrypt_modes::{
    Ccm, Gcm, GcmMessage, GcmSiv, GhashKey, Ofb, Xts, cbc,
    cfb::{self, BufDecryptor},
    cmac::BatchCmac,
    ctr::Ctr128BE,
    ctr_drbg::CtrDrbg,
};

/// Values of a type under two keys show the same text, which has its name.
fn shows_no_key<T: Debug>(name: &str, of: impl Fn(Key<Aes256>) -> T) {
    let [text, other] = [1, 2].map(|byte| format!("{:?}", of([byte; 32].into())));
    assert!(text.starts_with(name), "{text} of {name}");
    assert_eq!(text, other);
}

#[test]
fn no_text_has_a_key() {
    let iv = Array::from([3; 16]);
    let aes = |key| Aes256::new(&key);
    shows_no_key("Gcm ", |key| Gcm::<Aes256, U12>::new(&key));
    shows_no_key("GcmSiv ", |key| GcmSiv::<Aes256>::new(&key));
    shows_no_key("Ccm ", |key| Ccm::<Aes256>::new(&key));
    shows_no_key("Xts ", |key| Xts::new(aes(key), aes(key)));
    shows_no_key("CtrCore ", |key| Ctr128BE::<Aes256>::inner_iv_init(aes(key), &iv));
    shows_no_key("Ofb ", |key| Ofb::<Aes256>::new(&key, &iv));
    shows_no_key("CBC ", |key| cbc::Encryptor::<Aes256>::new(&key, &iv));
    shows_no_key("CBC ", |key| cbc::Decryptor::<Aes256>::new(&key, &iv));
    shows_no_key("CFB ", |key| cfb::Encryptor::<Aes256>::new(&key, &iv));
    shows_no_key("CFB ", |key| BufDecryptor::<Aes256>::new(&key, &iv));
    shows_no_key("BatchCmac ", |key| BatchCmac::of(aes(key)).expect("CPU engines do not fail"));
    shows_no_key("CtrDrbg ", |key| {
        CtrDrbg::<Aes256>::with_full_entropy(&[key[0]; 48], &[]).expect("a seed")
    });
}

#[test]
fn no_text_has_a_hash_key() {
    let keys = |key: Key<Aes256>| GhashKey::new(&Array::from([key[0]; 16]));
    shows_no_key("GhashKey", keys);
    shows_no_key("Ghash", |key| keys(key).start());
    shows_no_key("GcmMessage ", |key| {
        GcmMessage::new(&keys(key), &Aes256::new(&key) as &dyn Engine, &[3; 12]).expect("an IV")
    });
}
