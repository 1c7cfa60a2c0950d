//! What the provider offers: names, ciphers, key lengths, modes.

use std::{ffi::CStr, sync::OnceLock};

use lanecrypt::registry::CipherDescription;

/// A mode of operation as OpenSSL has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvpMode {
    /// Every block by itself.
    Ecb,
    /// Cipher block chaining.
    Cbc,
    /// Cipher feedback of whole blocks.
    Cfb,
    /// Cipher feedback of bytes.
    Cfb8,
    /// Cipher feedback of bits.
    Cfb1,
    /// Output feedback.
    Ofb,
    /// Counter mode.
    Ctr,
    /// Galois counter mode.
    Gcm,
    /// Counter mode with CBC-MAC.
    Ccm,
    /// XEX with tweak and ciphertext stealing.
    Xts,
}

impl EvpMode {
    /// `EVP_CIPH_ECB_MODE` and its like.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::Ecb => 1,
            Self::Cbc => 2,
            Self::Cfb | Self::Cfb8 | Self::Cfb1 => 3,
            Self::Ofb => 4,
            Self::Ctr => 5,
            Self::Gcm => 6,
            Self::Ccm => 7,
            Self::Xts => 0x10001,
        }
    }

    /// Whether a message has a tag.
    #[must_use]
    pub fn is_authenticated(self) -> bool {
        matches!(self, Self::Gcm | Self::Ccm)
    }

    /// Whether data goes through in whole blocks.
    #[must_use]
    pub fn is_of_blocks(self) -> bool {
        matches!(self, Self::Ecb | Self::Cbc)
    }
}

/// A cipher with a key length in a mode, by the names that OpenSSL fetches.
#[derive(Debug)]
pub struct Algorithm {
    /// Names and object identifier, with colons.
    pub names: &'static CStr,
    /// What a property query may ask for.
    pub properties: &'static CStr,
    /// The block cipher.
    pub cipher: &'static CipherDescription,
    /// Bytes of a key: of XTS, of both keys together.
    pub key_bytes: usize,
    /// The mode.
    pub mode: EvpMode,
    /// Whether its self-test passed, once it was run.
    pub(crate) passed: OnceLock<bool>,
}

impl Algorithm {
    /// Bytes that `EVP_CIPHER_get_block_size` gives: 1 where data has any length.
    #[must_use]
    pub fn block_size(&self) -> usize {
        if self.mode.is_of_blocks() { self.cipher.block_bytes } else { 1 }
    }

    /// Bytes of an IV; for GCM and CCM, the usual length.
    #[must_use]
    pub fn iv_bytes(&self) -> usize {
        match self.mode {
            EvpMode::Ecb => 0,
            EvpMode::Gcm | EvpMode::Ccm => 12,
            _ => self.cipher.block_bytes,
        }
    }

    /// Bytes of a key of the block cipher.
    pub(crate) fn cipher_key_bytes(&self) -> usize {
        if self.mode == EvpMode::Xts { self.key_bytes / 2 } else { self.key_bytes }
    }

    /// Whether this is XTS by GB/T 17964-2021, and by IEEE 1619 where a context is told so: IEEE 1619 itself is of AES
    /// alone.
    pub(crate) fn has_xts_of_gb(&self) -> bool {
        self.mode == EvpMode::Xts && self.cipher.name != "aes"
    }

    /// Whether keys have bits of parity.
    #[must_use]
    pub fn has_parity(&self) -> bool {
        self.cipher.name.ends_with("des")
    }

    /// A number that `EVP_CIPHER_get_params` asks for; `None` of what is no such parameter.
    #[must_use]
    pub fn parameter(&self, name: &[u8]) -> Option<u64> {
        Some(match name {
            b"mode" => self.mode.number(),
            b"keylen" => self.key_bytes as u64,
            b"ivlen" => self.iv_bytes() as u64,
            b"blocksize" => self.block_size() as u64,
            b"aead" => u64::from(self.mode.is_authenticated()),
            b"custom-iv" => u64::from(self.mode.is_authenticated() || self.mode == EvpMode::Xts),
            b"has-randkey" => u64::from(self.has_parity()),
            b"cts" | b"tls-multi" => 0,
            _ => return None,
        })
    }
}

