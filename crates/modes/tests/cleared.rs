//! What modes keep is cleared when they are dropped: a program reads its own memory without unsafe code
//! where the kernel shows it as a file.
#![cfg(target_os = "linux")]

use std::{fs::File, hint::black_box, os::unix::fs::FileExt};

use cipher::{KeyIvInit, StreamCipher};
use lanecrypt_aes::Aes128;
use lanecrypt_modes::{Ofb, cfb};

/// Whether `secret` lies in the memory where `value` is, and whether it still does after the value was dropped.
fn is_there<T>(value: T, secret: &[u8]) -> [bool; 2] {
    // A list that is cleared keeps its memory, and nothing is written there but by the drop.
    let mut place = vec![value];
    let address = place.as_ptr().addr() as u64;
    let memory = File::open("/proc/self/mem").expect("Linux shows a process its memory");
    let mut bytes = vec![0; size_of::<T>()];
    let mut is_there = |place: &Vec<T>| {
        black_box(place);
        memory.read_exact_at(&mut bytes, address).expect("it is mapped");
        bytes.windows(secret.len()).any(|window| window == secret)
    };
    let before = is_there(&place);
    place.clear();
    [before, is_there(&place)]
}

#[test]
fn key_stream_of_ofb() {
    let new = || Ofb::<Aes128>::new(&[1; 16].into(), &[2; 16].into());
    let mut blocks = [0; 64];
    new().apply_keystream(&mut blocks);
    let mut ofb = new();
    ofb.apply_keystream(&mut [0; 53]); // a part of the fourth block, which stays at hand
    assert_eq!(is_there(ofb, &blocks[48..]), [true, false]);
}

#[test]
fn key_stream_of_cfb() {
    let (key, iv) = (&[1; 16].into(), &[2; 16].into());
    let encryptor = cfb::BufEncryptor::<Aes128>::new(key, iv);
    let block = *encryptor.get_state().0;
    assert_eq!(is_there(encryptor, &block), [true, false]);
    let decryptor = cfb::BufDecryptor::<Aes128>::new(key, iv);
    assert_eq!(is_there(decryptor, &block), [true, false]);
}
