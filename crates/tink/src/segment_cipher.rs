//! One file's segments: pure functions of key, header, associated data, number and text.

use std::fmt;

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use lanecrypt::{Engine, Gcm, aes::AES};
use sha1::Sha1;
use sha2::{Sha256, Sha512};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::{
    Error, Hash, Keyset, Parameters, Scheme, SegmentLayout, StreamingKey,
    parameters::{HMAC_KEY_BYTES, PREFIX_BYTES},
    random,
};

/// What stands before the segments: its own length, a salt, and the beginning of all nonces. It is
/// drawn once a file, and never used for another plaintext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header(Vec<u8>);

impl Header {
    /// A random one for a key with these parameters.
    ///
    /// # Errors
    /// [`Error::Random`].
    pub fn random(parameters: &Parameters) -> Result<Self, Error> {
        let mut bytes = random::bytes(parameters.header_bytes())?.to_vec();
        bytes[0] = bytes.len() as u8;
        Ok(Self(bytes))
    }

    /// The one at the beginning of sealed data; `None` where it is not for a key with these parameters.
    #[must_use]
    pub fn parse(parameters: &Parameters, sealed: &[u8]) -> Option<Self> {
        let bytes = sealed.get(..parameters.header_bytes())?;
        (usize::from(bytes[0]) == bytes.len()).then(|| Self(bytes.to_vec()))
    }

    /// As it stands before the segments.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn salt(&self) -> &[u8] {
        &self.0[1..self.0.len() - PREFIX_BYTES]
    }

    fn prefix(&self) -> &[u8] {
        &self.0[self.0.len() - PREFIX_BYTES..]
    }
}

/// The segments of one file under its own key, each by itself and in any order.
pub struct SegmentCipher {
    header: Header,
    layout: SegmentLayout,
    aes_key: Zeroizing<Vec<u8>>,
    cipher: Cipher,
}

/// AES on the thread that calls it.
type Aes = Box<dyn Engine>;

enum Cipher {
    Gcm(Box<Gcm<Aes>>),
    CtrHmac { aes: Aes, mac: Box<Authenticator> },
}

impl SegmentCipher {
    /// Derives the file's key from `key`, the header's salt and the associated data.
    ///
    /// # Errors
    /// [`Error::Malformed`] where the header is for other parameters.
    pub fn new(key: &StreamingKey, header: Header, associated_data: &[u8]) -> Result<Self, Error> {
        let parameters = key.parameters();
        if header.0.len() != parameters.header_bytes() {
            return Err(Error::Malformed { what: "the header is for a key of another size" });
        }
        let aes_key_bytes = parameters.derived_key_bytes();
        let more = if parameters.scheme() == Scheme::Gcm { 0 } else { HMAC_KEY_BYTES };
        let mut derived = Zeroizing::new(vec![0; aes_key_bytes + more]);
        derive(parameters.hkdf(), key.bytes(), header.salt(), associated_data, &mut derived)?;
        let (aes_key, hmac_key) = derived.split_at(aes_key_bytes);
        let aes = AES.default_engine(aes_key)?;
        let cipher = match parameters.scheme() {
            Scheme::Gcm => Cipher::Gcm(Box::new(Gcm::of(aes)?)),
            Scheme::CtrHmac { hash, .. } => {
                Cipher::CtrHmac { aes, mac: Box::new(Authenticator::new(hash, hmac_key)?) }
            }
        };
        let aes_key = Zeroizing::new(aes_key.to_vec());
        Ok(Self { header, layout: parameters.layout(), aes_key, cipher })
    }

    /// That of a new file: with a new header, under the keyset's primary key.
    pub(crate) fn of_new(keyset: &Keyset, associated_data: &[u8]) -> Result<Self, Error> {
        let key = keyset.primary()?;
        let header = Header::random(key.parameters())?;
        Self::new(&key, header, associated_data)
    }

    /// What stands before the segments.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Where segments lie.
    #[must_use]
    pub fn layout(&self) -> SegmentLayout {
        self.layout
    }

    /// The AES key of all segments, for backends that are not an [`Engine`]; `None` where segments
    /// are not sealed by GCM.
    #[must_use]
    pub fn gcm_key(&self) -> Option<&[u8]> {
        matches!(self.cipher, Cipher::Gcm(_)).then_some(&*self.aes_key)
    }