/// Calls a macro with every algorithm: names as OpenSSL's own providers register them.
///
/// AES has a property of its own instead of `provider`: OpenSSL has instructions for it, too, so that a
/// query that prefers this provider does not take ours.
macro_rules! for_each_algorithm {
    ($run:ident) => {
        $run! {
            c"provider=lanecrypt": {
                c"CAMELLIA-128-ECB:0.3.4401.5.3.1.9.1" => CAMELLIA, 16, Ecb;
                c"CAMELLIA-192-ECB:0.3.4401.5.3.1.9.21" => CAMELLIA, 24, Ecb;
                c"CAMELLIA-256-ECB:0.3.4401.5.3.1.9.41" => CAMELLIA, 32, Ecb;
                c"CAMELLIA-128-CBC:CAMELLIA128:1.2.392.200011.61.1.1.1.2" => CAMELLIA, 16, Cbc;
                c"CAMELLIA-192-CBC:CAMELLIA192:1.2.392.200011.61.1.1.1.3" => CAMELLIA, 24, Cbc;
                c"CAMELLIA-256-CBC:CAMELLIA256:1.2.392.200011.61.1.1.1.4" => CAMELLIA, 32, Cbc;
                c"CAMELLIA-128-CFB:0.3.4401.5.3.1.9.4" => CAMELLIA, 16, Cfb;
                c"CAMELLIA-192-CFB:0.3.4401.5.3.1.9.24" => CAMELLIA, 24, Cfb;
                c"CAMELLIA-256-CFB:0.3.4401.5.3.1.9.44" => CAMELLIA, 32, Cfb;
                c"CAMELLIA-128-CFB8" => CAMELLIA, 16, Cfb8;
                c"CAMELLIA-192-CFB8" => CAMELLIA, 24, Cfb8;
                c"CAMELLIA-256-CFB8" => CAMELLIA, 32, Cfb8;
                c"CAMELLIA-128-CFB1" => CAMELLIA, 16, Cfb1;
                c"CAMELLIA-192-CFB1" => CAMELLIA, 24, Cfb1;
                c"CAMELLIA-256-CFB1" => CAMELLIA, 32, Cfb1;
                c"CAMELLIA-128-OFB:0.3.4401.5.3.1.9.3" => CAMELLIA, 16, Ofb;
                c"CAMELLIA-192-OFB:0.3.4401.5.3.1.9.23" => CAMELLIA, 24, Ofb;
                c"CAMELLIA-256-OFB:0.3.4401.5.3.1.9.43" => CAMELLIA, 32, Ofb;
                c"CAMELLIA-128-CTR:0.3.4401.5.3.1.9.9" => CAMELLIA, 16, Ctr;
                c"CAMELLIA-192-CTR:0.3.4401.5.3.1.9.29" => CAMELLIA, 24, Ctr;
                c"CAMELLIA-256-CTR:0.3.4401.5.3.1.9.49" => CAMELLIA, 32, Ctr;
                c"CAMELLIA-128-GCM:0.3.4401.5.3.1.9.6" => CAMELLIA, 16, Gcm;
                c"CAMELLIA-192-GCM:0.3.4401.5.3.1.9.26" => CAMELLIA, 24, Gcm;
                c"CAMELLIA-256-GCM:0.3.4401.5.3.1.9.46" => CAMELLIA, 32, Gcm;
                c"ARIA-128-ECB:1.2.410.200046.1.1.1" => ARIA, 16, Ecb;
                c"ARIA-192-ECB:1.2.410.200046.1.1.6" => ARIA, 24, Ecb;
                c"ARIA-256-ECB:1.2.410.200046.1.1.11" => ARIA, 32, Ecb;
                c"ARIA-128-CBC:ARIA128:1.2.410.200046.1.1.2" => ARIA, 16, Cbc;
                c"ARIA-192-CBC:ARIA192:1.2.410.200046.1.1.7" => ARIA, 24, Cbc;
                c"ARIA-256-CBC:ARIA256:1.2.410.200046.1.1.12" => ARIA, 32, Cbc;
                c"ARIA-128-CFB:1.2.410.200046.1.1.3" => ARIA, 16, Cfb;
                c"ARIA-192-CFB:1.2.410.200046.1.1.8" => ARIA, 24, Cfb;
                c"ARIA-256-CFB:1.2.410.200046.1.1.13" => ARIA, 32, Cfb;
                c"ARIA-128-CFB8" => ARIA, 16, Cfb8;
                c"ARIA-192-CFB8" => ARIA, 24, Cfb8;
                c"ARIA-256-CFB8" => ARIA, 32, Cfb8;
                c"ARIA-128-CFB1" => ARIA, 16, Cfb1;
                c"ARIA-192-CFB1" => ARIA, 24, Cfb1;
                c"ARIA-256-CFB1" => ARIA, 32, Cfb1;
                c"ARIA-128-OFB:1.2.410.200046.1.1.4" => ARIA, 16, Ofb;
                c"ARIA-192-OFB:1.2.410.200046.1.1.9" => ARIA, 24, Ofb;
                c"ARIA-256-OFB:1.2.410.200046.1.1.14" => ARIA, 32, Ofb;
                c"ARIA-128-CTR:1.2.410.200046.1.1.5" => ARIA, 16, Ctr;
                c"ARIA-192-CTR:1.2.410.200046.1.1.10" => ARIA, 24, Ctr;
                c"ARIA-256-CTR:1.2.410.200046.1.1.15" => ARIA, 32, Ctr;
                c"ARIA-128-GCM:1.2.410.200046.1.1.34" => ARIA, 16, Gcm;
                c"ARIA-192-GCM:1.2.410.200046.1.1.35" => ARIA, 24, Gcm;
                c"ARIA-256-GCM:1.2.410.200046.1.1.36" => ARIA, 32, Gcm;
                c"ARIA-128-CCM:1.2.410.200046.1.1.37" => ARIA, 16, Ccm;
                c"ARIA-192-CCM:1.2.410.200046.1.1.38" => ARIA, 24, Ccm;
                c"ARIA-256-CCM:1.2.410.200046.1.1.39" => ARIA, 32, Ccm;
                c"SEED-ECB:1.2.410.200004.1.3" => SEED, 16, Ecb;
                c"SEED-CBC:SEED:1.2.410.200004.1.4" => SEED, 16, Cbc;
                c"SEED-CFB:SEED-CFB128:1.2.410.200004.1.5" => SEED, 16, Cfb;
                c"SEED-OFB:SEED-OFB128:1.2.410.200004.1.6" => SEED, 16, Ofb;
                c"SM4-ECB:1.2.156.10197.1.104.1" => SM4, 16, Ecb;
                c"SM4-CBC:SM4:1.2.156.10197.1.104.2" => SM4, 16, Cbc;
                c"SM4-CFB:SM4-CFB128:1.2.156.10197.1.104.4" => SM4, 16, Cfb;
                c"SM4-OFB:SM4-OFB128:1.2.156.10197.1.104.3" => SM4, 16, Ofb;
                c"SM4-CTR:1.2.156.10197.1.104.7" => SM4, 16, Ctr;
                c"SM4-GCM:1.2.156.10197.1.104.8" => SM4, 16, Gcm;
                c"SM4-CCM:1.2.156.10197.1.104.9" => SM4, 16, Ccm;
                c"SM4-XTS:1.2.156.10197.1.104.10" => SM4, 32, Xts;
                c"DES-ECB:1.3.14.3.2.6" => DES, 8, Ecb;
                c"DES-CBC:DES:1.3.14.3.2.7" => DES, 8, Cbc;
                c"DES-CFB:1.3.14.3.2.9" => DES, 8, Cfb;
                c"DES-CFB8" => DES, 8, Cfb8;
                c"DES-CFB1" => DES, 8, Cfb1;
                c"DES-OFB:1.3.14.3.2.8" => DES, 8, Ofb;
                c"DES-EDE:DES-EDE-ECB:1.3.14.3.2.17" => TDES, 16, Ecb;
                c"DES-EDE-CBC" => TDES, 16, Cbc;
                c"DES-EDE-CFB" => TDES, 16, Cfb;
                c"DES-EDE-OFB" => TDES, 16, Ofb;
                c"DES-EDE3:DES-EDE3-ECB" => TDES, 24, Ecb;
                c"DES-EDE3-CBC:DES3:1.2.840.113549.3.7" => TDES, 24, Cbc;
                c"DES-EDE3-CFB" => TDES, 24, Cfb;
                c"DES-EDE3-CFB8" => TDES, 24, Cfb8;
                c"DES-EDE3-CFB1" => TDES, 24, Cfb1;
                c"DES-EDE3-OFB" => TDES, 24, Ofb;
                c"HIGHT-ECB" => HIGHT, 16, Ecb;
                c"HIGHT-CBC" => HIGHT, 16, Cbc;
                c"HIGHT-CTR" => HIGHT, 16, Ctr;
                c"LEA-128-ECB" => LEA, 16, Ecb;
                c"LEA-192-ECB" => LEA, 24, Ecb;
                c"LEA-256-ECB" => LEA, 32, Ecb;
                c"LEA-128-CBC" => LEA, 16, Cbc;
                c"LEA-192-CBC" => LEA, 24, Cbc;
                c"LEA-256-CBC" => LEA, 32, Cbc;
                c"LEA-128-CTR" => LEA, 16, Ctr;
                c"LEA-192-CTR" => LEA, 24, Ctr;
                c"LEA-256-CTR" => LEA, 32, Ctr;
                c"LEA-128-GCM" => LEA, 16, Gcm;
                c"LEA-192-GCM" => LEA, 24, Gcm;
                c"LEA-256-GCM" => LEA, 32, Gcm;
            }
            c"lanecrypt.aes=yes": {
                c"AES-128-ECB:2.16.840.1.101.3.4.1.1" => AES, 16, Ecb;
                c"AES-192-ECB:2.16.840.1.101.3.4.1.21" => AES, 24, Ecb;
                c"AES-256-ECB:2.16.840.1.101.3.4.1.41" => AES, 32, Ecb;
                c"AES-128-CBC:AES128:2.16.840.1.101.3.4.1.2" => AES, 16, Cbc;
                c"AES-192-CBC:AES192:2.16.840.1.101.3.4.1.22" => AES, 24, Cbc;
                c"AES-256-CBC:AES256:2.16.840.1.101.3.4.1.42" => AES, 32, Cbc;
                c"AES-128-CTR" => AES, 16, Ctr;
                c"AES-192-CTR" => AES, 24, Ctr;
                c"AES-256-CTR" => AES, 32, Ctr;
                c"AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6" => AES, 16, Gcm;
                c"AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26" => AES, 24, Gcm;
                c"AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46" => AES, 32, Gcm;
                c"AES-128-CCM:id-aes128-CCM:2.16.840.1.101.3.4.1.7" => AES, 16, Ccm;
                c"AES-192-CCM:id-aes192-CCM:2.16.840.1.101.3.4.1.27" => AES, 24, Ccm;
                c"AES-256-CCM:id-aes256-CCM:2.16.840.1.101.3.4.1.47" => AES, 32, Ccm;
                c"AES-128-XTS:1.3.111.2.1619.0.1.1" => AES, 32, Xts;
                c"AES-256-XTS:1.3.111.2.1619.0.1.2" => AES, 64, Xts;
            }
        }
    };
}
pub(crate) use for_each_algorithm;

