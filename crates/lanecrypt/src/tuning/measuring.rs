//! What is measured: kernels and families of a device, and how long a point takes.

use std::time::{Duration, Instant};

use super::{Error, Options, Progress, Report, crossovers, launches, pieces};
use crate::{
    Counter, Direction, Operation,
    by_name::users_families,
    cuda::{
        self, Device, Experience, Family,
        kernels::{Kernel, Program, Task},
    },
    registry::{CipherDescription, Platform},
};

/// The fewest passes of a point, and the most.
const PASSES: std::ops::RangeInclusive<usize> = 3..=25;

/// What kernels do for users: what is tuned, and what [`Auto`](crate::Auto) has a choice for.
pub const TASKS: [Task; 7] = [
    Task::EcbEncrypt,
    Task::EcbDecrypt,
    Task::Ctr,
    Task::CbcDecrypt,
    Task::CfbDecrypt,
    Task::XtsEncrypt,
    Task::XtsDecrypt,
];

/// A kernel of a family under keys of `key_bytes` bytes.
pub(super) struct Row {
    pub(super) family: Family,
    pub(super) key_bytes: usize,
    pub(super) task: Task,
    pub(super) kernel: &'static Kernel,
}

impl Row {
    /// For people.
    fn name(&self) -> String {
        let bits = 8 * self.key_bytes;
        format!("{}, {bits}-bit key", self.kernel.name())
    }
}

/// Measures without keeping anything; `known` is how kernels are launched that are not measured now.
pub(super) fn measure(
    device: &Device,
    known: &Experience,
    options: &Options,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, Error> {
    // What is computed without experience is what experience is held against.
    device.set_experience(Experience::default());
    let kernels = if options.launches { kernels(device, options) } else { Vec::new() };
    let families = if options.host_memory { families(device, options)? } else { Vec::new() };
    let steps = kernels.len() + families.len();
    let mut report = Report::default();
    let mut experience = Experience::default();
    let mut begin = |done: usize, row: &Row, what: &str| {
        progress(Progress { done, steps, next: &format!("{}{what}", row.name()) });
    };
    let mut launches = launches::Launches::new(device, options)?;
    for (i, row) in kernels.iter().enumerate() {
        begin(i, row, "");
        let tuned = launches.measure(row)?;
        let measured = tuned.points.iter().map(|(measured, _)| *measured).collect();
        experience.set_launches(tuned.kernel, tuned.key_bytes, measured);
        report.kernels.push(tuned);
    }
    drop(launches); // with its memory
    // Host memory passes kernels that are launched as they will be.
    let set = |newer: &Experience| {
        let mut all = known.clone();
        all.extend(newer.clone());
        device.set_experience(all);
    };
    set(&experience);
    let longest = if families.is_empty() { None } else { options.sizes.iter().copied().max() };
    let mut data = noise(longest.unwrap_or(0));
    for (i, row) in families.iter().enumerate() {
        begin(kernels.len() + i, row, " from host memory");
        let pieces = pieces::measure(device, row, options, &mut data)?;
        if !pieces.is_empty() {
            experience.set_pieces(row.kernel.name(), row.key_bytes, pieces);
            set(&experience);
        }
        let switches = crossovers::measure(device, row, options, &mut data)?;
        report.tuning.crossovers.set(row.kernel.name(), row.key_bytes, switches);
    }
    report.tuning.experience = experience.into();
    Ok(report)
}

/// Every kernel once for each key length: ciphers share some, and tasks do.
fn kernels(device: &Device, options: &Options) -> Vec<Row> {
    let is_host = device.properties().compute_capability == (0, 0);
    let platform = if is_host { Platform::CudaOnHost } else { Platform::Cuda };
    let mut rows: Vec<Row> = Vec::new();
    for cipher in &options.ciphers {
        for backend in cipher.backends.iter().filter(|backend| backend.platform == platform) {
            let Some(family) = Family::of(backend) else { continue };
            let Ok(program) = family.program(device.properties()) else { continue };
            // A family with several programs has those of others.
            if family.all_programs().count() == family.programs().len() {
                add_rows(&mut rows, cipher, family, program);
            }
        }
    }
    rows
}

/// What users take of the chosen ciphers: their families, for every task.
fn families(device: &Device, options: &Options) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for family in users_families() {
        let cipher = family.cipher();
        if options.ciphers.iter().any(|chosen| chosen.name == cipher.name) {
            let program = family.program(device.properties()).map_err(cuda::Error::from)?;
            add_rows(&mut rows, cipher, family, program);
        }
    }
    Ok(rows)
}

fn add_rows(
    rows: &mut Vec<Row>,
    cipher: &CipherDescription,
    family: &Family,
    program: &'static Program,
) {
    for &key_bytes in cipher.key_bytes {
        for (task, kernel) in program.kernels().filter(|(task, _)| TASKS.contains(task)) {
            let is_it =
                |row: &Row| row.kernel.name() == kernel.name() && row.key_bytes == key_bytes;
            if !rows.iter().any(is_it) {
                rows.push(Row { family: *family, key_bytes, task, kernel });
            }
        }
    }
}

/// A key that means nothing.
pub(super) fn key(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 37 + 11) as u8).collect()
}

