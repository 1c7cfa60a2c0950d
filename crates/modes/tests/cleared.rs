//! What modes keep is cleared when they are dropped: a program reads its own memory without unsafe code
//! where the kernel shows it as a file.
#![cfg(target_os = "linux")]

use std::{fs::File, hint::black_box, os::unix::fs::FileExt, ptr};

use cipher::{KeyIvInit, StreamCipher};
use lanecrypt_aes::Aes128;
use lanecrypt_modes::Ofb;

/// The memory where `place` is.
fn memory_of<T>(place: &T) -> Vec<u8> {
    let mut bytes = vec![0; size_of::<T>()];
    let memory = File::open("/proc/self/mem").expect("Linux shows a process its memory");
    let address = ptr::from_ref(black_box(place)).addr() as u64;
    memory.read_exact_at(&mut bytes, address).expect("it is mapped");
    bytes
}

#[test]
fn key_stream_of_ofb() {
    let mut keystream = [0; 48];
    let mut place = Some(Ofb::<Aes128>::new(&[1; 16].into(), &[2; 16].into()));
    if let Some(ofb) = &mut place {
        ofb.apply_keystream(&mut keystream);
        ofb.apply_keystream(&mut [0; 5]); // of the fourth block, which stays at hand
    }
    let mut next = Ofb::<Aes128>::new(&[1; 16].into(), &[2; 16].into());
    let mut blocks = [0; 64];
    next.apply_keystream(&mut blocks);
    let at_hand = |memory: &[u8]| memory.windows(16).any(|window| window == &blocks[48..]);
    assert!(at_hand(&memory_of(&place)), "the scan finds what is there");
    place = None;
    assert!(!at_hand(&memory_of(&place)), "the block at hand is left");
}
