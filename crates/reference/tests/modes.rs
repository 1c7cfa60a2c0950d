//! The modes and the Monte Carlo chains over a toy cipher, where every byte can be checked by hand.

use lanecrypt_reference::{
    modes::{
        BlockCipher, ModeError, cbc_decrypt, cbc_encrypt, ctr, ecb_decrypt, ecb_encrypt,
        xts_decrypt, xts_encrypt, xts_tweak,
    },
    monte_carlo::{ChainEnd, MonteCarloError, monte_carlo, monte_carlo_with},
    vectors::{Direction, MonteCarlo},
};
use proptest::prelude::*;

/// E(x) = (x XOR key) rotated left by one byte. Not a cipher, but a keyed permutation.
struct Toy {
    block_bytes: usize,
    key: u8,
}

impl BlockCipher for Toy {
    fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    fn encrypt_block(&self, block: &mut [u8]) {
        assert_eq!(block.len(), self.block_bytes);
        xor(block, self.key);
        block.rotate_left(1);
    }

    fn decrypt_block(&self, block: &mut [u8]) {
        assert_eq!(block.len(), self.block_bytes);
        block.rotate_right(1);
        xor(block, self.key);
    }
}

fn xor(block: &mut [u8], key: u8) {
    for byte in block {
        *byte ^= key;
    }
}

const fn toy(block_bytes: usize) -> Toy {
    Toy { block_bytes, key: 0xa5 }
}

/// E(x) = x: shows what the mode itself does.
struct Identity;

impl BlockCipher for Identity {
    fn block_bytes(&self) -> usize {
        16
    }
    fn encrypt_block(&self, _: &mut [u8]) {}
    fn decrypt_block(&self, _: &mut [u8]) {}
}

fn numbered(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index * 7 + 3) as u8).collect()
}

#[test]
fn ecb_by_hand() {
    let mut data = [1, 2, 3, 4, 5, 6];
    ecb_encrypt(&Toy { block_bytes: 3, key: 0x10 }, &mut data).unwrap();
    assert_eq!(data, [0x12, 0x13, 0x11, 0x15, 0x16, 0x14]);
}

#[test]
fn cbc_by_hand() {
    let cipher = Toy { block_bytes: 2, key: 0x10 };
    let mut data = [1, 2, 3, 4];
    // E([1, 2] ^ [0x80, 0x40]) = [0x52, 0x91]; E([3, 4] ^ [0x52, 0x91]) = [0x85, 0x41].
    cbc_encrypt(&cipher, &[0x80, 0x40], &mut data).unwrap();
    assert_eq!(data, [0x52, 0x91, 0x85, 0x41]);
    cbc_decrypt(&cipher, &[0x80, 0x40], &mut data).unwrap();
    assert_eq!(data, [1, 2, 3, 4]);
}

#[test]
fn ctr_wraps_at_128_bits() {
    let mut data = [0; 40];
    ctr(&Identity, &[0xff; 16], &mut data).unwrap();
    assert_eq!(data[..16], [0xff; 16]);
    assert_eq!(data[16..32], [0; 16]);
    assert_eq!(data[32..], [0; 8], "the counter is now 1, in the last byte, which is cut off");
    let mut carry = [0; 32];
    let mut counter = [0; 16];
    counter[8..].fill(0xff);
    ctr(&Identity, &counter, &mut carry).unwrap();
    assert_eq!(u128::from_be_bytes(carry[16..].try_into().unwrap()), 1 << 64);
}

#[test]
fn ctr_wraps_at_64_bits() {
    let cipher = Toy { block_bytes: 8, key: 0 };
    let mut data = [0; 17];
    let mut counter = [0xff; 8];
    counter[7] = 0xfe;
    ctr(&cipher, &counter, &mut data).unwrap();
    assert_eq!(data[..8], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xff]); // rotated
    assert_eq!(data[8..16], [0xff; 8]);
    assert_eq!(data[16], 0);
}

#[test]
fn xts_masks_by_hand() {
    // With the identity as both ciphers the two masks cancel, so the tweak must not matter; with a
    // rotation the result is mask ^ rotate(mask).
    let mut data = numbered(48);
    xts_encrypt(&Identity, &Identity, &[0x9c; 16], &mut data).unwrap();
    assert_eq!(data, numbered(48));
    let rotation = Toy { block_bytes: 16, key: 0 };
    let mut tweak = [0; 16];
    tweak[15] = 0x80; // alpha^127, so that the next mask is 0x87 in byte 0
    let mut data = [0; 32];
    xts_encrypt(&rotation, &Identity, &tweak, &mut data).unwrap();
    let mut expected = [0; 32];
    (expected[14], expected[15]) = (0x80, 0x80);
    (expected[16], expected[31]) = (0x87, 0x87);
    assert_eq!(data, expected);

    // alpha^127 + 1: what comes round meets a bit that is there, 0x87 + 0x02.
    tweak[0] = 1;
    let mut data = [0; 32];
    xts_encrypt(&rotation, &Identity, &tweak, &mut data).unwrap();
    let (first, second) = ([0x01, 0x80], 0x85);
    let mut expected = [0; 32];
    (expected[0], expected[14], expected[15]) = (first[0], first[1], first[0] ^ first[1]);
    (expected[16], expected[31]) = (second, second);
    assert_eq!(data, expected);
}

