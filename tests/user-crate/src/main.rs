//! The ciphers as a user's release build has them: prints GB/s of each way to call them.
//!
//! `cargo xtask inlining` builds this and reads its machine code: what is to be held there has to
//! be called here. A cipher stands here once: its keys of other sizes are of the same text.
#![forbid(unsafe_code)]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use lanecrypt_aes::{
    Aes128, Ctr, Engine,
    cipher::{
        Array, BlockCipherDecrypt, BlockCipherEncrypt, Iv, KeyInit, KeyIvInit, StreamCipher,
        typenum::Unsigned,
    },
};

use lanecrypt_aria::Aria128;
use lanecrypt_camellia::Camellia128;
use lanecrypt_des::TdesEde3;
use lanecrypt_hight::Hight;
use lanecrypt_lea::Lea128;
use lanecrypt_seed::Seed128;
use lanecrypt_sm4::Sm4;

/// Bytes of the buffers: one that the nearest cache holds, and one that it does not.
const SIZES: [usize; 2] = [16 << 10, 1 << 20];

fn main() {
    println!("{:32}{:>10}{:>10}", "GB/s", "16 KiB", "1 MiB");
    measure::<Aes128, ctr::Ctr128BE<Aes128>>("AES-128");
    measure::<Aria128, ctr::Ctr128BE<Aria128>>("ARIA-128");
    measure::<Camellia128, ctr::Ctr128BE<Camellia128>>("Camellia-128");
    measure::<Seed128, ctr::Ctr128BE<Seed128>>("SEED");
    measure::<Sm4, ctr::Ctr128BE<Sm4>>("SM4");
    measure::<Lea128, ctr::Ctr128BE<Lea128>>("LEA-128");
    measure::<Hight, ctr::Ctr64BE<Hight>>("HIGHT");
    measure::<TdesEde3, ctr::Ctr64BE<TdesEde3>>("triple DES");
}

/// Every way to call the cipher `C`, of which `S` is the CTR stream of the crate `ctr`.
fn measure<C, S>(name: &str)
where
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt,
    C: Engine,
    S: KeyIvInit<KeySize = C::KeySize> + StreamCipher,
{
    let key = Array::from_fn(|i| i as u8);
    let iv = Iv::<S>::from_fn(|i| !i as u8);
    let cipher = C::new(&key);
    let mut stream = S::new(&key, &iv);
    let ours = || Ctr::new(C::new(&key), &iv).expect("the IV is one block");
    let mut ctr = ours();
    assert_ways_agree(&cipher, S::new(&key, &iv), ours());

    line(name, "ECB encryption", |data| encrypt(&cipher, data));
    line(name, "ECB decryption", |data| decrypt(&cipher, data));
    line(name, "CTR, crate ctr", |data| stream.apply_keystream(data));
    line(name, "CTR, Ctr over an Engine", |data| ctr.apply_keystream(data));
}

/// A speed of wrong results is none.
fn assert_ways_agree<C: BlockCipherEncrypt + BlockCipherDecrypt>(
    cipher: &C,
    mut stream: impl StreamCipher,
    mut ctr: Ctr<impl Engine>,
) {
    let plain: Vec<u8> = (0..SIZES[0]).map(|i| ((i * i) >> 3) as u8).collect();
    let mut data = plain.clone();
    encrypt(cipher, &mut data);
    assert_ne!(data, plain, "encryption changes nothing");
    decrypt(cipher, &mut data);
    assert_eq!(data, plain, "decryption does not undo encryption");
    stream.apply_keystream(&mut data);
    assert_ne!(data, plain, "CTR changes nothing");
    ctr.apply_keystream(&mut data);
    assert_eq!(data, plain, "the two CTR streams differ");
}

fn encrypt<C: BlockCipherEncrypt>(cipher: &C, data: &mut [u8]) {
    cipher.encrypt_blocks(blocks::<C>(data));
}

fn decrypt<C: BlockCipherDecrypt>(cipher: &C, data: &mut [u8]) {
    cipher.decrypt_blocks(blocks::<C>(data));
}

fn blocks<C: lanecrypt_aes::cipher::BlockSizeUser>(
    data: &mut [u8],
) -> &mut [Array<u8, C::BlockSize>] {
    assert!(data.len().is_multiple_of(C::BlockSize::USIZE), "whole blocks only");
    Array::slice_as_chunks_mut(data).0
}

/// Prints the speed of `work` at each size.
fn line(name: &str, way: &str, mut work: impl FnMut(&mut [u8])) {
    print!("{:32}", format!("{name} {way}"));
    for size in SIZES {
        let mut data = vec![0x5a; size];
        let seconds = best(|| work(black_box(&mut data))).as_secs_f64();
        print!("{:10.2}", size as f64 / seconds / 1e9);
    }
    println!();
}

/// The shortest time of one call, as far as a clock tells that: of twenty rounds of a few
/// milliseconds, the mean in the fastest.
fn best(mut work: impl FnMut()) -> Duration {
    let mut round = |calls: u32| {
        let start = Instant::now();
        (0..calls).for_each(|_| work());
        start.elapsed()
    };
    let mut calls = 1;
    while round(calls) < Duration::from_millis(3) {
        calls *= 2;
    }
    (0..20).map(|_| round(calls)).min().unwrap_or_default() / calls
}
