//! The modes that take a stream of bytes.

use lanecrypt::{
    ChainedMode, Ctr, Direction, Error,
    io::{ChainedStream, Ecb, RunsUnits, StreamMode},
};
use pyo3::{PyResult, Python, exceptions::PyValueError};

use super::Parts;
use crate::{backend::require_different_halves, errors::OrRaise};

/// A mode from the start of its message.
pub(super) struct Mode {
    pub(super) stream: Box<dyn StreamMode + Send + Sync>,
    /// Bytes of which updates give out whole multiples: a block, or one.
    pub(super) unit: usize,
    /// Whether all of the message comes in one update.
    pub(super) is_one_unit: bool,
}

impl Mode {
    /// By its name.
    ///
    /// # Errors
    /// `ValueError` for unknown names, keys and IVs of the wrong length.
    pub(super) fn new(py: Python<'_>, name: &str, parts: &Parts<'_>) -> PyResult<Self> {
        let direction = parts.direction;
        match name {
            "ECB" => {
                let ecb = Ecb::new(parts.engine(py)?, direction);
                Ok(Self { unit: ecb.unit_bytes(), stream: Box::new(ecb), is_one_unit: false })
            }
            "CBC" => {
                let cbc = chained(py, parts, ChainedMode::Cbc(direction))?;
                Ok(Self { unit: cbc.unit_bytes(), stream: cbc, is_one_unit: false })
            }
            "CFB" => chained(py, parts, ChainedMode::Cfb(direction)).map(Self::of_bytes),
            "OFB" => chained(py, parts, ChainedMode::Ofb).map(Self::of_bytes),
            "CTR" => {
                let ctr = Ctr::new(parts.engine(py)?, &parts.iv).or_raise()?;
                Ok(Self::of_bytes(Box::new(ctr)))
            }
            "XTS" => xts(py, parts, direction),
            _ => Err(PyValueError::new_err(format!(
                "mode is {name:?}; known are ECB, CBC, CFB, OFB, CTR, XTS and GCM"
            ))),
        }
    }

    fn of_bytes(stream: Box<dyn StreamMode + Send + Sync>) -> Self {
        Self { stream, unit: 1, is_one_unit: false }
    }
}

fn chained(
    py: Python<'_>,
    parts: &Parts<'_>,
    mode: ChainedMode,
) -> PyResult<Box<dyn StreamMode + Send + Sync>> {
    Ok(Box::new(ChainedStream::new(parts.engine(py)?, mode, &parts.iv).or_raise()?))
}

fn xts(py: Python<'_>, parts: &Parts<'_>, direction: Direction) -> PyResult<Mode> {
    let Ok(tweak) = <[u8; 16]>::try_from(parts.iv.as_slice()) else {
        let text = format!("tweak of {} bytes; XTS takes 16", parts.iv.len());
        return Err(PyValueError::new_err(text));
    };
    let key = &parts.algorithm.key;
    require_different_halves(key)?;
    let xts = parts.backend.xts(py, &parts.algorithm.cipher, key, usize::MAX)?;
    let stream = Box::new(DataUnit { xts, direction, number: u128::from_le_bytes(tweak) });
    Ok(Mode { stream, unit: 1, is_one_unit: true })
}

/// One data unit of XTS.
struct DataUnit {
    xts: Box<dyn RunsUnits + Send + Sync>,
    direction: Direction,
    number: u128,
}

impl StreamMode for DataUnit {
    fn unit_bytes(&self) -> usize {
        1
    }

    fn apply(&mut self, piece: &mut [u8]) -> Result<(), Error> {
        self.xts.run_units(self.direction, self.number.into(), piece.len(), piece.into())
    }
}
