//! Known answers before the first use of a cipher, and when they are asked for.

use lanecrypt::{
    CIPHERS, LookupError, find_cipher, registry::CipherDescription, self_test as answers,
};
use pyo3::{PyResult, Python, pyfunction};

use crate::errors::OrRaise;

/// Has a cipher give its known answers, the first time that it is used.
///
/// # Errors
/// `SelfTestError`, at every use from then on.
pub(crate) fn once(cipher: &'static CipherDescription) -> PyResult<()> {
    answers::once(cipher).or_raise()
}

/// Runs the known answers of a cipher, or of all, on one of its implementations ("default" serves all functions here
/// on the CPU), each in both directions, and returns how many there are. Every function here does so for the cipher
/// that it is called with, once.
///
/// >>> import lanecrypt
/// >>> lanecrypt.self_test() > lanecrypt.self_test("aes") > 0
/// True
#[pyfunction]
#[pyo3(signature = (cipher=None, backend="default"))]
pub(crate) fn self_test(py: Python<'_>, cipher: Option<&str>, backend: &str) -> PyResult<usize> {
    py.detach(|| run(cipher, backend))
}

fn run(cipher: Option<&str>, backend: &str) -> PyResult<usize> {
    let ciphers = match cipher {
        Some(name) => vec![find_cipher(name).or_raise()?],
        None => CIPHERS.to_vec(),
    };
    let mut count = 0;
    for cipher in ciphers {
        let none = LookupError::NoSuchBackend { cipher: cipher.name, id: backend.to_owned() };
        let backend = cipher.backend(backend).ok_or(none).or_raise()?;
        (backend.available)().map_err(lanecrypt::Error::from).or_raise()?;
        count += answers::of(cipher, backend).or_raise()?;
    }
    Ok(count)
}
