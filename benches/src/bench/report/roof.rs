//! The roof of a kernel: the throughput that the pipes of a GPU allow it, by the counts in the book.

use std::sync::LazyLock;

use lanecrypt_record::{Figure, GpuDetails, Place, Record, Work, groups};

use super::table::{Section, percent, throughput};

/// The book's rows with the profiler's counts, which stand there alone.
const ROWS: [&str; 6] = [
    include_str!("../../../../book/src/roof-aes.md"),
    include_str!("../../../../book/src/roof-aria.md"),
    include_str!("../../../../book/src/roof-camellia.md"),
    include_str!("../../../../book/src/roof-des.md"),
    include_str!("../../../../book/src/roof-hight.md"),
    include_str!("../../../../book/src/roof-seed.md"),
];
/// The columns, and how many lanes a cycle each has on a multiprocessor.
const PIPES: [(&str, f64); 4] =
    [("shared memory", 32.0), ("ALU", 64.0), ("multiplier", 64.0), ("all instructions", 128.0)];
/// The compute capability whose pipes these are.
const COMPUTE_CAPABILITY: &str = "9.0";

/// What a kernel takes of each of [`PIPES`], in lanes a block.
struct Load {
    cipher: String,
    key_bits: usize,
    backend: &'static str,
    work: Work,
    block_bits: f64,
    lanes: [f64; 4],
}

impl Load {
    /// Bits a cycle and multiprocessor that each pipe allows.
    fn limits(&self) -> [f64; 4] {
        let mut limits = [0.0; 4];
        for ((limit, (_, rate)), lanes) in limits.iter_mut().zip(PIPES).zip(self.lanes) {
            *limit = self.block_bits * rate / lanes;
        }
        limits
    }
}

/// What of a kernel's roof was reached.
#[derive(Debug)]
pub(crate) struct Share {
    /// The roof in Gbit/s.
    pub(crate) roof: f64,
    /// The part of it that was measured.
    pub(crate) reached: f64,
    /// The part of each of [`PIPES`] that the measured throughput keeps busy: the roof's is the largest.
    pub(crate) of_pipes: [f64; 4],
}

/// The part of its roof that a kernel reached, where the book has its counts for this architecture.
#[must_use]
pub(crate) fn share(measurement: &Figure, gpu: Option<&GpuDetails>) -> Option<Share> {
    static LOADS: LazyLock<Vec<Load>> = LazyLock::new(loads);
    let gpu = gpu.filter(|gpu| gpu.compute_capability == COMPUTE_CAPABILITY)?;
    let load = LOADS.iter().find(|load| {
        let Figure { cipher, key_bits, backend, work, .. } = measurement;
        (&load.cipher, load.key_bits, load.work) == (cipher, *key_bits, *work)
            && load.backend == backend
    })?;
    let cycles = f64::from(gpu.multiprocessors) * gpu.gigahertz;
    let of_pipes = load.limits().map(|limit| measurement.gbit_per_second() / (limit * cycles));
    let reached = of_pipes.into_iter().fold(0.0, f64::max);
    Some(Share { roof: measurement.gbit_per_second() / reached, reached, of_pipes })
}

/// Kernels at their largest size beside their roofs, with the names of runs; none where no roof is known.
pub(crate) fn section(record: &Record, runs: &[String]) -> Option<Section> {
    let gpu = record.environment.gpu_details.as_ref();
    let resident = record.measurements().iter().filter(|m| m.place == Place::Resident);
    let kernel = |m: &&Figure| (m.cipher.clone(), m.key_bits, m.backend.clone(), m.work);
    let row = |(_, sizes): (_, Vec<&Figure>)| {
        let m = sizes.into_iter().max_by_key(|m| m.bytes)?;
        let share = share(m, gpu)?;
        let mut cells = vec![
            format!("{} {}, {}", m.keyed(), m.work, m.backend),
            throughput(m.gbit_per_second()),
            throughput(share.roof),
            percent(share.reached),
        ];
        cells.extend(share.of_pipes.map(percent));
        cells.push(runs[m.run].clone());
        Some(cells)
    };
    let [a, b, c, d] = PIPES.map(|(pipe, _)| pipe);
    let header = ["kernel", "Gbit/s", "roof, Gbit/s", "of its roof", a, b, c, d, "run"];
    Section::of("", "", header, groups(resident, kernel).into_iter().filter_map(row).collect())
}

/// Throughput for comparing GPUs, in bits per multiprocessor and clock cycle; of a CPU there is none.
pub(crate) fn per_clock(record: &Record, figure: &Figure) -> Option<f64> {
    let details = record.environment.gpu_details.as_ref()?;
    let cycles = f64::from(details.multiprocessors) * details.gigahertz;
    (figure.place != Place::Cpu).then(|| figure.gbit_per_second() / cycles)
}

