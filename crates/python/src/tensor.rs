//! Memory of GPUs as tensors: those of other libraries, encrypted where they lie, and ours for others.

mod foreign;
mod owned;

use lanecrypt::{
    BackendChoice, CipherName, Counter, Direction, Engine as _, constant_time_family,
    cuda::{
        DataUnits, Device, DeviceInOut, DeviceSlice, DeviceSliceMut, Family, Operation, Pending,
        Stream,
    },
    modes::cbc_encrypt,
};
use pyo3::{
    Bound, PyAny, PyResult, Python,
    exceptions::{PyRuntimeError, PyValueError},
};
use zeroize::Zeroizing;

pub(crate) use self::{
    foreign::{Foreign, OwnersStream},
    owned::{DeviceTensor, Owned},
};
use crate::{
    buffers::is_in_place,
    errors::{IntoPython, OrRaise},
    self_test,
};

/// Bytes that pass the host at once, where the host computes.
const HOST_PIECE: usize = 16 << 20;

/// The GPU of this number. To open it takes a while the first time.
///
/// # Errors
/// `RuntimeError` where there is none.
pub(crate) fn device(py: Python<'_>, number: usize) -> PyResult<Device> {
    py.detach(|| opened(number))
}

fn opened(number: usize) -> PyResult<Device> {
    #[cfg(feature = "host-kernels")]
    {
        let _ = number;
        Device::on_host().or_raise()
    }
    #[cfg(not(feature = "host-kernels"))]
    lanecrypt::gpu(number).or_raise()
}

/// What is done with tensors.
#[derive(Clone, Copy)]
pub(crate) enum Mode<'a> {
    Ecb(Direction),
    Ctr(&'a [u8]),
    Cbc(Direction, &'a [u8]),
    Xts(Direction, DataUnits),
}

/// The tensors of a call: what is read, and what is written.
pub(crate) struct Tensors {
    /// None where the call names one tensor for both.
    input: Option<Foreign>,
    output: Foreign,
    /// Whether both are the same memory, by whatever name.
    is_in_place: bool,
}

impl Tensors {
    /// Of the objects that a caller gave; none where they are no tensors.
    ///
    /// # Errors
    /// As `Data::new` for buffers; `ValueError` where one of them is a tensor and the other is not.
    pub(crate) fn new(
        data: &Bound<'_, PyAny>,
        out: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Self>> {
        let data = Foreign::of(data, "data")?;
        let Some(out) = out else {
            return Ok(data.map(|output| Self { input: None, output, is_in_place: true }));
        };
        match (data, Foreign::of(out, "out")?) {
            (None, None) => Ok(None),
            (Some(data), Some(out)) => Self::between(data, out).map(Some),
            _ => {
                let text = "one of data and out is memory of a GPU; both are, or none is";
                Err(PyValueError::new_err(text))
            }
        }
    }

    fn between(data: Foreign, out: Foreign) -> PyResult<Self> {
        let is_in_place = is_in_place(&data.addresses(), &out.addresses(), "out")?;
        if data.device() != out.device() {
            return Err(PyValueError::new_err("data and out are on different devices"));
        }
        Ok(Self { input: Some(data), output: out, is_in_place })
    }

    /// Runs a mode of a cipher where the tensors lie, on their stream, and waits for it.
    ///
    /// # Errors
    /// `ValueError` for names, keys and lengths that do not fit, and for another backend than the GPU of
    /// the tensors; `BufferError` for a result that should be written to what is read-only;
    /// `RuntimeError` for what the GPU fails to do.
    pub(crate) fn run(
        &self,
        py: Python<'_>,
        cipher: &str,
        key: &[u8],
        backend: &str,
        mode: Mode<'_>,
    ) -> PyResult<()> {
        let keys = if matches!(mode, Mode::Xts(..)) { 2 } else { 1 };
        let cipher = CipherName::with_key(cipher, key.len() / keys).or_raise()?.cipher;
        cipher.check_key(&key[..key.len() / keys]).or_raise()?;
        let Some(device) = self.output.device() else { return Ok(()) }; // nothing is there
        check_backend(py, backend, device)?;
        let family = constant_time_family(cipher.name).or_raise()?.ok_or_else(|| {
            PyRuntimeError::new_err(format!("{} has no kernels for a GPU", cipher.name))
        })?;
        let mut output = self.output.slice_mut(device)?;
        let input = self.input.as_ref().filter(|_| !self.is_in_place);
        let input = input.map(|input| input.slice(device));
        let stream = self.output.stream(device);
        let inputs_stream = self.input.as_ref().map(|input| input.stream(device));
        py.detach(|| {
            if let Some(stream) = inputs_stream {
                // What its owner has queued there comes before, also where the result's owner has queued nothing.
                stream.wait().or_raise()?;
            }
            let stream = stream.open().or_raise()?;
            let run = Run { family, key, stream: &stream };
            run.mode(mode, input.as_ref(), &mut output)
        })
    }
}

/// Checks that a call that says where tensors are computed says where they are.
fn check_backend(py: Python<'_>, backend: &str, at: &Device) -> PyResult<()> {
    let is_there = match backend.parse() {
        Ok(BackendChoice::Auto) => true,
        Ok(BackendChoice::Cuda(number)) => device(py, number)? == *at,
        Ok(BackendChoice::Cpu) | Err(_) => false,
    };
    if is_there {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "backend is {backend:?}; for a tensor it is auto, or cuda:N with the number of its GPU"
    )))
}

