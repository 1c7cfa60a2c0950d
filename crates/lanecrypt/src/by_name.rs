//! Engines by the name of a cipher: on the CPU or a GPU, whichever is faster, or on a GPU.

use crate::{
    Auto, CIPHERS, Engine, LookupError,
    cuda::{CipherKernels, Family},
    engine, find_cipher,
};

/// An engine by the name of its cipher that picks CPU or GPU, whichever is faster, constant-time wherever
/// that is: an [`Auto`], or on the CPU's threads for ciphers that have no kernels.
///
/// # Errors
/// [`LookupError`] for unknown names and key lengths that the cipher does not take.
///
/// ```
/// let engine = lanecrypt::auto("camellia", &[0; 24])?;
/// let mut data = vec![0; 1000];
/// engine.ctr(&[0; 16], data.as_mut_slice().into())?;
/// # Ok::<(), lanecrypt::LookupError>(())
/// ```
pub fn auto(cipher: &str, key: &[u8]) -> Result<Box<dyn Engine>, LookupError> {
    let Some(family) = constant_time_family(cipher)? else {
        return engine(cipher, "default", key);
    };
    Ok(Box::new(Auto::by_family(family, key)?))
}

/// The fastest kernels of the cipher with this name, if it has kernels; those of most ciphers look tables up.
///
/// # Errors
/// [`LookupError::NoSuchCipher`], which names all ciphers.
pub fn fastest_family(cipher: &str) -> Result<Option<&'static Family>, LookupError> {
    Ok(CipherKernels::of(find_cipher(cipher)?).map(|kernels| kernels.fastest))
}

/// The fastest constant-time kernels of the cipher with this name, if it has kernels.
///
/// # Errors
/// [`LookupError::NoSuchCipher`], which names all ciphers.
pub fn constant_time_family(cipher: &str) -> Result<Option<&'static Family>, LookupError> {
    Ok(CipherKernels::of(find_cipher(cipher)?).map(|kernels| kernels.constant_time))
}

/// The families that types of users have, some of them twice.
pub(crate) fn users_families() -> impl Iterator<Item = &'static Family> {
    let kernels = CIPHERS.iter().filter_map(|cipher| CipherKernels::of(cipher));
    kernels.flat_map(|kernels| [kernels.fastest, kernels.constant_time])
}
