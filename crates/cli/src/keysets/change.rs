//! Changes of a keyset's file: a new file takes the place of the old one, so that the file is whole at every moment.

use std::{
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::Path,
};

use lanecrypt_tink::{Error, Keyset, Output};

use super::{Source, json_of};
use crate::{failure::Failure, secret, signals};

/// Changes the keyset in a file, which keeps its permissions, its passphrase and the passphrase's cost. Commands that
/// change the same file wait for one another, so that no change is lost. `tell` tells a person of what `change` gives,
/// before the new file is in place: a key that could not be told of is not added.
///
/// # Errors
/// Those of reading, of `change`, of `tell` and of writing; the file is as it was then.
pub(super) fn change<T>(
    source: &Source,
    change: impl FnOnce(&mut Keyset) -> Result<T, Error>,
    tell: impl FnOnce(T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let path = &source.keyset;
    if path.as_os_str() == "-" {
        let text = "--keyset -: standard input cannot be changed; name a file";
        return Err(Failure::Usage(text.to_owned()));
    }
    let file = locked(path).map_err(Failure::of(path.display()))?;
    let (mut keyset, wrapping) = source.unwrap(&secret::read_all(&file, path, secret::KEYSET)?)?;
    let changed = change(&mut keyset)?;
    let text = json_of(&keyset, wrapping.as_ref())?;
    let json = text.trim_end();
    secret::KEYSET.check_length(json.len() + 1, path)?;
    let output = Output::create(path)?;
    signals::remove_when_interrupted(output.temporary().to_owned());
    writeln!(output.file(), "{json}").map_err(Failure::of(path.display()))?;
    tell(changed)?;
    Ok(output.commit_unless(signals::cancelled())?)
}

/// The file at this path, which no other command changes until it is dropped.
fn locked(path: &Path) -> io::Result<File> {
    loop {
        let file = File::open(path)?;
        file.lock()?;
        // The command that had the lock before may have put a new file in this one's place.
        let (locked, now) = (file.metadata()?, fs::metadata(path)?);
        if (locked.dev(), locked.ino()) == (now.dev(), now.ino()) {
            return Ok(file);
        }
    }
}
