//! What a run found, as it is written to JSON.

use serde::{Deserialize, Serialize};

use super::{environment::Environment, plan::Work};

/// Where data was before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Place {
    /// CPU, in host memory.
    Cpu,
    /// On the device before and after.
    Resident,
    /// The same, launch after launch for a minute: the time is the mean of all.
    Sustained,
    /// On the device, queued on a stream: the time is the host's, from before that until it has run.
    Queued,
    /// Device, from host memory to host memory.
    EndToEnd,
    /// The same with memory that is pinned.
    Pinned,
}

impl Place {
    /// The name in tables.
    #[must_use]
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Resident => "GPU, resident",
            Self::Sustained => "GPU, resident, a minute without a pause",
            Self::Queued => "GPU, launch to finish",
            Self::EndToEnd => "GPU, end to end",
            Self::Pinned => "GPU, pinned memory",
        }
    }
}

/// Gbit/s, with 1 Gbit = 10^9 bits.
fn gbit_per_second(bytes: usize, seconds: f64) -> f64 {
    bytes as f64 * 8.0 / seconds / 1e9
}

/// One measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// Seconds of the fastest pass, on the CPU; older records have the median alone.
    #[serde(default)]
    pub(super) fastest_seconds: Option<f64>,
    /// Passes that the median is of.
    pub(super) samples: usize,
    /// Between which seconds the median lies with 95% confidence; older records do not say.
    #[serde(default)]
    pub(super) interval: Option<[f64; 2]>,
    /// GHz of the core, measured just before; on GPUs, and in records from before it was measured,
    /// there is none.
    #[serde(default)]
    pub(super) gigahertz: Option<f64>,
    /// Whether it is another library's; older records do not say.
    #[serde(default)]
    pub(super) is_peer: bool,
    /// Of which run it is, where several are read together; a record does not say.
    #[serde(skip)]
    pub(super) run: usize,
}

impl Measurement {
    /// Gbit/s, with 1 Gbit = 10^9 bits.
    #[must_use]
    pub(super) fn gbit_per_second(&self) -> f64 {
        gbit_per_second(self.bytes, self.seconds)
    }

    /// Seconds of the fastest pass where it is known, else the median. Cycles and ratios are of
    /// this: what else runs on the machine makes passes longer, never shorter.
    #[must_use]
    pub(super) fn undisturbed_seconds(&self) -> f64 {
        self.fastest_seconds.unwrap_or(self.seconds)
    }

    /// Cycles of the core for a byte, in the fastest pass, where the clock is known.
    #[must_use]
    pub(super) fn cycles_per_byte(&self) -> Option<f64> {
        self.gigahertz.map(|clock| clock * 1e9 * self.undisturbed_seconds() / self.bytes as f64)
    }
}

/// A batch: many messages of one length in one call, each under a key of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BatchMeasurement {
    /// The cipher's name.
    pub(super) cipher: String,
    /// Bits of every key.
    pub(super) key_bits: usize,
    /// The mode.
    pub(super) work: Work,
    /// Where the data was.
    pub(super) place: Place,
    /// Messages.
    pub(super) messages: usize,
    /// Bytes of each.
    pub(super) message_bytes: usize,
    /// Median seconds of a pass, key schedules among it.
    pub(super) seconds: f64,
    /// Passes that the median is of.
    pub(super) samples: usize,
    /// Between which seconds the median lies with 95% confidence; older records do not say.
    #[serde(default)]
    pub(super) interval: Option<[f64; 2]>,
}

impl BatchMeasurement {
    /// Gbit/s of all messages together.
    #[must_use]
    pub(super) fn gbit_per_second(&self) -> f64 {
        gbit_per_second(self.messages * self.message_bytes, self.seconds)
    }
}

/// CTR or GCM in place over host memory, by all cores or by the GPU.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HostMemoryMeasurement {
    /// The cipher's name.
    pub(super) cipher: String,
    /// Bits of the key.
    pub(super) key_bits: usize,
    /// The mode; records from before there were others have CTR alone.
    #[serde(default = "ctr")]
    pub(super) work: Work,
    /// What ran it, and from which memory.
    pub(super) place: Place,
    /// Bytes.
    pub(super) bytes: usize,
    /// Median seconds of a pass.
    pub(super) seconds: f64,
    /// Passes that the median is of.
    pub(super) samples: usize,
    /// Between which seconds the median lies with 95% confidence; older records do not say.
    #[serde(default)]
    pub(super) interval: Option<[f64; 2]>,
}

fn ctr() -> Work {
    Work::Ctr
}

