//! No Debug text of a type that holds key material depends on the key, in any notation: under two
//! keys the texts are the same. What the registry makes is tried in `conformance.rs`, the types of GPUs
//! in `device.rs`.

use std::fmt::Debug;

use lanecrypt::{
    CpuEngine, Ctr, aes, aria, camellia,
    cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, array::ArraySize},
    des, hight, seed,
};
use lanecrypt_core::{Cipher, Implementation};
use lanecrypt_reference::vectors::PlaintextStream;

fn key<Size: ArraySize>(number: u64) -> Array<u8, Size> {
    let mut key = Array::default();
    PlaintextStream::new(number).fill(&mut key);
    key
}

/// Both forms of Debug.
fn texts(value: &impl Debug) -> [String; 2] {
    [format!("{value:?}"), format!("{value:#?}")]
}

/// Fails if what `shown` gives for a key depends on it.
fn same_under_two_keys(shown: impl Fn(u64) -> Vec<[String; 2]>) {
    let [first, second] = [shown(1), shown(2)];
    assert_eq!(first, second);
    assert!(first.as_flattened().iter().all(|text| !text.is_empty()), "{first:?}");
}

/// A cipher type, and what this project's wrappers make of it.
fn cipher_texts<C>(cipher: &C) -> Vec<[String; 2]>
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + Clone + Debug + Send + Sync + 'static,
{
    let engine = CpuEngine::new(cipher.clone());
    let stream = Ctr::new(engine.clone(), &vec![0; C::block_size()]).expect("a block as counter");
    vec![texts(cipher), texts(&engine), texts(&stream)]
}

fn implementation<I>()
where
    I: Implementation<BatchKeys: Debug> + Debug + 'static,
{
    same_under_two_keys(|number| {
        let implementation = I::new(&key(number));
        let mut shown = cipher_texts(&Cipher::<I>::new(&key(number)));
        shown.extend([texts(&implementation), texts(&implementation.batch_keys())]);
        shown
    });
}

#[test]
fn aes_shows_no_key() {
    fn sized<K: aes::KeyLength>() {
        implementation::<aes::Reference<K>>();
        implementation::<aes::Table32<K>>();
        implementation::<aes::Bitslice<u32, K>>();
        implementation::<aes::Bitslice<u64, K>>();
        same_under_two_keys(|number| cipher_texts(&aes::Aes::<K>::new(&key(number))));
        same_under_two_keys(|number| vec![texts(&K::Hardware::new(&key(number)))]);
        same_under_two_keys(|number| vec![texts(&aes::AesEnc::<K>::new(&key(number)))]);
        same_under_two_keys(|number| vec![texts(&aes::AesDec::<K>::new(&key(number)))]);
    }
    sized::<aes::Key128>();
    sized::<aes::Key192>();
    sized::<aes::Key256>();
}

#[test]
fn aria_shows_no_key() {
    fn sized<K: aria::KeyLength>() {
        implementation::<aria::Reference<K>>();
        implementation::<aria::Table32<K>>();
        implementation::<aria::Bitslice<u32, K>>();
        implementation::<aria::Bitslice<u64, K>>();
    }
    sized::<aria::Key128>();
    sized::<aria::Key192>();
    sized::<aria::Key256>();
}

#[test]
fn camellia_shows_no_key() {
    fn sized<K: camellia::KeyLength>() {
        implementation::<camellia::Reference<K>>();
        implementation::<camellia::Table32<K>>();
        implementation::<camellia::Bitslice<u32, K>>();
        implementation::<camellia::Bitslice<u64, K>>();
    }
    sized::<camellia::Key128>();
    sized::<camellia::Key192>();
    sized::<camellia::Key256>();
}

#[test]
fn des_shows_no_key() {
    fn keyed<K: des::Keying>() {
        implementation::<des::Reference<K>>();
        implementation::<des::Table32<K>>();
        implementation::<des::Bitslice<u32, K>>();
        implementation::<des::Bitslice<u64, K>>();
    }
    keyed::<des::Single>();
    keyed::<des::Ede2>();
    keyed::<des::Ede3>();
    keyed::<des::Eee2>();
    keyed::<des::Eee3>();
}

#[test]
fn hight_shows_no_key() {
    implementation::<hight::Reference>();
    implementation::<hight::Table>();
    implementation::<hight::Bitslice<u32>>();
    implementation::<hight::Bitslice<u64>>();
    implementation::<hight::Sliced<u8>>();
    implementation::<hight::Sliced<u32>>();
    implementation::<hight::Sliced<u64>>();
    implementation::<hight::Sliced<hight::Gapped<u32>>>();
    implementation::<hight::Sliced<hight::Gapped<u64>>>();
    implementation::<hight::Reversed<hight::Bitslice<u64>>>();
}

#[test]
fn seed_shows_no_key() {
    implementation::<seed::Reference>();
    implementation::<seed::Table32>();
    implementation::<seed::Bitslice<u32>>();
    implementation::<seed::Bitslice<u64>>();
}