#[test]
fn xts_steals_by_hand() {
    // Both ciphers the identity: encryption only exchanges the tail with the block before it.
    let mut data = numbered(37);
    xts_encrypt(&Identity, &Identity, &xts_tweak(7), &mut data).unwrap();
    let plain = numbered(37);
    assert_eq!(data[..16], plain[..16]);
    assert_eq!(data[16..21], plain[32..], "the tail leads the block before it");
    assert_eq!(data[21..32], plain[21..32]);
    assert_eq!(data[32..], plain[16..21], "and takes the start of that block");
}

#[test]
fn xts_of_every_length_comes_back() {
    let (data_cipher, tweak_cipher) = (toy(16), Toy { block_bytes: 16, key: 0x3c });
    for length in 16..=80 {
        let mut data = numbered(length);
        xts_encrypt(&data_cipher, &tweak_cipher, &xts_tweak(1 << 90), &mut data).unwrap();
        assert_ne!(data, numbered(length));
        xts_decrypt(&data_cipher, &tweak_cipher, &xts_tweak(1 << 90), &mut data).unwrap();
        assert_eq!(data, numbered(length), "{length} bytes");
    }
}

#[test]
fn xts_tail_uses_the_tweaks_of_ieee_1619() {
    // C(m-1) = E(P(m) || end of CC) under mask m, and C(m) is the start of CC under mask m-1.
    let cipher = toy(16);
    let mut whole = numbered(16);
    xts_encrypt(&cipher, &Identity, &xts_tweak(1), &mut whole).unwrap();
    let mut last = numbered(21)[16..].to_vec();
    last.extend(&whole[5..]);
    xts_encrypt(&cipher, &Identity, &xts_tweak(2), &mut last).unwrap(); // mask 1 is 1 * alpha
    let mut stolen = numbered(21);
    xts_encrypt(&cipher, &Identity, &xts_tweak(1), &mut stolen).unwrap();
    assert_eq!(stolen[..16], last);
    assert_eq!(stolen[16..], whole[..5]);
}

#[test]
fn tweaks_are_little_endian() {
    assert_eq!(xts_tweak(0x0102)[..3], [2, 1, 0]);
}

#[test]
fn wrong_input_is_refused_and_left_alone() {
    let partial = ModeError::PartialBlock { mode: "ECB", given: 17, block: 16 };
    let mut data = numbered(17);
    assert_eq!(ecb_encrypt(&toy(16), &mut data), Err(partial));
    assert_eq!(ecb_decrypt(&toy(16), &mut data), Err(partial));
    assert_eq!(
        partial.to_string(),
        "ECB was given 17 bytes, but takes only multiples of the 16-byte block"
    );
    let iv = |mode| Err(ModeError::InitializationVector { mode, given: 15, accepted: 16 });
    assert_eq!(cbc_encrypt(&toy(16), &[0; 15], &mut data[..16]), iv("CBC"));
    assert_eq!(cbc_decrypt(&toy(16), &[0; 15], &mut data[..16]), iv("CBC"));
    assert_eq!(ctr(&toy(16), &[0; 15], &mut data), iv("CTR"));
    assert_eq!(xts_encrypt(&toy(16), &toy(16), &[0; 15], &mut data), iv("XTS"));
    let short = Err(ModeError::ShortDataUnit { given: 15 });
    assert_eq!(xts_encrypt(&toy(16), &toy(16), &[0; 16], &mut data[..15]), short);
    assert_eq!(
        xts_decrypt(&toy(16), &toy(16), &[0; 16], &mut data[..0]),
        Err(ModeError::ShortDataUnit { given: 0 })
    );
    let block = ModeError::BlockLength { mode: "XTS", given: 8, accepted: "16" };
    assert_eq!(xts_decrypt(&toy(8), &toy(16), &[0; 16], &mut data), Err(block));
    assert_eq!(xts_decrypt(&toy(16), &toy(8), &[0; 16], &mut data), Err(block));
    for given in [0, 17] {
        let block = ModeError::BlockLength { mode: "ECB", given, accepted: "1 to 16" };
        assert_eq!(ecb_encrypt(&toy(given), &mut data), Err(block));
    }
    assert_eq!(data, numbered(17));
}

#[test]
fn empty_data_is_fine_where_there_is_no_stealing() {
    ecb_encrypt(&toy(16), &mut []).unwrap();
    cbc_decrypt(&toy(8), &[0; 8], &mut []).unwrap();
    ctr(&toy(16), &[0; 16], &mut []).unwrap();
}

