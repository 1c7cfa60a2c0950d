//! AES under one key: modules opened and sealed on the thread that calls it.

use lanecrypt::{Engine, Gcm, aes::AES, modes::gcm::first_counter};
use subtle::ConstantTimeEq;

use crate::{
    Error, Key, Place,
    module::{Framed, HEAD, LENGTH, NONCE, TAG},
};

/// The algorithms of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// All modules by GCM.
    #[default]
    AesGcmV1,
    /// Pages by CTR, without a tag, and everything else by GCM: **a changed page is not noticed**.
    AesGcmCtrV1,
}

impl Algorithm {
    /// Bytes of the tag behind a page.
    pub(crate) fn page_tag(self) -> usize {
        match self {
            Self::AesGcmV1 => TAG,
            Self::AesGcmCtrV1 => 0,
        }
    }
}

/// AES under one key, with the key itself for what runs elsewhere.
pub(crate) struct Cipher {
    key: Key,
    gcm: Gcm<Box<dyn Engine>>,
}

impl Cipher {
    pub(crate) fn new(key: Key) -> Result<Self, Error> {
        let gcm = Gcm::of(AES.default_engine(key.bytes())?)?;
        Ok(Self { key, gcm })
    }

    /// The key.
    #[cfg(feature = "cuda")]
    pub(crate) fn key(&self) -> &[u8] {
        self.key.bytes()
    }

    /// Whether this has that key.
    pub(crate) fn has(&self, key: &Key) -> bool {
        self.key.bytes().ct_eq(key.bytes()).into()
    }

    /// Opens text in place.
    pub(crate) fn open(
        &self,
        place: Place,
        aad: &[u8],
        nonce: &[u8],
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<(), Error> {
        let opened = self.gcm.decrypt(nonce, aad, text.into(), tag);
        opened.map_err(|error| match error {
            lanecrypt::Error::NotAuthentic => Error::not_authentic(place),
            error => error.into(),
        })
    }

    /// Opens a whole module.
    pub(crate) fn open_module(
        &self,
        place: Place,
        aad: &[u8],
        module: Framed<'_>,
    ) -> Result<Vec<u8>, Error> {
        let mut text = module.text.to_vec();
        self.open(place, aad, module.nonce, &mut text, module.tag)?;
        Ok(text)
    }

    /// Appends `text` as a module under a nonce that was never used before.
    pub(crate) fn seal_module(
        &self,
        place: Place,
        aad: &[u8],
        nonce: &[u8; NONCE],
        text: &[u8],
        to: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let length = module_length(place, text.len(), TAG)?;
        let start = to.len() + HEAD;
        to.extend_from_slice(&length);
        to.extend_from_slice(nonce);
        to.extend_from_slice(text);
        let tag = self.encrypt(aad, nonce, &mut to[start..])?;
        to.extend_from_slice(&tag);
        Ok(())
    }

    /// Encrypts text in place under a nonce that was never used before; returns its tag.
    pub(crate) fn encrypt(
        &self,
        aad: &[u8],
        nonce: &[u8; NONCE],
        text: &mut [u8],
    ) -> Result<[u8; TAG], Error> {
        let mut tag = [0; TAG];
        self.gcm.encrypt(nonce, aad, text.into(), &mut tag)?;
        Ok(tag)
    }

    /// The tag of `text`, which stays as it is: the signature of a footer.
    pub(crate) fn sign(&self, aad: &[u8], nonce: &[u8], text: &[u8]) -> Result<[u8; TAG], Error> {
        let mut encrypted = text.to_vec();
        let mut tag = [0; TAG];
        self.gcm.encrypt(nonce, aad, encrypted.as_mut_slice().into(), &mut tag)?;
        Ok(tag)
    }

    /// Encrypts or decrypts a page of [`Algorithm::AesGcmCtrV1`] in place: its first counter block is GCM's J0.
    pub(crate) fn ctr(&self, nonce: &[u8; NONCE], text: &mut [u8]) -> Result<(), Error> {
        let first = first_counter(nonce).expect("a nonce has 12 bytes");
        Ok(self.gcm.engine().ctr(&first, text.into())?)
    }
}

/// What stands before a module of this number of bytes of text.
pub(crate) fn module_length(
    place: Place,
    text_bytes: usize,
    tag_bytes: usize,
) -> Result<[u8; LENGTH], Error> {
    let length = i32::try_from(NONCE + text_bytes + tag_bytes);
    Ok(length.map_err(|_| Error::TooLong { place })?.to_le_bytes())
}
