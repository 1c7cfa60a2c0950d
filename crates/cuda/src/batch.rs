//! Batches on the device: many messages in one call, each with its own key, mode and length.
//!
//! Jobs are checked and cut into items on the host, and uploaded once. Then a few launches do all of
//! it, whatever the number of messages:
//!
//! ```text
//! gather      a warp a message    brings it to the device               host memory that kernels reach
//! keys        a thread a job      round keys, H, J0 encrypted           but for what AES encrypts
//! hash, finish                    are the tags right?                   GCM decryption
//! save        a thread an item    the block before it                   ECB and CBC decryption
//! crypt       a warp an item: of AES round keys, too                    CTR, GCM, ECB encryption
//! narrow      four lanes a short message: the same                      CTR, GCM, ECB encryption
//! decrypt     a warp an item                                            ECB and CBC decryption
//! chain       a thread a message                                        CBC encryption
//! hash, finish                    the tags                              GCM encryption
//! scatter     a warp a message    takes the result back                 host memory that kernels reach
//! ```

mod fleet;
mod host_memory;
mod items;
mod memory;
mod plan;
mod sealed;
mod words;

use std::{fmt, time::Duration};

use lanecrypt_core::{
    CipherDescription, Mode, Unavailable,
    batch::{Failure, JobMode, Outcome},
};
use lanecrypt_kernels::{
    Kernel,
    batch::{self as kernels, BatchProgram},
};

pub use self::{
    fleet::BatchFleet,
    sealed::{SealedMessage, Sealing},
};
use self::{
    items::Cuts,
    memory::{HashLists, Layout, List, Lists, Memory, Parameters},
    plan::Plan,
    words::{BLOCK, Message, RESULT_BYTES},
};
use crate::{
    Device, DeviceInOut, DeviceSlice, Error, Geometry, HashFamily, Properties,
    device::driver::StreamHandle,
};

/// Flag of the kernel that ends hashes: `WITHOUT_H` of `kernels/batch/batch.cuh`.
const WITHOUT_H: u64 = 1;
/// Flag of the kernel that encrypts: `OPENS_SESSIONS` there.
const OPENS_SESSIONS: u64 = 2;
/// What a result says of a right tag: `RIGHT` there.
const RIGHT: u8 = 1;
/// What moves messages by the bus: more thread blocks of one kernel leave no room for those of the other direction.
const MOVERS: Geometry = Geometry { threads: 512, blocks_per_multiprocessor: 1 };
/// The most bytes of a message: items count its blocks in 32 bits, and no memory has more than `isize` counts.
const MOST_BYTES: usize = {
    let most = u32::MAX as u64 * BLOCK as u64;
    if most < isize::MAX as u64 { most as usize } else { isize::MAX as usize }
};

/// How a cipher's batches run on devices.
#[derive(Clone, Copy, Debug)]
pub struct BatchFamily {
    cipher: &'static CipherDescription,
    program: &'static BatchProgram,
}

/// One message of a batch on a device: bytes of an input and an output slice, which are given when the
/// batch runs.
pub struct DeviceJob<'a> {
    /// The key, of any length that the cipher takes; it may differ from job to job.
    pub key: &'a [u8],
    /// What is done.
    pub mode: JobMode<'a>,
    /// The first byte of the message in the input slice, a multiple of 16.
    pub input: usize,
    /// Where its result starts in the output slice, a multiple of 16; the same as `input` for batches
    /// that run in place.
    pub output: usize,
    /// Bytes; any number, also none.
    pub length: usize,
}

impl DeviceJob<'_> {
    fn message(&self) -> Message<'_> {
        Message { key: self.key, mode: &self.mode, length: self.length }
    }

    fn places(&self) -> [usize; 2] {
        [self.input, self.output]
    }
}

/// Tells the mode and the places, never the key.
impl fmt::Debug for DeviceJob<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mode, input, output, length, key: _ } = self;
        f.debug_struct("DeviceJob")
            .field("mode", mode)
            .field("input", input)
            .field("output", output)
            .field("length", length)
            .finish_non_exhaustive()
    }
}

