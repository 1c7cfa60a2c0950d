//! Keys and passphrases: from a file, standard input or the terminal, never from the command line.

use std::{
    fs,
    io::{self, IsTerminal, Read},
    path::Path,
};

use zeroize::Zeroizing;

use crate::{failure::Failure, file::standard_input};

/// More than any secret has: what is longer was not meant to be one.
const LONGEST: u64 = 64 << 10;

/// Bytes that are cleared when dropped.
pub(crate) type Secret = Zeroizing<Vec<u8>>;

/// A key, written as hexadecimal digits in a file; `-` is standard input.
pub(crate) fn hex_key(file: &Path, bytes: usize) -> Result<Secret, Failure> {
    let text = read(file, "the key")?;
    let digits = text.trim_ascii();
    let mut key = Zeroizing::new(vec![0; digits.len() / 2]);
    let shown = file.display();
    hex::decode_to_slice(digits, &mut key)
        .map_err(|_| Failure::Usage(format!("{shown}: the key must be hexadecimal digits")))?;
    of_length(key, bytes, &shown.to_string())
}

/// A key, the bytes of a file; `-` is standard input.
pub(crate) fn raw_key(file: &Path, bytes: usize) -> Result<Secret, Failure> {
    of_length(read(file, "the key")?, bytes, &file.display().to_string())
}

fn of_length(key: Secret, bytes: usize, file: &str) -> Result<Secret, Failure> {
    if key.len() == bytes {
        return Ok(key);
    }
    let given = key.len();
    Err(Failure::Usage(format!("{file}: the key has {given} bytes; this cipher takes {bytes}")))
}

/// A passphrase: the first line of a file, or typed where none is named, twice if it is a new one.
pub(crate) fn passphrase(file: Option<&Path>, is_new: bool) -> Result<Secret, Failure> {
    let Some(file) = file else { return typed(is_new) };
    let text = read(file, "the passphrase")?;
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return Err(Failure::Usage(format!("{}: the first line is empty", file.display())));
    }
    Ok(Zeroizing::new(line.to_vec()))
}

fn typed(is_new: bool) -> Result<Secret, Failure> {
    if !io::stderr().is_terminal() {
        let advice = "there is no terminal to type a passphrase at; name a file that has it";
        return Err(Failure::Usage(advice.to_owned()));
    }
    let ask = |prompt: &str| match rpassword::prompt_password(prompt) {
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

/// All bytes of a file, or with `-` of standard input, which is `what` then.
pub(crate) fn read(file: &Path, what: &'static str) -> Result<Secret, Failure> {
    if file.as_os_str() == "-" {
        return read_all(standard_input(what)?, file);
    }
    read_all(fs::File::open(file).map_err(Failure::of(file.display()))?, file)
}

/// All bytes of what was opened at this path.
pub(crate) fn read_all(from: impl Read, path: &Path) -> Result<Secret, Failure> {
    let shown = path.display();
    // With room for all of it: a vector that grows leaves copies behind.
    let mut secret = Zeroizing::new(Vec::with_capacity(LONGEST as usize + 1));
    let read = from.take(LONGEST + 1).read_to_end(&mut secret);
    let length = read.map_err(Failure::of(&shown))? as u64;
    if length > LONGEST {
        return Err(Failure::Usage(format!("{shown}: longer than any key or passphrase")));
    }
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_secret_is_read_in_one_place() {
        let read = |bytes| read_all(io::repeat(7).take(bytes), Path::new("endless"));
        for bytes in [0, 16, LONGEST] {
            let secret = read(bytes).expect("it is not too long");
            assert_eq!(secret.len() as u64, bytes);
            assert_eq!(secret.capacity() as u64, LONGEST + 1, "it grew, and left a copy behind");
        }
        for bytes in [LONGEST + 1, LONGEST + 2, u64::MAX] {
            let failure = read(bytes).expect_err("it is too long");
            assert_eq!(failure.to_string(), "endless: longer than any key or passphrase");
        }
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
