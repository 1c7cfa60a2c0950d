//! Engines by the name of a cipher: on the CPU or a GPU, whichever is faster, or on a GPU.

use crate::{
    Auto, CipherDescription, Engine, LookupError, aes, aria, camellia,
    cuda::{DeviceCipher, Family},
    des, engine, find_cipher, hight, seed,
};

/// The kernels that the types of users of one cipher take: the same for every key length.
struct Families {
    fastest: fn() -> &'static Family,
    constant_time: fn() -> &'static Family,
}

const fn of<C: DeviceCipher>() -> Families {
    Families { fastest: C::family, constant_time: C::constant_time_family }
}

static FAMILIES: [Families; 7] = [
    of::<aes::Aes128>(),
    of::<aria::Aria128>(),
    of::<camellia::Camellia128>(),
    of::<des::Des>(),
    of::<des::TdesEde3>(),
    of::<hight::Hight>(),
    of::<seed::Seed128>(),
];

fn families(cipher: &CipherDescription) -> Option<&'static Families> {
    FAMILIES.iter().find(|families| (families.fastest)().cipher().name == cipher.name)
}

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
    Ok(families(find_cipher(cipher)?).map(|families| (families.fastest)()))
}

/// The fastest constant-time kernels of the cipher with this name, if it has kernels.
///
/// # Errors
/// [`LookupError::NoSuchCipher`], which names all ciphers.
pub fn constant_time_family(cipher: &str) -> Result<Option<&'static Family>, LookupError> {
    Ok(families(find_cipher(cipher)?).map(|families| (families.constant_time)()))
}

/// The families that types of users have, some of them twice.
pub(crate) fn users_families() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter().flat_map(|families| [(families.fastest)(), (families.constant_time)()])
}