impl BatchFamily {
    /// Batches of `cipher` by the kernels of `program`, which are held against each other before anything
    /// runs.
    #[must_use]
    pub const fn new(cipher: &'static CipherDescription, program: &'static BatchProgram) -> Self {
        Self { cipher, program }
    }

    /// The cipher.
    #[must_use]
    pub const fn cipher(&self) -> &'static CipherDescription {
        self.cipher
    }

    /// Checks that the kernels, which trust their jobs, take every key and block that the cipher has, and
    /// that a device runs them.
    fn require(&self, device: &Device) -> Result<(), Error> {
        let Self { cipher, program } = self;
        let mismatch =
            |reason| Error::Mismatch { cipher: cipher.name, module: program.module().name, reason };
        let (given, taken) = (cipher.block_bytes, program.block_bytes());
        if given != taken {
            return Err(mismatch(format!("blocks of {given} bytes where they take {taken}")));
        }
        let (given, taken) = (cipher.key_bytes, program.key_bytes());
        if let Some(key) = given.iter().find(|bytes| !taken.contains(bytes)) {
            return Err(mismatch(format!("keys of {key} bytes where they take {taken:?}")));
        }
        Ok(self.fits(device.properties())?)
    }

    /// Whether a device has the shared memory that the kernels need.
    ///
    /// # Errors
    /// [`Unavailable`] naming what it has and what is needed.
    pub fn fits(&self, properties: &Properties) -> Result<(), Unavailable> {
        let needed = self.program.shared_bytes();
        if needed <= properties.shared_bytes_per_block {
            return Ok(());
        }
        Err(Unavailable::because_of(format!(
            "a thread block has {} bytes of shared memory on {}, batches of {} need {needed}",
            properties.shared_bytes_per_block, properties.name, self.cipher.name,
        )))
    }

    /// Checks jobs, cuts them into items and uploads what the kernels need, the keys among it.
    ///
    /// A job with a key or a length that its mode does not take is no error here: it is left out, and
    /// named when the batch has run.
    ///
    /// # Errors
    /// [`Error::Overlap`] for two jobs that write to the same bytes, [`Error::Alignment`] for messages that
    /// start off a 16-byte boundary, [`Error::Range`] for those that no memory has; [`Error::Mismatch`] for
    /// a cipher whose blocks or keys the kernels do not take; [`Error::Unavailable`] as
    /// [`fits`](Self::fits); driver errors.
    pub fn prepare<'a>(
        &self,
        device: &Device,
        jobs: Vec<DeviceJob<'a>>,
    ) -> Result<PreparedBatch<'a>, Error> {
        self.prepare_with(device, HashFamily::of(device.properties()), None, jobs)
    }

    /// [`prepare`](Self::prepare) with a certain hash (by look-ups, or by matrices, of which batches have
    /// one kind), and with items of other lengths in blocks, powers of two: of those that are encrypted,
    /// of messages that a few lanes do not take, of those that are hashed, and of messages that are hashed at once; for
    /// tests.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    #[doc(hidden)]
    pub fn prepare_with<'a>(
        &self,
        device: &Device,
        hash: HashFamily,
        cuts: Option<[u32; 4]>,
        jobs: Vec<DeviceJob<'a>>,
    ) -> Result<PreparedBatch<'a>, Error> {
        self.require(device)?;
        if !hash.fits(device.properties()) {
            return Err(Error::Unavailable(Unavailable::because("the device lacks the hash")));
        }
        require_apart(&jobs)?;
        let by_matrices = hash != HashFamily::Tables;
        let cuts = match cuts {
            Some([piece, narrow, hashed, short]) => {
                Cuts { piece, narrow, hashed, short, by_matrices }
            }
            None => self.cuts(device, by_matrices, jobs.iter().map(|job| job.length))?,
        };
        let plan = self.plan(cuts, jobs.iter().map(DeviceJob::message));
        let write = |area: &mut [u8]| {
            plan.write(area, |_, job| (jobs[job].message(), jobs[job].places()));
        };
        Ok(PreparedBatch {
            memory: Memory::new(device, plan.layout(), &plan.items, write)?,
            device: device.clone(),
            program: self.program,
            cuts: plan.cuts,
            ends: plan.ends_of(|job| (jobs[job].places(), jobs[job].length)),
            accepted: plan.accepted.into_iter().map(|accepted| accepted.job).collect(),
            failures: plan.failures,
            jobs,
        })
    }

    /// Checks messages and cuts them into items as suits the device, with the hash that is its own.
    fn plan_for<'m>(
        &self,
        device: &Device,
        messages: impl ExactSizeIterator<Item = Message<'m>> + Clone,
    ) -> Result<Plan, Error> {
        let by_matrices = HashFamily::of(device.properties()) != HashFamily::Tables;
        let lengths = messages.clone().map(|message| message.length);
        Ok(self.plan(self.cuts(device, by_matrices, lengths)?, messages))
    }

    /// Checks messages and cuts them into items.
    fn plan<'m>(&self, cuts: Cuts, messages: impl ExactSizeIterator<Item = Message<'m>>) -> Plan {
        let mut plan = Plan::with_room(cuts, messages.len());
        for (job, message) in messages.enumerate() {
            match self.check(message.key, message.mode, message.length) {
                Ok(()) => plan.accept(job, message),
                Err(error) => plan.failures.push(Failure { job, error }),
            }
        }
        plan.items.sort();
        plan
    }

    fn check(
        &self,
        key: &[u8],
        mode: &JobMode<'_>,
        length: usize,
    ) -> Result<(), lanecrypt_core::Error> {
        self.cipher.check_key(key)?;
        mode.check(length, self.cipher.block_bytes)?;
        if length > MOST_BYTES {
            let reason = format!("{length} bytes of a job; a batch on a device takes {MOST_BYTES}");
            return Err(Unavailable::because_of(reason).into());
        }
        if let JobMode::GcmEncrypt { iv, .. } | JobMode::GcmDecrypt { iv, .. } = mode
            && u32::try_from(iv.len()).is_err()
        {
            let (bytes, most) = (iv.len(), u32::MAX);
            let reason = format!("an IV of {bytes} bytes; a batch on a device takes {most}");
            return Err(Unavailable::because_of(reason).into());
        }
        Ok(())
    }

    /// How messages of these lengths, in bytes, are best cut on this device.
    fn cuts(
        &self,
        device: &Device,
        by_matrices: bool,
        lengths: impl ExactSizeIterator<Item = usize>,
    ) -> Result<Cuts, Error> {
        let messages = lengths.len() as u64;
        let blocks = lengths.map(|length| length.div_ceil(BLOCK) as u64).sum();
        let threads = |kernel| {
            let all = device.shaped(kernel, u64::from(u32::MAX), None)?;
            Ok::<_, Error>(all.threads() as u64)
        };
        let hashers =
            if by_matrices { threads(&kernels::MATRICES)? / 32 } else { threads(&kernels::HASH)? };
        let crypt_warps = threads(self.program.crypt())? / 32;
        Ok(Cuts::of(messages, blocks, crypt_warps, by_matrices, hashers))
    }
}

