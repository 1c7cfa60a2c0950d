//! One key, and its form in a keyset: the messages `AesGcmHkdfStreamingKey` and
//! `AesCtrHmacStreamingKey` of Tink.

use std::fmt;

use zeroize::Zeroizing;

use crate::{
    Error, Hash, Parameters, Scheme,
    protobuf::{Given, Value, fields, message},
    random,
};

const GCM_TYPE: &str = "type.googleapis.com/google.crypto.tink.AesGcmHkdfStreamingKey";
const CTR_HMAC_TYPE: &str = "type.googleapis.com/google.crypto.tink.AesCtrHmacStreamingKey";

/// Whether keys of this type seal files.
pub(crate) fn is_streaming(type_url: &str) -> bool {
    [GCM_TYPE, CTR_HMAC_TYPE].contains(&type_url)
}

/// A key with the parameters that it seals by. It is cleared when dropped, and never printed.
#[derive(Clone)]
pub struct StreamingKey {
    parameters: Parameters,
    key: Zeroizing<Vec<u8>>,
}

impl StreamingKey {
    /// A key from elsewhere.
    ///
    /// # Errors
    /// [`Error::Parameter`] where it has fewer bytes than the keys derived from it, or 16.
    pub fn new(parameters: Parameters, key: Zeroizing<Vec<u8>>) -> Result<Self, Error> {
        if key.len() < parameters.derived_key_bytes() {
            return Err(Error::Parameter {
                what: "key size",
                given: key.len() as u64,
                accepted: "as many bytes as the derived key has, or more",
            });
        }
        Ok(Self { parameters, key })
    }

    /// A random key, as long as those derived from it.
    ///
    /// # Errors
    /// [`Error::Random`].
    pub fn generate(parameters: Parameters) -> Result<Self, Error> {
        Self::new(parameters, random::bytes(parameters.derived_key_bytes())?)
    }

    /// What it seals by.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// What segment keys are derived from.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.key
    }

    /// Tink's name for its type.
    pub(crate) fn type_url(&self) -> &'static str {
        match self.parameters.scheme() {
            Scheme::Gcm => GCM_TYPE,
            Scheme::CtrHmac { .. } => CTR_HMAC_TYPE,
        }
    }

    /// Reads the message of this type.
    pub(crate) fn decode(type_url: &str, message: &[u8]) -> Result<Self, Error> {
        let mut key: &[u8] = &[];
        let mut parameters: &[u8] = &[];
        for field in fields(message) {
            match field? {
                (1, version) => check_version(version)?,
                (2, value) => parameters = value.bytes()?,
                (3, value) => key = value.bytes()?,
                _ => {}
            }
        }
        let parameters = decode_parameters(type_url == CTR_HMAC_TYPE, parameters)?;
        Self::new(parameters, Zeroizing::new(key.to_vec()))
    }

    /// Writes the message of its type.
    pub(crate) fn encode(&self) -> Zeroizing<Vec<u8>> {
        let parameters = encode_parameters(self.parameters);
        message(&[(2, Given::Bytes(&parameters)), (3, Given::Bytes(&self.key))])
    }
}

fn check_version(version: Value<'_>) -> Result<(), Error> {
    match version.number()? {
        0 => Ok(()),
        given => Err(Error::Parameter { what: "key version", given: given.into(), accepted: "0" }),
    }
}

/// Reads `AesGcmHkdfStreamingParams`, or `AesCtrHmacStreamingParams`, which is the same and more.
fn decode_parameters(has_hmac: bool, message: &[u8]) -> Result<Parameters, Error> {
    let [mut segment_bytes, mut derived_key_bytes, mut hkdf] = [0; 3];
    let mut hmac: &[u8] = &[];
    for field in fields(message) {
        match field? {
            (1, value) => segment_bytes = value.number()?,
            (2, value) => derived_key_bytes = value.number()?,
            (3, value) => hkdf = value.number()?,
            (4, value) if has_hmac => hmac = value.bytes()?,
            _ => {}
        }
    }
    let scheme = if has_hmac { decode_hmac(hmac)? } else { Scheme::Gcm };
    Parameters::new(scheme, hash("HKDF hash", hkdf)?, derived_key_bytes, segment_bytes)
}

