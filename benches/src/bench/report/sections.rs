//! The tables of a report, each a query over a part of a record.

use lanecrypt_record::{Figure, KernelResources, Part, Place, Record, Step, Work};

use super::{
    block_sizes, choices, curves,
    papers::{self, RESOURCES},
    ratio,
    roof::per_clock,
    swap,
    table::{Query, Section, Texts, all, by_size, keyed_work, throughput},
};
use crate::size::size_name;

/// All tables, in the order of the report.
pub(crate) fn of(record: &Record) -> Vec<Section> {
    let several = |queries: &[&Query]| {
        let tables = queries.iter().flat_map(|query| query.tables(record));
        tables.collect::<Vec<Section>>()
    };
    let mut all = several(&[&THROUGHPUTS, &ratio::OF_REPLACED]);
    if !record.environment.peers.is_empty() {
        all.extend(ratio::OF_PEERS.tables(record));
    }
    all.extend(curves::section(record));
    all.extend(several(&[&PER_CLOCK, &ENERGY, &THREAD_BLOCKS]));
    all.extend(block_sizes::section(record));
    all.extend(BATCHES.tables(record));
    all.extend(choices::section(record));
    all.extend(several(&[&HOST_MEMORY, &FIRST_CALLS, &FLEET, &FILES]));
    all.extend(resources(record));
    all.extend(papers::figures(record, "", None));
    all.extend(papers::gains(record, ""));
    all.extend(swap::sections(record));
    all
}

/// A table for every cipher, place, mode and key size: backends down, sizes across.
pub(crate) const THROUGHPUTS: Query = Query {
    part: Part::Measurements,
    table: |_, f| Some(format!("{}, {}", keyed_work(f), f.place.name())),
    texts: Texts::Of(|figures| {
        let f = figures[0];
        let unit = if f.place == Place::Queued { "microseconds" } else { "Gbit/s" };
        let has_cycles = figures.iter().any(|f| f.gigahertz.is_some());
        let cycles = if has_cycles { " (cycles a byte)" } else { "" };
        (format!("{}, {}, {unit}{cycles}", keyed_work(f), f.place.name()), String::new())
    }),
    corner: "backend",
    row: |f| f.backend.clone(),
    column: by_size,
    cell: |_, f| {
        if f.place == Place::Queued {
            return format!("{:.1}", f.seconds * 1e6);
        }
        let throughput = throughput(f.gbit_per_second());
        match f.cycles_per_byte() {
            Some(cycles) => format!("{throughput} ({cycles:.3})"),
            None => throughput,
        }
    },
};

/// Throughput for comparing GPUs: resident data at the largest size.
const PER_CLOCK: Query = Query {
    part: Part::Measurements,
    table: |record, f| {
        let has_data = |work| work != Work::Keystream && !Work::RANDOM.contains(&work);
        let is_it = |f: &Figure| f.place == Place::Resident && has_data(f.work);
        let is_larger = |other: &Figure| other.bytes > f.bytes && is_it(other);
        let is_largest = is_it(f) && !record.measurements().iter().any(is_larger);
        (is_largest && record.environment.gpu_details.is_some()).then(String::new)
    },
    texts: Texts::Of(|figures| {
        let title = format!("N, resident, {}", size_name(figures[0].bytes));
        (title, "N = Gbit/s / (multiprocessors x GHz).".into())
    }),
    corner: "backend",
    row: |f| f.backend.clone(),
    column: |f| (0, keyed_work(f)),
    cell: |record, f| per_clock(record, f).map_or_else(String::new, |n| format!("{n:.1}")),
};

/// P1's question: what a watt gives.
const ENERGY: Query = Query {
    part: Part::Measurements,
    table: |_, f| f.joules.map(|_| f.keyed()),
    texts: Texts::Of(|figures| {
        let (cipher, size) = (figures[0].keyed(), size_name(figures[0].bytes));
        let title = format!("{cipher}, resident, {size}, Gbit/s for each watt");
        (title, "What the board takes while launches follow each other, by NVML.".into())
    }),
    corner: "backend",
    row: |f| f.backend.clone(),
    column: |f| (0, f.work.to_string()),
    cell: |_, f| f.gbit_per_joule().map_or_else(String::new, |gbit| format!("{gbit:.2}")),
};

/// P3's question: throughput by threads of a thread block: backends down, sizes across, and what is chosen.
const THREAD_BLOCKS: Query = Query {
    part: Part::ThreadBlocks,
    table: all,
    texts: Texts::Of(|figures| {
        let bytes = figures.iter().map(|f| f.bytes).max().unwrap_or_default();
        let note = format!(
            "Resident ECB encryption of {} with so many threads in a thread block, as far as the kernel \
             allows, as many of these as run at once; * marks the fastest. Last, as it is launched by \
             itself: by experience data.",
            size_name(bytes)
        );
        ("Thread-block sizes, Gbit/s".into(), note)
    }),
    corner: "backend",
    row: keyed_backend,
    column: |f| match f.count {
        0 => (usize::MAX, "by itself".into()),
        threads => (threads, threads.to_string()),
    },
    cell: |record, f| {
        let is_faster = |other: &Figure| {
            other.count > 0
                && keyed_backend(other) == keyed_backend(f)
                && other.gbit_per_second() > f.gbit_per_second()
        };
        let is_fastest = f.count > 0 && !record.part(Part::ThreadBlocks).iter().any(is_faster);
        format!("{}{}", if is_fastest { "* " } else { "" }, throughput(f.gbit_per_second()))
    },
};

