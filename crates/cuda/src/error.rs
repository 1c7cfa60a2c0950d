//! Errors of the device layer: each says what was being done.

use std::{fmt, ops::Range, sync::Arc};

use lanecrypt_core::Unavailable;
use lanecrypt_kernels::Task;

/// CUDA's names of errors that leave a device, or this process's context on it, unusable: of those after
/// which "any further CUDA work will return the same error", and of devices that are gone.
const LOST: [&str; 20] = [
    "CUDA_ERROR_DEINITIALIZED",
    "CUDA_ERROR_DEVICE_UNAVAILABLE",
    "CUDA_ERROR_NO_DEVICE",
    "CUDA_ERROR_INVALID_CONTEXT",
    "CUDA_ERROR_ECC_UNCORRECTABLE",
    "CUDA_ERROR_NVLINK_UNCORRECTABLE",
    "CUDA_ERROR_CONTAINED",
    "CUDA_ERROR_ILLEGAL_ADDRESS",
    "CUDA_ERROR_LAUNCH_TIMEOUT",
    "CUDA_ERROR_CONTEXT_IS_DESTROYED",
    "CUDA_ERROR_ASSERT",
    "CUDA_ERROR_HARDWARE_STACK_ERROR",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "CUDA_ERROR_MISALIGNED_ADDRESS",
    "CUDA_ERROR_INVALID_ADDRESS_SPACE",
    "CUDA_ERROR_INVALID_PC",
    "CUDA_ERROR_LAUNCH_FAILED",
    "CUDA_ERROR_TENSOR_MEMORY_LEAK",
    "CUDA_ERROR_MPS_CLIENT_TERMINATED",
    "CUDA_ERROR_UNKNOWN",
];

