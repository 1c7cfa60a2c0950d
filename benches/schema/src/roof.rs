//! Roofs: the throughput that the pipes of a GPU allow a kernel, and the ports of a core a form, by the ledgers of what
//! they take (`kernels/operations.csv`, `forms.csv`). The book has the reasoning: "The roof of a kernel"; "CPUs", "The
//! bound".

use std::{collections::HashMap, sync::LazyLock};

use lanecrypt::{
    cuda::{
        Family,
        kernels::{OPERATIONS, Program, Task},
    },
    find_cipher,
};

use crate::{Environment, Figure, GpuDetails, Work};

/// The pipes, and how many lanes a clock cycle each has on a multiprocessor.
pub const PIPES: [(&str, f64); 4] =
    [("shared memory", 32.0), ("ALU", 64.0), ("multiplier", 64.0), ("all instructions", 128.0)];
/// What the bit-sliced forms take: CSV, written by `cargo xtask codegen`.
pub const FORMS: &str = include_str!("../forms.csv");
/// The compute capability whose pipes these are.
const COMPUTE_CAPABILITY: &str = "9.0";

/// What a block takes of each of [`PIPES`], in lanes, and how that compares with a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Roof {
    /// Lanes a block.
    pub lanes: [f64; 4],
    /// Gbit/s.
    pub gbit_per_second: f64,
    /// The part of the roof that was measured.
    pub reached: f64,
}

impl Roof {
    /// Of the kernel that was measured, on its GPU; `None` where that has other pipes, or the ledger no such kernel.
    /// Of a backend that chooses among kernels it is the highest.
    #[must_use]
    pub fn of(figure: &Figure, gpu: Option<&GpuDetails>) -> Option<Self> {
        let gpu = gpu.filter(|gpu| gpu.compute_capability == COMPUTE_CAPABILITY)?;
        let task = match figure.work {
            Work::EcbEncrypt => Task::EcbEncrypt,
            Work::EcbDecrypt => Task::EcbDecrypt,
            Work::Ctr => Task::Ctr,
            Work::CbcDecrypt => Task::CbcDecrypt,
            Work::XtsEncrypt => Task::XtsEncrypt,
            Work::XtsDecrypt => Task::XtsDecrypt,
            Work::GcmEncrypt | Work::GcmDecrypt | Work::Keystream => return None,
        };
        let cipher = find_cipher(&figure.cipher).ok()?;
        let family = Family::of(cipher.backend(&figure.backend)?)?;
        let clocks_a_second = f64::from(gpu.multiprocessors) * gpu.gigahertz;
        let roof = |program: &Program| {
            let count = family.count(program, figure.key_bits / 8).unwrap_or(0);
            let lanes = lanes(program.kernel(task)?.name(), count)?;
            let bits = 8.0 * program.block_bytes() as f64;
            let gbit_per_second = bits / clocks(&lanes) * clocks_a_second;
            let reached = figure.gbit_per_second() / gbit_per_second;
            Some(Self { lanes, gbit_per_second, reached })
        };
        // The first of several.
        let roofs = family.all_programs().filter_map(roof);
        roofs.min_by(|a, b| b.gbit_per_second.total_cmp(&a.gbit_per_second))
    }

    /// The part of each pipe that the measured throughput keeps busy: of the fullest, what is reached of the roof.
    #[must_use]
    pub fn of_pipes(&self) -> [f64; 4] {
        let clocks = clocks(&self.lanes) / self.reached;
        busy(&self.lanes).map(|pipe| pipe / clocks)
    }

    /// The name of the pipe that is full at the roof.
    #[must_use]
    pub fn binds(&self) -> &'static str {
        let pipes = busy(&self.lanes).into_iter().zip(PIPES);
        pipes.max_by(|a, b| a.0.total_cmp(&b.0)).map_or("", |(_, (name, _))| name)
    }
}

/// Clocks of a multiprocessor for which these lanes keep each pipe busy.
fn busy(lanes: &[f64; 4]) -> [f64; 4] {
    core::array::from_fn(|i| lanes[i] / PIPES[i].1)
}

/// Clocks of a multiprocessor for which the fullest pipe is busy.
fn clocks(lanes: &[f64; 4]) -> f64 {
    busy(lanes).into_iter().fold(0.0, f64::max)
}

/// What a kernel takes that counts by this word; where it has two sorts of warps, by the best division of the blocks
/// among them.
fn lanes(kernel: &str, count: u32) -> Option<[f64; 4]> {
    static LEDGER: LazyLock<Ledger> = LazyLock::new(ledger);
    match LEDGER.get(&(kernel, count))?[..] {
        [lanes] => Some(lanes),
        [first, second] => Some(divided(first, second)),
        _ => None,
    }
}

/// Lanes of each sort of warps, by the kernel's name and the word that it counts by.
type Ledger = HashMap<(&'static str, u32), Vec<[f64; 4]>>;

fn ledger() -> Ledger {
    let mut ledger = Ledger::new();
    for row in OPERATIONS.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let lanes = core::array::from_fn(|i| cells[3 + i].parse().expect("a number of lanes"));
        let count = cells[1].parse().expect("a count");
        ledger.entry((cells[0], count)).or_default().push(lanes);
    }
    ledger
}

