//! RustCrypto's modes and tests over our types, against the same over RustCrypto's crates: the types
//! that users name, and implementations by name. That the registry has no cipher left out here is a
//! test, too.

mod kisa;

use std::collections::BTreeSet;

use kisa::KisaSeed;
use lanecrypt::{
    CIPHERS, Ctr, Engine, aes, aria, camellia,
    cipher::{
        Array, Block, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt,
        BlockSizeUser, InnerIvInit, KeyInit, StreamCipher, StreamCipherSeek,
        block_padding::NoPadding,
        consts::{U8, U16},
    },
    des, hight,
};
use lanecrypt_core::{Cipher, Direction};
use lanecrypt_reference::vectors::PlaintextStream;
use lanecrypt_slicing::{Portable, Sliced};
use proptest::{collection::vec, prelude::*};

/// What users do with a cipher of ours, and with one of RustCrypto's.
trait Both: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt {}
impl<C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt> Both for C {}

/// What ours are besides.
trait Ours: Both + Engine + 'static {}
impl<C: Both + Engine + 'static> Ours for C {}

/// A key, an IV, a message and where to cut it.
#[derive(Clone, Debug)]
struct Message {
    key: [u8; 64],
    iv: [u8; 16],
    data: Vec<u8>,
    cut: usize,
}

fn keyed<C: KeyInit>(key: &[u8]) -> C {
    C::new_from_slice(&key[..C::key_size()]).expect("a key of the right size")
}

fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut data = vec![0; length];
    PlaintextStream::new(seed).fill(&mut data);
    data
}

/// Lengths around what the widest types take at once: up to 8 batches of 64 blocks, and more.
fn messages() -> impl Strategy<Value = Message> {
    let data = (0..10_000_usize, any::<u64>()).prop_map(|(length, seed)| noise(length, seed));
    (vec(any::<u8>(), 64), any::<[u8; 16]>(), data, any::<prop::sample::Index>()).prop_map(
        |(key, iv, data, cut)| {
            let cut = cut.index(data.len() + 1);
            Message { key: key.try_into().expect("64 bytes"), iv, data, cut }
        },
    )
}

/// ECB a block at a time on theirs, in every way on ours; CBC; and our own seekable CTR.
fn bulk_agrees<A: Ours, B: Both + BlockSizeUser<BlockSize = A::BlockSize>>(message: &Message) {
    let (ours, theirs) = (keyed::<A>(&message.key), keyed::<B>(&message.key));
    let size = A::block_size();
    let plain: Vec<Block<A>> =
        message.data.chunks_exact(size).map(|block| block.try_into().expect("a block")).collect();
    let mut expected = plain.clone();
    for block in &mut expected {
        theirs.encrypt_block(block);
    }

    let mut blocks = plain.clone();
    ours.encrypt_blocks(&mut blocks);
    assert!(blocks == expected, "encrypt_blocks");
    ours.decrypt_blocks_inout(blocks.as_mut_slice().into());
    assert!(blocks == plain, "decrypt_blocks_inout");
    ours.encrypt_blocks_b2b(&plain, &mut blocks).expect("equal lengths");
    assert!(blocks == expected, "encrypt_blocks_b2b");
    let whole = message.data.len() / size * size;
    let mut data = message.data[..whole].to_vec();
    ours.ecb(Direction::Encrypt, data.as_mut_slice().into()).expect("whole blocks");
    assert!(data == Array::slice_as_flattened(&expected), "ECB of the engine");
    for (block, plain) in blocks.iter_mut().zip(&plain).rev().take(3) {
        ours.decrypt_block(block);
        assert!(block == plain, "decrypt_block");
    }

    let iv = Block::<A>::try_from(&message.iv[..size]).expect("a block");
    let data = &message.data[..whole];
    let ciphertext = cbc::Encryptor::inner_iv_init(keyed::<B>(&message.key), &iv)
        .encrypt_padded_vec::<NoPadding>(data);
    let ours_cbc = cbc::Encryptor::inner_iv_init(keyed::<A>(&message.key), &iv)
        .encrypt_padded_vec::<NoPadding>(data);
    assert!(ours_cbc == ciphertext, "CBC encryption");
    let back =
        cbc::Decryptor::inner_iv_init(ours, &iv).decrypt_padded_vec::<NoPadding>(&ciphertext);
    assert!(back.expect("whole blocks") == data, "CBC decryption");
}

