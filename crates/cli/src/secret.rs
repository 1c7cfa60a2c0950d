//! Keys and passphrases: from a file, standard input or the terminal, never from the command line.

use std::{
    fs,
    io::{self, IsTerminal, Read},
    path::Path,
};

use zeroize::Zeroizing;

use crate::{failure::Failure, file::standard_input, signals};

/// Bytes that are cleared when dropped.
pub(crate) type Secret = Zeroizing<Vec<u8>>;

/// What a file has, as messages call it, and the most bytes of one: what is longer was not meant to be one.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    what: &'static str,
    most: u64,
}

const KEY: Kind = Kind { what: "the key", most: 64 << 10 };
const PASSPHRASE: Kind = Kind { what: "the passphrase", most: 64 << 10 };
/// Some fifty thousand keys.
pub(crate) const KEYSET: Kind = Kind { what: "the keyset", most: 16 << 20 };

/// Room for what is read, until it turns out to be longer: all of a key.
const FIRST_ROOM: usize = (64 << 10) + 1;

impl Kind {
    /// Fails where bytes that are to be written could not be read again.
    pub(crate) fn check_length(self, bytes: usize, path: &Path) -> Result<(), Failure> {
        let Self { what, most } = self;
        if bytes as u64 <= most {
            return Ok(());
        }
        let path = path.display();
        let text = format!("{path}: {what} would have {bytes} bytes; at most {most} are read");
        Err(Failure::Usage(text))
    }
}

/// A key, written as hexadecimal digits in a file; `-` is standard input.
pub(crate) fn hex_key(file: &Path, bytes: usize) -> Result<Secret, Failure> {
    let text = read(file, KEY)?;
    let digits = text.trim_ascii();
    let mut key = Zeroizing::new(vec![0; digits.len() / 2]);
    let shown = file.display();
    hex::decode_to_slice(digits, &mut key)
        .map_err(|_| Failure::Usage(format!("{shown}: the key must be hexadecimal digits")))?;
    of_length(key, bytes, &shown.to_string())
}

/// A key, the bytes of a file; `-` is standard input.
pub(crate) fn raw_key(file: &Path, bytes: usize) -> Result<Secret, Failure> {
    of_length(read(file, KEY)?, bytes, &file.display().to_string())
}

fn of_length(key: Secret, bytes: usize, file: &str) -> Result<Secret, Failure> {
    if key.len() == bytes {
        return Ok(key);
    }
    let given = key.len();
    Err(Failure::Usage(format!("{file}: the key has {given} bytes; this cipher takes {bytes}")))
}

/// A passphrase of a keyset: the first line of a file, or typed where none is named, twice if it is a new one.
pub(crate) fn passphrase(file: Option<&Path>, is_new: bool) -> Result<Secret, Failure> {
    let Some(file) = file else { return typed(is_new) };
    let mut line = first_line(file)?;
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    not_empty(line, file)
}

/// A passphrase for what `openssl enc` reads and writes, to which a carriage return belongs.
///
/// # Errors
/// [`Failure::Usage`] for a line of which openssl would take the beginning only.
pub(crate) fn openssl_passphrase(file: Option<&Path>, is_new: bool) -> Result<Secret, Failure> {
    const MOST: usize = 1023;
    let Some(file) = file else { return typed(is_new) };
    let line = not_empty(first_line(file)?, file)?;
    let (shown, bytes) = (file.display(), line.len());
    if bytes > MOST {
        let text = format!("{shown}: a passphrase of {bytes} bytes; openssl takes at most {MOST}");
        return Err(Failure::Usage(text));
    }
    if line.contains(&0) {
        let text = format!("{shown}: a NUL in the passphrase, at which it would end for openssl");
        return Err(Failure::Usage(text));
    }
    Ok(line)
}

fn first_line(file: &Path) -> Result<Secret, Failure> {
    let text = read(file, PASSPHRASE)?;
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    Ok(Zeroizing::new(line.to_vec()))
}

fn not_empty(line: Secret, file: &Path) -> Result<Secret, Failure> {
    if line.is_empty() {
        return Err(Failure::Usage(format!("{}: the first line is empty", file.display())));
    }
    Ok(line)
}

