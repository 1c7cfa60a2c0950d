//! Every public name and trait of the `aes` crate, used in the same text on theirs and on ours: what
//! is missing does not compile, and what differs is seen.

#[path = "../../core/tests/drop_in/mod.rs"]
mod drop_in;

/// Uses the whole interface of `$library`; the results are to be compared.
macro_rules! interface {
    ($module:ident, $library:ident) => {
        mod $module {
            use $library::{
                Aes128, Aes128Dec, Aes128Enc, Aes192, Aes192Dec, Aes192Enc, Aes256, Aes256Dec,
                Aes256Enc, Block,
                cipher::{KeySizeUser, consts},
            };

            use crate::drop_in::{Clears, Common, decrypted, encrypted, keyed};

            fn texts<C, Size>() -> Vec<String>
            where
                C: Common + Clears + KeySizeUser<KeySize = Size> + 'static,
            {
                crate::drop_in::texts::<C>()
            }

            pub(crate) fn all_texts() -> Vec<Vec<String>> {
                vec![
                    texts::<Aes128, consts::U16>(),
                    texts::<Aes192, consts::U24>(),
                    texts::<Aes256, consts::U32>(),
                    texts::<Aes128Enc, consts::U16>(),
                    texts::<Aes192Enc, consts::U24>(),
                    texts::<Aes256Enc, consts::U32>(),
                    texts::<Aes128Dec, consts::U16>(),
                    texts::<Aes192Dec, consts::U24>(),
                    texts::<Aes256Dec, consts::U32>(),
                ]
            }

            /// One size in every type and by every conversion.
            macro_rules! conversions {
                ($both:ty, $enc:ty, $dec:ty) => {
                    vec![
                        encrypted(&keyed::<$both>()),
                        encrypted(&keyed::<$enc>()),
                        encrypted(&<$both>::from(keyed::<$enc>())),
                        encrypted(&<$both>::from(&keyed::<$enc>())),
                        decrypted(&keyed::<$both>()),
                        decrypted(&keyed::<$dec>()),
                        decrypted(&<$both>::from(keyed::<$enc>())),
                        decrypted(&<$dec>::from(keyed::<$enc>())),
                        decrypted(&<$dec>::from(&keyed::<$enc>())),
                    ]
                };
            }

            pub(crate) fn all_blocks() -> Vec<Vec<Vec<u8>>> {
                vec![
                    conversions!(Aes128, Aes128Enc, Aes128Dec),
                    conversions!(Aes192, Aes192Enc, Aes192Dec),
                    conversions!(Aes256, Aes256Enc, Aes256Dec),
                    vec![Block::from([7; 16]).to_vec()],
                ]
            }

            pub(crate) const SIZES: [usize; 9] = [
                size_of::<Aes128>(),
                size_of::<Aes192>(),
                size_of::<Aes256>(),
                size_of::<Aes128Enc>(),
                size_of::<Aes192Enc>(),
                size_of::<Aes256Enc>(),
                size_of::<Aes128Dec>(),
                size_of::<Aes192Dec>(),
                size_of::<Aes256Dec>(),
            ];

            pub(crate) fn is_accelerated() -> bool {
                $library::hardware_accelerated()
            }

            #[cfg(feature = "hazmat")]
            pub(crate) fn rounds() -> [Block; 4] {
                use $library::hazmat;
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
interface!(theirs, aes);
interface!(ours, lanecrypt_aes);

#[test]
fn names_debug_and_lengths_are_theirs() {
    assert_eq!(ours::all_texts(), theirs::all_texts());
}

#[test]
fn every_type_and_conversion_computes_the_same() {
    assert_eq!(ours::all_blocks(), theirs::all_blocks());
}

#[test]
fn acceleration_is_reported_alike() {
    // Their types use AES instructions on x86 of 32 bits as well, where ours run on words.
    let is_used = theirs::is_accelerated() && !cfg!(target_arch = "x86");
    assert_eq!(ours::is_accelerated(), is_used);
}

#[cfg(feature = "hazmat")]
#[test]
fn hazmat_is_theirs() {
    assert_eq!(ours::rounds(), theirs::rounds());
}

/// Without AES instructions their types of both directions have the keys of one; ours have both everywhere.
#[test]
fn sizes_are_theirs() {
    let mut expected = theirs::SIZES;
    if !cfg!(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")) {
        expected[..3].iter_mut().for_each(|size| *size *= 2);
    }
    assert_eq!(ours::SIZES, expected);
}
