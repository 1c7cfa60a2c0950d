//! The parameters of a command line, and the disk that they name.

use std::{
    ffi::{CStr, OsStr},
    fs::File,
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use lanecrypt_luks::{DerivationLimits, Disk};
use rayon::ThreadPoolBuilder;
use zeroize::Zeroizing;

use crate::{Error, ffi};

/// What `nbdkit lanecrypt-luks --help` says.
pub(crate) const HELP: &CStr = c"\
[file=]<FILENAME>     (required) The LUKS container: a file or a device.
passphrase=<SECRET>   The passphrase: '-' to be asked, '+FILENAME' for the first
                      line of a file, '-FD' to read a file descriptor.
key-file=<FILENAME>   The passphrase is all that this file holds.
header=<FILENAME>     Where the header is detached: the file that it is in.
argon2-memory=<SIZE>  The most memory that a key slot may ask for (default 4G).
argon2-passes=<N>     The most passes over it (default 1000).
argon2-total=<SIZE>   The most that all key slots may ask for together, memory times
                      passes (default 256G).
pbkdf2-iterations=<N> The most iterations of PBKDF2 (default 100000000).
pbkdf2-total=<N>      The most that all key slots may ask for together (default
                      400000000).";

/// The most bytes of a key file, as cryptsetup has it.
const MOST_KEY_FILE: usize = 8 << 20;

/// The parameters so far.
pub(crate) struct Config {
    file: Option<PathBuf>,
    header: Option<PathBuf>,
    secret: Option<Zeroizing<Vec<u8>>>,
    limits: DerivationLimits,
}

/// A disk that is served.
pub(crate) struct Served {
    pub(crate) disk: Disk<File>,
    pub(crate) is_writable: bool,
}

impl Config {
    pub(crate) const fn new() -> Self {
        Self { file: None, header: None, secret: None, limits: DerivationLimits::DEFAULT }
    }

    pub(crate) fn set(&mut self, key: &CStr, value: &CStr) -> Result<(), Error> {
        match key.to_bytes() {
            b"file" => self.file = Some(path(value)),
            b"header" => self.header = Some(path(value)),
            b"passphrase" => self.set_secret(ffi::read_password(value)?)?,
            b"key-file" => {
                let path = path(value);
                let file = File::open(&path).map_err(|source| opening(&path, source))?;
                self.set_secret(secret_of(file, &path)?)?;
            }
            b"argon2-memory" => {
                let kib = ffi::parse_size(value)? >> 10;
                self.limits.argon2_memory_kib = u32::try_from(kib).unwrap_or(u32::MAX);
            }
            b"argon2-passes" => self.limits.argon2_passes = number(key, value)?,
            b"argon2-total" => self.limits.argon2_total_kib = ffi::parse_size(value)? >> 10,
            b"pbkdf2-total" => self.limits.pbkdf2_total_iterations = number(key, value)?.into(),
            b"pbkdf2-iterations" => self.limits.pbkdf2_iterations = number(key, value)?,
            _ => return Err(Error::UnknownParameter(key.to_string_lossy().into_owned())),
        }
        Ok(())
    }

    fn set_secret(&mut self, secret: Zeroizing<Vec<u8>>) -> Result<(), Error> {
        match self.secret.replace(secret) {
            None => Ok(()),
            Some(_) => Err(Error::Parameters("passphrase or key-file can be given once")),
        }
    }

    /// Whether all that is needed is there.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.file.is_none() {
            return Err(Error::Parameters("file=<FILENAME> is missing"));
        }
        if self.secret.is_none() {
            return Err(Error::Parameters("passphrase=<SECRET> or key-file=<FILENAME> is missing"));
        }
        Ok(())
    }

    /// Opens the container.
    pub(crate) fn open(self) -> Result<Served, Error> {
        self.check()?;
        let (path, secret) = (self.file.unwrap_or_default(), self.secret.unwrap_or_default());
        let (file, is_writable) = open_file(&path).map_err(|source| opening(&path, source))?;
        let header =
            self.header.map(|path| File::open(&path).map_err(|source| opening(&path, source)));
        let header = header.transpose()?;
        // nbdkit forks after this, and threads do not survive that: none of them may be rayon's own.
        let pool = ThreadPoolBuilder::new().build()?;
        let disk = pool.install(|| match &header {
            Some(header) => Disk::open_detached(header, file, &secret, &self.limits),
            None => Disk::open(file, &secret, &self.limits),
        })?;
        Ok(Served { disk, is_writable })
    }
}

/// All that a key file holds, read into memory that does not grow: growing leaves copies.
fn secret_of(mut file: impl Read, path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    let mut secret = Zeroizing::new(vec![0; MOST_KEY_FILE + 1]);
    let mut filled = 0;
    while filled < secret.len() {
        match file.read(&mut secret[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(opening(path, error)),
        }
    }
    if filled > MOST_KEY_FILE {
        return Err(Error::KeyFile { path: path.to_owned(), most: MOST_KEY_FILE });
    }
    secret.truncate(filled);
    Ok(secret)
}

/// Opens a file, to be written too if it may be.
fn open_file(path: &Path) -> io::Result<(File, bool)> {
    match File::options().read(true).write(true).open(path) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            Ok((File::open(path)?, false))
        }
        opened => Ok((opened?, true)),
    }
}

fn path(value: &CStr) -> PathBuf {
    OsStr::from_bytes(value.to_bytes()).into()
}

fn opening(path: &Path, source: io::Error) -> Error {
    Error::Open { path: path.to_owned(), source }
}

fn number(key: &CStr, value: &CStr) -> Result<u32, Error> {
    let (key, value) = (key.to_string_lossy(), value.to_string_lossy());
    value.parse().map_err(|_| Error::Number { key: key.into(), value: value.into() })
}
