//! `CTR_DRBG` (SP 800-90A Rev. 1, 10.2.1): random bytes as the key stream of a block cipher, from entropy of the caller.

mod seeded;

use core::{fmt, mem};

use ::cipher::{AlgorithmName, Array, Block, Key, KeyInit, KeySizeUser, typenum::Unsigned};
use lanecrypt_core::{Direction, Error, Secret};

use crate::{BlockEngine, cleared};

pub use ::cipher;
pub use rand_core;
pub use seeded::{Seeded, SeededError};

/// The longest answer to one request, in bytes (SP 800-90A, table 3: 2^19 bits).
pub const MAX_REQUEST_BYTES: usize = 1 << 16;
/// Requests between two seeds (SP 800-90A, table 3).
pub const MAX_REQUESTS: u64 = 1 << 48;

/// Bytes of the longest seed: a key of 32 bytes and a block of 16.
const MAX_SEED_BYTES: usize = 48;

type Seed = Secret<[u8; MAX_SEED_BYTES]>;

/// The generator with cipher `C`, whose blocks have 16 bytes.
///
/// Its security strength is the length of the key. An answer is the key stream of one call of the engine, so that all
/// of its lanes are busy; after each answer the key is another one, and what was given out before cannot be computed from
/// what is in memory. Where answers may depend on entropy of that moment alone (prediction resistance, SP 800-90A, 8.8),
/// call [`reseed`](Self::reseed) before each [`generate`](Self::generate).
///
/// It is constant-time as the cipher is, but for the counter V, which the standard keeps secret: where a carry passes
/// from one word of it to the next, an answer takes some instructions more.
///
/// It is as secret as its entropy. Copies of it, as a fork of the process makes them, give the same bytes.
///
/// ```
/// use lanecrypt_aes::Aes256;
/// use lanecrypt_modes::ctr_drbg::CtrDrbg;
///
/// # let (entropy, nonce) = ([1; 32], [2; 16]); // of the system, elsewhere
/// let mut random = CtrDrbg::<Aes256>::new(&entropy, &nonce, b"the protocol's name")?;
/// let mut bytes = [0; 1000];
/// random.generate(&mut bytes, b"")?;
/// assert_ne!(bytes[..500], bytes[500..]);
/// # Ok::<(), lanecrypt_modes::ctr_drbg::DrbgError>(())
/// ```
pub struct CtrDrbg<C: BlockEngine> {
    engine: C,
    /// V of the standard: the counter block before the next one.
    counter: Secret<Block<C>>,
    /// Answers since the last seed.
    requests: u64,
    /// Whether seeds are made by the derivation function.
    derives: bool,
}

/// Why a generator does not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DrbgError {
    /// Too little entropy, or without derivation function another length than the seed's.
    #[error("{given} bytes of entropy; expected {expected}")]
    Entropy {
        /// Bytes given.
        given: usize,
        /// What was expected.
        expected: Expected,
    },
    /// A nonce shorter than half of the key.
    #[error("a nonce of {given} bytes; expected {expected}")]
    Nonce {
        /// Bytes given.
        given: usize,
        /// What was expected.
        expected: Expected,
    },
    /// Without derivation function, a personalization string or additional input that is longer than the seed.
    #[error("{given} bytes of personalization or additional input; expected at most {most}")]
    Input {
        /// Bytes given.
        given: usize,
        /// The most that are taken.
        most: usize,
    },
    /// A request for more than [`MAX_REQUEST_BYTES`].
    #[error("a request for {given} bytes; expected at most {MAX_REQUEST_BYTES}")]
    Request {
        /// Bytes asked for.
        given: usize,
    },
    /// [`MAX_REQUESTS`] were answered since the last seed.
    #[error("{MAX_REQUESTS} requests were answered since the last seed: reseed first")]
    SeedIsOld,
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] Error),
}

/// A length that was expected, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This many.
    Exactly(usize),
    /// This many or more.
    AtLeast(usize),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(bytes) => write!(f, "{bytes}"),
            Self::AtLeast(bytes) => write!(f, "at least {bytes}"),
        }
    }
}

impl<C: BlockEngine + KeyInit> CtrDrbg<C> {
    const KEY_BYTES: usize = C::KeySize::USIZE;
    const BLOCK_BYTES: usize = match C::BlockSize::USIZE {
        16 => 16,
        _ => panic!("CTR_DRBG here takes ciphers with blocks of 16 bytes"),
    };
    /// Bytes of a seed, `seedlen` of the standard: a key and a counter block.
    const SEED_BYTES: usize = Self::KEY_BYTES + Self::BLOCK_BYTES;

    /// With the derivation function (10.2.1.3.2): entropy of any quality per byte, as long as the bytes hold as many bits
    /// of it as the key has.
    ///
    /// # Errors
    /// [`DrbgError::Entropy`] and [`DrbgError::Nonce`]: entropy as long as the key and a nonce half as long are the
    /// least. [`DrbgError::Engine`].
    pub fn new(entropy: &[u8], nonce: &[u8], personalization: &[u8]) -> Result<Self, DrbgError> {
        at_least(Self::KEY_BYTES, entropy.len())
            .map_err(|(given, expected)| DrbgError::Entropy { given, expected })?;
        at_least(Self::KEY_BYTES / 2, nonce.len())
            .map_err(|(given, expected)| DrbgError::Nonce { given, expected })?;
        cleared(|| Self::seeded(true, &derived::<C>(&[entropy, nonce, personalization])?))
    }