    /// The first counter block of a segment; its first 12 bytes are GCM's nonce.
    #[must_use]
    pub fn nonce(&self, segment: u32, is_last: bool) -> [u8; 16] {
        let mut nonce = [0; 16];
        nonce[..PREFIX_BYTES].copy_from_slice(self.header.prefix());
        nonce[PREFIX_BYTES..11].copy_from_slice(&segment.to_be_bytes());
        nonce[11] = is_last.into();
        nonce
    }

    /// Encrypts a segment in place and fills its tag, which has as many bytes as the layout says.
    ///
    /// One header seals one plaintext: a segment sealed twice must be the same.
    ///
    /// # Errors
    /// [`Error::SegmentLength`], [`Error::Parameter`] for a tag of another size.
    pub fn seal_segment(
        &self,
        segment: u32,
        is_last: bool,
        text: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), Error> {
        self.check(segment, is_last, text, tag)?;
        let nonce = self.nonce(segment, is_last);
        match &self.cipher {
            Cipher::Gcm(gcm) => gcm.encrypt(&nonce[..12], b"", text.into(), tag)?,
            Cipher::CtrHmac { aes, mac } => {
                aes.ctr(&nonce, (&mut *text).into())?;
                mac.tag(&nonce, text, |computed| tag.copy_from_slice(&computed[..tag.len()]));
            }
        }
        Ok(())
    }

    /// Decrypts a segment in place if its tag is the right one; otherwise it is what it was.
    ///
    /// # Errors
    /// [`Error::NotAuthentic`]; [`Error::SegmentLength`], [`Error::Parameter`] as
    /// [`seal_segment`](Self::seal_segment).
    pub fn open_segment(
        &self,
        segment: u32,
        is_last: bool,
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<(), Error> {
        self.check(segment, is_last, text, tag)?;
        let not_authentic = Error::NotAuthentic { segment: segment.into() };
        let nonce = self.nonce(segment, is_last);
        match &self.cipher {
            Cipher::Gcm(gcm) => {
                let opened = gcm.decrypt(&nonce[..12], b"", text.into(), tag);
                opened.map_err(|error| match error {
                    lanecrypt::Error::NotAuthentic => not_authentic,
                    error => error.into(),
                })
            }
            Cipher::CtrHmac { aes, mac } => {
                let mut is_right = false;
                mac.tag(&nonce, text, |computed| {
                    is_right = computed[..tag.len()].ct_eq(tag).into();
                });
                if !is_right {
                    return Err(not_authentic);
                }
                Ok(aes.ctr(&nonce, text.into())?)
            }
        }
    }

    /// Whether text and tag have the lengths that this place allows.
    pub(crate) fn check(
        &self,
        segment: u32,
        is_last: bool,
        text: &[u8],
        tag: &[u8],
    ) -> Result<(), Error> {
        let segment = u64::from(segment);
        let full = self.layout.plaintext_of(segment);
        let (given, accepted) = (text.len() as u64, full.end - full.start);
        let may_be_empty = segment == 0;
        if given > accepted || given < accepted && !is_last || given == 0 && !may_be_empty {
            return Err(Error::SegmentLength { segment, given, accepted });
        }
        if tag.len() as u64 != self.layout.tag_bytes() {
            let given = tag.len() as u64;
            return Err(Error::Parameter { what: "tag size", given, accepted: "that of the key" });
        }
        Ok(())
    }
}

impl fmt::Debug for SegmentCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SegmentCipher")
            .field("header", &self.header)
            .field("layout", &self.layout)
            .finish_non_exhaustive()
    }
}

/// HKDF (RFC 5869).
fn derive(hash: Hash, key: &[u8], salt: &[u8], info: &[u8], out: &mut [u8]) -> Result<(), Error> {
    let done = match hash {
        Hash::Sha1 => Hkdf::<Sha1>::new(Some(salt), key).expand(info, out),
        Hash::Sha256 => Hkdf::<Sha256>::new(Some(salt), key).expand(info, out),
        Hash::Sha512 => Hkdf::<Sha512>::new(Some(salt), key).expand(info, out),
    };
    done.map_err(|_| Error::Malformed { what: "keys longer than HKDF makes" })
}

