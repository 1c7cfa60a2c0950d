//! Known answers, which a program runs before it relies on a cipher: [`of`] a backend, or [`once`].
//!
//! The answers are lines of the project's vectors: published ones, or those of another implementation. Both directions of
//! every mode are run that has some; CFB and OFB follow from answers of ECB by their definition. It is what FIPS 140-3
//! calls a cryptographic algorithm self-test, and no validation.

#[rustfmt::skip]
mod answers;

use std::{error, fmt, iter, sync::OnceLock};

use lanecrypt_core::{
    Direction, Engine, Error, Mode,
    modes::{cbc_decrypt, cbc_encrypt, cfb_decrypt, cfb_encrypt, ofb, xts},
};
use lanecrypt_modes::{Ccm, Gcm};

use crate::{
    CIPHERS,
    registry::{Backend, CipherDescription},
};

/// A message whose ciphertext is known.
#[derive(Clone, Copy)]
pub struct KnownAnswer {
    /// The mode.
    pub mode: Mode,
    /// The key; in XTS the data key, and then the tweak key.
    pub key: &'static [u8],
    /// The IV, first counter block, tweak or nonce; empty in ECB.
    pub iv: &'static [u8],
    /// What is authenticated beside the message; empty in modes that do not authenticate.
    pub aad: &'static [u8],
    /// The message.
    pub plaintext: &'static [u8],
    /// As many bytes of ciphertext.
    pub ciphertext: &'static [u8],
    /// The tag; empty in modes that do not authenticate.
    pub tag: &'static [u8],
}

/// The mode and the number of bits of the key: the rest says nothing to a person.
impl fmt::Debug for KnownAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = 8 * self.key.len();
        f.debug_struct("KnownAnswer")
            .field("mode", &self.mode)
            .field("key_bits", &bits)
            .finish_non_exhaustive()
    }
}

/// A known answer that a backend did not give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfTestError {
    /// The cipher.
    pub cipher: &'static str,
    /// The backend's id.
    pub backend: &'static str,
    /// The mode.
    pub mode: Mode,
    /// The direction.
    pub direction: Direction,
    /// Bytes of the key.
    pub key_bytes: usize,
    /// What the backend said; `None` where it gave another answer.
    pub said: Option<String>,
}

impl fmt::Display for SelfTestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cipher, backend, mode, direction, key_bytes, said } = self;
        write!(
            f,
            "self-test of {cipher}/{backend}: {direction} in {mode} under {} bits: ",
            8 * key_bytes
        )?;
        match said {
            Some(said) => f.write_str(said),
            None => f.write_str("the answer is not the known one"),
        }
    }
}

impl error::Error for SelfTestError {}

/// Makes an engine of a key.
pub type MakeEngine<'a> = dyn Fn(&[u8]) -> Result<Box<dyn Engine>, Error> + 'a;

/// The known answers of a cipher: of every key length and mode, one at least.
pub fn known_answers(
    cipher: &CipherDescription,
) -> impl Iterator<Item = &'static KnownAnswer> + use<> {
    let named = answers::ANSWERS.iter().find(|(name, _)| *name == cipher.name);
    named.into_iter().flat_map(|(_, answers)| *answers)
}

/// Runs the known answers of a cipher on one of its backends, each in both directions, and returns how many there are.
///
/// # Errors
/// [`SelfTestError`] of the first answer that is wrong. A backend that cannot run here is one, too: ask
/// [`available`](Backend::available) first.
pub fn of(cipher: &CipherDescription, backend: &Backend) -> Result<usize, SelfTestError> {
    by(cipher, backend.id, &backend.create)
}

/// As [`of`], by engines that `create` makes of keys: of a backend on a device that is not the first.
///
/// # Errors
/// As [`of`].
pub fn by(
    cipher: &CipherDescription,
    backend: &'static str,
    create: &MakeEngine<'_>,
) -> Result<usize, SelfTestError> {
    let mut count = 0;
    for answer in known_answers(cipher) {
        for direction in Direction::BOTH {
            let wrong = |said| SelfTestError {
                cipher: cipher.name,
                backend,
                mode: answer.mode,
                direction,
                key_bytes: answer.key.len(),
                said,
            };
            match answer.is_given(create, direction) {
                Ok(true) => {}
                Ok(false) => return Err(wrong(None)),
                Err(error) => return Err(wrong(Some(error.to_string()))),
            }
        }
        count += 1;
    }
    Ok(count)
}

/// Runs the known answers of a cipher on the backend that serves users (`default`), the first time that it is asked
/// for it, and remembers the result: some microseconds, and then one load.
///
/// # Errors
/// [`SelfTestError`], the same for every later call.
pub fn once(cipher: &'static CipherDescription) -> Result<(), SelfTestError> {
    static RESULTS: [OnceLock<Result<(), SelfTestError>>; CIPHERS.len()] =
        [const { OnceLock::new() }; CIPHERS.len()];
    let run = || cipher.backend("default").map_or(Ok(()), |backend| of(cipher, backend).map(drop));
    let mut known = iter::zip(CIPHERS, &RESULTS);
    match known.find(|(known, _)| known.name == cipher.name) {
        Some((_, result)) => result.get_or_init(run).clone(),
        None => run(),
    }
}

