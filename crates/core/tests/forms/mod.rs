//! What the cipher crates' tests of their forms share: every backend of the CPU against the first one of the table, which
//! is the reference, and that against a vector.

use cipher::InOutBuf;
use lanecrypt_core::{CipherDescription, Direction, Platform};
use lanecrypt_reference::plaintext::PlaintextStream;

/// Bytes that differ from block to block.
fn noise(length: usize) -> Vec<u8> {
    let mut data = vec![0; length];
    PlaintextStream::new(1).fill(&mut data);
    data
}

/// Every backend in both directions, under keys of every length, at lengths around those of its batches.
pub(crate) fn agree(cipher: &CipherDescription) {
    let [reference, others @ ..] = cipher.backends else {
        panic!("{} has no backends", cipher.name);
    };
    for &key_bytes in cipher.key_bytes {
        let key = noise(key_bytes);
        let expected = (reference.create)(&key).expect("a key that the cipher takes");
        for backend in others.iter().filter(|backend| backend.platform == Platform::Cpu) {
            if let Err(why) = (backend.available)() {
                println!("{} {}: {why}", cipher.name, backend.id);
                continue;
            }
            let engine = (backend.create)(&key).expect("a key that the cipher takes");
            let batch = backend.lanes;
            for blocks in [1, 2, 3, 5, batch - 1, batch, batch + 1, 2 * batch + 1, 9 * batch + 5] {
                let data = noise(blocks * cipher.block_bytes);
                for direction in Direction::BOTH {
                    let [mut ours, mut theirs] = [data.clone(), data.clone()];
                    engine.ecb(direction, InOutBuf::from(&mut ours[..])).expect("it runs");
                    expected.ecb(direction, InOutBuf::from(&mut theirs[..])).expect("it runs");
                    assert!(
                        ours == theirs,
                        "{} {}, {direction:?}, {blocks} blocks, keys of {key_bytes} bytes",
                        cipher.name,
                        backend.id
                    );
                }
            }
        }
    }
}

/// The first backend's answer to a vector of the standard, in hexadecimal.
#[allow(dead_code, reason = "most ciphers' answers are those of the vectors alone")]
pub(crate) fn answers(cipher: &CipherDescription, key: &str, plaintext: &str, ciphertext: &str) {
    let bytes = |text: &str| -> Vec<u8> {
        let digits = |i| u8::from_str_radix(&text[i..i + 2], 16).expect("hexadecimal digits");
        (0..text.len()).step_by(2).map(digits).collect()
    };
    let engine = (cipher.backends[0].create)(&bytes(key)).expect("a key that the cipher takes");
    let mut data = bytes(plaintext);
    engine.ecb(Direction::Encrypt, InOutBuf::from(&mut data[..])).expect("it runs");
    assert_eq!(data, bytes(ciphertext), "{}", cipher.name);
    engine.ecb(Direction::Decrypt, InOutBuf::from(&mut data[..])).expect("it runs");
    assert_eq!(data, bytes(plaintext), "{}", cipher.name);
}
