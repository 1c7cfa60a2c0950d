//! Known values of the field, the S-boxes and the plaintext generator.

use lanecrypt_reference::{
    gf256::{
        AES_MODULUS, CAMELLIA_MODULUS, SEED_MODULUS, SM4_MODULUS, inverse, multiply, multiply_by_x,
        power,
    },
    plaintext::PlaintextStream,
    sbox::{self, AffineMap},
};
use proptest::prelude::*;

/// The modulus of Twofish's MDS matrix, a second irreducible polynomial.
const OTHER_MODULUS: u16 = 0x169;

#[test]
fn products_of_fips_197() {
    assert_eq!(multiply(0x57, 0x83, AES_MODULUS), 0xc1); // section 4.2
    assert_eq!(multiply(0x57, 0x13, AES_MODULUS), 0xfe); // section 4.2.1
    assert_eq!(multiply_by_x(0x8e, AES_MODULUS), 0x07); // section 4.2.1: xtime
    assert_eq!(multiply(0x57, 0x83, 0x1b), 0xc1, "the bit of x^8 is implied");
}

#[test]
fn inverses_are_inverses_in_every_field() {
    for modulus in [AES_MODULUS, CAMELLIA_MODULUS, SEED_MODULUS, SM4_MODULUS, OTHER_MODULUS] {
        assert_eq!(inverse(0, modulus), 0);
        for element in 1..=255 {
            assert_eq!(power(element, 254, modulus), inverse(element, modulus));
            assert_eq!((power(element, 0, modulus), power(element, 255, modulus)), (1, 1));
            assert_eq!(multiply(element, inverse(element, modulus), modulus), 1);
        }
    }
}

#[test]
fn multiplication_is_a_commutative_ring() {
    for modulus in [AES_MODULUS, OTHER_MODULUS] {
        for left in 0..=255 {
            assert_eq!(multiply(left, 1, modulus), left);
            assert_eq!(multiply(left, 2, modulus), multiply_by_x(left, modulus));
            for right in 0..=255 {
                let product = multiply(left, right, modulus);
                assert_eq!(product, multiply(right, left, modulus));
                let parts =
                    multiply(left, right & 0x0f, modulus) ^ multiply(left, right & 0xf0, modulus);
                assert_eq!(product, parts);
            }
        }
    }
}

#[test]
fn aes_sbox_of_fips_197() {
    assert_eq!(sbox::AES[0x53], 0xed); // section 5.1.1
    assert_eq!(sbox::AES[0x00], 0x63);
    assert_eq!(sbox::AES[..8], [0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5]); // figure 7
    assert_eq!(sbox::AES[0xff], 0x16);
    assert_eq!(sbox::AES_INVERSE[..4], [0x52, 0x09, 0x6a, 0xd5]); // figure 14
}

#[test]
fn aria_sbox_of_rfc_5794() {
    assert_eq!(sbox::ARIA_S2[..8], [0xe2, 0x4e, 0x54, 0xfc, 0x94, 0xc2, 0x4a, 0xcc]);
    assert_eq!(sbox::ARIA_S2[0x1f], 0xc1);
    assert_eq!(sbox::ARIA_S2_INVERSE[0xe2], 0);
    assert!(sbox::is_permutation(&sbox::ARIA_S2));
}

#[test]
fn camellia_sboxes_of_rfc_3713() {
    assert_eq!(sbox::CAMELLIA[0][..8], [112, 130, 44, 236, 179, 39, 192, 229]);
    assert_eq!(sbox::CAMELLIA[0][0xf8..], [21, 227, 173, 244, 119, 199, 128, 158]);
    assert_eq!(sbox::CAMELLIA[1][..4], [224, 5, 88, 217]);
    assert_eq!(sbox::CAMELLIA[2][..4], [56, 65, 22, 118]);
    assert_eq!(sbox::CAMELLIA[3][..4], [112, 44, 179, 192]);
    assert!(sbox::CAMELLIA.iter().all(sbox::is_permutation));
}

#[test]
fn sm4_sbox_of_gb_t_32907() {
    assert_eq!(sbox::SM4[..8], [0xd6, 0x90, 0xe9, 0xfe, 0xcc, 0xe1, 0x3d, 0xb7]);
    assert_eq!(sbox::SM4[0xf8..], [0x79, 0xee, 0x5f, 0x3e, 0xd7, 0xcb, 0x39, 0x48]);
    assert_eq!(sbox::SM4[0xef], 0x84); // the example of section 6.2
    assert!(sbox::is_permutation(&sbox::SM4));
}

#[test]
fn seed_sboxes_of_rfc_4269() {
    assert_eq!(sbox::SEED[0][..8], [0xa9, 0x85, 0xd6, 0xd3, 0x54, 0x1d, 0xac, 0x25]);
    assert_eq!(sbox::SEED[1][..8], [0x38, 0xe8, 0x2d, 0xa6, 0xcf, 0xde, 0xb3, 0xb8]);
    assert!(sbox::SEED.iter().all(sbox::is_permutation));
}

#[test]
fn inverted_permutations_undo() {
    assert!(sbox::is_permutation(&sbox::AES));
    for input in 0..=255_u8 {
        let output = sbox::AES[usize::from(input)];
        assert_eq!(sbox::AES_INVERSE[usize::from(output)], input);
    }
    let constant = [7; 256];
    assert!(!sbox::is_permutation(&constant));
    assert_eq!(sbox::invert(&constant)[7], 255);
}

#[test]
fn affine_maps_take_bit_zero_as_the_least_significant() {
    let swap_ends = AffineMap { rows: [0x80, 2, 4, 8, 16, 32, 64, 1], constant: 0 };
    assert_eq!(swap_ends.apply(0x01), 0x80);
    assert_eq!(swap_ends.apply(0xc0), 0x41);
    assert_eq!(sbox::AES_AFFINE.apply(0), 0x63);
}

#[test]
fn plaintext_of_seed_one() {
    let mut start = [0; 16];
    PlaintextStream::new(1).fill(&mut start);
    assert_eq!(u64::from_be_bytes(start[..8].try_into().unwrap()), 0xc15c_0289_ec2d_0a91);
    assert_eq!(u64::from_be_bytes(start[8..].try_into().unwrap()), 0x67ec_8e65_a18d_ebbe);
}

#[test]
fn plaintext_far_into_a_stream() {
    let mut across = [0; 24];
    let mut stream = PlaintextStream::at(5, u64::MAX - 11);
    stream.fill(&mut across);
    assert_eq!(stream.position(), 12, "offsets are modulo 2^64");
    assert_eq!(across[12..], PlaintextStream::new(5).take(12).collect::<Vec<u8>>());
}

proptest! {
    #[test]
    fn plaintext_is_the_same_in_pieces_of_any_length(
        seed: u64,
        start in 0..40_usize,
        pieces in prop::collection::vec(0..40_usize, 0..12),
    ) {
        let length: usize = pieces.iter().sum();
        let mut whole = vec![0; start + length];
        PlaintextStream::new(seed).fill(&mut whole);
        let mut stream = PlaintextStream::at(seed, start as u64);
        let mut joined = Vec::new();
        for piece in pieces {
            let mut bytes = vec![0; piece];
            stream.fill(&mut bytes);
            joined.extend(bytes);
        }
        prop_assert_eq!(&joined, &whole[start..]);
        prop_assert_eq!(stream.position(), whole.len() as u64);
    }
}
