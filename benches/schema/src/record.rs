//! A whole run: the machine, its figures by part, and what its kernels take.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Figure;

/// On what a run was made.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// The CPU's name.
    pub cpu: String,
    /// Its instruction sets that matter here.
    pub cpu_features: String,
    /// The GPU's name, or why there is none.
    pub gpu: String,
    /// Multiprocessors and clock of the GPU, where there is one.
    pub gpu_details: Option<GpuDetails>,
    /// The NVIDIA driver's version.
    pub driver: Option<String>,
    /// The Rust compiler that built the program.
    pub compiler: String,
    /// The commit that the program was built from.
    pub commit: String,
    /// The date of the run, year first.
    pub date: String,
    /// The time of its start, the hour first, which orders the runs of a day; older records have none.
    pub time: String,
    /// Names and versions of the libraries in other languages that were measured too.
    pub peers: Vec<String>,
}

/// What throughput is compared by.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GpuDetails {
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Peak clock in GHz.
    pub gigahertz: f64,
    /// Compute capability.
    pub compute_capability: String,
}

/// What a kernel takes of the device (P1's Table 4).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelResources {
    /// The kernel's name.
    pub kernel: String,
    /// The architecture that it was compiled for, or the device.
    pub architecture: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a thread block, static and dynamic.
    pub shared_bytes: u32,
    /// Bytes of local memory of a thread.
    pub local_bytes: u32,
    /// Bytes spilled, stores and loads.
    pub spill_bytes: u32,
}

/// A part of what is measured: figures that stand beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// One key and one call, by backend, mode, place and size.
    Measurements,
    /// Sizes of thread blocks, at one length (P3).
    ThreadBlocks,
    /// P4's sizes of thread blocks, by messages of all lengths.
    BlockSizes,
    /// The choice between CPU and GPU beside both, from host memory to host memory, in place.
    Auto,
    /// Many messages of one length in one call, each under a key of its own, key schedules counted.
    Batches,
    /// CTR or GCM in place over host memory, by all cores or by the GPU.
    HostMemory,
    /// The first call of a process on a GPU.
    FirstCalls,
    /// CTR by several devices.
    Fleet,
    /// A whole file through a command, from its start to its end.
    Files,
    /// ECB encryption on the CPU by the number of blocks, under the shortest key: the fastest pass.
    BlockCurves,
    /// Calls of a user who replaces a cipher of RustCrypto by ours, beside what they were before.
    Swap,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Measurements,
        Self::ThreadBlocks,
        Self::BlockSizes,
        Self::Auto,
        Self::Batches,
        Self::HostMemory,
        Self::FirstCalls,
        Self::Fleet,
        Self::Files,
        Self::BlockCurves,
        Self::Swap,
    ];
}

/// A whole run. Records of every age are read: see `read.rs`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub struct Record {
    /// On what it ran.
    pub environment: Environment,
    /// Backends that could not run, with the reason.
    pub skipped: Vec<String>,
    /// What was measured.
    pub figures: BTreeMap<Part, Vec<Figure>>,
    /// Kernels.
    pub kernels: Vec<KernelResources>,
}

impl Record {
    /// Of single measurements alone.
    #[must_use]
    pub fn of(environment: Environment, measurements: Vec<Figure>) -> Self {
        let mut record = Self { environment, ..Self::default() };
        record.add(Part::Measurements, measurements);
        record
    }

    /// The figures of a part.
    #[must_use]
    pub fn part(&self, part: Part) -> &[Figure] {
        self.figures.get(&part).map_or(&[], Vec::as_slice)
    }

    /// Single measurements.
    #[must_use]
    pub fn measurements(&self) -> &[Figure] {
        self.part(Part::Measurements)
    }

    /// The figures of a part, to be changed.
    pub fn part_mut(&mut self, part: Part) -> &mut Vec<Figure> {
        self.figures.entry(part).or_default()
    }

    /// Adds figures to a part.
    pub fn add(&mut self, part: Part, figures: impl IntoIterator<Item = Figure>) {
        self.part_mut(part).extend(figures);
    }

    /// Whether nothing was measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.figures.values().all(Vec::is_empty)
    }
}
