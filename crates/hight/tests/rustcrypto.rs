//! RustCrypto's traits and modes over our types, known answers, and every backend against the
//! reference.

use cipher::{
    AlgorithmName, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt,
    KeyInit, KeyIvInit, StreamCipher, StreamCipherSeek, block_padding::Pkcs7, consts::U8,
};
use lanecrypt_hight::{
    Bitslice, Cipher, CpuEngine, Ctr, Gapped, Hight, HightKisa, Reference, Reversed, Sliced, Table,
};
use proptest::{collection::vec, prelude::*};

type Block = cipher::Array<u8, U8>;

/// Runs `$check::<C>(arguments)` for the cipher type `C` of every implementation.
macro_rules! for_all {
    ($check:ident($($argument:expr),*)) => {
        $check::<Cipher<Reference>>($($argument),*);
        $check::<Cipher<Table>>($($argument),*);
        $check::<Cipher<Bitslice<u32>>>($($argument),*);
        $check::<Cipher<Bitslice<u64>>>($($argument),*);
        $check::<Cipher<Sliced<u8>>>($($argument),*);
        $check::<Cipher<Sliced<u32>>>($($argument),*);
        $check::<Cipher<Sliced<u64>>>($($argument),*);
        $check::<Cipher<Sliced<Gapped<u32>>>>($($argument),*);
        $check::<Cipher<Sliced<Gapped<u64>>>>($($argument),*);
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
    answers::<Cipher<Reversed<Reference>>>(KISA);
}

/// Blocks that differ in every byte position.
fn noise(count: usize) -> Vec<Block> {
    (0..count as u64)
        .map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes().into())
        .collect()
}

fn every_length<C>()
where
    C: KeyInit + BlockCipherEncrypt<BlockSize = U8> + BlockCipherDecrypt,
{
    let cipher = C::new_from_slice(&[0x3c; 16]).expect("16 bytes");
    let mut one_by_one = noise(200);
    for block in &mut one_by_one {
        cipher.encrypt_block(block);
    }
    for count in 0..=200 {
        let mut blocks = noise(count);
        cipher.encrypt_blocks(&mut blocks);
        assert_eq!(blocks, one_by_one[..count], "{count} blocks encrypted");
        cipher.decrypt_blocks(&mut blocks);
        assert_eq!(blocks, noise(count), "{count} blocks decrypted");
    }
}

#[test]
fn many_blocks_are_block_by_block() {
    for_all!(every_length());
    every_length::<HightKisa>();
}

/// Agrees with the reference, one call over all blocks, both ways.
fn like_reference<C>(key: &[u8; 16], blocks: &[Block])
where
    C: KeyInit + BlockCipherEncrypt<BlockSize = U8> + BlockCipherDecrypt,
{
    let cipher = C::new_from_slice(key).expect("16 bytes");
    let reference = Cipher::<Reference>::new(&(*key).into());
    let (mut ours, mut theirs) = (blocks.to_vec(), blocks.to_vec());
    cipher.encrypt_blocks(&mut ours);
    reference.encrypt_blocks(&mut theirs);
    assert_eq!(ours, theirs, "encrypted");
    cipher.decrypt_blocks(&mut ours);
    assert_eq!(ours, blocks, "and back");
    cipher.decrypt_blocks(&mut ours);
    reference.decrypt_blocks(&mut theirs);
    reference.decrypt_blocks(&mut theirs);
    assert_eq!(ours, theirs, "decrypted");
}

fn blocks() -> impl Strategy<Value = Vec<Block>> {
    vec(any::<[u8; 8]>().prop_map(Block::from), 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn backends_agree_with_the_reference(key: [u8; 16], blocks in blocks()) {
        for_all!(like_reference(&key, &blocks));
    }

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

    /// Our own seekable CTR gives the bytes of RustCrypto's, from any position on.
    #[test]
    fn our_stream_is_ctr64be(
        key: [u8; 16],
        iv: [u8; 8],
        data in vec(any::<u8>(), 0..1200),
        position in 0_u64..1 << 40,
    ) {
        let engine = CpuEngine::new(Hight::new(&key.into()));
        let mut ours = Ctr::new(engine, &iv).expect("an IV of one block");
        let mut theirs = ctr::Ctr64BE::<Hight>::new(&key.into(), &iv.into());
        let mut table = ctr::Ctr64BE::<Cipher<Table>>::new(&key.into(), &iv.into());
        ours.seek(position);
        theirs.seek(position);
        table.seek(position);
        let (mut a, mut b, mut c) = (data.clone(), data.clone(), data);
        ours.apply_keystream(&mut a);
        theirs.apply_keystream(&mut b);
        table.apply_keystream(&mut c);
        prop_assert_eq!(&a, &b);
        prop_assert_eq!(&a, &c);
    }

    #[test]
    fn cbc_comes_back(key: [u8; 16], iv: [u8; 8], data in vec(any::<u8>(), 0..1200)) {
        let encrypted = cbc::Encryptor::<Hight>::new(&key.into(), &iv.into())
            .encrypt_padded_vec::<Pkcs7>(&data);
        let expected = cbc::Encryptor::<Cipher<Reference>>::new(&key.into(), &iv.into())
            .encrypt_padded_vec::<Pkcs7>(&data);
        prop_assert_eq!(&encrypted, &expected);
        let back = cbc::Decryptor::<Hight>::new(&key.into(), &iv.into())
            .decrypt_padded_vec::<Pkcs7>(&encrypted)
            .expect("the padding that was put there");
        prop_assert_eq!(back, data);
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

fn refuses_wrong_lengths<C: KeyInit>() {
    for length in (0..40).filter(|&length| length != 16) {
        assert!(C::new_from_slice(&vec![0; length]).is_err(), "{length}");
    }
}

#[test]
fn wrong_key_lengths_are_refused() {
    for_all!(refuses_wrong_lengths());
    refuses_wrong_lengths::<HightKisa>();
}

#[cfg(feature = "alloc")]
#[test]
fn backends_refuse_wrong_key_lengths() {
    use lanecrypt_core::{Backend, Platform};
    use lanecrypt_hight::{HIGHT, HIGHT_KISA};

    for description in [&HIGHT, &HIGHT_KISA] {
        let on_cpu = |backend: &&Backend| backend.platform == Platform::Cpu;
        for backend in description.backends.iter().filter(on_cpu) {
            assert!((backend.create)(&[0; 15]).is_err(), "{}", backend.id);
            assert!((backend.create)(&[0; 16]).is_ok(), "{}", backend.id);
        }
    }
}
