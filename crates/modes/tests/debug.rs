//! What `{:?}` shows of modes: their names, and nothing that follows from a key; and how their algorithms are named.

use std::{
    fmt::{self, Debug, Display},
    marker::PhantomData,
};

use cipher::{AlgorithmName, InnerIvInit, Key, KeyInit, KeyIvInit, array::Array, consts::U12};
use lanecrypt_aes::Aes256;
use lanecrypt_core::Engine;
use lanecrypt_modes::{
    Ccm, Gcm, GcmMessage, GcmSiv, GhashKey, Ofb, Xts, cbc,
    cfb::{self, BufDecryptor},
    cmac::BatchCmac,
    ctr::Ctr128BE,
    ctr_drbg::CtrDrbg,
    ofb,
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
    shows_no_key("cbc::BatchEncryptor ", |key| cbc::BatchEncryptor::<Aes256>::new(&key));
    shows_no_key("cfb::BatchEncryptor ", |key| cfb::BatchEncryptor::<Aes256>::new(&key));
    shows_no_key("ofb::BatchOfb ", |key| ofb::BatchOfb::<Aes256>::new(&key));
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

struct Name<C>(PhantomData<C>);

impl<C: AlgorithmName> Display for Name<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        C::write_alg_name(f)
    }
}

/// Those that no crate has whose names they could have; `tests/drop_in` has the others.
#[test]
fn algorithms_have_names() {
    fn is_named<C: AlgorithmName>(name: &str) {
        assert_eq!(Name::<C>(PhantomData).to_string(), name);
    }
    is_named::<cbc::BatchEncryptor<Aes256>>("cbc::BatchEncryptor<Aes256>");
    is_named::<cfb::BatchEncryptor<Aes256>>("cfb::BatchEncryptor<Aes256>");
    is_named::<ofb::BatchOfb<Aes256>>("ofb::BatchOfb<Aes256>");
    is_named::<BatchCmac<Aes256>>("BatchCmac<Aes256>");
    is_named::<CtrDrbg<Aes256>>("CtrDrbg<Aes256>");
}
