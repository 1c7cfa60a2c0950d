//! GCM on GPUs that CUDA does not reach: messages about every boundary of lengths, against the definition; counters that
//! wrap, hash keys in turns, messages in parts, and what a wrong tag leaves.

use lanecrypt::{
    Direction, Engine, Error, Gcm, GcmMessage, GhashKey,
    cipher::InOutBuf,
    registry::CipherDescription,
    wgpu::{self, Device, Limits},
};
use lanecrypt_core::GcmPass;
use lanecrypt_reference::modes as by_definition;
use lanecrypt_slicing::HashKey;

use crate::{ciphers, device, engine_blocks::EngineBlocks, family, noise};

/// Bytes of a piece: 1,250 blocks, of which the first launch makes 256 sums.
const PIECE: usize = 20_000;

/// About the ends of blocks, the lengths from which there are more sums, and the ends of pieces.
const LENGTHS: [usize; 20] = [
    0,
    1,
    15,
    16,
    17,
    31,
    16 * 16 - 17,
    16 * 16 - 1,
    16 * 16,
    16 * 16 + 1,
    64 * 16 - 1,
    64 * 16,
    64 * 16 + 1,
    256 * 16 + 3,
    1024 * 16 - 16,
    1024 * 16 + 15,
    PIECE - 1,
    PIECE,
    PIECE + 1,
    3 * PIECE + 5,
];

fn in_pieces() -> Option<Device> {
    device(Limits { piece_bytes: PIECE as u64, ..Limits::default() })
}

fn engine(cipher: &CipherDescription, device: &Device, key: &[u8]) -> wgpu::Engine {
    family(cipher).engine(device, key).expect("it can be keyed")
}

fn reference(cipher: &CipherDescription, key: &[u8]) -> EngineBlocks {
    let row = cipher.backend("reference").expect("every cipher has it");
    EngineBlocks((row.create)(key).expect("it can be keyed"))
}

/// In place and out of place, and the same.
fn both_ways(input: &[u8], what: &str, run: impl Fn(InOutBuf<'_, '_, u8>)) -> Vec<u8> {
    let mut in_place = input.to_vec();
    run(in_place.as_mut_slice().into());
    let mut apart = vec![0x5a; input.len()];
    run(InOutBuf::new(input, &mut apart).expect("they are equally long"));
    assert!(in_place == apart, "{what}: in place and out of place");
    apart
}

#[test]
fn messages_about_every_boundary() {
    let Some(device) = in_pieces() else { return };
    for cipher in ciphers().filter(|cipher| cipher.block_bytes == 16) {
        for &key_bytes in cipher.key_bytes {
            let key = noise(key_bytes, 1);
            let gcm = Gcm::<_>::of(engine(cipher, &device, &key)).expect("blocks of 16 bytes");
            let reference = reference(cipher, &key);
            for (number, length) in LENGTHS.into_iter().enumerate() {
                let iv = noise([12, 1, 60][number % 3], 2);
                let aad = noise([0, 20, 16, 1000][number % 4], 3);
                let plaintext = noise(length, 4);
                let mut expected = plaintext.clone();
                let tag = by_definition::gcm_encrypt(&reference, &iv, &aad, &mut expected);
                let tag = tag.expect("blocks of 16 bytes");
                let what = format!("{}, {length} bytes, {key_bytes}-byte key", cipher.name);
                let sealed = both_ways(&plaintext, &what, |data| {
                    let mut made = [0; 16];
                    gcm.encrypt(&iv, &aad, data, &mut made).expect("it runs");
                    assert_eq!(made, tag, "{what}");
                });
                assert!(sealed == expected, "{what}: encryption");
                let opened = both_ways(&sealed, &what, |data| {
                    gcm.decrypt(&iv, &aad, data, &tag).expect("the tag is right");
                });
                assert!(opened == plaintext, "{what}: decryption");
            }
        }
    }
}

/// Passes of the device alone, also where counters wrap among the blocks, under hash keys that are not the engine's.
#[test]
fn counters_wrap_and_hash_keys_change() {
    let Some(device) = in_pieces() else { return };
    let cipher = lanecrypt::find_cipher("camellia").expect("it is there");
    let (ours, theirs) = (engine(cipher, &device, &[7; 16]), reference(cipher, &[7; 16]));
    let aad = noise(33, 3);
    for (length, before_wrap) in [(0, 0), (50, 0), (100, 2), (3 * PIECE, 1251), (PIECE + 7, 90_000)]
    {
        for h in [0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e_u128, 1 << 127, 5] {
            let Some(hash_key) = HashKey::new(&h.to_be_bytes()) else {
                println!("this CPU multiplies no polynomials: no pass is taken");
                return;
            };
            let mut counter = [0x3c; 16];
            counter[12..].copy_from_slice(&(u32::MAX - before_wrap).to_be_bytes());
            let first = lanecrypt::modes::gcm::counter(&counter, 0);
            let plaintext = noise(length, 4);
            let mut ciphertext = plaintext.clone();
            by_definition::ctr32(&theirs, &first, &mut ciphertext).expect("blocks of 16 bytes");
            let mut mask = counter;
            theirs.run(Direction::Encrypt, &mut mask);
            let hash = by_definition::ghash(h, &aad, &ciphertext);
            let tag = (hash ^ u128::from_be_bytes(mask)).to_be_bytes();
            for (direction, from, to) in [
                (Direction::Encrypt, &plaintext, &ciphertext),
                (Direction::Decrypt, &ciphertext, &plaintext),
            ] {
                let what = format!("{direction} {length} bytes, {before_wrap} before the wrap");
                let made = both_ways(from, &what, |data| {
                    let (mut hash, whole) = ([0; 16], Some(&aad[..]));
                    let is_done = hash_key.with_powers(|powers| {
                        let hash = &mut hash;
                        ours.gcm(GcmPass { direction, counter, powers, hash, whole }, data)
                    });
                    assert!(is_done.expect("it runs"), "{what}: the device has the pass");
                    assert_eq!(hash, tag, "{what}");
                });
                assert!(made == *to, "{what}");
            }
        }
    }
}

