//! Random numbers: the generator of `lanecrypt::random`, over buffers and over memory of GPUs.

use std::{
    process,
    sync::{
        Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use lanecrypt::{
    aes,
    random::{self, Draw, RandomError, STATE_BYTES, Span},
};
use pyo3::{
    exceptions::{PyRuntimeError, PyTypeError, PyValueError},
    prelude::*,
    types::{PyBytes, PyMemoryView, PyType},
};

use crate::{
    buffers::{copied, wrong_length},
    errors::OrRaise,
    ffi::Bytes,
    interpreter::{RELEASED_FROM, detached},
    self_test,
    tensor::Foreign,
};

/// Draws random numbers: the same on a CPU and on a GPU, in one call or in many.
///
/// Without a seed they cannot be foreseen: the key is drawn by `CTR_DRBG` (SP 800-90A) from the system's entropy. With one,
/// they can be repeated, and who guesses it knows them. `lanecrypt.random` has what is drawn. Of a generator that another
/// thread draws from while the process is forked, the child's copy is not used: it raises `RuntimeError`.
///
/// >>> import lanecrypt.random
/// >>> random = lanecrypt.random.Generator(seed=7)
/// >>> first = random.bytes(5)
/// >>> random.place
/// 5
/// >>> random.place = 0
/// >>> random.bytes(5) == first
/// True
#[pyclass(frozen, module = "lanecrypt.random")]
pub(crate) struct Generator {
    inner: Mutex<random::Generator>,
    /// The process whose threads use it.
    process: AtomicU32,
}

impl Generator {
    fn of(generator: random::Generator) -> Self {
        Self { inner: Mutex::new(generator), process: process::id().into() }
    }

    /// For who has released the interpreter, after [`require_threads`](Self::require_threads): another thread may be
    /// drawing.
    fn lock(&self) -> MutexGuard<'_, random::Generator> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that whoever draws is a thread of this process. Where another thread drew when the process was forked, the
    /// child has the lock without the thread that would give it back. The interpreter's lock is held here: what this
    /// process has not used yet is taken only by a thread of its parent.
    ///
    /// # Errors
    /// `RuntimeError`.
    fn require_threads(&self, _py: Python<'_>) -> PyResult<()> {
        let process = process::id();
        if self.process.load(Relaxed) == process {
            return Ok(());
        }
        if let Err(TryLockError::WouldBlock) = self.inner.try_lock() {
            return Err(PyRuntimeError::new_err(
                "another thread drew from this generator when the process was forked; a new \
                 generator is needed here",
            ));
        }
        self.process.store(process, Relaxed);
        Ok(())
    }

    /// Runs `work`, which draws `bytes` bytes, when no other thread draws; that is waited for without the interpreter.
    ///
    /// # Errors
    /// Those of [`require_threads`](Self::require_threads).
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        bytes: usize,
        work: impl FnOnce(&mut random::Generator) -> T + Send,
    ) -> PyResult<T> {
        self.require_threads(py)?;
        if bytes < RELEASED_FROM
            && let Ok(mut generator) = self.inner.try_lock()
        {
            return Ok(work(&mut generator));
        }
        Ok(detached(py, usize::MAX, || work(&mut self.lock())))
    }

    /// Draws into a contiguous buffer, or memory of a GPU.
    fn draw<'py>(&self, draw: Draw, out: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = out.py();
        let Some(memory) = Foreign::of(out, "out")? else {
            let mut bytes = Bytes::of(out, "out")?.to_write()?;
            let length = bytes.len();
            let bytes = bytes.as_mut_slice();
            self.with(py, length, |generator| generator.draw(draw, bytes))?.or_raise()?;
            return Ok(out.clone());
        };
        if let Some(device) = memory.device() {
            self.require_threads(py)?;
            let (stream, mut slice) = (memory.stream(device), memory.slice_mut(device)?);
            let drawn = py.detach(|| -> Result<(), RandomError> {
                let stream = stream.open()?;
                let mut generator = self.lock();
                Ok(generator.draw_on(&stream, draw, &mut slice)?.wait()?)
            });
            drawn.or_raise()?;
        }
        Ok(out.clone())
    }
}

#[pymethods]
impl Generator {
    #[new]
    #[pyo3(signature = (seed=None))]
    fn new(seed: Option<u64>) -> PyResult<Self> {
        self_test::once(&aes::AES)?;
        let generator = match seed {
            Some(seed) => random::Generator::from_seed(seed),
            None => random::Generator::from_system().or_raise()?,
        };
        Ok(Self::of(generator))
    }

