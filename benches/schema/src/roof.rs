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
pub use lanecrypt_roof::PIPES;
use lanecrypt_roof::{Lanes, busy, clocks, divided};

use crate::{Environment, Figure, GpuDetails, Work};

/// What the bit-sliced forms take: CSV, written by `cargo xtask codegen`.
pub const FORMS: &str = include_str!("../forms.csv");
/// The compute capability whose pipes these are.
const COMPUTE_CAPABILITY: &str = "9.0";

/// What a block takes of each of [`PIPES`], in lanes, and how that compares with a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Roof {
    /// Lanes a block.
    pub lanes: Lanes,
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
            Work::RandomBytes => Task::Fill,
            Work::GcmEncrypt
            | Work::GcmDecrypt
            | Work::Keystream
            | Work::RandomIntegers
            | Work::RandomUnits
            | Work::RandomNormals => return None,
        };
        let cipher = find_cipher(&figure.cipher).ok()?;
        let family = Family::of(cipher.backend(&figure.backend)?)?;
        let gigaclocks = f64::from(gpu.multiprocessors) * gpu.gigahertz;
        let roof = |program: &Program| {
            let count = family.count(program, figure.key_bits / 8).unwrap_or(0);
            let lanes = lanes(program.kernel(task)?.name(), count)?;
            let bits = 8.0 * program.block_bytes() as f64;
            let gbit_per_second = lanecrypt_roof::gbit_per_second(bits, &lanes, gigaclocks);
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
        lanecrypt_roof::binds(&self.lanes)
    }
}

/// What a kernel takes that counts by this word; where it has two sorts of warps, by the best division of the blocks
/// among them.
fn lanes(kernel: &str, count: u32) -> Option<Lanes> {
    static LEDGER: LazyLock<Ledger> = LazyLock::new(ledger);
    match LEDGER.get(&(kernel, count))?[..] {
        [lanes] => Some(lanes),
        [first, second] => Some(divided(first, second)),
        _ => None,
    }
}

/// Lanes of each sort of warps, by the kernel's name and the word that it counts by.
type Ledger = HashMap<(&'static str, u32), Vec<Lanes>>;

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
    fn what_chooses_has_the_highest_roof() {
        let roofs = ["cuda-table-conflict-free", "cuda-mixed", "cuda-fastest"]
            .map(|backend| of(backend, "9.0").expect("the ledger has it").gbit_per_second);
        assert!(roofs[1] > roofs[0] && (roofs[2] - roofs[1]).abs() < 1e-9, "{roofs:?}");
    }

    /// The counts of rounds behind the book's calculator, and what the ledger has of the kernels: of tables the look-ups are
    /// the same; of the others the counts are by hand.
    #[test]
    fn counts_of_rounds_are_those_of_the_kernels() {
        let kernels = [
            ("AES-128", "aes_conflict_free_4_ecb_encrypt", 10, "tables"),
            ("AES-128", "aes_bitslice_ecb_encrypt", 10, "bits"),
            ("ARIA-128", "aria_conflict_free_ecb", 12, "tables"),
            ("ARIA-128", "aria_bitslice_ecb", 12, "bits"),
            ("Camellia-128", "camellia_conflict_free_four_ecb", 3, "tables"),
            ("Camellia-128, one table", "camellia_conflict_free_merged_ecb", 3, "tables"),
            ("Camellia-128", "camellia_bitslice_ecb", 3, "bits"),
            ("DES", "des_conflict_free_ecb", 1, "tables"),
            ("DES", "des_bitslice_ecb", 1, "bits"),
            ("HIGHT", "hight_bitslice_ecb_encrypt", 0, "bits"),
            ("HIGHT", "hight_byteslice_ecb_encrypt", 0, "words"),
            ("LEA-128", "lea_words_ecb_encrypt", 24, "words"),
            ("SEED", "seed_conflict_free_ecb", 0, "tables"),
            ("SEED", "seed_bitslice_ecb", 0, "bits"),
            ("SM4", "sm4_conflict_free_ecb", 0, "tables"),
            ("SM4", "sm4_bitslice_ecb", 0, "bits"),
        ];
        for (cipher, kernel, count, family) in kernels {
            let counts = lanecrypt_roof::cipher(cipher).expect("it is counted");
            let loads = lanecrypt_roof::loads(&counts);
            let load = loads.into_iter().find(|load| load.family.name() == family);
            let load = load.expect("the family is counted");
            let of_kernel = lanes(kernel, count).expect(kernel);
            let ratio = clocks(&load.lanes) / clocks(&of_kernel);
            let wide = if family == "tables" { 0.004 } else { 0.025 };
            assert!((ratio - 1.0).abs() < wide, "{kernel}: {ratio}, {load:?}, {of_kernel:?}");
            assert_eq!(
                lanecrypt_roof::binds(&load.lanes),
                lanecrypt_roof::binds(&of_kernel),
                "{kernel}"
            );
        }
    }

    /// The cards that the calculator calls measured are those of the records.
    #[test]
    fn measured_cards_are_as_the_records_have_them() {
        for (name, multiprocessors, gigahertz, .., is_measured) in lanecrypt_roof::CARDS {
            let gpu = gpu(COMPUTE_CAPABILITY);
            let is_the_same = multiprocessors.to_bits() == f64::from(gpu.multiprocessors).to_bits()
                && gigahertz.to_bits() == gpu.gigahertz.to_bits();
            assert_eq!(is_the_same, is_measured, "{name}");
        }
    }
}
