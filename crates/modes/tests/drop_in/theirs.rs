//! Their crates.

pub(crate) use ::{
    aes, aes_gcm, aes_gcm_siv, cbc, ccm, cfb_mode as cfb, ctr, des, ofb, xts_mode as xts,
};

#[allow(clippy::duplicate_mod, reason = "the same text on both")]
#[path = "text.rs"]
pub(crate) mod text;
