//! How a command fails: a sentence for a person, an exit code for a script.

use std::{
    fmt,
    io::{self, Write},
    process::ExitCode,
};

/// Why a command ended before its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Reading or writing failed, or the machine did.
    #[error("{0}")]
    Io(String),
    /// What was asked for makes no sense, or is not there.
    #[error("{0}")]
    Usage(String),
    /// The data, or the key, is not what it should be.
    #[error("{0}")]
    NotAuthentic(String),
    /// A device was asked for by name, and there is none.
    #[error("{0}")]
    NoDevice(String),
    /// An implementation gave a wrong answer.
    #[error("{0}")]
    SelfTest(String),
    /// A signal ended it.
    #[error("interrupted; {}", crate::signals::left())]
    Interrupted,
}

/// Says on standard error what went wrong. Where that cannot be written either, the exit code is left.
pub(crate) fn complain(what: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "lanecrypt: {what}");
}

/// The exit code of a command that a signal ended.
pub(crate) const INTERRUPTED: u8 = 130;

impl Failure {
    /// What `lanecrypt --help` promises.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Io(_) => 1,
            Self::Usage(_) => 2,
            Self::NotAuthentic(_) => 3,
            Self::NoDevice(_) => 4,
            Self::SelfTest(_) => 5,
            Self::Interrupted => INTERRUPTED,
        })
    }

    /// A failure of a file or stream, which is named.
    pub(crate) fn of(what: impl fmt::Display) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io(format!("{what}: {error}"))
    }

    /// The same failure, of a file or stream that it does not name by itself.
    pub(crate) fn of_file(self, name: impl fmt::Display) -> Self {
        let named = |text: String| format!("{name}: {text}");
        match self {
            Self::Io(text) => Self::Io(named(text)),
            Self::Usage(text) => Self::Usage(named(text)),
            Self::NotAuthentic(text) => Self::NotAuthentic(named(text)),
            other => other,
        }
    }
}

/// Of the system, where no file or stream is to be named.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error.to_string())
    }
}

impl From<lanecrypt::Error> for Failure {
    fn from(error: lanecrypt::Error) -> Self {
        use lanecrypt::Error;
        match &error {
            Error::NotAuthentic => Self::NotAuthentic(error.to_string()),
            Error::Device(_) | Error::Unavailable(_) => Self::Io(error.to_string()),
            _ => Self::Usage(error.to_string()),
        }
    }
}

impl From<lanecrypt::LookupError> for Failure {
    fn from(error: lanecrypt::LookupError) -> Self {
        match error {
            lanecrypt::LookupError::Engine(error) => error.into(),
            lanecrypt::LookupError::NoDevice(reason) => Self::NoDevice(reason),
            other => Self::Usage(other.to_string()),
        }
    }
}

impl From<lanecrypt_tink::Error> for Failure {
    fn from(error: lanecrypt_tink::Error) -> Self {
        use lanecrypt_tink::Error;
        match error {
            Error::Cancelled => Self::Interrupted,
            // What the library calls parts are the command's pieces, of which a part has many.
            Error::PartsMissing { missing, parts, .. } => {
                let advice = "seal all parts of the job first";
                Self::Io(format!("{missing} of {parts} pieces are missing: {advice}"))
            }
            _ if error.is_not_authentic() => Self::NotAuthentic(error.to_string()),
            Error::Engine(error) => error.into(),
            Error::Io { .. }
            | Error::Memory { .. }
            | Error::OutputLength { .. }
            | Error::SourceChanged { .. }
            | Error::Random(_) => Self::Io(error.to_string()),
            _ => Self::Usage(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_fails_is_no_wrong_usage() {
        let lost = || lanecrypt::Error::Device("the GPU is lost".into());
        let of_tink = lanecrypt_tink::Error::Engine(lost());
        for failure in [Failure::from(lost()), Failure::from(of_tink)] {
            let is_of_machine = matches!(&failure, Failure::Io(text) if text == "the GPU is lost");
            assert!(is_of_machine, "{failure:?}");
        }
    }
}