/// Checks that messages start at multiples of a block and that no two are written to the same bytes.
fn require_apart(jobs: &[DeviceJob<'_>]) -> Result<(), Error> {
    let mut outputs = Vec::with_capacity(jobs.len());
    for (number, job) in jobs.iter().enumerate() {
        for start in [job.input, job.output] {
            if !start.is_multiple_of(BLOCK) {
                return Err(Error::Alignment { start: start as u64 });
            }
            if start.checked_add(job.length).is_none() {
                return Err(Error::Range { start, end: usize::MAX, length: usize::MAX });
            }
        }
        if job.length > 0 {
            outputs.push((job.output, job.output + job.length, number));
        }
    }
    outputs.sort_unstable();
    for pair in outputs.windows(2) {
        let [(_, end, first), (start, _, second)] = pair else { continue };
        if end > start {
            return Err(Error::Overlap { first: *first, second: *second });
        }
    }
    Ok(())
}

/// What a job's result says: fills its tag, or tells that the given one is wrong.
fn settle(
    mode: &mut JobMode<'_>,
    result: &[u8; RESULT_BYTES],
) -> Result<(), lanecrypt_core::Error> {
    match mode {
        JobMode::GcmEncrypt { tag, .. } => tag.copy_from_slice(&result[..tag.len()]),
        JobMode::GcmDecrypt { .. } if result[0] != RIGHT => {
            return Err(lanecrypt_core::Error::NotAuthentic);
        }
        _ => {}
    }
    Ok(())
}

/// A batch that was checked and uploaded. It runs once, so that no IV is used twice by accident; keys,
/// and what was made of them on the device, are cleared when it is dropped.
#[must_use = "it has not run"]
pub struct PreparedBatch<'a> {
    device: Device,
    program: &'static BatchProgram,
    cuts: Cuts,
    jobs: Vec<DeviceJob<'a>>,
    /// The numbers of those that are run.
    accepted: Vec<usize>,
    failures: Vec<Failure>,
    memory: Memory,
    /// Where the last messages end in the input and the output.
    ends: [usize; 2],
}

