//! Where host memory is processed first: the CPU, with its threads, or the GPU, with both ways to it.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{
    Error, Options, guess,
    measuring::{self, Row, key, medians_in_turns},
};
use crate::{
    Engine, Parallel, THREAD_PIECE_BYTES,
    cuda::{
        Device, Family,
        kernels::{Kernel, Task},
    },
};

/// Who processes host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The CPU, on all threads of rayon's current pool where there is enough for them.
    Cpu,
    /// The GPU, from host memory to host memory.
    Gpu,
}

impl Place {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Cpu => Self::Gpu,
            Self::Gpu => Self::Cpu,
        }
    }
}

/// The numbers of bytes from which on the other place is faster. Nothing at all would be the CPU's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches(Vec<u64>);

/// A place is left for one that takes less than this part of its time.
const CLEARLY_FASTER: f64 = 0.97;
/// A switch is known to this ratio.
const PRECISION: f64 = 1.05;
/// What switches are multiples of: every cipher's block.
const GRAIN: u64 = 16;

impl Switches {
    /// From numbers of bytes in ascending order; `None` in any other.
    #[must_use]
    pub fn new(at: Vec<u64>) -> Option<Self> {
        at.is_sorted_by(|low, high| low < high).then_some(Self(at))
    }

    /// The numbers of bytes, in ascending order.
    #[must_use]
    pub fn at(&self) -> &[u64] {
        &self.0
    }

    /// Which is faster with `bytes` bytes.
    #[must_use]
    pub fn place(&self, bytes: u64) -> Place {
        let passed = self.0.partition_point(|&from| from <= bytes);
        if passed.is_multiple_of(2) { Place::Cpu } else { Place::Gpu }
    }

    /// Finds them: compares the seconds of both, the CPU's first, at each of the sizes, in ascending
    /// order, and looks closer where the faster one changes.
    ///
    /// # Errors
    /// Those of `seconds`.
    pub fn find<E>(
        sizes: impl IntoIterator<Item = u64>,
        mut seconds: impl FnMut(u64) -> Result<[f64; 2], E>,
    ) -> Result<Self, E> {
        let mut switches = Self::default();
        let (mut place, mut before) = (Place::Cpu, 0);
        let mut is_left = |place: Place, bytes| -> Result<bool, E> {
            let [cpu, gpu] = seconds(bytes)?;
            let (here, there) = if place == Place::Cpu { (cpu, gpu) } else { (gpu, cpu) };
            Ok(there < CLEARLY_FASTER * here)
        };
        for bytes in sizes {
            if is_left(place, bytes)? {
                let (mut low, mut high) = (before, bytes);
                while low > 0 && high as f64 / low as f64 > PRECISION && high - low >= 2 * GRAIN {
                    let middle =
                        (u128::from(low) * u128::from(high)).isqrt() as u64 / GRAIN * GRAIN;
                    let middle = middle.max(low + GRAIN);
                    let side = if is_left(place, middle)? { &mut high } else { &mut low };
                    *side = middle;
                }
                switches.0.push(if before == 0 { 0 } else { high });
                place = place.other();
            }
            before = bytes;
        }
        Ok(switches)
    }
}

/// Switches, by the kernel that the GPU would run and bytes of the cipher's key.
///
/// The kernel is that of the [`program`](Family::program) of a family, whatever takes over from it for
/// other lengths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crossovers(BTreeMap<(String, usize), Switches>);

impl Crossovers {
    /// Sets those of a kernel.
    pub fn set(&mut self, kernel: impl Into<String>, key_bytes: usize, switches: Switches) {
        self.0.insert((kernel.into(), key_bytes), switches);
    }

    /// Kernels, bytes of keys, and switches.
    pub fn iter(&self) -> impl Iterator<Item = (&str, usize, &Switches)> {
        self.0.iter().map(|((kernel, bytes), switches)| (&**kernel, *bytes, switches))
    }