/// Data that is no zeros, which can run faster.
pub(super) fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let mut next = || {
        // Xorshift, as good as any here.
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()
    };
    let mut data: Vec<u8> = (0..bytes.min(1 << 20).div_ceil(4)).flat_map(|_| next()).collect();
    data.truncate(bytes);
    while data.len() < bytes {
        data.extend_from_within(..data.len().min(bytes - data.len()));
    }
    data
}

/// An IV of whole blocks; its low bits do not wrap soon.
const IV: [u8; 16] = [1; 16];

/// The operation of a task; XTS as a single unit.
pub(super) fn operation(task: Task, block: usize) -> Operation<'static> {
    use Direction::{Decrypt, Encrypt};
    let iv = &IV[..block];
    match task {
        Task::EcbEncrypt => Operation::Ecb(Encrypt),
        Task::EcbDecrypt => Operation::Ecb(Decrypt),
        Task::CbcDecrypt => Operation::Cbc(Decrypt, iv),
        Task::CfbDecrypt => Operation::Cfb(Decrypt, iv),
        Task::XtsEncrypt => Operation::Xts(Encrypt, &IV),
        Task::XtsDecrypt => Operation::Xts(Decrypt, &IV),
        _ => Operation::Ctr(Counter::from_block(iv).expect("blocks have 8 or 16 bytes")),
    }
}

/// The median of as many passes as fit in `time`, three at least, after one that is not counted.
pub(super) fn median<E>(
    time: Duration,
    mut pass: impl FnMut() -> Result<Duration, E>,
) -> Result<Duration, E> {
    let [median] = medians_in_turns(time, [()], |()| pass())?;
    Ok(median)
}

/// The same of several, of which each has a pass in turn, and `time`.
pub(super) fn medians_in_turns<T: Copy, const N: usize, E>(
    time: Duration,
    of: [T; N],
    mut pass: impl FnMut(T) -> Result<Duration, E>,
) -> Result<[Duration; N], E> {
    let mut passes = [const { Vec::new() }; N];
    for &one in &of {
        pass(one)?;
    }
    let (mut turns, mut total) = (0, Duration::ZERO);
    while turns < *PASSES.start()
        || (total < time.saturating_mul(N as u32) && turns < *PASSES.end())
    {
        for (&one, passes) in of.iter().zip(&mut passes) {
            passes.push(pass(one)?);
            total += passes[turns];
        }
        turns += 1;
    }
    Ok(passes.map(|mut passes| {
        passes.sort_unstable();
        passes[passes.len() / 2]
    }))
}

/// The same by the host's clock.
pub(super) fn median_on_clock<E>(
    time: Duration,
    mut pass: impl FnMut() -> Result<(), E>,
) -> Result<Duration, E> {
    median(time, || {
        let start = Instant::now();
        pass()?;
        Ok(start.elapsed())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_as_many_as_fit() {
        let passes = |time: Duration, pass: u64| {
            let mut passes = 0;
            let count = |()| {
                passes += 1;
                Ok::<_, Error>(Duration::from_secs(pass))
            };
            medians_in_turns(time, [(), ()], count).expect("nothing fails");
            passes
        };
        assert_eq!(passes(Duration::from_secs(10), 2), 12, "five, and one that is not counted");
        assert_eq!(passes(Duration::ZERO, 2), 8);
        assert_eq!(passes(Duration::MAX, 2), 52);
    }

    #[test]
    fn the_one_in_the_middle_counts() {
        let of = |time: u64, passes: [u64; 6]| {
            let mut passes = passes.into_iter().map(Duration::from_secs);
            let next = || Ok::<_, Error>(passes.next().expect("no more passes than that"));
            median(Duration::from_secs(time), next).expect("nothing fails").as_secs()
        };
        assert_eq!(of(0, [100, 3, 1, 2, 50, 50]), 2, "three passes after one that is not counted");
        assert_eq!(of(15, [100, 1, 5, 4, 2, 3]), 3, "five");
        let sleep = || {
            std::thread::sleep(Duration::from_millis(1));
            Ok::<_, Error>(())
        };
        let slept = median_on_clock(Duration::ZERO, sleep).expect("nothing fails");
        assert!(slept >= Duration::from_millis(1), "{slept:?}");
    }

    #[test]
    fn tasks_have_their_operations_on_data_that_is_no_zeros() {
        for task in TASKS {
            assert_eq!(cuda::task_of(operation(task, 16)), Some(task));
        }
        for bytes in [0, 1, 7, (1 << 20) - 1, 1 << 20, (2 << 20) + 5] {
            assert_eq!(noise(bytes).len(), bytes);
        }
        let data = noise((1 << 20) + 64);
        assert_eq!(data[..64], data[1 << 20..], "from the start again");
        let mut words = data.as_chunks::<4>().0[..1 << 18].to_vec();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 1 << 18, "no two are equal");
        let ones: u32 = data.iter().map(|byte| byte.count_ones()).sum();
        assert!(ones.abs_diff(4 << 20) < 8 << 10, "{ones} bits of 8 Mi are set");
        let key = key(32);
        assert!(key.iter().enumerate().all(|(i, byte)| !key[..i].contains(byte)), "{key:?}");
    }
}