/// Tells the device, the number of jobs and those that were refused, never a key.
impl fmt::Debug for PreparedBatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedBatch")
            .field("device", &self.device)
            .field("module", &self.program.module().name)
            .field("jobs", &self.jobs.len())
            .field("failures", &self.failures)
            .finish_non_exhaustive()
    }
}

impl PreparedBatch<'_> {
    /// Runs all jobs over data on the batch's device, in place or from one slice to another, which need not
    /// be equally long, and fills the tags.
    ///
    /// The outcome names jobs that failed: what they would have written is as it was. All others are
    /// complete.
    ///
    /// # Errors
    /// [`Error::Range`] where a message ends behind its slice, [`Error::Alignment`] where one starts at no
    /// multiple of 16, [`Error::NotInPlace`] where in place the output of a job does not start where its
    /// input does: nothing is written then. Driver errors: no output is to be used then, but nothing of GCM
    /// is written whose tag was not right.
    pub fn run<'d>(self, data: impl Into<DeviceInOut<'d>>) -> Result<Outcome, Error> {
        self.launch(&data.into())?;
        self.finish()
    }

    /// The device's own time for a run whose results are not read: for measuring, which may repeat it.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    #[doc(hidden)]
    pub fn time<'d>(&self, data: impl Into<DeviceInOut<'d>>) -> Result<Duration, Error> {
        let data = data.into();
        self.device.time(&mut || self.launch(&data))
    }

    /// Starts all kernels.
    fn launch(&self, data: &DeviceInOut<'_>) -> Result<(), Error> {
        let starts_elsewhere = |&number: &usize| {
            let DeviceJob { input, output, .. } = self.jobs[number];
            input != output
        };
        if data.is_in_place() && self.accepted.iter().any(starts_elsewhere) {
            return Err(Error::NotInPlace);
        }
        let [input_end, output_end] = self.ends;
        let input = self.checked(data.input(), input_end)?;
        let output = self.checked(data.output(), output_end)?;
        self.start(input, output)
    }

    /// The address of a slice on the batch's device in which all messages end, the last at `end`.
    fn checked(&self, slice: &DeviceSlice<'_>, end: usize) -> Result<u64, Error> {
        slice.require_device(&self.device)?;
        if end > slice.len() {
            return Err(Error::Range { start: 0, end, length: slice.len() });
        }
        slice.aligned()
    }

    /// Starts all kernels, whose data was checked to be there.
    fn start(&self, input: u64, output: u64) -> Result<(), Error> {
        let Self { device, program, cuts, memory, .. } = self;
        let Memory { parameters, lists, .. } = memory;
        let parameters = Parameters { input, output, ..*parameters };
        let stream = StreamHandle::DEFAULT;
        Launches { device, stream, program, cuts: *cuts, parameters, lists }.start()
    }

    /// Waits, fills the tags and names the jobs that failed.
    fn finish(mut self) -> Result<Outcome, Error> {
        let mut results = vec![0; self.accepted.len() * RESULT_BYTES];
        let is_gcm = |&number: &usize| self.jobs[number].mode.mode() == Mode::Gcm;
        if self.accepted.iter().any(is_gcm) {
            self.memory.made.read(0, &mut results)?;
        }
        self.device.driver().synchronize(StreamHandle::DEFAULT)?;
        for (&job, result) in self.accepted.iter().zip(results.as_chunks().0) {
            let failure = |error| Failure { job, error };
            let settled = settle(&mut self.jobs[job].mode, result);
            self.failures.extend(settled.err().map(failure));
        }
        Ok(Outcome::new(self.failures))
    }
}