impl HostMemoryMeasurement {
    /// GB/s, with 1 GB = 10^9 bytes: of what is read, and as many of what is written.
    #[must_use]
    pub(super) fn gigabytes_per_second(&self) -> f64 {
        gbit_per_second(self.bytes, self.seconds) / 8.0
    }
}

/// The first call of a process on a GPU.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FirstCall {
    /// The cipher's name.
    pub(super) cipher: String,
    /// Bits of the key.
    pub(super) key_bits: usize,
    /// The mode.
    pub(super) work: Work,
    /// Where the data was.
    pub(super) place: Place,
    /// Bytes of data.
    pub(super) bytes: usize,
    /// Seconds until the device is open, before the call.
    pub(super) open_seconds: f64,
    /// Seconds that the first call takes longer than the second where the driver has compiled nothing yet.
    pub(super) compiling_seconds: f64,
    /// The same where another process has had the same kernels compiled.
    pub(super) loading_seconds: f64,
}

/// A whole file through a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FileMeasurement {
    /// The command.
    pub(super) tool: String,
    /// Bytes of the file.
    pub(super) bytes: usize,
    /// Seconds from its start to its end.
    pub(super) encrypt_seconds: f64,
    /// The same, back.
    pub(super) decrypt_seconds: f64,
}

/// CTR by several devices.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FleetMeasurement {
    /// The cipher's name.
    pub(super) cipher: String,
    /// Bits of the key.
    pub(super) key_bits: usize,
    /// Where the data was.
    pub(super) place: Place,
    /// Devices.
    pub(super) devices: usize,
    /// Bytes that all of them ran together.
    pub(super) bytes: usize,
    /// Median seconds of a pass.
    pub(super) seconds: f64,
    /// Passes that the median is of.
    pub(super) samples: usize,
    /// Between which seconds the median lies with 95% confidence; older records do not say.
    #[serde(default)]
    pub(super) interval: Option<[f64; 2]>,
}

impl FleetMeasurement {
    /// GB/s, with 1 GB = 10^9 bytes, of all devices together.
    #[must_use]
    pub(super) fn gigabytes_per_second(&self) -> f64 {
        gbit_per_second(self.bytes, self.seconds) / 8.0
    }
}

/// `Auto` beside the places that it chooses from, from host memory to host memory, in place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AutoMeasurement {
    /// The cipher's name.
    pub(super) cipher: String,
    /// Bits of the key.
    pub(super) key_bits: usize,
    /// The mode.
    pub(super) work: Work,
    /// Bytes from which on it is the GPU, then again the CPU, and so on.
    pub(super) switches: Vec<u64>,
    /// Bytes.
    pub(super) bytes: usize,
    /// What was chosen.
    pub(super) is_on_gpu: bool,
    /// Median seconds of a pass of all of the CPU's threads.
    pub(super) cpu_seconds: f64,
    /// The same of the GPU.
    pub(super) gpu_seconds: f64,
    /// The same of what chooses.
    pub(super) auto_seconds: f64,
}

/// A measurement with thread blocks of one size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ThreadBlockMeasurement {
    /// Threads of a thread block; 0 where the kernel was launched as it is by itself.
    pub(super) threads: u32,
    /// What was measured.
    #[serde(flatten)]
    pub(super) measurement: Measurement,
}

/// What a kernel takes of the device (P1's Table 4).
#[derive(Clone, Debug, Serialize, Deserialize)]
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

/// The time of a call by its number of blocks: ECB encryption on the CPU with the shortest key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BlockCurve {
    /// The cipher's name.
    pub(super) cipher: String,
    /// Bits of the key.
    pub(super) key_bits: usize,
    /// The highest clock of the core meanwhile, in GHz.
    pub(super) gigahertz: f64,
    /// The numbers of blocks from which on our type runs a call another way, from 1 on, and which.
    pub(super) ways: Vec<(usize, String)>,
    /// Our default type, and the table code that it replaces where there is any.
    pub(super) lines: Vec<BlockLine>,
}

