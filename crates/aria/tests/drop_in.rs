//! Every public name and trait of the `aria` crate, used in the same text on theirs and on ours: what
//! is missing does not compile, and what differs is seen.

#[path = "../../core/tests/drop_in/mod.rs"]
mod drop_in;

/// Uses the whole interface of `$library`; the results are to be compared.
macro_rules! interface {
    ($module:ident, $library:ident $(, $clears:path)?) => {
        mod $module {
            use $library::{
                Aria, Aria128, Aria192, Aria256,
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
                    shown::<Aria128, consts::U16>(),
                    shown::<Aria192, consts::U24>(),
                    shown::<Aria256, consts::U32>(),
                    shown::<Aria<13>, consts::U16>(),
                    shown::<Aria<15>, consts::U24>(),
                    shown::<Aria<17>, consts::U32>(),
                ]
            }

            pub(crate) const SIZES: [usize; 3] = [
                size_of::<Aria128>(),
                size_of::<Aria192>(),
                size_of::<Aria256>(),
            ];
        }
    };
}
interface!(theirs, aria);
interface!(ours, lanecrypt_aria, crate::drop_in::Clears);

#[test]
fn types_show_and_compute_the_same() {
    assert_eq!(ours::all(), theirs::all());
}

#[test]
fn sizes_are_theirs() {
    assert_eq!(ours::SIZES, theirs::SIZES);
}