/// The least cycles per byte that a core with AVX-512, GFNI and VAES needs, by its ports (the book's page
/// "CPUs", "The bound"): of AES a round is an instruction of port 0 for 64 bytes; Camellia-128 was counted.
fn core_bound(cipher: &str, key_bits: usize) -> Option<f64> {
    match (cipher, key_bits) {
        ("aes", bits) => Some((bits / 32 + 6) as f64 / 64.0),
        ("camellia", 128) => Some(430.0 / 1024.0),
        _ => None,
    }
}

/// The part of its bound that a core reached, where ports and clock are known.
#[must_use]
pub(crate) fn of_core(figure: &Figure, features: &str) -> Option<f64> {
    let has = |name| features.split(' ').any(|feature| feature == name);
    let bound = core_bound(&figure.cipher, figure.key_bits)?;
    let cycles =
        figure.cycles_per_byte().filter(|_| ["avx512f", "gfni", "vaes"].into_iter().all(has));
    cycles.map(|cycles| bound / cycles)
}

/// The book's rows: a kernel in one mode, or in two with both counts in a cell.
fn rows() -> impl Iterator<Item = &'static str> {
    ROWS.iter().flat_map(|part| part.lines()).filter(|line| line.starts_with('|'))
}

fn loads() -> Vec<Load> {
    rows().flat_map(loads_of_row).collect()
}

fn loads_of_row(row: &str) -> Vec<Load> {
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let Some((name, modes)) = cells[1].rsplit_once(", ") else { return Vec::new() };
    let load = |(i, mode): (usize, &str)| {
        let (cipher, form) = name.split_once(", ")?;
        let (cipher, bits) = cipher.split_once('-').unwrap_or((cipher, ""));
        let cipher = lanecrypt::find_cipher(&cipher.to_lowercase()).ok()?;
        let mut lanes = [0.0; 4];
        for (lanes, cell) in lanes.iter_mut().zip(&cells[2..]) {
            *lanes = cell.split(" / ").nth(i)?.parse().ok()?;
        }
        Some(Load {
            cipher: cipher.name.to_owned(),
            key_bits: bits.parse().unwrap_or(8 * cipher.key_bytes[0]),
            backend: backend(form)?,
            work: if mode.starts_with("ECB") { Work::EcbEncrypt } else { Work::Ctr },
            block_bits: 8.0 * cipher.block_bytes as f64,
            lanes,
        })
    };
    modes.split(" / ").enumerate().filter_map(load).collect()
}

/// The backend of a form that the book names.
fn backend(form: &str) -> Option<&'static str> {
    match form {
        "four tables" | "eight tables" => Some("cuda-table-conflict-free"),
        "mixed" => Some("cuda-mixed"),
        "bitslice" => Some("cuda-bitslice"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The book works the roofs out for an H200, by the same counts.
    #[test]
    fn roofs_are_those_of_the_book() {
        const H200: f64 = 261.4;
        let mut counted = 0;
        for row in rows() {
            let roofs = row.split('|').nth(6).expect("a column").replace(',', "");
            let roofs: Vec<f64> =
                roofs.split(" / ").map(|roof| roof.trim().parse().expect("a number")).collect();
            let loads = loads_of_row(row);
            assert_eq!(loads.len(), roofs.len(), "{row}");
            for (load, roof) in loads.iter().zip(roofs) {
                let limit = load.limits().into_iter().fold(f64::MAX, f64::min) * H200;
                assert!((limit / roof - 1.0).abs() < 0.012, "{row}: {limit}");
                let cipher = lanecrypt::find_cipher(&load.cipher).expect("it is there");
                assert!(cipher.backend(load.backend).is_some(), "{row}: {}", load.backend);
                counted += 1;
            }
        }
        assert_eq!(counted, loads().len());
        assert!(counted > 20, "{counted} roofs");
    }

    #[test]
    fn a_share_is_that_of_the_fullest_pipe() {
        let gpu = |compute_capability: &str| GpuDetails {
            multiprocessors: 132,
            gigahertz: 1.98,
            compute_capability: compute_capability.into(),
        };
        let what = (Work::EcbEncrypt, Place::Resident);
        // 1 GiB in a hundredth of a second: 859 Gbit/s.
        let of = |backend, capability| {
            let measurement = Figure::of(("aes", backend), what, 1 << 30, 1e-2);
            share(&measurement, Some(&gpu(capability)))
        };
        let of_tables = of("cuda-table-conflict-free", "9.0").expect("the book has it");
        assert!((of_tables.reached - of_tables.of_pipes[0]).abs() < 1e-9, "{of_tables:?}");
        assert!((of_tables.roof - 6_297.0).abs() < 30.0, "{of_tables:?}");
        assert!(of_tables.of_pipes[1] < of_tables.of_pipes[0]);
        assert!(of("cuda-bytewise", "9.0").is_none(), "it was not counted");
        assert!(of("cuda-table-conflict-free", "8.6").is_none(), "other pipes");
    }
}