/// One implementation's part of a [`BlockCurve`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BlockLine {
    /// What was called.
    pub(super) name: String,
    /// Number of blocks and nanoseconds of a call, shortest first.
    pub(super) points: Vec<(usize, f64)>,
}

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    /// On what it ran.
    pub(super) environment: Environment,
    /// Backends that could not run, with the reason.
    pub(super) skipped: Vec<String>,
    /// Measurements.
    pub(super) measurements: Vec<Measurement>,
    /// Thread-block sizes tried; records from before there were any have none.
    #[serde(default)]
    pub(super) thread_blocks: Vec<ThreadBlockMeasurement>,
    /// P4's sizes of thread blocks, by messages of all lengths; older records have none.
    #[serde(default)]
    pub(super) block_sizes: Vec<ThreadBlockMeasurement>,
    /// Choices between CPU and GPU; records from before there were any have none.
    #[serde(default)]
    pub(super) auto: Vec<AutoMeasurement>,
    /// Batches; records from before there were any have none.
    #[serde(default)]
    pub(super) batches: Vec<BatchMeasurement>,
    /// Host memory; records from before it was measured have none.
    #[serde(default)]
    pub(super) host_memory: Vec<HostMemoryMeasurement>,
    /// First calls; records from before they were measured have none.
    #[serde(default)]
    pub(super) first_calls: Vec<FirstCall>,
    /// Several devices; records from before they were measured, and of one device, have none.
    #[serde(default)]
    pub(super) fleet: Vec<FleetMeasurement>,
    /// Whole files; records from before they were measured have none.
    #[serde(default)]
    pub(super) files: Vec<FileMeasurement>,
    /// Time by number of blocks; records from before it was measured have none.
    #[serde(default)]
    pub(super) block_curves: Vec<BlockCurve>,
    /// Kernels.
    pub(super) kernels: Vec<KernelResources>,
}

#[cfg(test)]
impl Measurement {
    /// Under a 128-bit key, of eleven passes; tests change what else they need.
    pub(super) fn of(
        (cipher, backend): (&str, &str),
        (work, place): (Work, Place),
        bytes: usize,
        seconds: f64,
    ) -> Self {
        Self {
            cipher: cipher.into(),
            key_bits: 128,
            backend: backend.into(),
            work,
            place,
            bytes,
            seconds,
            samples: 11,
            interval: None,
            fastest_seconds: None,
            gigahertz: None,
            is_peer: false,
            run: 0,
        }
    }
}

#[cfg(test)]
impl Record {
    /// Of measurements alone.
    pub(super) fn of(environment: Environment, measurements: Vec<Measurement>) -> Self {
        Self {
            environment,
            skipped: Vec::new(),
            measurements,
            thread_blocks: Vec::new(),
            block_sizes: Vec::new(),
            auto: Vec::new(),
            batches: Vec::new(),
            host_memory: Vec::new(),
            first_calls: Vec::new(),
            fleet: Vec::new(),
            files: Vec::new(),
            block_curves: Vec::new(),
            kernels: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of a run, as an earlier bench-all wrote it.
    const OLD: &str = r#"{
        "environment": {
            "cpu": "Xeon", "cpu_features": "aes", "gpu": "none", "gpu_details": null,
            "driver": null, "compiler": "rustc 1.89.0", "commit": "0123456", "date": "2026-11-21"
        },
        "skipped": [],
        "measurements": [{
            "cipher": "aes", "key_bits": 128, "backend": "hardware", "work": "EcbEncrypt",
            "place": "Cpu", "bytes": 16, "seconds": 1e-8, "samples": 20
        }],
        "kernels": [{
            "kernel": "aes_bitslice_ctr", "architecture": "sm_90", "registers": 128,
            "shared_bytes": 0, "local_bytes": 0, "spill_bytes": 0
        }]
    }"#;

    #[test]
    fn old_records_are_read_and_new_ones_come_back() {
        let mut record: Record = serde_json::from_str(OLD).expect("an old record is a record");
        assert!(record.thread_blocks.is_empty() && record.block_curves.is_empty());
        assert!(record.batches.is_empty());
        assert!(record.environment.peers.is_empty());
        assert_eq!(record.measurements[0].cycles_per_byte(), None);
        record.measurements[0].gigahertz = Some(3.2);
        assert_eq!(record.measurements[0].cycles_per_byte(), Some(2.0));
        record.measurements[0].fastest_seconds = Some(5e-9);
        let measurement = record.measurements[0].clone();
        record.thread_blocks.push(ThreadBlockMeasurement { threads: 768, measurement });
        let text = serde_json::to_string(&record).expect("a record is JSON");
        let back: Record = serde_json::from_str(&text).expect("a new record is a record");
        assert_eq!(back.thread_blocks[0].threads, 768);
        assert_eq!(back.thread_blocks[0].measurement.backend, "hardware");
        let cycles = back.measurements[0].cycles_per_byte().expect("the clock is known");
        assert!((cycles - 1.0).abs() < 1e-9, "16 cycles for 16 bytes, not {cycles} a byte");
    }
}