fn typed(is_new: bool) -> Result<Secret, Failure> {
    if !io::stderr().is_terminal() {
        let advice = "there is no terminal to type a passphrase at; name a file that has it";
        return Err(Failure::Usage(advice.to_owned()));
    }
    let asked = |prompt: &str| signals::at_the_terminal(|| rpassword::prompt_password(prompt));
    let ask = |prompt: &str| match asked(prompt) {
        Ok(typed) => Ok(Zeroizing::new(typed)),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(Failure::Interrupted),
        Err(error) => Err(Failure::of("the terminal")(error)),
    };
    let first = ask("Passphrase: ")?;
    if first.is_empty() {
        return Err(Failure::Usage("an empty passphrase protects nothing".to_owned()));
    }
    if is_new && *ask("The same again: ")? != *first {
        return Err(Failure::Usage("the two passphrases differ".to_owned()));
    }
    Ok(Zeroizing::new(first.as_bytes().to_vec()))
}

/// All bytes of a file, or with `-` of standard input.
pub(crate) fn read(file: &Path, kind: Kind) -> Result<Secret, Failure> {
    if file.as_os_str() == "-" {
        return read_all(standard_input(kind.what)?, file, kind);
    }
    read_all(fs::File::open(file).map_err(Failure::of(file.display()))?, file, kind)
}

/// All bytes of what was opened at this path. A vector that grows would leave copies behind: they move to room that is
/// twice as long instead, and what they were in is cleared.
pub(crate) fn read_all(from: impl Read, path: &Path, kind: Kind) -> Result<Secret, Failure> {
    let (Kind { what, most }, shown) = (kind, path.display());
    let (mut from, mut room) = (from.take(most + 1), FIRST_ROOM);
    let mut secret = Secret::default();
    loop {
        let mut longer = Zeroizing::new(Vec::with_capacity(room));
        longer.extend_from_slice(&secret);
        secret = longer;
        let free = (room - secret.len()) as u64;
        let read = (&mut from).take(free).read_to_end(&mut secret).map_err(Failure::of(&shown))?;
        if secret.len() as u64 > most {
            return Err(Failure::Usage(format!("{shown}: {what} has more than {most} bytes")));
        }
        if (read as u64) < free {
            return Ok(secret);
        }
        room *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_moves_only_to_room_that_is_twice_as_long() {
        let read = |bytes, kind| read_all(io::repeat(7).take(bytes), Path::new("endless"), kind);
        let first = FIRST_ROOM as u64;
        for (kind, bytes, room) in [
            (KEY, 0, FIRST_ROOM),
            (KEY, 16, FIRST_ROOM),
            (KEY, KEY.most, FIRST_ROOM),
            (KEYSET, KEY.most, FIRST_ROOM),
            (KEYSET, first, 2 * FIRST_ROOM),
            (KEYSET, 2 * first - 1, 2 * FIRST_ROOM),
            (KEYSET, 2 * first, 4 * FIRST_ROOM),
        ] {
            let secret = read(bytes, kind).expect("it is not too long");
            assert!(secret.len() as u64 == bytes && secret.iter().all(|&byte| byte == 7));
            assert_eq!(secret.capacity(), room, "{bytes}");
        }
        for (kind, bytes, named) in [
            (KEY, KEY.most + 1, "endless: the key has more than 65536 bytes"),
            (PASSPHRASE, u64::MAX, "endless: the passphrase has more than 65536 bytes"),
            (KEYSET, KEYSET.most + 1, "endless: the keyset has more than 16777216 bytes"),
        ] {
            let failure = read(bytes, kind).expect_err("it is too long");
            assert_eq!(failure.to_string(), named);
        }
    }

    #[test]
    fn what_is_written_can_be_read_again() {
        let check = |bytes| KEYSET.check_length(bytes, Path::new("mine"));
        check(16 << 20).expect("it can be read");
        let failure = check((16 << 20) + 1).expect_err("it cannot be read");
        let named = "mine: the keyset would have 16777217 bytes; at most 16777216 are read";
        assert_eq!(failure.to_string(), named);
    }

    #[test]
    fn a_raw_key_is_the_bytes_of_its_file() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let bytes: Vec<u8> = (0..16).map(|i| i * 17).collect();
        fs::write(file.path(), &bytes).expect("room for a key");
        assert_eq!(*raw_key(file.path(), 16).expect("16 bytes"), bytes);
        for other in [15, 17, 32] {
            let failure = raw_key(file.path(), other).expect_err("another length");
            let named = format!("the key has 16 bytes; this cipher takes {other}");
            assert!(failure.to_string().ends_with(&named), "{failure}");
        }
    }
}