/// CTR of RustCrypto over both, and our own, which seeks.
macro_rules! ctr_agrees {
    ($name:ident, $flavor:ident, $block:ty) => {
        fn $name<
            A: Ours + BlockSizeUser<BlockSize = $block>,
            B: Both + BlockSizeUser<BlockSize = $block>,
        >(
            message: &Message,
        ) {
            let iv: Block<A> = message.iv[..A::block_size()].try_into().expect("a block");
            let (mut ours, mut theirs) = (message.data.clone(), message.data.clone());
            let core = ctr::CtrCore::inner_iv_init(keyed::<A>(&message.key), &iv);
            let mut stream = ctr::$flavor::from_core(core);
            stream.apply_keystream(&mut ours[..message.cut]);
            stream.apply_keystream(&mut ours[message.cut..]);
            let core = ctr::CtrCore::inner_iv_init(keyed::<B>(&message.key), &iv);
            let mut stream = ctr::$flavor::from_core(core);
            stream.apply_keystream(&mut theirs);
            assert!(ours == theirs, "CTR");
            let mut own = message.data.clone();
            let mut seeks = Ctr::new(keyed::<A>(&message.key), &iv).expect("an IV of one block");
            seeks.seek(message.cut as u64);
            seeks.apply_keystream(&mut own[message.cut..]);
            seeks.seek(0_u64);
            seeks.apply_keystream(&mut own[..message.cut]);
            assert!(own == theirs, "our CTR");
            assert_eq!(seeks.current_pos::<u64>(), message.cut as u64);
            let far = 1 << 35 | message.cut as u64;
            (stream.seek(far), seeks.seek(far));
            stream.apply_keystream(&mut theirs);
            seeks.apply_keystream(&mut own);
            assert!(own == theirs, "our CTR, far on");
        }
    };
}
ctr_agrees!(ctr64_agrees, Ctr64BE, U8);
ctr_agrees!(ctr128_agrees, Ctr128BE, U16);

fn small_agrees<A, B>(message: &Message)
where
    A: Ours + BlockSizeUser<BlockSize = U8>,
    B: Both + BlockSizeUser<BlockSize = U8>,
{
    bulk_agrees::<A, B>(message);
    ctr64_agrees::<A, B>(message);
}

/// The same for blocks of 16 bytes, and XTS.
fn large_agrees<A, B>(message: &Message)
where
    A: Ours + BlockSizeUser<BlockSize = U16>,
    B: Both + BlockSizeUser<BlockSize = U16>,
{
    bulk_agrees::<A, B>(message);
    ctr128_agrees::<A, B>(message);
    if message.data.len() < 16 {
        return;
    }
    let (first, second) = message.key.split_at(32);
    let ours = xts_mode::Xts128::new(keyed::<A>(first), keyed::<A>(second));
    let theirs = xts_mode::Xts128::new(keyed::<B>(first), keyed::<B>(second));
    let (mut a, mut b) = (message.data.clone(), message.data.clone());
    ours.encrypt_sector(&mut a, message.iv.into());
    theirs.encrypt_sector(&mut b, message.iv.into());
    assert!(a == b, "XTS encryption");
    ours.decrypt_sector(&mut a, message.iv.into());
    assert!(a == message.data, "XTS decryption");
}

/// The tests of all ciphers: for each name in the registry its types, `check::<ours, theirs>`.
macro_rules! ciphers {
    ($($test:ident($name:literal): $check:ident { $($ours:ty, $theirs:ty;)+ })+) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(12))]
            $(
                #[test]
                fn $test(message in messages()) {
                    $($check::<$ours, $theirs>(&message);)+
                }
            )+
        }

        #[test]
        fn every_cipher_is_here() {
            let here = BTreeSet::from([$($name),+]);
            assert_eq!(here, CIPHERS.iter().map(|cipher| cipher.name).collect());
        }
    };
}

type Words<Form> = Cipher<Sliced<Form, Portable<u64>>>;