/// A cipher under a key on a stream.
struct Run<'a> {
    family: &'static Family,
    key: &'a [u8],
    stream: &'a Stream,
}

impl Run<'_> {
    fn mode(
        &self,
        mode: Mode<'_>,
        input: Option<&DeviceSlice<'_>>,
        output: &mut DeviceSliceMut<'_>,
    ) -> PyResult<()> {
        let Self { family, key, stream } = *self;
        self_test::once(family.cipher())?;
        if let Mode::Cbc(Direction::Encrypt, iv) = mode {
            return self.on_the_host(iv, input, output);
        }
        let data = match input {
            None => DeviceInOut::from(output),
            Some(input) => DeviceInOut::from((input, output)),
        };
        let operation = match mode {
            Mode::Ecb(direction) => Operation::Ecb(direction),
            Mode::Ctr(counter) => {
                let block = family.cipher().block_bytes;
                Operation::Ctr(Counter::read(counter, block).or_raise()?)
            }
            Mode::Cbc(direction, iv) => Operation::Cbc(direction, iv),
            Mode::Xts(direction, units) => {
                let engine = family.xts_engine(stream.device(), key).or_raise()?;
                let queued = engine.queue(stream, direction, units, data);
                return queued.and_then(Pending::wait).or_raise();
            }
        };
        let engine = family.engine(stream.device(), key).or_raise()?;
        engine.queue(stream, operation, data).and_then(Pending::wait).or_raise()
    }

    /// CBC encryption, whose blocks wait for each other: a core of the host is faster than a GPU.
    fn on_the_host(
        &self,
        iv: &[u8],
        input: Option<&DeviceSlice<'_>>,
        output: &mut DeviceSliceMut<'_>,
    ) -> PyResult<()> {
        let engine =
            lanecrypt::engine(self.family.cipher().name, "default", self.key).or_raise()?;
        self.stream.synchronize().or_raise()?;
        let length = output.as_slice().len();
        let block = engine.block_bytes();
        if !length.is_multiple_of(block) {
            let mode = lanecrypt::Mode::Cbc;
            let given = length;
            return Err(lanecrypt::Error::NotWholeBlocks { mode, given, block }.into_python());
        }
        let mut host = Zeroizing::new(vec![0; HOST_PIECE.min(length)]);
        let mut iv = iv.to_vec();
        for start in (0..length).step_by(HOST_PIECE) {
            let piece = &mut host[..HOST_PIECE.min(length - start)];
            match input {
                None => output.as_slice().read(start, piece),
                Some(input) => input.read(start, piece),
            }
            .or_raise()?;
            cbc_encrypt(&*engine, &iv, (&mut *piece).into()).or_raise()?;
            iv.copy_from_slice(&piece[piece.len() - block..]);
            output.write(start, piece).or_raise()?;
        }
        Ok(())
    }
}