/// An [`Algorithm`] of a line of the list.
macro_rules! algorithm {
    ($properties:literal, $names:literal, $cipher:ident, $key_bytes:literal, $mode:ident) => {
        $crate::Algorithm {
            names: $names,
            properties: $properties,
            cipher: &$crate::algorithm::ciphers::$cipher,
            key_bytes: $key_bytes,
            mode: $crate::EvpMode::$mode,
            passed: ::std::sync::OnceLock::new(),
        }
    };
}
pub(crate) use algorithm;

macro_rules! list {
    ($($properties:literal: { $($names:literal => $cipher:ident, $key_bytes:literal, $mode:ident;)* })*) => {
        /// How many algorithms there are.
        pub(crate) const COUNT: usize = [$($($key_bytes),*),*].len();

        /// Everything offered.
        pub static ALGORITHMS: [Algorithm; COUNT] =
            [$($(algorithm!($properties, $names, $cipher, $key_bytes, $mode),)*)*];
    };
}
for_each_algorithm!(list);

/// The block ciphers by the words of the list.
pub(crate) mod ciphers {
    pub(crate) use lanecrypt::{
        aes::AES,
        aria::ARIA,
        camellia::CAMELLIA,
        des::{DES, TDES},
        hight::HIGHT,
        lea::LEA,
        seed::SEED,
        sm4::SM4,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sound() {
        let mut names = Vec::new();
        for algorithm in &ALGORITHMS {
            let key = vec![1; algorithm.cipher_key_bytes()];
            algorithm.cipher.check_key(&key).expect("a key length that the cipher takes");
            assert!(algorithm.cipher.backend("default").is_some(), "{:?}", algorithm.names);
            assert!(!algorithm.mode.is_authenticated() || algorithm.cipher.block_bytes == 16);
            names.extend(algorithm.names.to_str().expect("ASCII").split(':'));
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a name is registered once");
    }
}