ciphers! {
    aes_agrees("aes"): large_agrees {
        aes::Aes128, theirs::aes::Aes128;
        aes::Aes192, theirs::aes::Aes192;
        aes::Aes256, theirs::aes::Aes256;
        Cipher<aes::Table32<aes::Key192>>, theirs::aes::Aes192;
        Words<aes::Bits<aes::RoundKeys<aes::Key256>>>, theirs::aes::Aes256;
    }
    aria_agrees("aria"): large_agrees {
        aria::Aria128, theirs::aria::Aria128;
        aria::Aria192, theirs::aria::Aria192;
        aria::Aria256, theirs::aria::Aria256;
        Cipher<aria::Table32<aria::Key192>>, theirs::aria::Aria192;
        Words<aria::Bits<aria::Key256>>, theirs::aria::Aria256;
    }
    camellia_agrees("camellia"): large_agrees {
        camellia::Camellia128, theirs::camellia::Camellia128;
        camellia::Camellia192, theirs::camellia::Camellia192;
        camellia::Camellia256, theirs::camellia::Camellia256;
        Cipher<camellia::Table32<camellia::Key192>>, theirs::camellia::Camellia192;
        Words<camellia::Bits<camellia::Key256>>, theirs::camellia::Camellia256;
    }
    des_agrees("des"): small_agrees {
        des::Des, theirs::des::Des;
        Cipher<des::Table32<des::Single>>, theirs::des::Des;
        Words<des::Bits<des::Single>>, theirs::des::Des;
    }
    tdes_agrees("tdes"): small_agrees {
        des::TdesEde2, theirs::des::TdesEde2;
        des::TdesEde3, theirs::des::TdesEde3;
        Cipher<des::Table32<des::Ede2>>, theirs::des::TdesEde2;
        Words<des::Bits<des::Ede3>>, theirs::des::TdesEde3;
    }
    tdes_eee_agrees("tdes-eee"): small_agrees {
        des::TdesEee2, theirs::des::TdesEee2;
        des::TdesEee3, theirs::des::TdesEee3;
        Cipher<des::Table32<des::Eee3>>, theirs::des::TdesEee3;
        Words<des::Bits<des::Eee2>>, theirs::des::TdesEee2;
    }
    // There is no HIGHT of RustCrypto: its modes over the reference, whose oracle are the vectors.
    hight_agrees("hight"): small_agrees {
        hight::Hight, Cipher<hight::Reference<hight::Standard>>;
        Cipher<hight::Table<hight::Standard>>, Cipher<hight::Reference<hight::Standard>>;
        Words<hight::Bytes<hight::Standard>>, Cipher<hight::Reference<hight::Standard>>;
    }
    hight_kisa_agrees("hight-kisa"): small_agrees {
        hight::HightKisa, Cipher<hight::Reference<hight::Kisa>>;
        Words<hight::Bits<hight::Kisa>>, Cipher<hight::Reference<hight::Kisa>>;
    }
    // The crate `lea` is compared in crates/lea/tests/drop_in.rs: it has the traits of an older `cipher`.
    lea_agrees("lea"): large_agrees {
        lanecrypt::lea::Lea128, Cipher<lanecrypt::lea::Reference<lanecrypt::lea::Key128>>;
        lanecrypt::lea::Lea192, Cipher<lanecrypt::lea::Reference<lanecrypt::lea::Key192>>;
        lanecrypt::lea::Lea256, Cipher<lanecrypt::lea::Reference<lanecrypt::lea::Key256>>;
        Words<lanecrypt::lea::Words<lanecrypt::lea::Key192>>, Cipher<lanecrypt::lea::Reference<lanecrypt::lea::Key192>>;
    }
    seed_agrees("seed"): large_agrees {
        lanecrypt::seed::Seed128, Cipher<KisaSeed>;
        Cipher<lanecrypt::seed::Table32>, Cipher<KisaSeed>;
        Words<lanecrypt::seed::Bits>, Cipher<KisaSeed>;
    }
    sm4_agrees("sm4"): large_agrees {
        lanecrypt::sm4::Sm4, sm4::Sm4;
        Cipher<lanecrypt::sm4::Table32>, sm4::Sm4;
        Words<lanecrypt::sm4::Bits>, sm4::Sm4;
    }
}

/// RustCrypto's crates, whose names ours have here.
mod theirs {
    pub(crate) use ::{aes, aria, camellia, des};
}

/// Keys of every other length are refused by the types, as by RustCrypto's.
#[test]
fn wrong_key_lengths_are_refused() {
    fn check<C: KeyInit>() {
        for length in (0..70).filter(|length| *length != C::key_size()) {
            assert!(C::new_from_slice(&vec![0; length]).is_err(), "{length} bytes");
        }
        assert!(C::new_from_slice(&vec![0; C::key_size()]).is_ok());
    }
    check::<aes::Aes128>();
    check::<aes::Aes192Enc>();
    check::<aes::Aes256Dec>();
    check::<aria::Aria192>();
    check::<camellia::Camellia256>();
    check::<des::Des>();
    check::<des::TdesEde2>();
    check::<des::TdesEee3>();
    check::<hight::Hight>();
    check::<lanecrypt::lea::Lea192>();
    check::<lanecrypt::seed::Seed128>();
    check::<lanecrypt::sm4::Sm4>();
}

mod vectors {
    //! RustCrypto's own vectors of AES.

    use lanecrypt::{aes, cipher};
    use lanecrypt_core::Cipher;

    cipher::block_cipher_test!(aes128, aes::Aes128);
    cipher::block_cipher_test!(aes192, aes::Aes192);
    cipher::block_cipher_test!(aes256, aes::Aes256);
    cipher::block_cipher_test!(encrypt128, "aes128", aes::Aes128Enc, encrypt_test);
    cipher::block_cipher_test!(decrypt128, "aes128", aes::Aes128Dec, decrypt_test);
    cipher::block_cipher_test!(encrypt192, "aes192", aes::Aes192Enc, encrypt_test);
    cipher::block_cipher_test!(decrypt192, "aes192", aes::Aes192Dec, decrypt_test);
    cipher::block_cipher_test!(encrypt256, "aes256", aes::Aes256Enc, encrypt_test);
    cipher::block_cipher_test!(decrypt256, "aes256", aes::Aes256Dec, decrypt_test);
    cipher::block_cipher_test!(reference128, "aes128", Cipher<aes::Reference<aes::Key128>>);
    cipher::block_cipher_test!(table192, "aes192", Cipher<aes::Table32<aes::Key192>>);
}