#[test]
fn messages_in_parts() {
    let Some(device) = in_pieces() else { return };
    let cipher = lanecrypt::find_cipher("aes").expect("it is there");
    let (ours, theirs) = (engine(cipher, &device, &[9; 32]), reference(cipher, &[9; 32]));
    let mut h = [0; 16];
    ours.ecb(Direction::Encrypt, h.as_mut_slice().into()).expect("it runs");
    let key = GhashKey::new(&h.into());
    let (iv, aad, plaintext) = (noise(12, 2), noise(40, 3), noise(2 * PIECE + 77, 4));
    let mut expected = plaintext.clone();
    let tag = by_definition::gcm_encrypt(&theirs, &iv, &aad, &mut expected).expect("16 bytes");
    for part in [1000, 4097, PIECE, PIECE + 33] {
        for (direction, from, to) in [
            (Direction::Encrypt, &plaintext, &expected),
            (Direction::Decrypt, &expected, &plaintext),
        ] {
            let mut message = GcmMessage::new(&key, &ours, &iv).expect("an IV");
            message.associate(&key, &aad).expect("it comes first");
            let mut data = from.clone();
            for data in data.chunks_mut(part) {
                message.run(&key, &ours, direction, data.into()).expect("it runs");
            }
            assert!(data == *to, "{direction} in parts of {part} bytes");
            assert_eq!(message.tag(&key), tag, "{direction} in parts of {part} bytes");
        }
    }
}

/// More blocks than the most sums have four each, with all launches that there are; against the form for CPUs.
#[test]
fn a_message_with_as_many_sums_as_there_are() {
    let Some(device) = device(Limits { piece_bytes: 8 << 20, ..Limits::default() }) else { return };
    let cipher = lanecrypt::find_cipher("seed").expect("it is there");
    let gcm = Gcm::<_>::of(engine(cipher, &device, &[3; 16])).expect("blocks of 16 bytes");
    let on_cpu = lanecrypt::engine("seed", "default", &[3; 16]).expect("it can be keyed");
    let on_cpu = Gcm::<_>::of(on_cpu).expect("blocks of 16 bytes");
    let (plaintext, mut tag, mut expected_tag) = (noise((9 << 20) + 5, 4), [0; 16], [0; 16]);
    let (mut made, mut expected) = (plaintext.clone(), plaintext.clone());
    gcm.encrypt(&[1; 12], b"", made.as_mut_slice().into(), &mut tag).expect("it runs");
    on_cpu
        .encrypt(&[1; 12], b"", expected.as_mut_slice().into(), &mut expected_tag)
        .expect("it runs");
    assert!(made == expected && tag == expected_tag);
    gcm.decrypt(&[1; 12], b"", made.as_mut_slice().into(), &tag).expect("the tag is right");
    assert!(made == plaintext);
}

#[test]
fn after_a_wrong_tag_there_is_no_plaintext() {
    let Some(device) = in_pieces() else { return };
    let cipher = lanecrypt::find_cipher("aria").expect("it is there");
    let gcm = Gcm::<_>::of(engine(cipher, &device, &[5; 16])).expect("blocks of 16 bytes");
    for length in [0, 5, 16, PIECE + 21] {
        let (mut sealed, mut tag) = (noise(length, 4), [0; 16]);
        gcm.encrypt(&[1; 12], b"a", sealed.as_mut_slice().into(), &mut tag).expect("it runs");
        let what = format!("{length} bytes");
        let refuse = |sealed: &[u8], aad: &[u8], tag: &[u8]| {
            let left = both_ways(sealed, &what, |data| {
                let refused = gcm.decrypt(&[1; 12], aad, data, tag);
                assert!(matches!(refused, Err(Error::NotAuthentic)), "{what}: {refused:?}");
            });
            assert!(left == sealed, "{what}: the output is the ciphertext");
        };
        refuse(&sealed, b"b", &tag);
        if let Some(last) = sealed.len().checked_sub(1) {
            for at in [0, last / 2, last] {
                let mut changed = sealed.clone();
                changed[at] ^= 0x80;
                refuse(&changed, b"a", &tag);
            }
        }
        tag[15] ^= 1;
        refuse(&sealed, b"a", &tag);
    }
}
