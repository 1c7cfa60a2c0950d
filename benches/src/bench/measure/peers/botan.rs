//! Botan, through the crate `botan`.

use botan::{BlockCipher, Cipher, CipherDirection, Error, Version};
use lanecrypt::registry::CipherDescription;
use lanecrypt_record::Work;

use crate::bench::{measure::runner::Runner, plan::GCM_IV_BYTES};

/// Name and version.
pub(crate) fn version() -> String {
    Version::current().map_or_else(|error| format!("Botan ({error})"), |version| version.string)
}

/// Makes a keyed mode of a cipher.
///
/// # Errors
/// What Botan lacks.
pub(crate) fn create(
    cipher: &CipherDescription,
    work: Work,
    key: &[u8],
) -> Result<Box<dyn Runner>, String> {
    let bits = 8 * key.len() / if work == Work::XtsEncrypt { 2 } else { 1 };
    let name = match cipher.name {
        "aes" => format!("AES-{bits}"),
        "aria" => format!("ARIA-{bits}"),
        "camellia" => format!("Camellia-{bits}"),
        "des" => "DES".to_owned(),
        "tdes" => "TripleDES".to_owned(),
        other => other.to_uppercase(),
    };
    if BlockCipher::new(&*name).is_err() {
        return Err(format!("it has no {name}"));
    }
    let failed = |error: Error| format!("{name}: {error}");
    let (mode, direction) = match work {
        Work::EcbEncrypt | Work::EcbDecrypt => {
            let mut blocks = BlockCipher::new(&*name).map_err(failed)?;
            blocks.set_key(key).map_err(failed)?;
            return Ok(Box::new(Ecb { blocks, encrypts: work == Work::EcbEncrypt }));
        }
        Work::Ctr => (format!("CTR-BE({name})"), CipherDirection::Encrypt),
        Work::CbcDecrypt => (format!("{name}/CBC/NoPadding"), CipherDirection::Decrypt),
        Work::XtsEncrypt => (format!("{name}/XTS"), CipherDirection::Encrypt),
        Work::GcmEncrypt => (format!("{name}/GCM"), CipherDirection::Encrypt),
        _ => return Err(format!("it has no {work}")),
    };
    let iv_bytes = if work == Work::GcmEncrypt { GCM_IV_BYTES } else { usize::MAX };
    let mut mode = Cipher::new(&*mode, direction).map_err(failed)?;
    mode.set_key(key).map_err(failed)?;
    let at_once = mode.ideal_update_granularity().unwrap_or_else(|| mode.update_granularity());
    Ok(Box::new(Mode { mode, at_once, iv_bytes }))
}

/// Blocks by themselves, in place.
struct Ecb {
    blocks: BlockCipher,
    encrypts: bool,
}

impl Runner for Ecb {
    fn run(&mut self, _iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String> {
        let data = &mut output[..input.len()];
        let ran = if self.encrypts {
            self.blocks.encrypt_in_place(data)
        } else {
            self.blocks.decrypt_in_place(data)
        };
        ran.map_err(|error| error.to_string())
    }
}

/// A mode with an IV, from one buffer to the other.
struct Mode {
    mode: Cipher,
    /// Bytes that Botan takes at once through its buffer.
    at_once: usize,
    /// The most bytes of an IV.
    iv_bytes: usize,
}

impl Runner for Mode {
    fn run(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String> {
        // The end goes through a buffer as long as itself, so it is kept short.
        let end = (input.len() - 1) / self.at_once * self.at_once;
        let mut run = || {
            self.mode.start(&iv[..iv.len().min(self.iv_bytes)])?;
            let written = self.mode.update_into(&input[..end], output)?;
            self.mode.finish_into(&input[end..], &mut output[written..])
        };
        run().map(drop).map_err(|error: Error| error.to_string())
    }
}
