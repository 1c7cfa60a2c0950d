//! CMAC (SP 800-38B) of many messages under one key, which run side by side.

use core::{array, fmt};

use ::cipher::{
    AlgorithmName, Array, Block, BlockSizeUser, Key, KeyInit, KeySizeUser, typenum::Unsigned,
};
use lanecrypt_core::{Direction, Error, MessagesError, Secret, SerialMode, modes::AbsorbedMessage};

use crate::{BlockEngine, cleared};

pub use ::cipher;

/// CMAC with cipher `C`, whose blocks have 8 or 16 bytes.
///
/// The tags are those of the crate `cmac`, which takes one message at a time and waits for each block. Here blocks of
/// different messages run at the same time.
///
/// ```
/// use lanecrypt_aes::Aes128;
/// use lanecrypt_modes::cmac::{BatchCmac, cipher::KeyInit};
///
/// let records: [&[u8]; 3] = [b"", b"a record", b"a longer record, of more than a block"];
/// let mut tags = [[0; 16].into(); 3];
/// BatchCmac::<Aes128>::new(&[7; 16].into()).tags(&records, &mut tags)?;
/// # Ok::<(), lanecrypt_core::MessagesError>(())
/// ```
///
/// Compare tags in constant time, for instance by the crate `subtle`.
#[derive(Clone)]
pub struct BatchCmac<C: BlockSizeUser> {
    engine: C,
    /// K1 and K2 of SP 800-38B, 6.1: what is added to a last block that is whole, and to one that was padded.
    whole: Secret<Block<C>>,
    padded: Secret<Block<C>>,
}

impl<C: BlockEngine> BatchCmac<C> {
    /// The constant `R_b` of SP 800-38B, 5.3: its last byte, and the others are zero.
    const REDUCTION: u8 = match C::BlockSize::USIZE {
        8 => 0x1b,
        16 => 0x87,
        _ => panic!("CMAC is defined for blocks of 8 and of 16 bytes"),
    };

    /// With an engine that has its key.
    ///
    /// # Errors
    /// The engine's own.
    pub fn of(engine: C) -> Result<Self, Error> {
        cleared(|| Self::with_subkeys(engine))
    }

    /// Makes the subkeys, and leaves them on the stack too: callers run it on one that is cleared.
    fn with_subkeys(engine: C) -> Result<Self, Error> {
        let mut zeros = Secret::new(Block::<C>::default());
        engine.ecb(Direction::Encrypt, zeros.as_mut_slice().into())?;
        let whole = Secret::new(doubled(&zeros, Self::REDUCTION));
        let padded = Secret::new(doubled(&whole, Self::REDUCTION));
        Ok(Self { engine, whole, padded })
    }

    /// Computes the tag of each message, of any length. Shorter tags are the first bytes of these.
    ///
    /// # Errors
    /// [`MessagesError::TagCount`] where there are not as many tags as messages; nothing is written then.
    /// [`MessagesError::Engine`]: the tags are unspecified then; CPU engines do not fail.
    pub fn tags(&self, messages: &[&[u8]], tags: &mut [Block<C>]) -> Result<(), MessagesError> {
        if messages.len() != tags.len() {
            return Err(MessagesError::TagCount { messages: messages.len(), tags: tags.len() });
        }
        tags.fill(Array::default());
        for (messages, tags) in messages.chunks(AT_ONCE).zip(tags.chunks_mut(AT_ONCE)) {
            self.absorb(messages, tags)?;
        }
        for (message, tag) in messages.iter().zip(&mut *tags) {
            self.add_last(&message[before_last::<C>(message.len())..], tag);
        }
        Ok(self.engine.ecb(Direction::Encrypt, Array::slice_as_flattened_mut(tags).into())?)
    }

