//! Our modules in their place.

pub(crate) use lanecrypt_aes as aes;
pub(crate) use lanecrypt_des as des;
pub(crate) use lanecrypt_modes::{
    cbc, ccm, cfb, ctr, gcm as aes_gcm, gcm_siv as aes_gcm_siv, ofb, xts,
};

#[allow(clippy::duplicate_mod, reason = "the same text on both")]
#[path = "text.rs"]
pub(crate) mod text;
