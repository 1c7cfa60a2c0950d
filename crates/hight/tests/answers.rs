//! HIGHT has no crate of RustCrypto's to be compared with: known answers, and the two byte orders
//! against each other.

use cipher::{AlgorithmName, Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, consts::U8};
use lanecrypt_hight::{
    Bits, Bytes, Cipher, Gapped, Hight, HightKisa, Kisa, LookUps, Reference, Sliced, Standard,
    Table,
};
use lanecrypt_slicing::{ByteLanes, Isa, Portable, SplatBytes};
use proptest::{collection::vec, prelude::*};

type Block = Array<u8, U8>;

/// Runs `$check::<C>(arguments)` for the cipher type `C` of every implementation of each kind; those
/// of instruction sets are tried by `kat` and the conformance trials.
macro_rules! for_all {
    ($check:ident($($argument:expr),*)) => {
        $check::<Hight>($($argument),*);
        $check::<Cipher<Reference<Standard>>>($($argument),*);
        $check::<Cipher<Table<Standard>>>($($argument),*);
        $check::<Cipher<Sliced<Bits<Standard>, Portable<u32>>>>($($argument),*);
        $check::<Cipher<Sliced<Bytes<Standard>, Portable<u64>>>>($($argument),*);
        $check::<Cipher<Sliced<Bytes<Standard>, Portable<Gapped<u64>>>>>($($argument),*);
        $check::<Cipher<Sliced<Bytes<Standard>, LookUps>>>($($argument),*);
    };
}

/// Key, plaintext and ciphertext of CHES 2006 and ISO/IEC 18033-3, as public implementations quote
/// them (`vectors/hight_ecb.txt`, lines o00001, o00002 and o00004).
const STANDARD: [(u128, u64, u64); 3] = [
    (0x0011_2233_4455_6677_8899_aabb_ccdd_eeff, 0, 0x00f4_18ae_d94f_03f2),
    (0xffee_ddcc_bbaa_9988_7766_5544_3322_1100, 0x0011_2233_4455_6677, 0x23ce_9f72_e543_e6d8),
    (0x28db_c3bc_49ff_d87d_cfa5_09b1_1d42_2be7, 0xb41e_6be2_eba8_4a14, 0xcc04_7a75_209c_1fc6),
];

/// From `KISA_HIGHT_ECB.c` (`vectors/hight-kisa_ecb.txt`, line o00001).
const KISA: (u128, u64, u64) =
    (0x88e3_4f8f_0817_79f1_e9f3_9437_0ad4_0589, 0xd76d_0d18_327e_c562, 0xe4bc_2e31_2277_e4dd);

/// One block alone, and in every place of three of the widest batches.
fn answers<C>((key, plaintext, ciphertext): (u128, u64, u64))
where
    C: KeyInit + BlockCipherEncrypt<BlockSize = U8> + BlockCipherDecrypt,
{
    let cipher = C::new_from_slice(&key.to_be_bytes()).expect("16 bytes");
    let (plaintext, ciphertext): (Block, Block) =
        (plaintext.to_be_bytes().into(), ciphertext.to_be_bytes().into());
    for count in [1, 192] {
        let mut blocks = vec![plaintext; count];
        cipher.encrypt_blocks(&mut blocks);
        assert_eq!(blocks, vec![ciphertext; count]);
        cipher.decrypt_blocks(&mut blocks);
        assert_eq!(blocks, vec![plaintext; count]);
    }
}

#[test]
fn known_answers() {
    for vector in STANDARD {
        for_all!(answers(vector));
    }
    answers::<HightKisa>(KISA);
    answers::<Cipher<Reference<Kisa>>>(KISA);
}

fn blocks() -> impl Strategy<Value = Vec<Block>> {
    vec(any::<[u8; 8]>().prop_map(Block::from), 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// hight-kisa(k, p) = rev(hight(rev(k), rev(p))).
    #[test]
    fn kisa_is_reversed(key: [u8; 16], plaintext in blocks()) {
        let reversed = |mut block: Block| {
            block.reverse();
            block
        };
        let mut blocks = plaintext.clone();
        HightKisa::new(&key.into()).encrypt_blocks(&mut blocks);
        let mut reversed_key = key;
        reversed_key.reverse();
        let mut expected: Vec<Block> = plaintext.into_iter().map(reversed).collect();
        Hight::new(&reversed_key.into()).encrypt_blocks(&mut expected);
        prop_assert_eq!(blocks, expected.into_iter().map(reversed).collect::<Vec<_>>());
    }
}

struct Name<C>(core::marker::PhantomData<C>);

impl<C: AlgorithmName> core::fmt::Display for Name<C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        C::write_alg_name(f)
    }
}

fn named<C: AlgorithmName + KeyInit + core::fmt::Debug>(name: &str) {
    assert_eq!(Name::<C>(core::marker::PhantomData).to_string(), name);
    let cipher = C::new_from_slice(&[0xb7; 16]).expect("16 bytes");
    assert_eq!(format!("{cipher:?}"), format!("{name} {{ ... }}"), "shows no key");
}

#[test]
fn names_without_keys() {
    for_all!(named("Hight"));
    named::<HightKisa>("HightKisa");
}

/// HIGHT's blocks have eight bytes; lanes whose additions are looked up take blocks of sixteen as well.
#[test]
fn blocks_of_eight_and_sixteen_bytes_come_back_from_lanes_with_look_ups() {
    let lanes = LookUps::detect().expect("every CPU has them");
    for block in [8, 16] {
        let blocks: [u8; 48] = std::array::from_fn(|i| (37 * i + 11) as u8);
        let blocks = &blocks[..3 * block];
        let mut rows = [lanes.splat(0); 16];
        lanes.slice(blocks, &mut rows[..block]);
        let mut back = [0; 48];
        lanes.unslice(&mut rows[..block], &mut back[..3 * block]);
        assert_eq!(&back[..3 * block], blocks);
    }
}