    /// Random bytes: `count` of them, or as many as `out` has, whatever its elements are; returns them, or `out`.
    #[pyo3(signature = (count=None, *, out=None))]
    fn bytes<'py>(
        &self,
        py: Python<'py>,
        count: Option<usize>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match (count, out) {
            (Some(count), None) => {
                let bytes = PyBytes::new_with(py, count, |bytes| {
                    self.with(py, count, |generator| generator.bytes(bytes))?.or_raise()
                });
                Ok(bytes?.into_any())
            }
            (None, Some(out)) => self.draw(Draw::Bytes, out),
            _ => Err(PyValueError::new_err("bytes takes a count, or out")),
        }
    }

    /// Fills `out`, whose elements are int32, uint32, int64 or uint64, with integers from `low` to below `high`, each as
    /// likely; returns it.
    ///
    /// >>> import array, lanecrypt.random
    /// >>> dice = lanecrypt.random.Generator().randint(1, 7, out=array.array("i", [0] * 100))
    /// >>> set(dice) <= {1, 2, 3, 4, 5, 6}
    /// True
    #[pyo3(signature = (low, high, *, out))]
    fn randint<'py>(
        &self,
        low: i128,
        high: i128,
        out: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let element = element(out)?;
        let (least, most) = match &*element {
            "int32" => (i128::from(i32::MIN), i128::from(i32::MAX)),
            "uint32" => (0, i128::from(u32::MAX)),
            "int64" => (i128::from(i64::MIN), i128::from(i64::MAX)),
            "uint64" => (0, i128::from(u64::MAX)),
            _ => return Err(wrong_elements(&element, "int32, uint32, int64 or uint64")),
        };
        if low < least || high > most + 1 {
            let text = format!("low is {low} and high is {high}; {element} has {least} to {most}");
            return Err(PyValueError::new_err(text));
        }
        let span = Span::of(low..high).or_raise()?;
        let is_short = element.ends_with("32");
        self.draw(if is_short { Draw::Integers32(span) } else { Draw::Integers64(span) }, out)
    }

    /// Fills `out`, whose elements are float32 or float64, with numbers in [0, 1): multiples of 2**-24 or 2**-53, each as
    /// likely; returns it.
    #[pyo3(signature = (*, out))]
    fn rand<'py>(&self, out: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.draw(real(out, Draw::Units32, Draw::Units64)?, out)
    }

    /// Fills `out`, whose elements are float32 or float64, with numbers of the normal distribution with mean 0 and standard
    /// deviation 1; returns it.
    #[pyo3(signature = (*, out))]
    fn randn<'py>(&self, out: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.draw(real(out, Draw::Normals32, Draw::Normals64)?, out)
    }

    /// A generator of the same key, at the beginning of another stream: streams never have a number in common place. There
    /// are 2^48.
    fn stream(&self, py: Python<'_>, number: u64) -> PyResult<Self> {
        let stream = self.with(py, 0, |generator| generator.stream(number))?;
        stream.or_raise().map(Self::of)
    }

    /// Bytes of the stream that are drawn.
    #[getter]
    fn place(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, 0, |generator| generator.place())
    }

    #[setter]
    fn set_place(&self, py: Python<'_>, place: u64) -> PyResult<()> {
        self.with(py, 0, |generator| generator.seek(place))
    }

    /// What `set_state` goes on from: key, stream and place. It is as secret as the numbers.
    fn get_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.with(py, 0, |generator| generator.state())?;
        Ok(PyBytes::new(py, &*state))
    }

    /// Goes on from a state.
    fn set_state(&self, state: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = of_state(state)?;
        self.with(state.py(), 0, |generator| *generator = given)
    }

    /// A generator that goes on from a state.
    #[classmethod]
    fn from_state(_class: &Bound<'_, PyType>, state: &Bound<'_, PyAny>) -> PyResult<Self> {
        of_state(state).map(Self::of)
    }

    fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: i32) -> PyResult<()> {
        crate::errors::not_pickled(slf, "get_state and from_state carry it")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, 0, |generator| format!("<{generator:?}>"))
    }
}

fn of_state(state: &Bound<'_, PyAny>) -> PyResult<random::Generator> {
    let state = copied(state, "state")?;
    let bytes = state.first_chunk().filter(|_| state.len() == STATE_BYTES);
    let bytes = bytes.ok_or_else(|| wrong_length("state", state.len(), STATE_BYTES))?;
    random::Generator::from_state(bytes).or_raise()
}

/// The type of an object's elements, by the names of `dtype`.
fn element(out: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Some(kind) = out.getattr_opt("dtype")? {
        // PyTorch's are `torch.float32`.
        let name = kind.str()?.to_string();
        return Ok(name.rsplit('.').next().unwrap_or_default().to_owned());
    }
    let code = match out.getattr_opt("__cuda_array_interface__")? {
        Some(interface) => interface.get_item("typestr")?.extract()?,
        None => code_of_buffer(out)?,
    };
    Ok(match code.trim_start_matches(['<', '=', '|']) {
        "f4" => "float32".to_owned(),
        "f8" => "float64".to_owned(),
        "i4" => "int32".to_owned(),
        "u4" => "uint32".to_owned(),
        "i8" => "int64".to_owned(),
        "u8" => "uint64".to_owned(),
        _ => code,
    })
}

/// The same of a buffer as `typestr` has it, kind and bytes; of other elements the code of the module `struct`.
fn code_of_buffer(out: &Bound<'_, PyAny>) -> PyResult<String> {
    let view = PyMemoryView::from(out)?;
    let size: usize = view.getattr("itemsize")?.extract()?;
    let code: String = view.getattr("format")?.extract()?;
    let kind = match code.trim_start_matches(['@', '=', '<']) {
        "f" | "d" => 'f',
        "i" | "l" | "q" => 'i',
        "I" | "L" | "Q" => 'u',
        _ => return Ok(code),
    };
    Ok(format!("{kind}{size}"))
}

fn real(out: &Bound<'_, PyAny>, short: Draw, long: Draw) -> PyResult<Draw> {
    let element = element(out)?;
    match &*element {
        "float32" => Ok(short),
        "float64" => Ok(long),
        _ => Err(wrong_elements(&element, "float32 or float64")),
    }
}

fn wrong_elements(given: &str, expected: &str) -> PyErr {
    PyTypeError::new_err(format!("elements of out are {given:?}; expected are {expected}"))
}
