//! Files that many processes or machines seal together.

use std::path::PathBuf;

use lanecrypt_tink::job;
use pyo3::prelude::*;

use super::{Choices, Keyset, files::associated};
use crate::{buffers::path_of, errors::OrRaise};

/// How a file is sealed in parts, by many processes or machines. It has no secret.
///
/// A part that is sealed twice is written twice with the same bytes. A source that changed since the job
/// was made is refused.
#[pyclass(frozen, module = "lanecrypt.tink")]
pub(crate) struct Job(job::SealingJob);

#[pymethods]
impl Job {
    /// Draws a header, once for this source; a part has about `part_bytes`.
    #[staticmethod]
    #[pyo3(signature = (keyset, source, *, associated_data=None, part_bytes=67_108_864))]
    fn new(
        py: Python<'_>,
        keyset: &Keyset,
        #[pyo3(from_py_with = path_of)] source: PathBuf,
        associated_data: Option<&Bound<'_, PyAny>>,
        part_bytes: u64,
    ) -> PyResult<Self> {
        let associated_data = associated(associated_data)?;
        py.detach(|| job::SealingJob::of_file(keyset.get(), &source, &associated_data, part_bytes))
            .or_raise()
            .map(Self)
    }

    /// Reads what `to_json` writes.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        job::SealingJob::from_json(text).or_raise().map(Self)
    }

    /// The job as text, for those who seal parts; it has no secret.
    fn to_json(&self) -> PyResult<String> {
        self.0.to_json().or_raise()
    }

    /// How many parts there are.
    #[getter]
    fn parts(&self) -> u64 {
        self.0.parts()
    }

    /// Bytes of the whole sealed file.
    #[getter]
    fn sealed_bytes(&self) -> u64 {
        self.0.sealed_bytes()
    }

    /// Makes the output, which lies beside its target until it is complete.
    fn create(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = path_of)] target: PathBuf,
    ) -> PyResult<()> {
        py.detach(|| self.0.create(&target)).or_raise()
    }

    /// Seals a part, from 0, of the source into its place in the output.
    #[pyo3(signature = (keyset, part, source, target, *, backend="auto", threads=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn seal_part(
        &self,
        py: Python<'_>,
        keyset: &Keyset,
        part: u64,
        #[pyo3(from_py_with = path_of)] source: PathBuf,
        #[pyo3(from_py_with = path_of)] target: PathBuf,
        backend: &str,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let choices = Choices { associated_data: &[], backend, threads, progress: None };
        choices
            .run(py, |options| self.0.seal_file_part(keyset.get(), part, &source, &target, options))
    }

    /// The parts that are not there yet; none once the job is committed.
    fn missing(&self, py: Python<'_>, #[pyo3(from_py_with = path_of)] target: PathBuf) -> Vec<u64> {
        py.detach(|| self.0.missing_parts(&target).collect())
    }

    /// Puts the output in the place of the target, if all parts are there.
    fn commit(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = path_of)] target: PathBuf,
    ) -> PyResult<()> {
        py.detach(|| self.0.commit(&target)).or_raise()
    }

    /// Removes what was written for the job. Once it is committed the target stays.
    fn discard(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = path_of)] target: PathBuf,
    ) -> PyResult<()> {
        py.detach(|| self.0.discard(&target)).or_raise()
    }

    fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: i32) -> PyResult<()> {
        crate::errors::not_pickled(slf, "to_json and from_json carry it")
    }

    fn __repr__(&self) -> String {
        format!("<Job of {} parts, {} bytes sealed>", self.0.parts(), self.0.sealed_bytes())
    }
}
