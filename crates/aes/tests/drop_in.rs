//! Every public name and trait of the `aes` crate, used in the same text on theirs and on ours: what
//! is missing does not compile, and what differs is seen.

/// Uses the whole interface of `$library`; the results are to be compared.
macro_rules! interface {
    ($module:ident, $library:path) => {
        mod $module {
            use std::{fmt::Debug, panic::UnwindSafe};

            use library::{
                Aes128, Aes128Dec, Aes128Enc, Aes192, Aes192Dec, Aes192Enc, Aes256, Aes256Dec,
                Aes256Enc, Block,
                cipher::{
                    AlgorithmName, BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser, KeyInit,
                    KeySizeUser,
                    consts::{U16, U24, U32},
                },
            };
            use $library as library;

            trait Keyed: KeyInit + BlockSizeUser<BlockSize = U16> + AlgorithmName {}
            impl<C: KeyInit + BlockSizeUser<BlockSize = U16> + AlgorithmName> Keyed for C {}

            /// Key length, name and both forms of Debug.
            fn traits<C, Size>() -> [String; 4]
            where
                C: Keyed + KeySizeUser<KeySize = Size>,
                C: Clone + Debug + Drops + Send + Sync + Unpin + UnwindSafe + 'static,
            {
                struct Name<C>(std::marker::PhantomData<C>);
                impl<C: AlgorithmName> std::fmt::Display for Name<C> {
                    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        C::write_alg_name(f)
                    }
                }
                let cipher = keyed::<C>().clone();
                [
                    C::key_size().to_string(),
                    Name::<C>(std::marker::PhantomData).to_string(),
                    format!("{cipher:?}"),
                    format!("{cipher:#?}"),
                ]
            }

            fn keyed<C: KeyInit>() -> C {
                let key: Vec<u8> = (0..C::key_size()).map(|i| (3 * i + 1) as u8).collect();
                C::new_from_slice(&key).expect("a key of the right size")
            }

            fn encrypted(cipher: impl BlockCipherEncrypt<BlockSize = U16>) -> Block {
                let mut block = Block::from([0x3c; 16]);
                cipher.encrypt_block(&mut block);
                block
            }

            fn decrypted(cipher: impl BlockCipherDecrypt<BlockSize = U16>) -> Block {
                let mut block = Block::from([0x3c; 16]);
                cipher.decrypt_block(&mut block);
                block
            }

            #[cfg(feature = "zeroize")]
            use library::cipher::zeroize::ZeroizeOnDrop as Drops;
            #[cfg(not(feature = "zeroize"))]
            trait Drops {}
            #[cfg(not(feature = "zeroize"))]
            impl<C> Drops for C {}

            pub(crate) fn all_traits() -> Vec<[String; 4]> {
                vec![
                    traits::<Aes128, U16>(),
                    traits::<Aes192, U24>(),
                    traits::<Aes256, U32>(),
                    traits::<Aes128Enc, U16>(),
                    traits::<Aes192Enc, U24>(),
                    traits::<Aes256Enc, U32>(),
                    traits::<Aes128Dec, U16>(),
                    traits::<Aes192Dec, U24>(),
                    traits::<Aes256Dec, U32>(),
                ]
            }

            /// One size in every type and by every conversion.
            macro_rules! conversions {
                ($both:ty, $enc:ty, $dec:ty) => {
                    vec![
                        encrypted(keyed::<$both>()),
                        encrypted(keyed::<$enc>()),
                        encrypted(<$both>::from(keyed::<$enc>())),
                        encrypted(<$both>::from(&keyed::<$enc>())),
                        decrypted(keyed::<$both>()),
                        decrypted(keyed::<$dec>()),
                        decrypted(<$both>::from(keyed::<$enc>())),
                        decrypted(<$dec>::from(keyed::<$enc>())),
                        decrypted(<$dec>::from(&keyed::<$enc>())),
                    ]
                };
            }

            pub(crate) fn all_blocks() -> Vec<Vec<Block>> {
                vec![
                    conversions!(Aes128, Aes128Enc, Aes128Dec),
                    conversions!(Aes192, Aes192Enc, Aes192Dec),
                    conversions!(Aes256, Aes256Enc, Aes256Dec),
                ]
            }

            pub(crate) fn sizes() -> Vec<usize> {
                vec![
                    size_of::<Aes128>(),
                    size_of::<Aes192>(),
                    size_of::<Aes256>(),
                    size_of::<Aes128Enc>(),
                    size_of::<Aes192Enc>(),
                    size_of::<Aes256Enc>(),
                    size_of::<Aes128Dec>(),
                    size_of::<Aes192Dec>(),
                    size_of::<Aes256Dec>(),
                ]
            }

            pub(crate) fn is_accelerated() -> bool {
                library::hardware_accelerated()
            }

            #[cfg(feature = "hazmat")]
            pub(crate) fn rounds() -> [Block; 4] {
                use library::hazmat;
                let (key, mut blocks) = (hazmat::Block::from([0x5a; 16]), [Block::default(); 4]);
                hazmat::cipher_round(&mut blocks[0], &key);
                hazmat::equiv_inv_cipher_round(&mut blocks[1], &key);
                blocks[2] = key;
                hazmat::mix_columns(&mut blocks[2]);
                hazmat::inv_mix_columns(&mut blocks[3]);
                let (mut eight, keys) = (hazmat::Block8::default(), hazmat::Block8::default());
                hazmat::cipher_round_par(&mut eight, &keys);
                hazmat::equiv_inv_cipher_round_par(&mut eight, &keys);
                blocks
            }
        }
    };
}
interface!(of_theirs, aes);
interface!(of_ours, lanecrypt_aes);

#[test]
fn names_debug_and_key_lengths_are_theirs() {
    assert_eq!(of_ours::all_traits(), of_theirs::all_traits());
}

#[test]
fn every_type_and_conversion_computes_the_same() {
    assert_eq!(of_ours::all_blocks(), of_theirs::all_blocks());
}

#[test]
fn acceleration_is_reported_alike() {
    assert_eq!(of_ours::is_accelerated(), of_theirs::is_accelerated());
}

#[cfg(feature = "hazmat")]
#[test]
fn hazmat_is_theirs() {
    assert_eq!(of_ours::rounds(), of_theirs::rounds());
}

/// Ours say in a tag which implementation they are, where theirs ask the CPU again; the tag fills up
/// the alignment of the hardware's round keys.
#[test]
fn sizes_are_theirs_and_a_tag() {
    let tag = align_of::<aes::Aes128>();
    let allowed: Vec<usize> = of_theirs::sizes().into_iter().map(|size| size + tag).collect();
    assert_eq!(of_ours::sizes(), allowed);
}
