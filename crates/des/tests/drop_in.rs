//! Every public name and trait of the `des` crate, used in the same text on theirs and on ours: what
//! is missing does not compile, and what differs is seen.

#[path = "../../core/tests/drop_in/mod.rs"]
mod drop_in;

/// Uses the whole interface of `$library`; the results are to be compared.
macro_rules! interface {
    ($module:ident, $library:ident $(, $clears:path)?) => {
        mod $module {
            use $library::{
                Des, TdesEde2, TdesEde3, TdesEee2, TdesEee3, WeakKeyError, weak_key_test,
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
                    shown::<Des, consts::U8>(),
                    shown::<TdesEde2, consts::U16>(),
                    shown::<TdesEde3, consts::U24>(),
                    shown::<TdesEee2, consts::U16>(),
                    shown::<TdesEee3, consts::U24>(),
                ]
            }

            /// The verdicts on a strong and a weak key.
            pub(crate) fn verdicts() -> [Result<(), String>; 2] {
                fn text<E: Copy + Eq + std::error::Error + 'static>(error: E) -> String {
                    format!("{error:?}")
                }
                [[0x13; 8], [1; 8]].map(|key| {
                    let verdict: Result<(), WeakKeyError> = weak_key_test(&key);
                    verdict.map_err(text)
                })
            }

            pub(crate) const SIZES: [usize; 5] = [
                size_of::<Des>(),
                size_of::<TdesEde2>(),
                size_of::<TdesEde3>(),
                size_of::<TdesEee2>(),
                size_of::<TdesEee3>(),
            ];
        }
    };
}
interface!(theirs, des);
interface!(ours, lanecrypt_des, crate::drop_in::Clears);

/// But for the Debug text of `TdesEde3`, which theirs calls `TdesEee3` by mistake.
#[test]
fn types_show_and_compute_the_same() {
    let mut expected = theirs::all();
    for text in &mut expected[2].0[2..] {
        assert_eq!(text, "TdesEee3 { ... }");
        *text = text.replace("TdesEee3", "TdesEde3");
    }
    assert_eq!(ours::all(), expected);
}

#[test]
fn weak_keys_are_theirs() {
    assert_eq!(ours::verdicts(), theirs::verdicts());
}

#[test]
fn sizes_are_theirs() {
    assert_eq!(ours::SIZES, theirs::SIZES);
}
