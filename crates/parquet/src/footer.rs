//! The footer of an encrypted file: found at its end, opened or verified, with what it says of the encryption.

use lanecrypt_tink::{Source, zeroed};
use subtle::ConstantTimeEq;

use crate::{
    Algorithm, Error, FileAad, KeyFor, KeySource, Place,
    fields::{algorithm, file, file_crypto},
    keyring::Keyring,
    module::{Framed, NONCE, TAG},
    thrift::{Struct, Value, read_struct},
};

/// What a file begins and ends with whose footer can be read without a key.
pub(crate) const PLAIN: [u8; 4] = *b"PAR1";
/// What one begins and ends with whose footer is encrypted.
pub(crate) const ENCRYPTED: [u8; 4] = *b"PARE";
/// Bytes at the end: the length of the footer, and one of these two.
pub(crate) const END: usize = 8;

/// The footer of an encrypted file, authentic.
pub(crate) struct Footer {
    /// `FileMetaData`, without what it says of the encryption.
    pub(crate) metadata: Struct,
    pub(crate) algorithm: Algorithm,
    pub(crate) aad: FileAad,
    /// The number of the footer's key in the ring.
    pub(crate) key: usize,
}

impl Footer {
    /// That of `source`, opened with its key, which joins the ring.
    ///
    /// # Errors
    /// [`Error::NotParquet`], [`Error::NotEncrypted`], [`Error::NotAuthentic`], [`Error::AadPrefix`], those of keys and
    /// of the system.
    pub(crate) fn read(
        source: &dyn Source,
        size: u64,
        keys: &dyn KeySource,
        prefix: Option<&[u8]>,
        ring: &mut Keyring,
    ) -> Result<Self, Error> {
        let (bytes, magic) = bytes(source, size)?;
        if magic == ENCRYPTED {
            return Self::encrypted(&bytes, keys, prefix, ring);
        }
        Self::signed(&bytes, keys, prefix, ring)
    }

    fn encrypted(
        bytes: &[u8],
        keys: &dyn KeySource,
        prefix: Option<&[u8]>,
        ring: &mut Keyring,
    ) -> Result<Self, Error> {
        let (crypto, end) = read_struct(bytes).map_err(Error::of_thrift(Place::FOOTER))?;
        let (algorithm, aad) = encryption(crypto.structure(file_crypto::ALGORITHM), prefix)?;
        let module = Framed::read(&bytes[end..], Place::FOOTER)?;
        let of_key = crypto.binary(file_crypto::KEY_METADATA);
        let key = ring.add(keys.key(KeyFor::Footer, of_key)?)?;
        let text = ring.get(key).open_module(Place::FOOTER, &aad.of(Place::FOOTER), module)?;
        let (metadata, _) = read_struct(&text).map_err(Error::of_thrift(Place::FOOTER))?;
        Ok(Self { metadata, algorithm, aad, key })
    }

    /// One that is not encrypted: behind it are a nonce and the tag that GCM would give it.
    fn signed(
        bytes: &[u8],
        keys: &dyn KeySource,
        prefix: Option<&[u8]>,
        ring: &mut Keyring,
    ) -> Result<Self, Error> {
        let (mut metadata, end) = read_struct(bytes).map_err(Error::of_thrift(Place::FOOTER))?;
        if metadata.get(file::ALGORITHM).is_none() {
            return Err(Error::NotEncrypted);
        }
        let (text, signature) = bytes.split_at(end);
        let Some((nonce, tag)) =
            signature.split_at_checked(NONCE).filter(|(_, tag)| tag.len() == TAG)
        else {
            let what = "there is no signature of 28 bytes behind it";
            return Err(Error::Module { place: Place::FOOTER, what });
        };
        let (algorithm, aad) = encryption(metadata.structure(file::ALGORITHM), prefix)?;
        let of_key = metadata.binary(file::SIGNING_KEY_METADATA);
        let key = ring.add(keys.key(KeyFor::Footer, of_key)?)?;
        let right = ring.get(key).sign(&aad.of(Place::FOOTER), nonce, text)?;
        if !bool::from(right.ct_eq(tag)) {
            return Err(Error::not_authentic(Place::FOOTER));
        }
        metadata.remove(file::ALGORITHM);
        metadata.remove(file::SIGNING_KEY_METADATA);
        Ok(Self { metadata, algorithm, aad, key })
    }
}

/// The bytes of the footer, and what the file ends with.
pub(crate) fn bytes(source: &dyn Source, size: u64) -> Result<(Vec<u8>, [u8; 4]), Error> {
    let magic = |what| move || Error::NotParquet { what };
    let read = |buffer: &mut [u8], at| {
        source.read_exact_at(buffer, at).map_err(Error::of_io("read the footer"))
    };
    let end_at = size.checked_sub(END as u64).ok_or_else(magic("it is too short"))?;
    let mut end = [0; END];
    read(&mut end, end_at)?;
    let [length @ .., m0, m1, m2, m3] = end;
    let found = [m0, m1, m2, m3];
    if found != PLAIN && found != ENCRYPTED {
        return Err(magic("it does not end with PAR1 or PARE")());
    }
    let length = u32::from_le_bytes(length);
    let start = end_at.checked_sub(length.into()).filter(|&start| start >= 4);
    let start = start.ok_or_else(magic("its footer is longer than the file"))?;
    let mut begin = [0; 4];
    read(&mut begin, 0)?;
    if begin != found {
        return Err(magic("it begins with something else than it ends with")());
    }
    let mut bytes = zeroed(length.into())?;
    read(&mut bytes, start)?;
    Ok((bytes, found))
}

/// What `EncryptionAlgorithm` says, with the prefix that it has or the caller gives.
fn encryption(said: Option<&Struct>, prefix: Option<&[u8]>) -> Result<(Algorithm, FileAad), Error> {
    let unknown = || Error::NotParquet { what: "an algorithm that is known here" };
    let (id, variant) = said.and_then(|said| said.fields().next()).ok_or_else(unknown)?;
    let algorithm = match id {
        algorithm::GCM => Algorithm::AesGcmV1,
        algorithm::GCM_CTR => Algorithm::AesGcmCtrV1,
        _ => return Err(unknown()),
    };
    let Value::Struct(variant) = variant else { return Err(unknown()) };
    let stored = variant.binary(algorithm::AAD_PREFIX);
    let asks = variant.flag(algorithm::SUPPLY_PREFIX) == Some(true);
    let prefix = match (stored, prefix) {
        (Some(stored), Some(given)) if stored != given => {
            return Err(Error::AadPrefix { what: "the AAD prefix is not the one of the file" });
        }
        (None, None) if asks => {
            let what = "the file asks for an AAD prefix, and none was given";
            return Err(Error::AadPrefix { what });
        }
        (None, Some(_)) if !asks => {
            return Err(Error::AadPrefix { what: "the file was sealed without an AAD prefix" });
        }
        (stored, given) => given.or(stored).unwrap_or_default(),
    };
    let unique = variant.binary(algorithm::FILE_UNIQUE).unwrap_or_default();
    Ok((algorithm, FileAad::of_file(prefix, unique)?))
}
