//! Sealed objects: opened into a file, or read at any place.

use std::path::Path;

use lanecrypt_tink::{Keyset, Options, Sealed, open_file, open_source};

use crate::{Error, Location, Object, Stores, location::Address, read_ahead::ReadAhead};

/// Opens what is sealed at `source` into the file `target`; returns the bytes of plaintext. Nothing is
/// left at the target, and what was there stays, where this fails.
///
/// # Errors
/// Those of [`open_file`], [`Error::Store`].
pub fn open_location(
    keyset: &Keyset,
    source: &Location,
    target: &Path,
    stores: &Stores,
    options: Options<'_>,
) -> Result<u64, Error> {
    match source {
        Location::File(path) => Ok(open_file(keyset, path, target, options)?),
        Location::Object(address) => {
            let object = stores.object_unless(address, options.cancel)?;
            let whole = 0..object.size();
            let source =
                ReadAhead::new(object.until(options.cancel), whole, keyset, options.runner);
            Ok(open_source(keyset, source, target, options)?)
        }
    }
}

/// A sealed object that is read at any place: only the segments that a range touches are asked for.
///
/// # Errors
/// Those of [`Sealed::open`], [`Error::Store`].
pub fn open_object(
    keyset: &Keyset,
    source: &Address,
    stores: &Stores,
    associated_data: &[u8],
) -> Result<Sealed<Object>, Error> {
    Ok(Sealed::open(stores.object(source)?, keyset, associated_data)?)
}
