//! `Ctr` under any order of seeks and writes, against a key stream computed byte by byte.

use arbitrary::{Arbitrary, Unstructured};
use lanecrypt_core::{
    Ctr,
    cipher::{StreamCipher, StreamCipherSeek},
};
use lanecrypt_reference::modes::BlockCipher;

use crate::toy::Toy;

/// One more than the longest piece: over a scratch buffer of the stack.
const LONGEST: usize = lanecrypt_core::modes::STACK_CHUNK + 100;

/// What a caller does.
#[derive(Arbitrary, Debug)]
enum Step {
    SeekTo(u128),
    /// This number of bytes before the end of the key stream.
    SeekToEnd(u16),
    /// By RustCrypto's trait.
    Seek(u64),
    Apply(u16),
    /// By RustCrypto's trait.
    TryApply(u8),
}

/// The key stream as its definition reads.
struct Model {
    toy: Toy,
    first: u128,
    position: u128,
}

impl Model {
    fn byte(&self, position: u128) -> u8 {
        let block = self.toy.block_bytes;
        let counter = self.first.wrapping_add(position / block as u128).to_be_bytes();
        // The low bytes, so the counter of an 8-byte block wraps at 64 bits.
        let mut counter = counter[16 - block..].to_vec();
        self.toy.encrypt_block(&mut counter);
        counter[(position % block as u128) as usize]
    }
}

/// Each byte is XORed with the key stream's byte at its position, whatever seeks and lengths came
/// before; what would pass the end is an error that changes nothing.
///
/// # Panics
/// Where that does not hold.
pub fn seeks(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let _ = run(&mut input);
}

/// Runs the steps as long as the input lasts.
fn run(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let block_bytes = *input.choose(&[8, 16])?;
    let toy = Toy { block_bytes, chunk_bytes: input.arbitrary::<u16>()?.into(), key: 0x3d };
    let iv: [u8; 16] = input.arbitrary()?;
    let iv = &iv[..block_bytes];
    let first = iv.iter().fold(0, |value, &byte| value << 8 | u128::from(byte));
    let mut stream = Ctr::new(toy, iv).expect("the IV is one block");
    let mut model = Model { toy, first, position: 0 };
    for _ in 0..64 {
        if input.is_empty() {
            break;
        }
        step(&input.arbitrary()?, &mut stream, &mut model);
        assert_eq!(stream.position(), model.position);
    }
    Ok(())
}

fn step(step: &Step, stream: &mut Ctr<Toy>, model: &mut Model) {
    let length = stream.length();
    match *step {
        Step::SeekTo(position) => {
            seek(stream.try_seek_to(position).is_ok(), position, length, model);
        }
        Step::SeekToEnd(before) => {
            let position = length - u128::from(before);
            seek(stream.try_seek_to(position).is_ok(), position, length, model);
        }
        Step::Seek(position) => {
            seek(stream.try_seek(position).is_ok(), position.into(), length, model);
            let back: u64 = stream.try_current_pos().expect("it came as a u64");
            assert_eq!(back, position);
        }
        Step::Apply(bytes) => {
            let data = &mut vec![0x69; usize::from(bytes) % LONGEST][..];
            let is_ok = stream.try_apply((&mut *data).into()).is_ok();
            apply(is_ok, data, length, model);
        }
        Step::TryApply(bytes) => {
            let data = &mut vec![0x69; bytes.into()][..];
            let is_ok = stream.try_apply_keystream(data).is_ok();
            apply(is_ok, data, length, model);
        }
    }
}

fn seek(is_ok: bool, position: u128, length: u128, model: &mut Model) {
    assert_eq!(is_ok, position <= length, "seek to {position} of {length}");
    if is_ok {
        model.position = position;
    }
}

/// What came of applying the key stream to bytes of 0x69.
fn apply(is_ok: bool, data: &[u8], length: u128, model: &mut Model) {
    let left = length - model.position;
    let is_there = data.len() as u128 <= left;
    assert_eq!(is_ok, is_there, "{} bytes at {}; {left} are left", data.len(), model.position);
    if !is_ok {
        assert!(data.iter().all(|&byte| byte == 0x69), "an error changed the data");
        return;
    }
    for (i, byte) in data.iter().enumerate() {
        let expected = 0x69 ^ model.byte(model.position + i as u128);
        assert_eq!(*byte, expected, "byte {i} of {} at {}", data.len(), model.position);
    }
    model.position += data.len() as u128;
}
