//! Keys and IVs of `raw`: from files, or from a passphrase as `openssl enc -pbkdf2` derives them.

use std::io::{Read, Write};

use sha2::Sha256;
use zeroize::Zeroizing;

use super::{Arguments, RawMode};
use crate::{
    failure::Failure,
    file::{Input, Output},
    secret::{self, Secret},
};

/// Default iterations of `openssl enc -pbkdf2`.
const ITERATIONS: u32 = 10_000;
/// What `openssl enc` writes before the salt.
const MAGIC: &[u8; 8] = b"Salted__";
const SALT_BYTES: usize = 8;

/// What a message is encrypted with.
pub(super) struct Keyed {
    /// Of XTS two keys.
    pub(super) key: Secret,
    /// Empty in modes without.
    pub(super) iv: Vec<u8>,
}

/// Reads the key, or asks for a passphrase; the salt is read from the input, or written to the output.
pub(super) fn of(
    arguments: &Arguments,
    input: &mut Input,
    output: &mut Output,
) -> Result<Keyed, Failure> {
    let keys = if arguments.mode == RawMode::Xts { 2 } else { 1 };
    let key_bytes = keys * arguments.cipher.key_bytes;
    let source = &arguments.key;
    let key = match (&source.key_file, &source.raw_key_file, &source.passphrase) {
        (Some(file), ..) => secret::hex_key(file, key_bytes)?,
        (None, Some(file), _) => secret::raw_key(file, key_bytes)?,
        (None, None, Some(file)) => {
            let passphrase = secret::openssl_passphrase(file.as_deref(), !arguments.decrypt)?;
            let salt = salt(arguments, input, output)?;
            return Ok(derived(arguments, &passphrase, &salt, key_bytes));
        }
        (None, None, None) => {
            let advice = "name the key: --key-file, --raw-key-file or --passphrase";
            return Err(Failure::Usage(advice.to_owned()));
        }
    };
    Ok(Keyed { key, iv: iv(arguments)? })
}

/// Bytes that the IV of a mode has; none of a mode without, or that takes any number.
fn iv_bytes(arguments: &Arguments) -> usize {
    match arguments.mode {
        RawMode::Ecb | RawMode::Xts | RawMode::Gcm => 0,
        _ => arguments.cipher.cipher.block_bytes,
    }
}

fn iv(arguments: &Arguments) -> Result<Vec<u8>, Failure> {
    let expected = iv_bytes(arguments);
    let is_gcm = arguments.mode == RawMode::Gcm;
    let Some(digits) = &arguments.iv else {
        if expected == 0 && !is_gcm {
            return Ok(Vec::new());
        }
        return Err(Failure::Usage("this mode needs an IV: --iv HEX".to_owned()));
    };
    let iv = hex::decode(digits)
        .map_err(|_| Failure::Usage("--iv: must be hexadecimal digits".to_owned()))?;
    if iv.len() != expected && !is_gcm {
        let given = iv.len();
        let text = format!("--iv: {given} bytes; this cipher takes {expected} in this mode");
        return Err(Failure::Usage(text));
    }
    Ok(iv)
}

/// The salt: of a message that is there, or a new one.
fn salt(
    arguments: &Arguments,
    input: &mut Input,
    output: &mut Output,
) -> Result<[u8; SALT_BYTES], Failure> {
    let mut salt = [0; SALT_BYTES];
    if arguments.decrypt {
        let mut header = [0; MAGIC.len() + SALT_BYTES];
        let read = input.read_exact(&mut header);
        let (magic, rest) = header.split_at(MAGIC.len());
        if read.is_err() || magic != MAGIC {
            let name = input.name();
            let text = format!(
                "{name}: it does not start with \"Salted__\" as what a passphrase encrypts"
            );
            return Err(Failure::NotAuthentic(text));
        }
        salt.copy_from_slice(rest);
        return Ok(salt);
    }
    getrandom::fill(&mut salt).map_err(|error| Failure::Io(format!("random bytes: {error}")))?;
    let name = output.name().to_owned();
    output.write_all(&[MAGIC.as_slice(), &salt].concat()).map_err(Failure::of(name))?;
    Ok(salt)
}

/// Key and IV are one output of PBKDF2 with SHA-256.
fn derived(arguments: &Arguments, passphrase: &[u8], salt: &[u8], key_bytes: usize) -> Keyed {
    let mut both = Zeroizing::new(vec![0; key_bytes + iv_bytes(arguments)]);
    let iterations = arguments.iterations.unwrap_or(ITERATIONS);
    pbkdf2::pbkdf2_hmac::<Sha256>(passphrase, salt, iterations, &mut both);
    let (key, iv) = both.split_at(key_bytes);
    Keyed { key: Zeroizing::new(key.to_vec()), iv: iv.to_vec() }
}