    /// Runs all blocks of messages but the last ones.
    fn absorb(&self, messages: &[&[u8]], tags: &mut [Block<C>]) -> Result<(), MessagesError> {
        let mut absorbed: [AbsorbedMessage<'_>; AT_ONCE] =
            array::from_fn(|_| AbsorbedMessage { register: &mut [], data: &[] });
        for (absorbed, (message, tag)) in absorbed.iter_mut().zip(messages.iter().zip(tags)) {
            let data = &message[..before_last::<C>(message.len())];
            *absorbed = AbsorbedMessage { register: tag, data };
        }
        SerialMode::Cbc.run_messages(&self.engine, &mut absorbed[..messages.len()])
    }

    /// Adds the last block of a message, or the part of one that there is, and a subkey (SP 800-38B, 6.2, steps 1
    /// and 4).
    fn add_last(&self, last: &[u8], tag: &mut Block<C>) {
        add(tag, last);
        match tag.get_mut(last.len()) {
            None => add(tag, &self.whole),
            Some(byte) => {
                *byte ^= 0x80;
                add(tag, &self.padded);
            }
        }
    }
}

/// Messages that are given to the engine at once: as many as fill most batches, and the stack has room for.
const AT_ONCE: usize = 128;

/// Bytes of a message before its last block, which may be a part or wanting.
fn before_last<C: BlockSizeUser>(length: usize) -> usize {
    let block = C::BlockSize::USIZE;
    length.saturating_sub(1) / block * block
}

fn add(block: &mut [u8], bytes: &[u8]) {
    block.iter_mut().zip(bytes).for_each(|(byte, other)| *byte ^= other);
}

/// A block times x, its first byte being the most significant. Constant-time.
fn doubled<N: ::cipher::array::ArraySize>(block: &Array<u8, N>, reduction: u8) -> Array<u8, N> {
    let (mut product, mut carry) = (block.clone(), 0);
    for byte in product.iter_mut().rev() {
        (*byte, carry) = (*byte << 1 | carry, *byte >> 7);
    }
    if let Some(last) = product.last_mut() {
        *last ^= carry.wrapping_neg() & reduction;
    }
    product
}

impl<C: BlockSizeUser> BlockSizeUser for BatchCmac<C> {
    type BlockSize = C::BlockSize;
}

impl<C: BlockSizeUser + KeySizeUser> KeySizeUser for BatchCmac<C> {
    type KeySize = C::KeySize;
}

/// # Panics
/// Where the engine fails; CPU engines do not.
impl<C: BlockEngine + KeyInit> KeyInit for BatchCmac<C> {
    fn new(key: &Key<Self>) -> Self {
        cleared(|| match Self::with_subkeys(C::new(key)) {
            Ok(cmac) => cmac,
            Err(error) => panic!("CMAC: {error}"),
        })
    }
}

impl<C: BlockSizeUser + AlgorithmName> AlgorithmName for BatchCmac<C> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BatchCmac<")?;
        C::write_alg_name(f)?;
        f.write_str(">")
    }
}

impl<C: BlockSizeUser> fmt::Debug for BatchCmac<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchCmac").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<C: BlockSizeUser + zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for BatchCmac<C> {}

#[cfg(test)]
mod tests {
    use cipher::consts::{U8, U16};
    use lanecrypt_reference::gf128::{MODULUS, multiply};

    use super::*;

    #[test]
    fn doubling_of_the_basis() {
        for i in 0..128 {
            let block = Array::<u8, U16>((1_u128 << i).to_be_bytes());
            let expected = multiply(1 << i, 1 << 1, MODULUS);
            assert_eq!(doubled(&block, 0x87).0, expected.to_be_bytes(), "bit {i}");
        }
        for i in 0..64 {
            // x^64 is x^4 + x^3 + x + 1 (SP 800-38B, 5.3).
            let expected = if i == 63 { 0x1b } else { 1_u64 << (i + 1) };
            let block = Array::<u8, U8>((1_u64 << i).to_be_bytes());
            assert_eq!(doubled(&block, 0x1b).0, expected.to_be_bytes(), "bit {i} of 64");
        }
    }
}
