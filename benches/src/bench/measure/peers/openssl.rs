//! OpenSSL, through the crate `openssl`.

use std::sync::OnceLock;

use lanecrypt::registry::CipherDescription;
use lanecrypt_record::Work;
use openssl::{cipher::Cipher, cipher_ctx::CipherCtx, error::ErrorStack, provider::Provider};

use crate::bench::{measure::runner::Runner, plan::GCM_IV_BYTES};

/// Name and version.
pub(crate) fn version() -> String {
    openssl::version::version().to_owned()
}

/// Makes a keyed mode of a cipher.
///
/// # Errors
/// What OpenSSL lacks.
pub(crate) fn create(
    cipher: &CipherDescription,
    work: Work,
    key: &[u8],
) -> Result<Box<dyn Runner>, String> {
    load_providers().map_err(|error| error.to_string())?;
    let bits = 8 * key.len() / if work == Work::XtsEncrypt { 2 } else { 1 };
    let name = match (cipher.name, bits) {
        ("aes", _) => format!("AES-{bits}"),
        ("aria", _) => format!("ARIA-{bits}"),
        ("camellia", _) => format!("CAMELLIA-{bits}"),
        ("seed" | "sm4", _) => cipher.name.to_uppercase(),
        ("des", _) => "DES".to_owned(),
        ("tdes", 128) => "DES-EDE".to_owned(),
        ("tdes", _) => "DES-EDE3".to_owned(),
        (other, _) => return Err(format!("it has no {}", other.to_uppercase())),
    };
    let mode = match work {
        Work::EcbEncrypt | Work::EcbDecrypt => "ECB",
        Work::Ctr => "CTR",
        Work::CbcDecrypt => "CBC",
        Work::XtsEncrypt => "XTS",
        Work::GcmEncrypt => "GCM",
        _ => return Err(format!("it has no {work}")),
    };
    if mode == "XTS" && cipher.name != "aes" {
        return Err("it has XTS by IEEE 1619 for AES alone".to_owned());
    }
    let algorithm = format!("{name}-{mode}");
    let cipher = Cipher::fetch(None, &algorithm, None);
    let cipher = cipher.map_err(|_| format!("it has no {algorithm}"))?;
    let (is_ecb, is_gcm) = (mode == "ECB", mode == "GCM");
    let decrypts = matches!(work, Work::EcbDecrypt | Work::CbcDecrypt);
    let context = CipherCtx::new().and_then(|mut context| {
        if decrypts {
            context.decrypt_init(Some(&cipher), Some(key), None)?;
        } else {
            context.encrypt_init(Some(&cipher), Some(key), None)?;
        }
        context.set_padding(false);
        Ok(context)
    });
    let context = context.map_err(|error| format!("{algorithm}: {error}"))?;
    Ok(Box::new(Mode { context, is_ecb, is_gcm, decrypts }))
}

/// The provider of SEED and DES, and the default one, which has to be named where another is.
fn load_providers() -> Result<(), ErrorStack> {
    static PROVIDERS: OnceLock<Result<[Provider; 2], ErrorStack>> = OnceLock::new();
    let load = || Ok([Provider::load(None, "default")?, Provider::load(None, "legacy")?]);
    PROVIDERS.get_or_init(load).as_ref().map(drop).map_err(Clone::clone)
}

/// A keyed context, from one buffer to the other.
struct Mode {
    context: CipherCtx,
    is_ecb: bool,
    is_gcm: bool,
    decrypts: bool,
}

impl Runner for Mode {
    fn run(&mut self, iv: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), String> {
        let iv = if self.is_gcm { &iv[..GCM_IV_BYTES] } else { iv };
        let mut run = || {
            if !self.is_ecb && self.decrypts {
                self.context.decrypt_init(None, None, Some(iv))?;
            } else if !self.is_ecb {
                self.context.encrypt_init(None, None, Some(iv))?;
            }
            let written = self.context.cipher_update(input, Some(output))?;
            if self.is_gcm {
                self.context.cipher_final(&mut output[written..])?;
                self.context.tag(&mut std::hint::black_box([0; 16]))?;
            }
            Ok(())
        };
        run().map_err(|error: ErrorStack| error.to_string())
    }
}
