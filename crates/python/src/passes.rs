//! A cipher and a mode over a whole buffer, in one call.

use lanecrypt::{
    Direction, Engine, Error,
    cipher::InOutBuf,
    cuda::DataUnits,
    modes::{cbc_decrypt, cbc_encrypt},
};
use pyo3::prelude::*;

use crate::{
    backend::{Chosen, require_data_unit, require_different_halves},
    buffers::{Data, copied},
    direction,
    errors::OrRaise,
    interpreter::{detached, weight},
    tensor::{Mode, Tensors},
};

/// The cipher, key and backend of a call, and the buffers that it is over.
struct Pass<'a, 'py> {
    cipher: &'a str,
    key: &'a Bound<'py, PyAny>,
    data: &'a Bound<'py, PyAny>,
    out: Option<&'a Bound<'py, PyAny>>,
    backend: &'a str,
}

impl Pass<'_, '_> {
    /// Runs `work`, which is this mode, with an engine of the cipher over the data; tensors where they lie.
    fn run(
        &self,
        mode: Mode<'_>,
        work: impl FnOnce(&dyn Engine, InOutBuf<'_, '_, u8>) -> Result<(), Error> + Send,
    ) -> PyResult<()> {
        let py = self.data.py();
        let (tensors, key) = (Tensors::new(self.data, self.out)?, copied(self.key, "key")?);
        if let Some(tensors) = tensors {
            return tensors.run(py, self.cipher, &key, self.backend, mode);
        }
        let mut data = Data::new(self.data, self.out)?;
        let bytes = data.len();
        let chosen = Chosen::new(self.backend);
        let engine = chosen.engine(py, self.cipher, &key, bytes)?;
        let weight = weight(chosen.waits(), bytes);
        detached(py, weight, || work(&*engine, data.in_out())).or_raise()
    }
}

/// XORs the key stream of CTR over data: the same call encrypts and decrypts.
///
/// The counter is a whole block, big-endian, and wraps. Data may be anything with a contiguous buffer, of
/// any length; it is changed in place, or left as it is where `out` takes the result. Never use a counter
/// twice under one key.
///
/// >>> import lanecrypt
/// >>> data = bytearray(b"any length")
/// >>> lanecrypt.ctr("aes", bytes(32), bytes(16), data)
/// >>> lanecrypt.ctr("aes-256", bytes(32), bytes(16), data)
/// >>> data
/// bytearray(b'any length')
#[pyfunction]
#[pyo3(signature = (cipher, key, counter, data, out=None, *, backend="auto"))]
pub(crate) fn ctr(
    cipher: &str,
    key: &Bound<'_, PyAny>,
    counter: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
    out: Option<&Bound<'_, PyAny>>,
    backend: &str,
) -> PyResult<()> {
    let counter = copied(counter, "counter")?;
    Pass { cipher, key, data, out, backend }
        .run(Mode::Ctr(&counter), |engine, data| engine.ctr(&counter, data))
}

/// Runs every block by itself. Equal blocks stay equal: take another mode unless you know why not.
///
/// Data has a whole number of blocks; there is no padding.
///
/// >>> import lanecrypt
/// >>> block = bytearray(16)
/// >>> lanecrypt.ecb("camellia", bytes(16), block)
/// >>> block.hex()
/// '3d028025b156327c17f762c1f2cbca71'
/// >>> lanecrypt.ecb("camellia", bytes(16), block, decrypt=True)
/// >>> block == bytes(16)
/// True
#[pyfunction]
#[pyo3(signature = (cipher, key, data, out=None, *, decrypt=false, backend="auto"))]
pub(crate) fn ecb(
    cipher: &str,
    key: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
    out: Option<&Bound<'_, PyAny>>,
    decrypt: bool,
    backend: &str,
) -> PyResult<()> {
    let direction = direction(decrypt);
    Pass { cipher, key, data, out, backend }
        .run(Mode::Ecb(direction), |engine, data| engine.ecb(direction, data))
}

/// Runs CBC without padding, over a whole number of blocks; `iv` is one block.
///
/// Encryption is serial by nature; decryption takes all cores.
///
/// >>> import lanecrypt
/// >>> data = bytearray(b"two blocks of 16" * 2)
/// >>> lanecrypt.cbc("aria", bytes(24), bytes(16), data)
/// >>> lanecrypt.cbc("aria", bytes(24), bytes(16), data, decrypt=True)
/// >>> data[:16]
/// bytearray(b'two blocks of 16')
#[pyfunction]
#[pyo3(signature = (cipher, key, iv, data, out=None, *, decrypt=false, backend="auto"))]
pub(crate) fn cbc(
    cipher: &str,
    key: &Bound<'_, PyAny>,
    iv: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
    out: Option<&Bound<'_, PyAny>>,
    decrypt: bool,
    backend: &str,
) -> PyResult<()> {
    let iv = copied(iv, "iv")?;
    let direction = direction(decrypt);
    Pass { cipher, key, data, out, backend }.run(Mode::Cbc(direction, &iv), |engine, data| {
        match direction {
            Direction::Encrypt => cbc_encrypt(engine, &iv, data),
            Direction::Decrypt => cbc_decrypt(engine, &iv, data),
        }
    })
}

/// Runs XTS over data units of `unit_bytes` each, the sectors of a disk, with consecutive numbers from
/// `first_unit` on; the last unit may be shorter, and has 16 bytes at least. A unit has 2^20 blocks, 16 MiB, at most.
///
/// `key` is the key for data and the one for tweaks, one after the other; they must differ.
///
/// >>> import lanecrypt
/// >>> disk = bytearray(4 * 512)
/// >>> lanecrypt.xts("aes-256", bytes(range(64)), disk, unit_bytes=512)
/// >>> lanecrypt.xts("aes-256", bytes(range(64)), disk, unit_bytes=512, decrypt=True)
/// >>> disk == bytes(4 * 512)
/// True
#[pyfunction]
#[pyo3(signature = (cipher, key, data, out=None, *, unit_bytes=4096, first_unit=0, decrypt=false, backend="auto"))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
pub(crate) fn xts(
    py: Python<'_>,
    cipher: &str,
    key: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
    out: Option<&Bound<'_, PyAny>>,
    unit_bytes: usize,
    first_unit: u128,
    decrypt: bool,
    backend: &str,
) -> PyResult<()> {
    let (tensors, key) = (Tensors::new(data, out)?, copied(key, "key")?);
    require_different_halves(&key)?;
    require_data_unit(unit_bytes)?;
    if let Some(tensors) = tensors {
        let units = DataUnits { bytes: unit_bytes, first: first_unit };
        return tensors.run(py, cipher, &key, backend, Mode::Xts(direction(decrypt), units));
    }
    let mut data = Data::new(data, out)?;
    let bytes = data.len();
    let chosen = Chosen::new(backend);
    let xts = chosen.xts(py, cipher, &key, bytes)?;
    let units = || xts.run_units(direction(decrypt), first_unit.into(), unit_bytes, data.in_out());
    detached(py, weight(chosen.waits(), bytes), units).or_raise()
}