fn chain(mode: &str, direction: Direction, inner: u32) -> MonteCarlo {
    MonteCarlo {
        id: "toy".into(),
        mode: mode.into(),
        direction,
        inner,
        step: 0,
        key: vec![0],
        iv: (mode == "cbc").then(|| vec![0x80, 0x40]),
        input: vec![1, 2],
        output: vec![],
        previous: vec![],
        line: 1,
    }
}

#[test]
fn monte_carlo_ecb_by_hand() {
    let cipher = Toy { block_bytes: 2, key: 0x10 };
    let end = monte_carlo_with(&chain("ecb", Direction::Encrypt, 2), &cipher).unwrap();
    assert_eq!(end, ChainEnd { output: vec![1, 2], previous: vec![0x12, 0x11] });
    let end = monte_carlo_with(&chain("ecb", Direction::Decrypt, 1), &cipher).unwrap();
    assert_eq!(end, ChainEnd { output: vec![0x12, 0x11], previous: vec![1, 2] });
}

#[test]
fn monte_carlo_cbc_by_hand() {
    let cipher = Toy { block_bytes: 2, key: 0x10 };
    let run =
        |direction, inner| monte_carlo_with(&chain("cbc", direction, inner), &cipher).unwrap();
    // c0 = E(in ^ iv); c1 = E(iv ^ c0); c2 = E(c0 ^ c1).
    let (iv, c0, c1, c2) = (vec![0x80, 0x40], vec![0x52, 0x91], vec![0xc1, 0xc2], vec![0x43, 0x83]);
    assert_eq!(run(Direction::Encrypt, 1), ChainEnd { output: c0.clone(), previous: iv.clone() });
    assert_eq!(run(Direction::Encrypt, 2), ChainEnd { output: c1.clone(), previous: c0 });
    assert_eq!(run(Direction::Encrypt, 3), ChainEnd { output: c2, previous: c1 });
    // p0 = D(in) ^ iv; p1 = D(iv) ^ in; p2 = D(p0) ^ iv.
    let (p0, p1, p2) = (vec![0x92, 0x51], vec![0x51, 0x92], vec![0xc1, 0xc2]);
    assert_eq!(run(Direction::Decrypt, 1), ChainEnd { output: p0.clone(), previous: iv });
    assert_eq!(run(Direction::Decrypt, 2), ChainEnd { output: p1.clone(), previous: p0 });
    assert_eq!(run(Direction::Decrypt, 3), ChainEnd { output: p2, previous: p1 });
}

#[test]
fn a_chain_ends_as_the_line_says_in_both_blocks() {
    let mut line = chain("ecb", Direction::Encrypt, 1);
    (line.output, line.previous) = (vec![1, 2], vec![3, 4]);
    let ends = |output: [u8; 2], previous: [u8; 2]| {
        ChainEnd { output: output.into(), previous: previous.into() }.matches(&line)
    };
    assert!(ends([1, 2], [3, 4]));
    assert!(!ends([1, 2], [3, 5]) && !ends([0, 2], [3, 4]) && !ends([3, 4], [1, 2]));
}

#[test]
fn monte_carlo_refuses_what_has_no_chain() {
    let refuse = |line: &MonteCarlo| monte_carlo(line, |_| panic!("an operation ran")).unwrap_err();
    let other = chain("ctr", Direction::Encrypt, 1);
    assert_eq!(refuse(&other), MonteCarloError::Mode { given: "ctr".into() });
    assert_eq!(refuse(&chain("ecb", Direction::Encrypt, 0)), MonteCarloError::NoOperation);
    let mut line = chain("cbc", Direction::Encrypt, 1);
    line.iv = None;
    assert_eq!(refuse(&line), MonteCarloError::InitializationVector { given: 0, accepted: 2 });
    line.iv = Some(vec![0; 3]);
    assert_eq!(refuse(&line), MonteCarloError::InitializationVector { given: 3, accepted: 2 });
    let error = monte_carlo_with(&line, &toy(16)).unwrap_err();
    assert_eq!(error, MonteCarloError::InputLength { given: 2, accepted: 16 });
}

proptest! {
    #[test]
    fn every_mode_comes_back(
        block_bytes in 1..=16_usize,
        blocks in 0..5_usize,
        tail in 0..16_usize,
        iv: [u8; 16],
    ) {
        let (cipher, iv) = (toy(block_bytes), &iv[..block_bytes]);
        let plain = numbered(blocks * block_bytes);
        let mut data = plain.clone();
        ecb_encrypt(&cipher, &mut data).unwrap();
        ecb_decrypt(&cipher, &mut data).unwrap();
        prop_assert_eq!(&data, &plain);
        cbc_encrypt(&cipher, iv, &mut data).unwrap();
        cbc_decrypt(&cipher, iv, &mut data).unwrap();
        prop_assert_eq!(&data, &plain);
        data.extend(numbered(tail));
        let plain = data.clone();
        ctr(&cipher, iv, &mut data).unwrap();
        ctr(&cipher, iv, &mut data).unwrap();
        prop_assert_eq!(&data, &plain);
    }
}