/// All launches of a batch on a stream.
struct Launches<'a> {
    device: &'a Device,
    stream: StreamHandle,
    program: &'static BatchProgram,
    cuts: Cuts,
    /// With data, without items.
    parameters: Parameters,
    lists: &'a Lists,
}

impl Launches<'_> {
    fn start(&self) -> Result<(), Error> {
        let Self { parameters, lists, program, .. } = self;
        let all = Parameters { piece: self.cuts.hashed.into(), ..*parameters };
        let sessions = List { address: 0, count: all.session_count };
        let is_moved = all.ends != 0;
        if is_moved {
            self.run_mover(&kernels::GATHER, all.over(sessions))?;
        }
        let opens_inside = program.opens_sessions() && !lists.opens_first;
        if !opens_inside {
            self.run_kernel(program.keys(), all.over(sessions))?;
        }
        self.run_hashes(all, &lists.verified)?;
        self.run_kernel(&kernels::SAVE, all.over(lists.decrypted))?;
        let opens = |first| if opens_inside && first { OPENS_SESSIONS } else { 0 };
        let wide = Parameters { flags: opens(true), ..all.over(lists.wide) };
        self.run_kernel(program.crypt(), wide)?;
        let narrow = Parameters { flags: opens(wide.count == 0), ..all.over(lists.narrow) };
        self.run_kernel(program.narrow(), narrow)?;
        self.run_kernel(program.decrypt(), all.over(lists.decrypted))?;
        self.run_kernel(program.chain(), all.over(lists.chained))?;
        self.run_hashes(all, &lists.sealed)?;
        if is_moved {
            self.run_mover(&kernels::SCATTER, all.over(sessions))?;
        }
        Ok(())
    }

    fn run_hashes(&self, all: Parameters, lists: &HashLists) -> Result<(), Error> {
        self.run_kernel(&kernels::HASH, all.over(lists.short))?;
        let (kernel, flags) = if self.cuts.by_matrices {
            (&kernels::MATRICES, WITHOUT_H)
        } else {
            (&kernels::HASH, 0)
        };
        self.run_kernel(kernel, all.over(lists.pieces))?;
        self.run_kernel(&kernels::FINISH, Parameters { flags, ..all.over(lists.long) })
    }

    /// Starts a kernel, unless there is nothing for it.
    fn run_kernel(&self, kernel: &Kernel, parameters: Parameters) -> Result<(), Error> {
        self.run_shaped(kernel, parameters, None)
    }

    /// Starts a kernel that moves messages by the bus.
    fn run_mover(&self, kernel: &Kernel, parameters: Parameters) -> Result<(), Error> {
        self.run_shaped(kernel, parameters, Some(MOVERS))
    }

    fn run_shaped(
        &self,
        kernel: &Kernel,
        parameters: Parameters,
        wanted: Option<Geometry>,
    ) -> Result<(), Error> {
        if parameters.count == 0 {
            return Ok(());
        }
        let launch = self.device.shaped(kernel, parameters.count, wanted)?;
        self.device.launch(self.stream, launch, parameters.words())
    }
}
