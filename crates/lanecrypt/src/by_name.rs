//! Engines by the name of a cipher: where a buffer finishes first, or on a GPU.

use cipher::{Key, KeyInit};

use crate::{
    Auto, Engine, LookupError, aes, aria, camellia,
    cuda::{DeviceCipher, Family},
    des, engine, find_cipher, hight, seed,
};

/// A type of users that has kernels.
struct Keyed {
    /// Its fastest family.
    fastest: fn() -> &'static Family,
    /// The fastest that is constant-time.
    constant_time: fn() -> &'static Family,
    key_bytes: fn() -> usize,
    auto: fn(&[u8]) -> Option<Box<dyn Engine>>,
}

const fn of<C: DeviceCipher + Engine + KeyInit + 'static>() -> Keyed {
    fn auto<C: DeviceCipher + Engine + 'static>(key: &[u8]) -> Option<Box<dyn Engine>> {
        let key: &Key<C> = key.try_into().ok()?;
        Some(Box::new(Auto::<C>::constant_time(key)))
    }
    Keyed {
        fastest: C::family,
        constant_time: C::constant_time_family,
        key_bytes: C::key_size,
        auto: auto::<C>,
    }
}

static KEYED: [Keyed; 14] = [
    of::<aes::Aes128>(),
    of::<aes::Aes192>(),
    of::<aes::Aes256>(),
    of::<aria::Aria128>(),
    of::<aria::Aria192>(),
    of::<aria::Aria256>(),
    of::<camellia::Camellia128>(),
    of::<camellia::Camellia192>(),
    of::<camellia::Camellia256>(),
    of::<des::Des>(),
    of::<des::TdesEde2>(),
    of::<des::TdesEde3>(),
    of::<hight::Hight>(),
    of::<seed::Seed128>(),
];

/// An engine by the name of its cipher that runs where a buffer finishes first, constant-time wherever
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
    let description = find_cipher(cipher)?;
    description.check_key(key)?;
    let is_it = |keyed: &&Keyed| {
        (keyed.constant_time)().cipher().name == description.name
            && (keyed.key_bytes)() == key.len()
    };
    match KEYED.iter().find(is_it).and_then(|keyed| (keyed.auto)(key)) {
        Some(engine) => Ok(engine),
        None => engine(cipher, "default", key),
    }
}

/// The fastest constant-time kernels of the cipher with this name, if it has kernels.
///
/// # Errors
/// [`LookupError::NoSuchCipher`] naming those there are.
pub fn constant_time_family(cipher: &str) -> Result<Option<&'static Family>, LookupError> {
    let name = find_cipher(cipher)?.name;
    Ok(KEYED
        .iter()
        .map(|keyed| (keyed.constant_time)())
        .find(|family| family.cipher().name == name))
}

/// The families that types of users have, some of them several times.
pub(crate) fn users_families() -> impl Iterator<Item = &'static Family> {
    KEYED.iter().flat_map(|keyed| [(keyed.fastest)(), (keyed.constant_time)()])
}
