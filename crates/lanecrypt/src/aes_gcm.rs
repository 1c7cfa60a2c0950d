//! The names of the crate `aes-gcm` 0.11, so that [`AesGcm`] takes its place: `use lanecrypt::aes_gcm;`.
//!
//! ```
//! use lanecrypt::aes_gcm::{Aes256Gcm, Key, Nonce, aead::{AeadInOut, KeyInit}};
//!
//! let cipher = Aes256Gcm::new(&Key::<Aes256Gcm>::from([7; 32]));
//! let (nonce, mut data) = (Nonce::from([1; 12]), *b"a message");
//! let tag = cipher.encrypt_inout_detached(&nonce, b"", data.as_mut_slice().into())?;
//! cipher.decrypt_inout_detached(&nonce, b"", data.as_mut_slice().into(), &tag)?;
//! assert_eq!(&data, b"a message");
//! # Ok::<(), lanecrypt::aes_gcm::Error>(())
//! ```

pub use lanecrypt_aes as aes;
pub use lanecrypt_modes::{
    Gcm as AesGcm, MAX_AAD_BYTES as A_MAX, MAX_MESSAGE_BYTES as P_MAX, TagSize,
    aead::{self, AeadCore, AeadInOut, Error, Key, KeyInit, KeySizeUser},
};

use cipher::consts::{U12, U16};

/// AES-128-GCM with nonces of 12 bytes and tags of 16.
pub type Aes128Gcm = AesGcm<aes::Aes128, U12, U16>;
/// AES-256-GCM with nonces of 12 bytes and tags of 16.
pub type Aes256Gcm = AesGcm<aes::Aes256, U12, U16>;

/// A nonce of `NonceSize` bytes.
pub type Nonce<NonceSize> = cipher::Array<u8, NonceSize>;
/// A tag of `TagSize` bytes.
pub type Tag<TagSize = U16> = cipher::Array<u8, TagSize>;