    /// Without the derivation function (10.2.1.3.1): `entropy` must be as long as key and block together, and every bit of it
    /// random.
    ///
    /// # Errors
    /// [`DrbgError::Entropy`] for another length, [`DrbgError::Input`] for a longer personalization string;
    /// [`DrbgError::Engine`].
    pub fn with_full_entropy(entropy: &[u8], personalization: &[u8]) -> Result<Self, DrbgError> {
        cleared(|| Self::seeded(false, &Self::mixed(entropy, personalization)?))
    }

    /// Instantiation after the seed material is made.
    fn seeded(derives: bool, seed: &Seed) -> Result<Self, DrbgError> {
        let (engine, counter) = (C::new(&Key::<C>::default()), Secret::new(Block::<C>::default()));
        let mut drbg = Self { engine, counter, requests: 0, derives };
        drbg.update(seed)?;
        Ok(drbg)
    }

    /// Takes new entropy, and any additional input (10.2.1.4).
    ///
    /// # Errors
    /// As in making the generator; it is as before then.
    pub fn reseed(&mut self, entropy: &[u8], additional: &[u8]) -> Result<(), DrbgError> {
        cleared(|| {
            let seed = if self.derives {
                at_least(Self::KEY_BYTES, entropy.len())
                    .map_err(|(given, expected)| DrbgError::Entropy { given, expected })?;
                derived::<C>(&[entropy, additional])?
            } else {
                Self::mixed(entropy, additional)?
            };
            self.update(&seed)?;
            self.requests = 0;
            Ok(())
        })
    }

    /// Fills `output` with random bytes (10.2.1.5), at most [`MAX_REQUEST_BYTES`]; `additional` input may be empty.
    ///
    /// # Errors
    /// [`DrbgError::Request`], [`DrbgError::SeedIsOld`] and [`DrbgError::Input`], before anything is written;
    /// [`DrbgError::Engine`]: `output` is zeros then.
    pub fn generate(&mut self, output: &mut [u8], additional: &[u8]) -> Result<(), DrbgError> {
        if output.len() > MAX_REQUEST_BYTES {
            return Err(DrbgError::Request { given: output.len() });
        }
        if self.requests >= MAX_REQUESTS {
            return Err(DrbgError::SeedIsOld);
        }
        let answered = cleared(|| {
            let seed = self.additional_seed(additional)?;
            output.fill(0);
            self.answer(output, &seed, !additional.is_empty())
        });
        if let Err(DrbgError::Engine(_)) = answered {
            output.fill(0);
        }
        answered
    }

    fn answer(&mut self, output: &mut [u8], seed: &Seed, has_input: bool) -> Result<(), DrbgError> {
        if has_input {
            self.update(seed)?;
        }
        self.engine.ctr(&after(&self.counter, 1), (&mut *output).into())?;
        *self.counter = after(&self.counter, output.len().div_ceil(Self::BLOCK_BYTES) as u128);
        self.update(seed)?;
        self.requests += 1;
        Ok(())
    }

    /// What additional input becomes before it is mixed in; zeros where there is none.
    fn additional_seed(&self, additional: &[u8]) -> Result<Seed, DrbgError> {
        if additional.is_empty() {
            return Ok(Seed::new([0; MAX_SEED_BYTES]));
        }
        if self.derives {
            return derived::<C>(&[additional]);
        }
        let mut seed = Seed::new([0; MAX_SEED_BYTES]);
        Self::short_input(additional)?;
        seed[..additional.len()].copy_from_slice(additional);
        Ok(seed)
    }

    /// Entropy of a seed's length, with the input added that may be shorter.
    fn mixed(entropy: &[u8], input: &[u8]) -> Result<Seed, DrbgError> {
        if entropy.len() != Self::SEED_BYTES {
            let expected = Expected::Exactly(Self::SEED_BYTES);
            return Err(DrbgError::Entropy { given: entropy.len(), expected });
        }
        Self::short_input(input)?;
        let mut seed = Seed::new([0; MAX_SEED_BYTES]);
        seed[..entropy.len()].copy_from_slice(entropy);
        seed.iter_mut().zip(input).for_each(|(byte, other)| *byte ^= other);
        Ok(seed)
    }

    fn short_input(input: &[u8]) -> Result<(), DrbgError> {
        let (given, most) = (input.len(), Self::SEED_BYTES);
        if given > most { Err(DrbgError::Input { given, most }) } else { Ok(()) }
    }

