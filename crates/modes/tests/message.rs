//! Messages of GCM in pieces: any cuts make the message of one call, and calls out of order are refused.

use cipher::KeyInit;
use lanecrypt_aes::Aes256;
use lanecrypt_core::{Direction, Engine, Error};
use lanecrypt_des::TdesEde3;
use lanecrypt_modes::{Gcm, GcmMessage, GhashKey};
use proptest::{collection::vec, prelude::*};

/// A cipher and the hash under one key.
struct Keyed {
    cipher: Aes256,
    hash: GhashKey,
}

impl Keyed {
    fn new(key: [u8; 32]) -> Self {
        let cipher = Aes256::new(&key.into());
        let mut h = [0; 16];
        cipher.ecb(Direction::Encrypt, h.as_mut_slice().into()).expect("a block");
        Self { cipher, hash: GhashKey::new(&h.into()) }
    }

    fn message(&self, iv: &[u8]) -> GcmMessage {
        GcmMessage::new(&self.hash, &self.cipher, iv).expect("an IV")
    }

    fn run(&self, message: &mut GcmMessage, direction: Direction, data: &mut [u8]) {
        message.run(&self.hash, &self.cipher, direction, data.into()).expect("short enough");
    }

    /// A message in one call.
    fn whole(&self, iv: &[u8], aad: &[u8], text: &[u8]) -> (Vec<u8>, [u8; 16]) {
        let (mut data, mut tag) = (text.to_vec(), [0; 16]);
        let gcm = Gcm::of(self.cipher.clone()).expect("blocks of 16 bytes");
        let gcm: Gcm<Aes256> = gcm;
        gcm.encrypt(iv, aad, data.as_mut_slice().into(), &mut tag).expect("good lengths");
        (data, tag)
    }
}

/// Pieces of these lengths, and the rest.
fn pieces<'a>(mut data: &'a mut [u8], cuts: &[usize]) -> Vec<&'a mut [u8]> {
    let mut pieces = Vec::new();
    for cut in cuts {
        let (piece, rest) = data.split_at_mut((*cut).min(data.len()));
        pieces.push(piece);
        data = rest;
    }
    pieces.push(data);
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pieces_make_the_message(
        key: [u8; 32], iv in vec(any::<u8>(), 1..40),
        mut aad in vec(any::<u8>(), 0..100), aad_cuts in vec(0..40_usize, 0..4),
        text in vec(any::<u8>(), 0..50_000), cuts in vec(0..20_000_usize, 0..6),
    ) {
        let keyed = Keyed::new(key);
        let (expected, tag) = keyed.whole(&iv, &aad, &text);
        for (direction, from, to) in
            [(Direction::Encrypt, &text, &expected), (Direction::Decrypt, &expected, &text)]
        {
            let mut message = keyed.message(&iv);
            for piece in pieces(&mut aad, &aad_cuts) {
                message.associate(&keyed.hash, piece).expect("before all data");
            }
            let mut data = from.clone();
            for piece in pieces(&mut data, &cuts) {
                keyed.run(&mut message, direction, piece);
            }
            prop_assert!(data == *to, "{direction} in pieces {cuts:?}");
            prop_assert_eq!(message.tag(&keyed.hash), tag);
        }
    }
}

/// Whole blocks that are left over after what an engine encrypts and hashes in one pass.
#[test]
fn blocks_after_a_batch_have_their_counters() {
    let keyed = Keyed::new([3; 32]);
    let text: Vec<u8> = (0..40_000_u32).map(|i| ((i * i) >> 7) as u8).collect();
    for blocks in (1..80).chain([127, 129, 1023, 1025, 2047, 2049]) {
        let (expected, tag) = keyed.whole(b"twelve bytes", b"", &text[..16 * blocks]);
        let (mut message, mut data) =
            (keyed.message(b"twelve bytes"), text[..16 * blocks].to_vec());
        keyed.run(&mut message, Direction::Encrypt, &mut data);
        assert!(data == expected, "{blocks} blocks");
        assert_eq!(message.tag(&keyed.hash), tag, "{blocks} blocks");
    }
}

#[test]
fn associated_data_after_data_is_refused() {
    let keyed = Keyed::new([4; 32]);
    for length in [1, 15, 16, 100] {
        let (mut message, mut data) = (keyed.message(b"iv"), vec![7; length]);
        message.associate(&keyed.hash, b"before").expect("before all data");
        keyed.run(&mut message, Direction::Encrypt, &mut data);
        let late = message.associate(&keyed.hash, b"late");
        assert!(matches!(late, Err(Error::LateAssociatedData)), "after {length} bytes: {late:?}");
        let (_, tag) = keyed.whole(b"iv", b"before", &vec![7; length]);
        assert_eq!(message.tag(&keyed.hash), tag, "what was refused changes nothing");
    }
}

/// An empty piece changes nothing, wherever it comes.
#[test]
fn empty_pieces_change_nothing() {
    let keyed = Keyed::new([5; 32]);
    let (expected, tag) = keyed.whole(b"iv", b"abcdef", b"text");
    let mut message = keyed.message(b"iv");
    let mut data = *b"text";
    let (first, second) = data.split_at_mut(2);
    for piece in [b"abc", b"def"] {
        keyed.run(&mut message, Direction::Encrypt, &mut []);
        message.associate(&keyed.hash, piece).expect("before all data");
    }
    for piece in [&mut [], first, &mut [], second, &mut []] {
        keyed.run(&mut message, Direction::Encrypt, piece);
    }
    assert_eq!((&data[..], message.tag(&keyed.hash)), (&expected[..], tag));
}

#[test]
fn blocks_of_8_bytes_are_refused() {
    let keyed = Keyed::new([7; 32]);
    let des = TdesEde3::new(&[1; 24].into());
    let is_refused =
        |error: Option<Error>| matches!(error, Some(Error::BlockLength { given: 8, .. }));
    assert!(is_refused(GcmMessage::new(&keyed.hash, &des, &[3; 12]).err()));
    let mut data = [9; 15];
    for direction in [Direction::Encrypt, Direction::Decrypt] {
        let refused =
            keyed.message(&[3; 12]).run(&keyed.hash, &des, direction, data.as_mut_slice().into());
        assert!(is_refused(refused.err()));
    }
    assert_eq!(data, [9; 15], "nothing is written");
}
