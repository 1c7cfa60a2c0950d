//! Known answers before the first use of a cipher, and when they are asked for.

use lanecrypt::{
    CIPHERS, LookupError, find_cipher, registry::CipherDescription, self_test as answers,
};
use pyo3::{PyResult, Python, exceptions::PyValueError, pyfunction};

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
/// that it is called with, once. With an implementation that not all ciphers have, those are run that have it.
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
    let rows: Vec<_> = match cipher {
        Some(name) => {
            let cipher = find_cipher(name).or_raise()?;
            let none = LookupError::NoSuchBackend { cipher: cipher.name, id: backend.to_owned() };
            vec![(cipher, cipher.backend(backend).ok_or(none).or_raise()?)]
        }
        None => CIPHERS.iter().filter_map(|&each| Some((each, each.backend(backend)?))).collect(),
    };
    if rows.is_empty() {
        return Err(PyValueError::new_err(format!("no cipher has a backend {backend:?}")));
    }
    let mut count = 0;
    for (cipher, backend) in rows {
        (backend.available)().map_err(lanecrypt::Error::from).or_raise()?;
        count += answers::of(cipher, backend).or_raise()?;
    }
    Ok(count)
}