/// Lanes a block where such a part of the blocks goes to each of two sorts of warps that the fullest pipe is busy for
/// the shortest time. That time is convex in the part, and least at an end or where two pipes are equally full.
fn divided(first: [f64; 4], second: [f64; 4]) -> [f64; 4] {
    let mix = |part: f64| -> [f64; 4] {
        core::array::from_fn(|i| part * first[i] + (1.0 - part) * second[i])
    };
    let [a, b] = [busy(&first), busy(&second)];
    let pairs = (0..4).flat_map(|i| (0..i).map(move |j| (i, j)));
    let crossings = pairs.map(|(i, j)| (b[j] - b[i]) / (a[i] - a[j] - b[i] + b[j]));
    let parts = crossings.filter(|part| (0.0..=1.0).contains(part)).chain([0.0, 1.0]);
    let mixed = parts.map(mix).min_by(|a, b| clocks(a).total_cmp(&clocks(b)));
    mixed.unwrap_or(first)
}

/// The part of its bound that one of Intel's cores with AVX-512 reached, where that is known: a round of AES is an
/// instruction for 64 bytes, of which a cycle has one; of operations on 512 bits it has two, and of those on 256 bits
/// three. AMD's cores have other ports.
#[must_use]
pub fn of_core(figure: &Figure, environment: &Environment) -> Option<f64> {
    let has = |name| environment.cpu_features.split(' ').any(|feature| feature == name);
    let cycles = figure.cycles_per_byte()?;
    if environment.cpu.contains("AMD") || !has("avx512f") || !has("vaes") {
        return None;
    }
    let cipher = figure.cipher.trim_start_matches('t'); // triple DES is a form of DES
    let by_bits = |lanes: f64, inputs, a_cycle: f64| {
        let is_decryption =
            matches!(figure.work, Work::EcbDecrypt | Work::CbcDecrypt | Work::XtsDecrypt);
        let operations = form(cipher, figure.key_bits, is_decryption, inputs)?;
        let bytes = find_cipher(&figure.cipher).ok()?.block_bytes as f64;
        Some(operations / a_cycle / (lanes * bytes))
    };
    let bound = match (cipher, &*figure.backend) {
        ("aes", _) => Some((figure.key_bits / 32 + 6) as f64 / 64.0),
        (_, "bitslice-avx512") | ("des", "default") => by_bits(512.0, 3, 2.0),
        (_, "bitslice-avx2") => by_bits(256.0, 2, 3.0),
        _ => None,
    };
    bound.map(|bound| bound / cycles)
}

/// Operations of a bit-sliced batch on words that have functions of this number of inputs.
fn form(cipher: &str, key_bits: usize, is_decryption: bool, inputs: usize) -> Option<f64> {
    let direction = if is_decryption { "decryption" } else { "encryption" };
    let row = format!("{cipher},{key_bits},{direction},{inputs},");
    FORMS.lines().find_map(|line| line.strip_prefix(&row)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;

    fn gpu(compute_capability: &str) -> GpuDetails {
        let compute_capability = compute_capability.into();
        GpuDetails { multiprocessors: 132, gigahertz: 1.98, compute_capability }
    }

    /// 1 GiB in a hundredth of a second: 859 Gbit/s.
    fn of(backend: &str, capability: &str) -> Option<Roof> {
        let what = (Work::EcbEncrypt, Place::Resident);
        Roof::of(&Figure::of(("aes", backend), what, 1 << 30, 1e-2), Some(&gpu(capability)))
    }

    #[test]
    fn a_share_is_that_of_the_fullest_pipe() {
        let of_tables = of("cuda-table-conflict-free", "9.0").expect("the ledger has it");
        assert_eq!(of_tables.binds(), "shared memory");
        let pipes = of_tables.of_pipes();
        assert!((of_tables.reached - pipes[0]).abs() < 1e-9 && pipes[1] < pipes[0]);
        // 160 look-ups, and 16 bytes in and out, in words.
        assert!((of_tables.lanes[0] - 168.0).abs() < 0.01, "{of_tables:?}");
        assert!(of_tables.lanes[1] < 100.0, "it is that of four tables: {of_tables:?}");
        assert!(of("cuda-table-conflict-free", "8.6").is_none(), "other pipes");
        assert!(of("bitslice-u64", "9.0").is_none(), "no kernel");
    }

    #[test]
    fn what_chooses_has_the_highest_roof_and_two_sorts_of_warps_share_blocks() {
        let roofs = ["cuda-table-conflict-free", "cuda-mixed", "cuda-fastest"]
            .map(|backend| of(backend, "9.0").expect("the ledger has it").gbit_per_second);
        assert!(roofs[1] > roofs[0] && (roofs[2] - roofs[1]).abs() < 1e-9, "{roofs:?}");
        let half = divided([64.0, 0.0, 0.0, 0.0], [0.0, 128.0, 0.0, 0.0]);
        assert_eq!(half.map(|lanes| lanes.round() as i32), [32, 64, 0, 0]);
        let first = divided([32.0, 0.0, 0.0, 0.0], [32.0, 128.0, 0.0, 0.0]);
        assert!((clocks(&first) - 1.0).abs() < 1e-9, "{first:?}");
    }
}