/// HMAC (RFC 2104) under a key, before any data.
enum Authenticator {
    Sha1(Hmac<Sha1>),
    Sha256(Hmac<Sha256>),
    Sha512(Hmac<Sha512>),
}

impl Authenticator {
    fn new(hash: Hash, key: &[u8]) -> Result<Self, Error> {
        let refused = |_| Error::Malformed { what: "a key that HMAC does not take" };
        Ok(match hash {
            Hash::Sha1 => Self::Sha1(Hmac::new_from_slice(key).map_err(refused)?),
            Hash::Sha256 => Self::Sha256(Hmac::new_from_slice(key).map_err(refused)?),
            Hash::Sha512 => Self::Sha512(Hmac::new_from_slice(key).map_err(refused)?),
        })
    }

    /// Gives `use_tag` the whole tag of counter block and ciphertext.
    fn tag(&self, nonce: &[u8; 16], ciphertext: &[u8], use_tag: impl FnOnce(&[u8])) {
        fn of<M: Mac + Clone>(mac: &M, parts: [&[u8]; 2], use_tag: impl FnOnce(&[u8])) {
            let mut mac = mac.clone();
            for part in parts {
                mac.update(part);
            }
            use_tag(&mac.finalize().into_bytes());
        }
        let parts = [&nonce[..], ciphertext];
        match self {
            Self::Sha1(mac) => of(mac, parts, use_tag),
            Self::Sha256(mac) => of(mac, parts, use_tag),
            Self::Sha512(mac) => of(mac, parts, use_tag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Template;

    fn streams() -> impl Iterator<Item = SegmentCipher> {
        Template::ALL.into_iter().map(|template| {
            let key = StreamingKey::generate(template.parameters()).unwrap();
            let header = Header::random(key.parameters()).unwrap();
            SegmentCipher::new(&key, header, b"about it").unwrap()
        })
    }

    #[test]
    fn a_segment_is_its_own_and_in_its_place() {
        for cipher in streams() {
            let mut text = b"not a full segment".to_vec();
            let mut tag = vec![0; cipher.layout().tag_bytes() as usize];
            cipher.seal_segment(7, true, &mut text, &mut tag).unwrap();
            let opened = |segment, is_last, text: &[u8], tag: &[u8]| {
                let mut text = text.to_vec();
                cipher.open_segment(segment, is_last, &mut text, tag).map(|()| text)
            };
            assert_eq!(opened(7, true, &text, &tag).unwrap(), b"not a full segment");
            let elsewhere = opened(8, true, &text, &tag).unwrap_err();
            assert!(matches!(elsewhere, Error::NotAuthentic { segment: 8 }));
            for bit in [0, 8 * text.len() - 1] {
                let mut changed = text.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(opened(7, true, &changed, &tag).unwrap_err().is_not_authentic());
            }
            for bit in 0..8 * tag.len() {
                let mut changed = tag.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(opened(7, true, &text, &changed).unwrap_err().is_not_authentic());
            }
        }
    }

    #[test]
    fn lengths_that_a_place_does_not_have() {
        for cipher in streams() {
            let layout = cipher.layout();
            let mut tag = vec![0; layout.tag_bytes() as usize];
            let full = layout.plaintext_of(1);
            let full = (full.end - full.start) as usize;
            let mut seal = |segment, is_last, bytes| {
                cipher.seal_segment(segment, is_last, &mut vec![0; bytes], &mut tag)
            };
            for is_last in [false, true] {
                seal(1, is_last, full).unwrap();
                assert!(seal(1, is_last, full + 1).is_err() && seal(0, is_last, full).is_err());
                assert!(seal(1, is_last, 0).is_err());
                assert_eq!(seal(1, is_last, full - 1).is_ok(), is_last);
                assert_eq!(seal(0, is_last, 0).is_ok(), is_last);
            }
            let short = cipher.seal_segment(0, true, &mut [], &mut [0; 4]);
            assert!(matches!(short, Err(Error::Parameter { what: "tag size", .. })));
        }
    }
}
