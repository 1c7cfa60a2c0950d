//! Every public name and trait of the `camellia` crate, used in the same text on theirs and on ours: what
//! is missing does not compile, and what differs is seen.

#[path = "../../core/tests/drop_in/mod.rs"]
mod drop_in;

/// Uses the whole interface of `$library`; the results are to be compared.
macro_rules! interface {
    ($module:ident, $library:ident $(, $clears:path)?) => {
        mod $module {
            use $library::{
                Camellia, Camellia128, Camellia192, Camellia256,
                cipher::{
                    BlockCipherDecBackend, BlockCipherDecrypt, BlockCipherEncBackend,
                    BlockCipherEncrypt, KeySizeUser, ParBlocksSizeUser, consts,
                },
            };

            use crate::drop_in::{Common, as_backend, decrypted, encrypted, keyed};

            /// Texts, and blocks by every trait.
            fn shown<C, Size>() -> (Vec<String>, Vec<Vec<u8>>)
            where
                C: Common + KeySizeUser<KeySize = Size> $(+ $clears)? + 'static,
                C: BlockCipherEncrypt + BlockCipherDecrypt,
                C: ParBlocksSizeUser + BlockCipherEncBackend + BlockCipherDecBackend,
            {
                let cipher = keyed::<C>();
                let mut blocks = as_backend(&cipher).to_vec();
                blocks.extend([encrypted(&cipher), decrypted(&cipher)]);
                (crate::drop_in::texts::<C>(), blocks)
            }

            pub(crate) fn all() -> Vec<(Vec<String>, Vec<Vec<u8>>)> {
                vec![
                    shown::<Camellia128, consts::U16>(),
                    shown::<Camellia192, consts::U24>(),
                    shown::<Camellia256, consts::U32>(),
                    shown::<Camellia<consts::U16, 26>, consts::U16>(),
                    shown::<Camellia<consts::U24, 34>, consts::U24>(),
                    shown::<Camellia<consts::U32, 34>, consts::U32>(),
                ]
            }

            pub(crate) const SIZES: [usize; 3] = [
                size_of::<Camellia128>(),
                size_of::<Camellia192>(),
                size_of::<Camellia256>(),
            ];
        }
    };
}
interface!(theirs, camellia);
interface!(ours, lanecrypt_camellia, crate::drop_in::Clears);

#[test]
fn types_show_and_compute_the_same() {
    assert_eq!(ours::all(), theirs::all());
}

#[test]
fn sizes_are_theirs() {
    assert_eq!(ours::SIZES, theirs::SIZES);
}
