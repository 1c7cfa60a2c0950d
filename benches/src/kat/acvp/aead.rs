//! Algorithm functional tests of authenticated encryption.

use lanecrypt::{Direction, Error, GcmSiv, Mode, aes, cipher::KeyInit};
use serde_json::{Map, Value};

use super::{
    algorithm::{Context, Kind, direction, exactly, hex},
    error::AcvpError,
    fields::Fields,
};
use crate::kat::keyed::{Beside, Keyed};

/// Bytes of GCM-SIV's tag.
const SIV_TAG: usize = 16;

pub(super) fn answer(
    context: Context<'_>,
    group: Fields<'_>,
    test: Fields<'_>,
) -> Result<Map<String, Value>, AcvpError> {
    let (direction, from, to) = direction(group)?;
    let mut message = Message::read(context, group, test, direction, from)?;
    let done = match direction {
        Direction::Encrypt => message.seal(context),
        Direction::Decrypt => message.open(context),
    };
    match done {
        Ok(()) => Ok(message.results(context.algorithm.kind, direction, to)),
        Err(AcvpError::Engine { error: Error::NotAuthentic, .. }) => {
            Ok(Map::from_iter([("testPassed".to_owned(), Value::Bool(false))]))
        }
        Err(error) => Err(error),
    }
}

/// A test, and then what it gives.
struct Message<'a> {
    test: Fields<'a>,
    key: Vec<u8>,
    iv: Vec<u8>,
    aad: Vec<u8>,
    data: Vec<u8>,
    tag: Vec<u8>,
}

impl<'a> Message<'a> {
    fn read(
        context: Context<'_>,
        group: Fields<'_>,
        test: Fields<'a>,
        direction: Direction,
        from: &'static str,
    ) -> Result<Self, AcvpError> {
        let algorithm = context.algorithm;
        if algorithm.kind == Kind::GcmSiv {
            context.wants_type()?;
        }
        if group.has("ivGen") && group.text("ivGen")? != "external" {
            return Err(group.refused("ivGen", "external: an IV is the caller's"));
        }
        let key = algorithm.key(group, test)?;
        let iv = if group.has("ivLen") {
            exactly(test, "iv", group.bits_as_bytes("ivLen")?)?
        } else {
            test.bytes("iv")?
        };
        let aad = exactly(test, "aad", group.bits_as_bytes("aadLen")?)?;
        let payload = group.bits_as_bytes("payloadLen")?;
        let tag_bytes = match algorithm.kind {
            Kind::GcmSiv => SIV_TAG,
            _ => group.bits_as_bytes("tagLen")?,
        };
        let data_of = |bytes| match algorithm.kind {
            Kind::Gmac if bytes == 0 => Ok(Vec::new()),
            Kind::Gmac => Err(group.refused("payloadLen", "0: GMAC encrypts nothing")),
            _ => exactly(test, from, bytes),
        };
        let (data, tag) = match (direction, is_tag_apart(algorithm.kind)) {
            (Direction::Encrypt, _) => (data_of(payload)?, vec![0; tag_bytes]),
            (Direction::Decrypt, true) => (data_of(payload)?, exactly(test, "tag", tag_bytes)?),
            (Direction::Decrypt, false) => {
                let mut data = data_of(payload + tag_bytes)?;
                let tag = data.split_off(payload);
                (data, tag)
            }
        };
        Ok(Self { test, key, iv, aad, data, tag })
    }

    fn seal(&mut self, context: Context<'_>) -> Result<(), AcvpError> {
        let place = self.test.place;
        let Self { key, iv, aad, data, tag, .. } = self;
        let sealed = if let Some(mode) = context.algorithm.kind.sealed() {
            let beside = Beside { iv, aad, tag: &[] };
            Keyed::new(context.target.backend, mode, key, beside)
                .and_then(|keyed| keyed.seal(data.as_mut_slice().into(), tag))
        } else {
            let nonce = siv_nonce(self.test, iv)?;
            let made = with_siv(key, |siv| siv.encrypt(nonce, aad, data));
            made.map(|made| tag.copy_from_slice(&made))
        };
        sealed.map_err(|error| AcvpError::Engine { place, error })
    }

    fn open(&mut self, context: Context<'_>) -> Result<(), AcvpError> {
        let place = self.test.place;
        let Self { key, iv, aad, data, tag, .. } = self;
        let opened = if let Some(mode) = context.algorithm.kind.sealed() {
            let beside = Beside { iv, aad, tag: &[] };
            Keyed::new(context.target.backend, mode, key, beside)
                .and_then(|keyed| keyed.open(data.as_mut_slice().into(), tag))
        } else {
            let nonce = siv_nonce(self.test, iv)?;
            with_siv(key, |siv| siv.decrypt(nonce, aad, data, tag))
        };
        opened.map_err(|error| AcvpError::Engine { place, error })
    }

    fn results(self, kind: Kind, direction: Direction, to: &str) -> Map<String, Value> {
        let Self { mut data, tag, .. } = self;
        let mut results = Map::new();
        if direction == Direction::Encrypt {
            if is_tag_apart(kind) {
                results.insert("tag".to_owned(), hex(&tag));
            } else {
                data.extend(tag);
            }
        }
        match kind {
            Kind::Gmac if direction == Direction::Encrypt => {}
            Kind::Gmac => drop(results.insert("testPassed".to_owned(), true.into())),
            _ => drop(results.insert(to.to_owned(), hex(&data))),
        }
        results
    }
}

/// GCM has the tag in a field of its own; in others it is the end of the ciphertext.
fn is_tag_apart(kind: Kind) -> bool {
    kind.sealed() == Some(Mode::Gcm)
}

fn siv_nonce<'a>(test: Fields<'_>, iv: &'a [u8]) -> Result<&'a [u8; 12], AcvpError> {
    iv.try_into().map_err(|_| test.refused("iv", "12 bytes in hex"))
}

/// GCM-SIV with keys of either length.
trait Siv {
    fn encrypt(&self, nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> Result<[u8; 16], Error>;

    fn decrypt(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8],
    ) -> Result<(), Error>;
}

impl<C: lanecrypt::aes_gcm_siv::SivCipher> Siv for GcmSiv<C> {
    fn encrypt(&self, nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> Result<[u8; 16], Error> {
        Self::encrypt(self, nonce, aad, data.into())
    }

    fn decrypt(
        &self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8],
    ) -> Result<(), Error> {
        let tag = tag.try_into().map_err(|_| Error::NotAuthentic)?;
        Self::decrypt(self, nonce, aad, data.into(), tag)
    }
}

fn with_siv<R>(key: &[u8], work: impl FnOnce(&dyn Siv) -> Result<R, Error>) -> Result<R, Error> {
    if let Ok(siv) = GcmSiv::<aes::Aes128>::new_from_slice(key) {
        return work(&siv);
    }
    let refused = Error::KeyLength { cipher: "aes", given: key.len(), accepted: &[16, 32] };
    work(&GcmSiv::<aes::Aes256>::new_from_slice(key).map_err(|_| refused)?)
}
