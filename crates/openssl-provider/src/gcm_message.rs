//! A message of GCM (SP 800-38D) that comes in pieces, as `EVP_CipherUpdate` sends it.
//!
//! Plaintext is given out before the tag is known to be right: that is what such an interface is, and
//! its user must wait for `EVP_DecryptFinal_ex`.

use std::sync::Arc;

use lanecrypt::{Direction, GcmMessage, GhashKey, cipher::InOutBuf};
use zeroize::Zeroizing;

use crate::{Algorithm, Key, Reason};

/// A cipher and the hash under one key.
pub(crate) struct GcmKey {
    cipher: Arc<Key>,
    hash: GhashKey,
}

impl GcmKey {
    pub(crate) fn new(algorithm: &Algorithm, key: &[u8]) -> Result<Arc<Self>, Reason> {
        let cipher = Key::new(algorithm, key)?;
        let mut h = Zeroizing::new([0; 16]);
        cipher.engine().ecb(Direction::Encrypt, h.as_mut_slice().into())?;
        let hash = GhashKey::new((&*h).into());
        Ok(Arc::new(Self { cipher, hash }))
    }
}

/// Where in a message the next piece belongs.
#[derive(Clone)]
pub(crate) struct Message(GcmMessage);

impl Message {
    pub(crate) fn new(key: &GcmKey, iv: &[u8]) -> Result<Self, Reason> {
        Ok(Self(GcmMessage::new(&key.hash, key.cipher.engine(), iv)?))
    }

    /// Adds associated data, which comes before all data.
    pub(crate) fn associate(&mut self, key: &GcmKey, aad: &[u8]) -> Result<(), Reason> {
        Ok(self.0.associate(&key.hash, aad)?)
    }

    /// Encrypts or decrypts a piece.
    pub(crate) fn run(
        &mut self,
        key: &GcmKey,
        direction: Direction,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Reason> {
        key.cipher.run(data.len(), |engine| self.0.run(&key.hash, engine, direction, data))
    }

    /// The tag, which ends the message.
    pub(crate) fn tag(self, key: &GcmKey) -> [u8; 16] {
        self.0.tag(&key.hash)
    }
}