    /// Those of a family, for a task and keys of `key_bytes` bytes: what was measured, or else a guess from
    /// what others measured.
    #[must_use]
    pub fn of(&self, family: &Family, device: &Device, task: Task, key_bytes: usize) -> Switches {
        let kernel = family.program(device.properties()).ok().and_then(|p| p.kernel(task));
        let kernel = kernel.map_or("", Kernel::name).to_owned();
        let known = self.0.get(&(kernel, key_bytes)).cloned();
        known.unwrap_or_else(|| guess::switches(family.cipher().name, rayon::current_num_threads()))
    }

    /// Takes all that `newer` has, in place of what is known of the same kernels and keys.
    pub fn extend(&mut self, newer: Self) {
        self.0.extend(newer.0);
    }
}

/// Two places are compared for this many times the time that a point is measured for: passes of threads, and
/// of a bus that others use, differ more than a kernel's.
const SURELY: u32 = 8;
/// Longer passes are left out, and what is longer goes where the longest that was measured goes.
const LONGEST_PASS: Duration = Duration::from_millis(400);

/// Both engines under one key, and what passes through them.
struct Pair<'a> {
    row: &'a Row,
    time: Duration,
    cpu: Parallel<Box<dyn Engine>>,
    gpu: Box<dyn Engine>,
    data: &'a mut [u8],
}

/// Finds the switches of a row; `data` is as long as the longest.
pub(super) fn measure(
    device: &Device,
    row: &Row,
    options: &Options,
    data: &mut [u8],
) -> Result<Switches, Error> {
    let key = key(row.key_bytes);
    let cpu = Parallel::new(row.family.cipher().default_engine(&key)?);
    let gpu: Box<dyn Engine> = Box::new(row.family.engine(device, &key)?);
    let longest = data.len();
    let pair = RefCell::new(Pair { row, time: options.time, cpu, gpu, data });
    let mut sizes: Vec<u64> = options.sizes.iter().map(|&bytes| bytes as u64).collect();
    // Just before the CPU's threads begin to share a call, and from there on.
    let shared = [2 * THREAD_PIECE_BYTES as u64 - GRAIN, 2 * THREAD_PIECE_BYTES as u64];
    sizes.extend(shared.into_iter().filter(|&bytes| bytes <= longest as u64));
    sizes.sort_unstable();
    sizes.dedup();
    let is_too_long = |bytes: &u64| {
        let mut pair = pair.borrow_mut();
        let started = Instant::now();
        pair.pass(Place::Gpu, *bytes as usize).is_ok() && started.elapsed() > LONGEST_PASS
    };
    let sizes = sizes.iter().copied().take_while(|bytes| !is_too_long(bytes));
    Switches::find(sizes, |bytes| pair.borrow_mut().seconds(bytes as usize))
}