/// What can go wrong on a device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This machine has no usable device.
    #[error("{0}")]
    Unavailable(#[from] Unavailable),
    /// A device number beyond the last.
    #[error("there is no CUDA device {given}: this machine has {count}, numbered from 0")]
    NoSuchDevice {
        /// The number asked for.
        given: usize,
        /// Devices there are.
        count: usize,
    },
    /// The environment variable `LANECRYPT_DEVICE` is no number.
    #[error("LANECRYPT_DEVICE is {given:?}; a device number is expected, counted from 0")]
    DeviceVariable {
        /// Its text.
        given: String,
    },
    /// A call of the CUDA driver failed.
    #[error("{doing}: {reason} ({name})")]
    Driver {
        /// What was being done.
        doing: String,
        /// CUDA's name of the error.
        name: String,
        /// CUDA's description of it.
        reason: String,
    },
    /// A kernel family was put together from parts that do not fit each other.
    #[error("{cipher} by the kernels of {module}: {reason}")]
    Mismatch {
        /// The cipher.
        cipher: &'static str,
        /// The module of its program.
        module: &'static str,
        /// What does not fit.
        reason: String,
    },
    /// A cipher whose table has no row for a CPU, which computes single blocks beside a device.
    #[error("{cipher} has no implementation for the CPU, which computes single blocks of GCM")]
    NoCpuBackend {
        /// The cipher.
        cipher: &'static str,
    },
    /// The kernels that an engine runs have none for what was asked of it.
    #[error("module {module} has no kernel for {task}")]
    Task {
        /// The module.
        module: &'static str,
        /// What was asked.
        task: Task,
    },
    /// An operation each of whose blocks waits for the one before it, over data on a device.
    #[error("no kernel runs {mode} this way: each of its blocks waits for the one before it")]
    Serial {
        /// The mode.
        mode: lanecrypt_core::Mode,
    },
    /// A kernel family of one cipher where one of another is wanted.
    #[error("kernels of {given}, not of {expected}")]
    OtherCipher {
        /// The cipher of the family.
        given: &'static str,
        /// The cipher that is wanted.
        expected: &'static str,
    },
    /// A module's PTX is not what its kernels are launched as.
    #[error(
        "kernel {kernel} of module {module} takes {found:?} bytes of parameters, not {expected}"
    )]
    Parameters {
        /// The module.
        module: &'static str,
        /// The kernel.
        kernel: &'static str,
        /// Bytes that the PTX declares; `None` where it has no such kernel.
        found: Option<usize>,
        /// Bytes that a launch passes.
        expected: usize,
    },
    /// A launch that the kernel's source does not allow; only the host build tells.
    #[error("kernel {kernel} was launched with {given}; it takes {expected}")]
    Launch {
        /// The kernel.
        kernel: &'static str,
        /// Threads of a thread block, shared memory and parameters of the launch.
        given: String,
        /// What its source says of them.
        expected: String,
    },
    /// The library with the host build of the kernels does not fit.
    #[error("{doing}: {reason}")]
    HostKernels {
        /// What was being done.
        doing: String,
        /// What was wrong.
        reason: String,
    },
    /// Memory or a stream of one device where an engine runs on another.
    #[error("the {what} is of {given}, the engine runs on {engine}")]
    OtherDevice {
        /// What is of another device.
        what: &'static str,
        /// That device.
        given: String,
        /// The engine's.
        engine: String,
    },
    /// A stream of another context than the primary one of a device.
    #[error("the stream is not of the primary context of {device}")]
    OtherContext {
        /// The device.
        device: String,
    },
    /// An address that is no device's.
    #[error("the memory at {address:#x} is not that of a CUDA device")]
    NoDeviceMemory {
        /// The address.
        address: u64,
    },
    /// Memory that starts where what is asked for cannot run.
    #[error("memory of a device that starts at {start:#x}; here it starts at a multiple of 16")]
    Alignment {
        /// Its address, or its first byte in a slice.
        start: u64,
    },
    /// Memory, or a place in a key stream, that is no whole number of numbers.
    #[error("{given} bytes of random numbers; a number has {number}")]
    Numbers {
        /// Bytes given.
        given: usize,
        /// Bytes of a number.
        number: usize,
    },
    /// Addresses of memory that overlaps where it may not.
    #[error("{length} bytes from {input:#x} to {output:#x}; they are the same or do not overlap")]
    Addresses {
        /// Where the input starts.
        input: u64,
        /// Where the output starts.
        output: u64,
        /// Bytes of either.
        length: usize,
    },
    /// A range outside a buffer, or outside another slice of memory of a device.
    #[error("bytes {start}..{end} of a device buffer of {length}")]
    Range {
        /// First byte.
        start: usize,
        /// Byte after the last.
        end: usize,
        /// Bytes of the buffer.
        length: usize,
    },
    /// Two jobs of a batch would write to the same bytes.
    #[error("jobs {first} and {second} of the batch write to the same bytes; outputs lie apart")]
    Overlap {
        /// The number of the one that starts first.
        first: usize,
        /// The number of the other.
        second: usize,
    },
    /// A batch is to run in place whose jobs have other places for their output.
    #[error(
        "a job of the batch has its output elsewhere than its input; in place they are the same"
    )]
    NotInPlace,
    /// A cipher that has no kernels for batches.
    #[error("{cipher} has no batches on devices: they run on the CPU")]
    NoBatches {
        /// The cipher.
        cipher: &'static str,
    },
    /// Something failed in the middle of host memory.
    #[error("{error}; the first {complete} bytes are complete")]
    Interrupted {
        /// Bytes that are complete. What comes after them is as it was, unless the data is a
        /// [`PinnedBuffer`](crate::PinnedBuffer)'s: there it is unspecified.
        complete: usize,
        /// What went wrong.
        #[source]
        error: Box<Self>,
    },
    /// What failed a job of a batch that had not come back.
    #[error("the batch ended before this job: {error}")]
    BatchEnded {
        /// What went wrong, which ended other jobs as well.
        #[source]
        error: Arc<Self>,
    },
    /// Devices of a fleet failed, and none was left to run their share, or they have the data.
    #[error("{}", of_fleet(.incomplete, .dropped))]
    Fleet {
        /// Bytes that are not complete, of all that the call was for; all others are. In host memory
        /// what is in place is there as it was, and an output of its own is unspecified; on devices
        /// they are unspecified.
        incomplete: Vec<Range<usize>>,
        /// The devices that failed, and why.
        dropped: Vec<Dropped>,
    },
    /// A length or an IV that the mode does not take.
    #[error("{0}")]
    Data(lanecrypt_core::Error),
}