impl KnownAnswer {
    /// Whether these engines give the answer, and the tag with it.
    fn is_given(&self, create: &MakeEngine<'_>, direction: Direction) -> Result<bool, Error> {
        let (input, expected) = match direction {
            Direction::Encrypt => (self.plaintext, self.ciphertext),
            Direction::Decrypt => (self.ciphertext, self.plaintext),
        };
        let mut data = input.to_vec();
        match self.run(create, direction, &mut data) {
            Err(Error::NotAuthentic) => Ok(false),
            result => result.map(|()| data == expected),
        }
    }

    fn run(
        &self,
        create: &MakeEngine<'_>,
        direction: Direction,
        data: &mut [u8],
    ) -> Result<(), Error> {
        use Direction::{Decrypt, Encrypt};
        let Self { key, iv, .. } = *self;
        if self.mode == Mode::Xts {
            let (data_key, tweak_key) = key.split_at(key.len() / 2);
            let engines = (create(data_key)?, create(tweak_key)?);
            return xts(&*engines.0, &*engines.1, iv, direction, data.into());
        }
        let engine = &*create(key)?;
        match (self.mode, direction) {
            (Mode::Ctr, _) => engine.ctr(iv, data.into()),
            (Mode::Cbc, Encrypt) => cbc_encrypt(engine, iv, data.into()),
            (Mode::Cbc, Decrypt) => cbc_decrypt(engine, iv, data.into()),
            (Mode::Cfb, Encrypt) => cfb_encrypt(engine, iv, data.into()),
            (Mode::Cfb, Decrypt) => cfb_decrypt(engine, iv, data.into()),
            (Mode::Ofb, _) => ofb(engine, iv, data.into()),
            (Mode::Gcm | Mode::Ccm, _) => self.run_sealed(engine, direction, data),
            _ => engine.ecb(direction, data.into()),
        }
    }

    fn run_sealed(
        &self,
        engine: &dyn Engine,
        direction: Direction,
        data: &mut [u8],
    ) -> Result<(), Error> {
        let Self { iv, aad, tag, .. } = *self;
        let mut made = vec![0; tag.len()];
        match (self.mode, direction) {
            (Mode::Ccm, Direction::Decrypt) => {
                return Ccm::<&dyn Engine>::of(engine)?.decrypt(iv, aad, data.into(), tag);
            }
            (Mode::Ccm, Direction::Encrypt) => {
                Ccm::<&dyn Engine>::of(engine)?.encrypt(iv, aad, data.into(), &mut made)?;
            }
            (_, Direction::Decrypt) => {
                return Gcm::<&dyn Engine>::of(engine)?.decrypt(iv, aad, data.into(), tag);
            }
            (_, Direction::Encrypt) => {
                Gcm::<&dyn Engine>::of(engine)?.encrypt(iv, aad, data.into(), &mut made)?;
            }
        }
        if made == tag { Ok(()) } else { Err(Error::NotAuthentic) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_remembered() {
        let right = &lanecrypt_seed::SEED;
        let [reference, default] =
            ["reference", "default"].map(|id| *right.backend(id).expect("every cipher has one"));
        let create = |key: &[u8]| (lanecrypt_aria::ARIA.backends[0].create)(key);
        let backends: &'static [Backend] = vec![reference, Backend { create, ..default }].leak();
        let CipherDescription { name, standard, block_bytes, key_bytes, .. } = *right;
        let kernels = None;
        let wrong = CipherDescription { name, standard, block_bytes, key_bytes, backends, kernels };
        let error = once(Box::leak(Box::new(wrong))).expect_err("it is another cipher");
        assert_eq!((error.cipher, error.backend), ("seed", "default"));
        assert_eq!(once(right), Err(error));
        assert_eq!(once(&lanecrypt_aria::ARIA), Ok(()));
    }

    #[test]
    fn engines_of_others_are_tested_by_their_name() {
        let cipher = &lanecrypt_seed::SEED;
        let default = cipher.backend("default").expect("every cipher has one");
        let by_engines = by(cipher, "mine", &|key| cipher.default_engine(key));
        assert_eq!(by_engines, of(cipher, default));
        let aria = |key: &[u8]| lanecrypt_aria::ARIA.default_engine(key);
        let error = by(cipher, "another", &aria).expect_err("it is another cipher");
        assert_eq!((error.cipher, error.backend), ("seed", "another"));
    }

    #[test]
    fn answers_show_no_key() {
        let known = known_answers(&lanecrypt_seed::SEED).next().expect("every cipher has some");
        let text = format!("{known:?}");
        assert_eq!(text, format!("KnownAnswer {{ mode: {:?}, key_bits: 128, .. }}", known.mode));
    }
}
