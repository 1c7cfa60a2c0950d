//! What is said to nbdkit where something fails.

use std::{io, path::PathBuf};

/// Why the disk cannot be served, or a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("unknown parameter {0:?}; --help lists the parameters")]
    UnknownParameter(String),
    #[error("{0}")]
    Parameters(&'static str),
    #[error("{key}={value} is not a number from 0 to 4294967295")]
    Number { key: String, value: String },
    /// nbdkit has said why.
    #[error("the value of a parameter cannot be read")]
    Value,
    #[error("cannot open {}: {source}", path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("the key file {} has more than {most} bytes", path.display())]
    KeyFile { path: PathBuf, most: usize },
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    #[error("{0}")]
    Luks(#[from] lanecrypt_luks::Error),
    #[error("no disk is open")]
    NotOpen,
    #[error("internal error: the plugin panicked")]
    Panicked,
}

impl Error {
    /// The number that an NBD client is told.
    pub(crate) fn errno(&self) -> i32 {
        const EIO: i32 = 5;
        const EINVAL: i32 = 22;
        match self {
            Self::Luks(error @ lanecrypt_luks::Error::Storage { .. }) => {
                error.raw_os_error().unwrap_or(EIO)
            }
            Self::Luks(lanecrypt_luks::Error::OutOfBounds { .. }) => EINVAL,
            _ => EIO,
        }
    }
}
