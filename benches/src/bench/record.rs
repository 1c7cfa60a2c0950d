//! What a run found, as it is written to JSON.

use serde::Serialize;

use super::{environment::Environment, plan::Work};

/// Where data was before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Place {
    /// CPU, in host memory.
    Cpu,
    /// On the device before and after.
    Resident,
    /// Device, from host memory to host memory.
    EndToEnd,
}

impl Place {
    /// The name in tables.
    #[must_use]
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Resident => "GPU, resident",
            Self::EndToEnd => "GPU, end to end",
        }
    }
}

/// One measurement.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Measurement {
    /// The cipher's name.
    pub(super) cipher: String,
    /// Bits of the key.
    pub(super) key_bits: usize,
    /// The backend or baseline.
    pub(super) backend: String,
    /// The mode.
    pub(super) work: Work,
    /// Where the data was.
    pub(super) place: Place,
    /// Bytes of data.
    pub(super) bytes: usize,
    /// Median seconds of a pass.
    pub(super) seconds: f64,
    /// Passes that the median is of.
    pub(super) samples: usize,
}

impl Measurement {
    /// Gbit/s, with 1 Gbit = 10^9 bits.
    #[must_use]
    pub(super) fn gbit_per_second(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.seconds / 1e9
    }
}

/// What a kernel takes of the device (P1's Table 4).
#[derive(Clone, Debug, Serialize)]
pub(super) struct KernelResources {
    /// The kernel's name.
    pub(super) kernel: String,
    /// The architecture that it was compiled for, or the device.
    pub(super) architecture: String,
    /// Registers of a thread.
    pub(super) registers: u32,
    /// Bytes of shared memory of a thread block, static and dynamic.
    pub(super) shared_bytes: u32,
    /// Bytes of local memory of a thread.
    pub(super) local_bytes: u32,
    /// Bytes spilled, stores and loads.
    pub(super) spill_bytes: u32,
}

/// A whole run.
#[derive(Debug, Serialize)]
pub(super) struct Record {
    /// On what it ran.
    pub(super) environment: Environment,
    /// Backends that could not run, with the reason.
    pub(super) skipped: Vec<String>,
    /// Measurements.
    pub(super) measurements: Vec<Measurement>,
    /// Kernels.
    pub(super) kernels: Vec<KernelResources>,
}