fn keyed_backend(figure: &Figure) -> String {
    format!("{} {}", figure.keyed(), figure.backend)
}

/// Throughput of batches: messages down, ciphers, modes and places across.
const BATCHES: Query = Query {
    part: Part::Batches,
    table: all,
    texts: Texts::Fixed(
        "Batches of messages with keys of their own, Gbit/s",
        "One call for all messages, key schedules counted; on the GPU the upload of keys and \
         places is not.",
    ),
    corner: "messages",
    row: |f| format!("{} of {}", f.count, size_name(f.bytes / f.count.max(1))),
    column: |f| (0, format!("{}, {}", keyed_work(f), f.place.name())),
    cell: |_, f| throughput(f.gbit_per_second()),
};

/// Throughput from host memory to host memory: ciphers down, places and sizes across.
const HOST_MEMORY: Query = Query {
    part: Part::HostMemory,
    table: all,
    texts: Texts::Fixed(
        "Host memory, GB/s",
        "In place, from host memory to host memory; CPU is all of its cores.",
    ),
    corner: "cipher",
    row: keyed_work,
    column: |f| (0, format!("{}, {}", f.place.name(), size_name(f.bytes))),
    cell: |_, f| format!("{:.2}", f.gigabytes_per_second()),
};

/// Milliseconds of first calls: calls down, their parts across.
const FIRST_CALLS: Query = Query {
    part: Part::FirstCalls,
    table: all,
    texts: Texts::Fixed(
        "The first call of a process, milliseconds",
        "Opening comes before the call; the others are what it takes longer than the next one.",
    ),
    corner: "call",
    row: |f| format!("{}, {}, {}", keyed_work(f), f.place.name(), size_name(f.bytes)),
    column: |f| match f.step {
        Step::Open => (0, "device opened".into()),
        Step::Compile => (1, "kernels compiled".into()),
        _ => (2, "kernels of the driver's cache".into()),
    },
    cell: |_, f| format!("{:.0}", 1e3 * f.seconds),
};

/// Throughput by the number of devices, and how many times that of one it is.
const FLEET: Query = Query {
    part: Part::Fleet,
    table: all,
    texts: Texts::Fixed(
        "Several GPUs, GB/s",
        "CTR by a fleet, by the host's clock: resident in place, with as many bytes on every \
         device; pinned memory from one buffer to another, and other memory in place, the same \
         bytes shared by the devices.",
    ),
    corner: "cipher",
    row: keyed_place,
    column: |f| match f.count {
        1 => (0, "1 device".into()),
        count => (0, format!("{count} devices (times one)")),
    },
    cell: |record, f| {
        let speed = f.gigabytes_per_second();
        let is_one = |one: &&Figure| one.count == 1 && keyed_place(one) == keyed_place(f);
        match record.part(Part::Fleet).iter().find(is_one) {
            Some(one) if f.count > 1 => {
                format!("{speed:.1} ({:.2})", speed / one.gigabytes_per_second())
            }
            _ => format!("{speed:.1}"),
        }
    },
};

fn keyed_place(figure: &Figure) -> String {
    format!("{}, {}", figure.keyed(), figure.place.name())
}

/// Commands down, sizes across, both ways in a cell.
pub(crate) const FILES: Query = Query {
    part: Part::Files,
    table: all,
    texts: Texts::Fixed(
        "Whole files on a RAM disk (P5), GB/s",
        "Each a process from its start to its end, the median of three; `cp` is what the disk \
         takes. P5's text has no figures of its test.",
    ),
    corner: "command, encryption / decryption",
    row: |f| f.backend.clone(),
    column: |f| (0, size_name(f.bytes)),
    cell: |record, f| {
        let ways = [Step::Encryption, Step::Decryption].map(|step| {
            let is_it = |other: &&Figure| {
                (&other.backend, other.bytes, other.step) == (&f.backend, f.bytes, step)
            };
            let found = record.part(Part::Files).iter().find(is_it);
            found.map_or_else(String::new, |f| format!("{:.2}", f.gigabytes_per_second()))
        });
        ways.join(" / ")
    },
};

/// What every kernel takes, with P1's figures first.
fn resources(record: &Record) -> Option<Section> {
    let row = |k: &KernelResources| {
        let numbers = [k.registers, k.shared_bytes, k.local_bytes, k.spill_bytes];
        let numbers = numbers.map(|number| number.to_string());
        [[k.kernel.clone(), k.architecture.clone()].as_slice(), &numbers].concat()
    };
    let header = ["kernel", "on", "registers", "shared bytes", "local bytes", "spilled bytes"];
    let note = "P1's numbers are from the compiler of 2007 for the 8800 series.";
    let all = RESOURCES.iter().map(|(theirs, _)| theirs).chain(&record.kernels);
    let rows = all.filter(|_| !record.kernels.is_empty()).map(row).collect();
    Section::of("What the kernels take (P1, Table 4)", note, header, rows)
}
