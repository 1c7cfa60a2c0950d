//! One job of a batch, over any engine.

use lanecrypt_core::{
    Direction, Engine, Error,
    batch::{Job, JobMode},
    modes,
};

use crate::Gcm;

/// Runs one message of a batch under `engine`, which has its key already: [`Job::key`] is not looked at.
///
/// # Errors
/// [`Error::OutputLength`] and those of [`JobMode::check`], before anything is written;
/// [`Error::NotAuthentic`]: the output is the ciphertext then; the engine's own errors: the output is
/// unspecified then, and zeros in GCM decryption.
pub fn run_job<E: Engine>(engine: E, job: &mut Job<'_>) -> Result<(), Error> {
    job.mode.check(job.data.len(), engine.block_bytes())?;
    let data = job.data.inout()?;
    match &mut job.mode {
        JobMode::EcbEncrypt => engine.ecb(Direction::Encrypt, data),
        JobMode::EcbDecrypt => engine.ecb(Direction::Decrypt, data),
        JobMode::Ctr { counter } => engine.ctr(counter, data),
        JobMode::Ctr32 { counter } => modes::ctr32(&engine, counter, data),
        JobMode::CbcEncrypt { iv } => modes::cbc_encrypt(&engine, iv, data),
        JobMode::CbcDecrypt { iv } => modes::cbc_decrypt(&engine, iv, data),
        JobMode::GcmEncrypt { iv, aad, tag } => Gcm::<E>::of(engine)?.encrypt(iv, aad, data, tag),
        JobMode::GcmDecrypt { iv, aad, tag } => Gcm::<E>::of(engine)?.decrypt(iv, aad, data, tag),
    }
}
