//! Random numbers of the system.

use zeroize::Zeroizing;

use crate::Error;

/// `count` random bytes.
pub(crate) fn bytes(count: usize) -> Result<Zeroizing<Vec<u8>>, Error> {
    let mut bytes = Zeroizing::new(vec![0; count]);
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// A key id: any number but zero.
pub(crate) fn key_id() -> Result<u32, Error> {
    loop {
        let id = getrandom::u32()?;
        if id != 0 {
            return Ok(id);
        }
    }
}