impl Pair<'_> {
    fn pass(&mut self, place: Place, bytes: usize) -> Result<(), crate::Error> {
        let engine: &dyn Engine = match place {
            Place::Cpu => &self.cpu,
            Place::Gpu => &*self.gpu,
        };
        let operation = measuring::operation(self.row.task, engine.block_bytes());
        engine.run(operation, (&mut self.data[..bytes]).into())
    }

    /// Seconds of the CPU and of the GPU, which take turns: what the machine does besides slows both. What
    /// lies in which cache is the place's own doing, by a pass that does not count.
    fn seconds(&mut self, bytes: usize) -> Result<[f64; 2], Error> {
        let time = self.time.saturating_mul(SURELY);
        let medians = medians_in_turns(time, [Place::Cpu, Place::Gpu], |place| {
            self.pass(place, bytes)?;
            let start = Instant::now();
            self.pass(place, bytes)?;
            Ok::<_, crate::Error>(start.elapsed())
        })?;
        Ok(medians.map(|time| time.as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Seconds of a CPU with many threads from 512 KiB on, and of a GPU with a launch and a bus.
    fn model(place: Place, bytes: u64) -> f64 {
        let bytes = bytes as f64;
        match place {
            Place::Cpu if bytes < 524_288.0 => bytes / 1e9,
            Place::Cpu => 20e-6 + bytes / 6e9,
            Place::Gpu => 60e-6 + bytes / 25e9,
        }
    }

    fn sizes() -> impl Iterator<Item = u64> {
        (0..=12).map(|i| 64 << (2 * i))
    }

    #[test]
    fn switches_are_where_the_faster_one_changes() {
        let seconds =
            |bytes| Ok::<_, Infallible>([Place::Cpu, Place::Gpu].map(|place| model(place, bytes)));
        let switches = Switches::find(sizes(), seconds).expect("a model does not fail");
        let [first] = *switches.at() else { panic!("{switches:?}") };
        let exact = 60e-6 / (1.0 / 1e9 - 1.0 / 25e9); // 62,500
        assert!((first as f64 / exact - 1.0).abs() < 0.1, "{first} for {exact}");
        // Nobody is ever a tenth slower than the better one.
        let lengths = std::iter::successors(Some(64_u64), |bytes| Some(bytes + bytes / 25));
        for bytes in lengths.take_while(|&bytes| bytes < 1 << 32) {
            let better = model(Place::Cpu, bytes).min(model(Place::Gpu, bytes));
            assert!(model(switches.place(bytes), bytes) <= 1.1 * better, "{bytes} bytes");
        }
    }

    /// What is found where the GPU is clearly faster from `from` bytes on, and the lengths that were compared.
    fn found(sizes: &[u64], from: u64) -> (Vec<u64>, Vec<u64>) {
        let mut compared = Vec::new();
        let switches = Switches::find(sizes.iter().copied(), |bytes| {
            compared.push(bytes);
            Ok::<_, Infallible>([1.0, if bytes < from { CLEARLY_FASTER } else { 0.96 }])
        });
        (switches.expect("a model does not fail").at().to_vec(), compared)
    }

    #[test]
    fn a_switch_is_found_in_few_comparisons() {
        let sizes: Vec<u64> = sizes().collect();
        let (switches, compared) = found(&sizes, 1_000_000);
        let [at] = *switches else { panic!("{switches:?}") };
        assert!((1_000_000..1_050_000).contains(&at) && at.is_multiple_of(GRAIN), "{at}");
        // A quarter is halved, as a ratio, until 1/20 is left.
        assert_eq!(compared.len(), sizes.len() + 5, "{compared:?}");
        let (found_at, _) = found(&sizes, 1 << 20);
        assert!((1 << 20..=(1 << 20) * 21 / 20).contains(&found_at[0]), "{found_at:?}");
        // Next to each other are whole blocks.
        assert_eq!(found(&[64, 96], 65), (vec![80], vec![64, 96, 80]));
        assert_eq!(found(&[64, 96], 81), (vec![96], vec![64, 96, 80]));
        assert_eq!(found(&[64, 80], 65), (vec![80], vec![64, 80]));
        assert_eq!(found(&[10, 30], 11), (vec![30], vec![10, 30]), "none between them");
        let sizes = [1 << 20, 1_100_000];
        assert_eq!(found(&sizes, 1 << 20), (vec![0], sizes.to_vec()), "from the first on");
    }

    #[test]
    fn there_may_be_none_or_several() {
        let find = |gpu: &dyn Fn(u64) -> f64| {
            let seconds = |bytes| Ok::<_, Infallible>([bytes as f64, gpu(bytes)]);
            Switches::find(sizes(), seconds).expect("a model does not fail")
        };
        assert_eq!(find(&|bytes| 0.98 * bytes as f64).at(), [0; 0], "hardly faster");
        assert_eq!(find(&|_| 0.0).at(), [0], "from the first byte on");
        let in_between = |bytes| if (5000..5_000_000).contains(&bytes) { 1.0 } else { 1e12 };
        let [low, high] = *find(&in_between).at() else { panic!("two") };
        assert!((5000..5250).contains(&low) && (5_000_000..5_250_000).contains(&high));
    }

    #[test]
    fn places_alternate() {
        let switches = Switches::new(vec![100, 200]).expect("they ascend");
        for (bytes, place) in [
            (0, Place::Cpu),
            (99, Place::Cpu),
            (100, Place::Gpu),
            (199, Place::Gpu),
            (200, Place::Cpu),
            (u64::MAX, Place::Cpu),
        ] {
            assert_eq!(switches.place(bytes), place, "{bytes}");
        }
        assert_eq!(Switches::new(vec![5, 5]), None);
        assert_eq!(Switches::new(vec![6, 5]), None);
        assert_eq!(Switches::default().place(u64::MAX), Place::Cpu);
    }
}