    /// `CTR_DRBG_Update` (10.2.1.2): the next key and counter are key stream, with the seed added.
    fn update(&mut self, seed: &Seed) -> Result<(), DrbgError> {
        let mut next = Seed::new(**seed);
        let next = &mut next[..Self::SEED_BYTES];
        self.engine.ctr(&after(&self.counter, 1), (&mut *next).into())?;
        let (key, counter) = next.split_at(Self::KEY_BYTES);
        self.engine = keyed(key);
        self.counter.copy_from_slice(counter);
        Ok(())
    }
}

/// The counter block that lies `steps` after this one, modulo 2^128.
fn after<N: ::cipher::array::ArraySize>(counter: &Array<u8, N>, steps: u128) -> Array<u8, N> {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(counter);
    let mut next = counter.clone();
    next.copy_from_slice(&u128::from_be_bytes(bytes).wrapping_add(steps).to_be_bytes());
    next
}

/// A cipher with a key of its length.
fn keyed<C: KeyInit>(key: &[u8]) -> C {
    match C::new_from_slice(key) {
        Ok(cipher) => cipher,
        Err(_) => unreachable!("a key has the length of a key"),
    }
}

fn at_least(least: usize, given: usize) -> Result<(), (usize, Expected)> {
    if given < least { Err((given, Expected::AtLeast(least))) } else { Ok(()) }
}

/// `Block_Cipher_df` (10.3.2): a seed of all these inputs.
///
/// ```text
/// L (4 bytes) | N (4 bytes) | inputs | 0x80 | zeros to a whole block
/// ```
///
/// A CBC-MAC of that, with the number of the block before it, makes each block of a key and a counter, of which the output
/// is made by encrypting the counter again and again.
fn derived<C: BlockEngine + KeyInit>(inputs: &[&[u8]]) -> Result<Seed, DrbgError> {
    let (key_bytes, block_bytes) = (C::KeySize::USIZE, C::BlockSize::USIZE);
    let seed_bytes = key_bytes + block_bytes;
    let length: usize = inputs.iter().map(|input| input.len()).sum();
    let length = u32::try_from(length)
        .map_err(|_| DrbgError::Input { given: length, most: u32::MAX as usize })?;
    let numbers: [[u8; 4]; 2] = [length.to_be_bytes(), (seed_bytes as u32).to_be_bytes()];

    let mut key = Secret::new(Key::<C>::default());
    (0..).zip(key.iter_mut()).for_each(|(i, byte)| *byte = i);
    let engine = C::new(&key);
    let mut made = Seed::new([0; MAX_SEED_BYTES]);
    for (i, block) in (0_u32..).zip(made[..seed_bytes].chunks_mut(block_bytes)) {
        let mut mac =
            CbcMac { engine: &engine, chain: Secret::new(Block::<C>::default()), used: 0 };
        let mut first = Block::<C>::default();
        first[..4].copy_from_slice(&i.to_be_bytes());
        mac.add(&first)?;
        numbers.iter().try_for_each(|number| mac.add(number))?;
        inputs.iter().try_for_each(|input| mac.add(input))?;
        mac.add(&[0x80])?;
        mac.end()?;
        block.copy_from_slice(&mac.chain[..block.len()]);
    }

    let engine: C = keyed(&made[..key_bytes]);
    let mut block = Secret::new(Block::<C>::default());
    block.copy_from_slice(&made[key_bytes..seed_bytes]);
    for part in made[..seed_bytes].chunks_mut(block_bytes) {
        engine.ecb(Direction::Encrypt, block.as_mut_slice().into())?;
        part.copy_from_slice(&block[..part.len()]);
    }
    Ok(made)
}

/// `BCC` (10.3.3) of bytes that come in parts.
struct CbcMac<'a, C: BlockEngine> {
    engine: &'a C,
    chain: Secret<Block<C>>,
    /// Bytes of the last block that are added and not yet encrypted.
    used: usize,
}

impl<C: BlockEngine> CbcMac<'_, C> {
    fn add(&mut self, bytes: &[u8]) -> Result<(), Error> {
        for byte in bytes {
            self.chain[self.used] ^= byte;
            self.used += 1;
            if self.used == C::BlockSize::USIZE {
                self.end()?;
            }
        }
        Ok(())
    }

    /// Encrypts the last block, with zeros for what it wants; nothing where it is whole.
    fn end(&mut self) -> Result<(), Error> {
        if mem::take(&mut self.used) == 0 {
            return Ok(());
        }
        self.engine.ecb(Direction::Encrypt, self.chain.as_mut_slice().into())
    }
}

impl<C: BlockEngine + AlgorithmName> AlgorithmName for CtrDrbg<C> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CtrDrbg<")?;
        C::write_alg_name(f)?;
        f.write_str(">")
    }
}

impl<C: BlockEngine + KeySizeUser> KeySizeUser for CtrDrbg<C> {
    type KeySize = C::KeySize;
}

impl<C: BlockEngine> fmt::Debug for CtrDrbg<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CtrDrbg").finish_non_exhaustive()
    }
}

#[cfg(feature = "zeroize")]
impl<C: BlockEngine + zeroize::ZeroizeOnDrop> zeroize::ZeroizeOnDrop for CtrDrbg<C> {}
