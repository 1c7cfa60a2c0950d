//! What the drop-in tests of the cipher crates share: a type's traits as RustCrypto's types have
//! them, used generically. The tests call these for theirs and for ours and compare the results.

use std::{
    fmt::{self, Debug, Display},
    marker::PhantomData,
    panic::UnwindSafe,
};

use cipher::{
    AlgorithmName, Block, BlockCipherDecBackend, BlockCipherDecrypt, BlockCipherEncBackend,
    BlockCipherEncrypt, BlockSizeUser, InOutBuf, KeyInit, ParBlocks, ParBlocksSizeUser,
};

/// Clears its keys, if there is the feature that says so.
#[cfg(feature = "zeroize")]
pub(crate) use zeroize::ZeroizeOnDrop as Clears;
#[cfg(not(feature = "zeroize"))]
pub(crate) trait Clears {}
#[cfg(not(feature = "zeroize"))]
impl<C> Clears for C {}

/// What every type is; [`Clears`] beside it.
pub(crate) trait Common:
    KeyInit + BlockSizeUser + AlgorithmName + Clone + Debug + Send + Sync + Unpin + UnwindSafe
{
}
impl<C> Common for C where
    C: KeyInit + BlockSizeUser + AlgorithmName + Clone + Debug + Send + Sync + Unpin + UnwindSafe
{
}

struct Name<C>(PhantomData<C>);

impl<C: AlgorithmName> Display for Name<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        C::write_alg_name(f)
    }
}

/// The type under some key.
pub(crate) fn keyed<C: KeyInit>() -> C {
    let key: Vec<u8> = (0..C::key_size()).map(|i| (3 * i + 1) as u8).collect();
    C::new_from_slice(&key).expect("a key of the right size")
}

/// Lengths of key and block, the name, and both forms of Debug.
pub(crate) fn texts<C: Common + 'static>() -> Vec<String> {
    let cipher = keyed::<C>().clone();
    vec![
        format!("keys of {} bytes, blocks of {}", C::key_size(), C::block_size()),
        Name::<C>(PhantomData).to_string(),
        format!("{cipher:?}"),
        format!("{cipher:#?}"),
    ]
}

/// Block number `number` of those that the tests run: no two are alike.
fn filled<C: BlockSizeUser>(number: usize) -> Block<C> {
    Block::<C>::from_fn(|i| (89 * number + 29 * i + 1) as u8)
}

/// A block encrypted.
pub(crate) fn encrypted<C: BlockCipherEncrypt>(cipher: &C) -> Vec<u8> {
    let mut block = filled::<C>(0);
    cipher.encrypt_block(&mut block);
    block.to_vec()
}

/// A block decrypted.
pub(crate) fn decrypted<C: BlockCipherDecrypt>(cipher: &C) -> Vec<u8> {
    let mut block = filled::<C>(0);
    cipher.decrypt_block(&mut block);
    block.to_vec()
}

/// Every method of the type as a backend: a block encrypted and decrypted, which a batch and a tail of different blocks
/// must agree with.
#[allow(dead_code, reason = "the types of `aes` are no backends")]
pub(crate) fn as_backend<C>(cipher: &C) -> [Vec<u8>; 2]
where
    C: ParBlocksSizeUser + BlockCipherEncBackend + BlockCipherDecBackend,
{
    let one = |number, is_inverse: bool| {
        let mut block = filled::<C>(number);
        if is_inverse {
            cipher.decrypt_block((&mut block).into());
        } else {
            cipher.encrypt_block((&mut block).into());
        }
        block
    };
    for is_inverse in [false, true] {
        let mut batch = ParBlocks::<C>::from_fn(filled::<C>);
        let mut tail = batch.clone();
        let few = tail.len() - 1; // fewer blocks than a batch
        let tail_blocks = InOutBuf::from(&mut tail[..few]);
        if is_inverse {
            cipher.decrypt_par_blocks((&mut batch).into());
            cipher.decrypt_tail_blocks(tail_blocks);
        } else {
            cipher.encrypt_par_blocks((&mut batch).into());
            cipher.encrypt_tail_blocks(tail_blocks);
        }
        for (number, block) in batch.iter().enumerate() {
            assert_eq!(*block, one(number, is_inverse), "block {number} of a batch");
        }
        for (number, block) in tail[..few].iter().enumerate() {
            assert_eq!(*block, one(number, is_inverse), "block {number} of a tail");
        }
    }
    [one(0, false).to_vec(), one(0, true).to_vec()]
}

/// A module that uses types of `$library`, each with its key size, by every trait that a type which
/// is a backend itself has. `[..]` holds a trait that is asked of them beside, or nothing.
#[allow(unused_macros, reason = "the types of `aes` are no backends")]
macro_rules! backend_types {
    ($module:ident, $library:ident, [$($clears:path)?], $($cipher:ty: $size:ident),* $(,)?) => {
        mod $module {
            use $library::{
                cipher::{
                    BlockCipherDecBackend, BlockCipherDecrypt, BlockCipherEncBackend,
                    BlockCipherEncrypt, KeySizeUser, ParBlocksSizeUser, consts,
                },
                *,
            };

            use crate::drop_in::{Common, as_backend, decrypted, encrypted, keyed, texts};

            /// Texts, blocks by every trait, and bytes of the type.
            fn shown<C, Size>() -> (Vec<String>, Vec<Vec<u8>>, usize)
            where
                C: Common + KeySizeUser<KeySize = Size> $(+ $clears)? + 'static,
                C: BlockCipherEncrypt + BlockCipherDecrypt,
                C: ParBlocksSizeUser + BlockCipherEncBackend + BlockCipherDecBackend,
            {
                let cipher = keyed::<C>();
                let mut blocks = as_backend(&cipher).to_vec();
                blocks.extend([encrypted(&cipher), decrypted(&cipher)]);
                (texts::<C>(), blocks, size_of::<C>())
            }

            pub(crate) fn all() -> Vec<(Vec<String>, Vec<Vec<u8>>, usize)> {
                vec![$(shown::<$cipher, consts::$size>()),*]
            }
        }
    };
}
