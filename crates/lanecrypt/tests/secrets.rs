//! No Debug text of a type that holds key material depends on the key, in any notation: under two
//! keys the texts are the same. What the registry makes is tried in `conformance/main.rs`, the types of GPUs
//! in `device.rs`.

use std::fmt::Debug;

use lanecrypt::{
    ChainedMode, CpuEngine, Ctr, Direction, aes, aria,
    batch::{Job, JobMode},
    camellia,
    cipher::{
        Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, array::ArraySize, consts::U32,
    },
    des, hight,
    io::{ChainedStream, Reader, Writer},
};
use lanecrypt_core::{AnyCpu, Cipher, Implementation};
use lanecrypt_reference::vectors::PlaintextStream;
use lanecrypt_slicing::{Core, Fastest, Form, Gapped, Portable, Schedule, Sliced};

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

fn implementation<I: Implementation<Token: AnyCpu> + 'static>() {
    same_under_two_keys(|number| cipher_texts(&Cipher::<I>::new(&key(number))));
}

/// A type that has a Debug text of its own as well.
fn sliced<I: Implementation<Token: AnyCpu> + Debug + 'static>() {
    implementation::<I>();
    same_under_two_keys(|number| vec![texts(&I::new(AnyCpu::get(), &key(number)))]);
}

/// What a form makes of a key for one direction, which has a Debug text of its own as well.
fn form<F: Form<Core: Core<Keys: Debug>, Keys: Debug>>() {
    same_under_two_keys(|number| {
        let schedule = F::Schedule::new(&key(number));
        let keys = F::keys(&schedule, Direction::Decrypt);
        vec![texts(&keys), texts(&F::view(&keys))]
    });
}

#[test]
fn keys_of_forms_show_no_key() {
    form::<aes::Bits<aes::RoundKeys<aes::Key128>>>();
    form::<aes::Whole<aes::RoundKeys<aes::Key256>>>();
    form::<camellia::Bytes<camellia::Key192>>();
    form::<des::Bits<des::Ede3>>();
    form::<hight::Bits<hight::Standard>>();
    form::<hight::Bytes<hight::Kisa>>();
}

#[test]
fn aes_shows_no_key() {
    fn sized<K: aes::KeyLength>() {
        implementation::<aes::Reference<K>>();
        implementation::<aes::Table32<K>>();
        sliced::<Sliced<aes::Bits<aes::RoundKeys<K>>, Portable<u32>>>();
        sliced::<Fastest<aes::CpuForms<aes::RoundKeys<K>>>>();
        same_under_two_keys(|number| cipher_texts(&aes::Aes::<K>::new(&key(number))));
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
        sliced::<Sliced<aria::Bits<K>, Portable<u32>>>();
        sliced::<Fastest<aria::CpuForms<K>>>();
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
        sliced::<Sliced<camellia::Bits<K>, Portable<u32>>>();
        sliced::<Fastest<camellia::CpuForms<K>>>();
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
        sliced::<Sliced<des::Bits<K>, Portable<u32>>>();
        sliced::<Fastest<des::CpuForms<K>>>();
    }
    keyed::<des::Single>();
    keyed::<des::Ede2>();
    keyed::<des::Ede3>();
    keyed::<des::Eee2>();
    keyed::<des::Eee3>();
}

#[test]
fn hight_shows_no_key() {
    fn ordered<B: hight::ByteOrder>() {
        implementation::<hight::Reference<B>>();
        implementation::<hight::Table<B>>();
        sliced::<Sliced<hight::Bits<B>, Portable<u32>>>();
        sliced::<Sliced<hight::Bytes<B>, Portable<u64>>>();
        sliced::<Sliced<hight::Bytes<B>, Portable<Gapped<u64>>>>();
        sliced::<Sliced<hight::Bytes<B>, hight::LookUps>>();
        sliced::<Fastest<hight::CpuForms<B>>>();
    }
    ordered::<hight::Standard>();
    ordered::<hight::Kisa>();
}

#[test]
fn lea_shows_no_key() {
    fn sized<K: lanecrypt::lea::KeyLength>() {
        implementation::<lanecrypt::lea::Reference<K>>();
        sliced::<Sliced<lanecrypt::lea::Words<K>, Portable<u32>>>();
        sliced::<Fastest<lanecrypt::lea::CpuForms<K>>>();
    }
    sized::<lanecrypt::lea::Key128>();
    sized::<lanecrypt::lea::Key192>();
    sized::<lanecrypt::lea::Key256>();
}

#[test]
fn seed_shows_no_key() {
    implementation::<lanecrypt::seed::Reference>();
    implementation::<lanecrypt::seed::Table32>();
    sliced::<Sliced<lanecrypt::seed::Bits, Portable<u32>>>();
    sliced::<Fastest<lanecrypt::seed::CpuForms>>();
}

#[test]
fn sm4_shows_no_key() {
    implementation::<lanecrypt::sm4::Reference>();
    implementation::<lanecrypt::sm4::Table32>();
    sliced::<Sliced<lanecrypt::sm4::Bits, Portable<u32>>>();
    sliced::<Fastest<lanecrypt::sm4::CpuForms>>();
}

const IV: [u8; 16] = [0; 16];

#[test]
fn streams_and_threads_show_no_key() {
    same_under_two_keys(|number| {
        let engine = || CpuEngine::new(aes::Aes256::new(&key(number)));
        let mode = || ChainedStream::new(engine(), ChainedMode::Ofb, &IV).expect("a block as IV");
        vec![
            #[cfg(feature = "parallel")]
            texts(&lanecrypt::Parallel::new(engine())),
            texts(&mode()),
            texts(&Reader::new(&[][..], mode())),
            texts(&Writer::new(Vec::new(), mode())),
        ]
    });
}

/// The batches that are made of these, and modes on devices, are tried in `device.rs`.
#[test]
fn jobs_show_no_key() {
    same_under_two_keys(|number| {
        let (key, mut data) = (key::<U32>(number), [0; 16]);
        let mode = JobMode::Ctr { counter: &IV };
        vec![texts(&Job { key: &key, mode, data: data.as_mut_slice().into() })]
    });
    #[cfg(feature = "cuda")]
    same_under_two_keys(|number| {
        let (key, mut tag) = (key::<U32>(number), [0; 16]);
        let mode = JobMode::GcmEncrypt { iv: &IV, aad: &[], tag: &mut tag };
        let job = lanecrypt::cuda::DeviceJob { key: &key, mode, input: 0, output: 16, length: 16 };
        vec![texts(&job)]
    });
}