/// Why messages did not get from a place outside to a device, or from there.
#[derive(Debug, thiserror::Error)]
pub enum TransferError<E> {
    /// The device failed, or does not take what was asked of it.
    #[error(transparent)]
    Device(#[from] Error),
    /// A message is not what was sealed.
    #[error("message {message} is not authentic")]
    NotAuthentic {
        /// Its number, from 0.
        message: u64,
    },
    /// What was called to read or to write failed.
    #[error("{0}")]
    Outside(E),
}

/// A device that dropped out of a fleet.
#[derive(Clone, Debug)]
pub struct Dropped {
    /// Its place in the fleet, from 0.
    pub member: usize,
    /// Its name.
    pub device: String,
    /// Why.
    pub error: Arc<Error>,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { member, device, error } = self;
        write!(f, "device {member} of the fleet ({device}) dropped out: {error}")
    }
}

/// The text of [`Error::Fleet`].
fn of_fleet(incomplete: &[Range<usize>], dropped: &[Dropped]) -> String {
    let mut text: Vec<_> = dropped.iter().map(Dropped::to_string).collect();
    if let Some(first) = incomplete.first() {
        let bytes: usize = incomplete.iter().map(Range::len).sum();
        text.push(format!("{bytes} bytes are not complete, from byte {} on", first.start));
    }
    text.join("; ")
}

impl Error {
    /// Whether the device is lost to this process: nothing that is asked of it will succeed before the
    /// process has ended. So after a fault of a kernel or of the card's memory, or of a card that is no
    /// longer there; not where memory is short. Of [`Error::Fleet`], whether all devices that it names
    /// are.
    ///
    /// ```
    /// use lanecrypt_cuda::Error;
    ///
    /// let error = |name: &str| Error::Driver {
    ///     doing: "running kernels".into(),
    ///     name: name.into(),
    ///     reason: "as CUDA describes it".into(),
    /// };
    /// assert!(error("CUDA_ERROR_ECC_UNCORRECTABLE").is_device_lost());
    /// assert!(!error("CUDA_ERROR_OUT_OF_MEMORY").is_device_lost());
    /// ```
    #[must_use]
    pub fn is_device_lost(&self) -> bool {
        match self {
            Self::Driver { name, .. } => LOST.contains(&name.as_str()),
            Self::Interrupted { error, .. } => error.is_device_lost(),
            Self::BatchEnded { error } => error.is_device_lost(),
            Self::Fleet { dropped, .. } => dropped.iter().all(|one| one.error.is_device_lost()),
            // What came through an interface of core's.
            Self::Data(lanecrypt_core::Error::Device(error)) => {
                error.downcast_ref::<Self>().is_some_and(Self::is_device_lost)
            }
            _ => false,
        }
    }

    /// Bytes of host memory that are complete all the same.
    pub(crate) fn complete_bytes(&self) -> usize {
        match self {
            Self::Interrupted { complete, .. } => *complete,
            _ => 0,
        }
    }

    /// What went wrong, wherever.
    pub(crate) fn into_cause(self) -> Self {
        match self {
            Self::Interrupted { error, .. } => *error,
            other => other,
        }
    }
}

impl From<Error> for lanecrypt_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Unavailable(unavailable) => Self::Unavailable(unavailable),
            Error::Data(error) => error,
            other => Self::Device(Box::new(other)),
        }
    }
}
