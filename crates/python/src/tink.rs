//! Sealed files: Tink's streaming AEAD.

mod device;
mod files;
mod job;
mod keyset;
mod memory;
mod sealed;
mod stream;

use lanecrypt_tink::Options;
use pyo3::{Py, PyAny, PyResult, Python};

pub(crate) use self::{
    device::{
        open_to_device, seal_from_device, seal_from_device_to_buffer, seal_from_device_to_stream,
    },
    files::{associated, open, seal},
    job::Job,
    keyset::Keyset,
    memory::{open_bytes, seal_bytes},
    sealed::Sealed,
};
use crate::{backend::Chosen, errors::IntoPython, running};

/// What every call over a file may be told.
pub(crate) struct Choices<'a> {
    pub(crate) associated_data: &'a [u8],
    pub(crate) backend: &'a str,
    pub(crate) threads: Option<usize>,
    pub(crate) progress: Option<&'a Py<PyAny>>,
}

impl Choices<'_> {
    /// Runs `work` with these as options, while this thread serves signals and progress.
    ///
    /// # Errors
    /// Those of the work, as exceptions.
    pub(crate) fn run<T: Send, E: IntoPython + Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Options<'_>) -> Result<T, E> + Send,
    ) -> PyResult<T> {
        let runner = Chosen::new(self.backend).sealing(py, self.threads)?;
        running::run(py, self.progress, |run| {
            let add = |bytes| run.add(bytes);
            work(Options {
                associated_data: self.associated_data,
                runner: &*runner,
                progress: &add,
                cancel: run.cancelled(),
                ..Options::default()
            })
        })
    }
}
