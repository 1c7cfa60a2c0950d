//! Errors of the device layer: each says what was being done.

use lanecrypt_core::Unavailable;
use lanecrypt_kernels::Task;

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
    /// The kernels that an engine runs have none for what was asked of it.
    #[error("module {module} has no kernel for {task}")]
    Task {
        /// The module.
        module: &'static str,
        /// What was asked.
        task: Task,
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
    /// Addresses of memory that kernels cannot run over.
    #[error(
        "{length} bytes from {input:#x} to {output:#x}; both start at a multiple of 16 and are the same \
         or do not overlap"
    )]
    Addresses {
        /// Where the input starts.
        input: u64,
        /// Where the output starts.
        output: u64,
        /// Bytes of either.
        length: usize,
    },
    /// A range outside a buffer, or one whose start is not on a 16-byte boundary.
    #[error(
        "bytes {start}..{end} of a device buffer of {length}; ranges start at a multiple of 16"
    )]
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
    /// A length or an IV that the mode does not take.
    #[error("{0}")]
    Data(lanecrypt_core::Error),
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