/// Reads `HmacParams`.
fn decode_hmac(message: &[u8]) -> Result<Scheme, Error> {
    let [mut number, mut tag_bytes] = [0; 2];
    for field in fields(message) {
        match field? {
            (1, value) => number = value.number()?,
            (2, value) => tag_bytes = value.number()?,
            _ => {}
        }
    }
    // More than a byte holds is more than any hash has.
    let tag_bytes = u8::try_from(tag_bytes).unwrap_or(u8::MAX);
    Ok(Scheme::CtrHmac { hash: hash("HMAC hash", number)?, tag_bytes })
}

fn encode_parameters(parameters: Parameters) -> Zeroizing<Vec<u8>> {
    let hmac = match parameters.scheme() {
        Scheme::Gcm => None,
        Scheme::CtrHmac { hash, tag_bytes } => Some(message(&[
            (1, Given::Number(number_of(hash))),
            (2, Given::Number(tag_bytes.into())),
        ])),
    };
    let mut fields = vec![
        (1, Given::Number(parameters.segment_bytes())),
        (2, Given::Number(parameters.derived_key_bytes() as u32)),
        (3, Given::Number(number_of(parameters.hkdf()))),
    ];
    fields.extend(hmac.as_ref().map(|hmac| (4, Given::Bytes(hmac))));
    message(&fields)
}

/// The hash with this number in Tink's enumeration `HashType`.
fn hash(what: &'static str, number: u32) -> Result<Hash, Error> {
    [Hash::Sha1, Hash::Sha256, Hash::Sha512]
        .into_iter()
        .find(|&hash| number_of(hash) == number)
        .ok_or(Error::Parameter {
            what,
            given: number.into(),
            accepted: "1 (SHA-1), 3 (SHA-256) or 4 (SHA-512)",
        })
}

fn number_of(hash: Hash) -> u32 {
    match hash {
        Hash::Sha1 => 1,
        Hash::Sha256 => 3,
        Hash::Sha512 => 4,
    }
}

impl fmt::Debug for StreamingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamingKey").field("parameters", &self.parameters).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Template;

    #[test]
    fn every_template_is_read_as_it_was_written() {
        for template in Template::ALL {
            let key = StreamingKey::generate(template.parameters()).unwrap();
            let read = StreamingKey::decode(key.type_url(), &key.encode()).unwrap();
            assert_eq!((read.parameters, &read.key), (key.parameters, &key.key));
            assert!(is_streaming(key.type_url()));
        }
        assert!(!is_streaming("type.googleapis.com/google.crypto.tink.AesGcmKey"));
    }

    /// Those of AES-CTR and HMAC have a field that those of AES-GCM do not know: there it may be anything.
    #[test]
    fn fields_that_are_not_known_are_skipped() {
        let key = StreamingKey::generate(Template::Aes256GcmHkdf4Kb.parameters()).unwrap();
        let mut parameters = encode_parameters(key.parameters).to_vec();
        parameters.extend_from_slice(&message(&[(4, Given::Number(7)), (9, Given::Bytes(b"new"))]));
        let newer = message(&[(2, Given::Bytes(&parameters)), (3, Given::Bytes(key.bytes()))]);
        let read = StreamingKey::decode(GCM_TYPE, &newer).unwrap();
        assert_eq!((read.parameters, &read.key), (key.parameters, &key.key));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let key = StreamingKey::generate(Template::Aes256GcmHkdf4Kb.parameters()).unwrap();
        let error = |type_url, message: &[u8]| {
            StreamingKey::decode(type_url, message).expect_err("it is wrong").to_string()
        };
        assert!(error(CTR_HMAC_TYPE, &key.encode()).starts_with("HMAC hash is 0"));
        let mut newer = vec![8, 1];
        newer.extend_from_slice(&key.encode());
        assert_eq!(error(GCM_TYPE, &newer), "key version is 1; accepted is 0");
        let parameters = encode_parameters(key.parameters);
        let short = message(&[(2, Given::Bytes(&parameters)), (3, Given::Bytes(&[1; 31]))]);
        assert!(error(GCM_TYPE, &short).starts_with("key size is 31"));
        assert!(error(GCM_TYPE, &[]).starts_with("HKDF hash is 0"));
    }
}
