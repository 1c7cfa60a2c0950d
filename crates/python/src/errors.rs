//! Errors as Python's exceptions.

use std::io::ErrorKind;

use lanecrypt::{Error, LookupError, cuda, random::RandomError, self_test};
use pyo3::{
    Bound, PyAny, PyErr, PyResult, create_exception,
    exceptions::{
        PyException, PyMemoryError, PyOSError, PyRuntimeError, PyTypeError, PyValueError,
    },
    types::{PyAnyMethods, PyTypeMethods},
};
use rustix::io::Errno;

create_exception!(
    lanecrypt.aead,
    InvalidTag,
    PyException,
    "The tag is not that of this ciphertext, nonce, associated data and key. Nothing was decrypted."
);
create_exception!(
    lanecrypt.ciphers,
    AlreadyFinalized,
    PyException,
    "The context was finalized, or an update of it failed: a new message takes a new one."
);
create_exception!(
    lanecrypt.ciphers,
    AlreadyUpdated,
    PyException,
    "Additional data came after data, which it has to come before."
);
create_exception!(
    lanecrypt.ciphers,
    NotYetFinalized,
    PyException,
    "The tag was asked for before the message was over."
);
create_exception!(
    lanecrypt.tink,
    NotAuthentic,
    PyValueError,
    "The data is not what was sealed: changed, cut off, of another key or other associated data."
);
create_exception!(
    lanecrypt.tink,
    SourceChanged,
    PyValueError,
    "The source is another one than when its job was made, or changed while it was read."
);

create_exception!(
    lanecrypt,
    SelfTestError,
    PyRuntimeError,
    "A cipher did not give a known answer on this machine. It is not used."
);

/// An error of ours on its way to Python.
pub(crate) trait IntoPython {
    /// The exception for it.
    fn into_python(self) -> PyErr;
}

/// Results with such an error.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: IntoPython> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(IntoPython::into_python)
    }
}

/// One that is an exception already.
impl IntoPython for PyErr {
    fn into_python(self) -> PyErr {
        self
    }
}

impl IntoPython for Error {
    fn into_python(self) -> PyErr {
        let text = self.to_string();
        match self {
            Self::NotAuthentic => InvalidTag::new_err(text),
            Self::Unavailable(_) | Self::Device(_) => PyRuntimeError::new_err(text),
            _ => PyValueError::new_err(text),
        }
    }
}

impl IntoPython for self_test::SelfTestError {
    fn into_python(self) -> PyErr {
        SelfTestError::new_err(self.to_string())
    }
}

impl IntoPython for cuda::Error {
    fn into_python(self) -> PyErr {
        match self {
            Self::Addresses { .. } | Self::OtherDevice { .. } | Self::NoDeviceMemory { .. } => {
                PyValueError::new_err(self.to_string())
            }
            other => Error::from(other).into_python(),
        }
    }
}

impl IntoPython for RandomError {
    fn into_python(self) -> PyErr {
        match self {
            Self::Engine(error) => error.into_python(),
            Self::Device(error) => error.into_python(),
            Self::Entropy(_) => PyOSError::new_err(self.to_string()),
            other => PyValueError::new_err(other.to_string()),
        }
    }
}

impl IntoPython for LookupError {
    fn into_python(self) -> PyErr {
        match self {
            Self::Engine(error) => error.into_python(),
            Self::NoDevice(reason) => PyRuntimeError::new_err(reason),
            other => PyValueError::new_err(other.to_string()),
        }
    }
}

impl IntoPython for lanecrypt_tink::Error {
    fn into_python(self) -> PyErr {
        let text = self.to_string();
        match self {
            _ if self.is_not_authentic() => NotAuthentic::new_err(text),
            Self::SourceChanged { .. } => SourceChanged::new_err(text),
            Self::Memory { .. } => PyMemoryError::new_err(text),
            Self::Engine(error) => error.into_python(),
            // What an object of Python's raised, on its way through a writer of Rust's.
            Self::Io { doing, source } => match source.downcast::<PyErr>() {
                Ok(raised) => raised,
                Err(source) => os_error(&doing, &source),
            },
            Self::Random(_) => PyOSError::new_err(text),
            _ => PyValueError::new_err(text),
        }
    }
}

impl IntoPython for lanecrypt_objects::Error {
    fn into_python(self) -> PyErr {
        use lanecrypt_objects::Error;
        let text = self.to_string();
        match self {
            Error::Tink(error) => error.into_python(),
            Error::Io { doing, source } => os_error(&doing, &source),
            Error::Store { kind, .. } => os_error_of_kind(kind, text),
            Error::Forked | Error::WithinRuntime | Error::InUse { .. } => {
                PyRuntimeError::new_err(text)
            }
            _ => PyValueError::new_err(text),
        }
    }
}

/// Refuses to pickle an object, whose protocols 0 and 1 would leave out what it holds; `instead` says what to do.
///
/// # Errors
/// `TypeError`, always.
pub(crate) fn not_pickled(object: &Bound<'_, PyAny>, instead: &str) -> PyResult<()> {
    let class = object.get_type().name()?;
    Err(PyTypeError::new_err(format!("cannot pickle {class}: {instead}")))
}

/// The system provided no random numbers.
pub(crate) fn random(error: getrandom::Error) -> PyErr {
    PyOSError::new_err(format!("the system provided no random numbers: {error}"))
}

/// `OSError` with its number, from which Python takes the class: `FileNotFoundError` and so on.
pub(crate) fn os_error(doing: &str, error: &std::io::Error) -> PyErr {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(number) => {
            let reason = text.split(" (os error").next().unwrap_or_default();
            PyOSError::new_err((number, format!("cannot {doing}: {reason}")))
        }
        None => os_error_of_kind(error.kind(), format!("cannot {doing}: {text}")),
    }
}

/// The `OSError` that Python has for a kind of failure, from any source, with the number that the system has for it.
fn os_error_of_kind(kind: ErrorKind, text: String) -> PyErr {
    let number = match kind {
        ErrorKind::NotFound => Errno::NOENT,
        ErrorKind::PermissionDenied => Errno::ACCESS,
        ErrorKind::AlreadyExists => Errno::EXIST,
        ErrorKind::IsADirectory => Errno::ISDIR,
        ErrorKind::InvalidInput => Errno::INVAL,
        _ => return PyOSError::new_err(text),
    };
    PyOSError::new_err((number.raw_os_error(), text))
}
