//! The tables of a report, each a query over a part of a record.

use lanecrypt_record::{Figure, Part, Place, Record, Step, Work, distinct};

use super::{
    papers::P1_RESOURCES,
    table::{Query, Section, keyed_work, size, throughput},
};
use crate::bench::plan::THREAD_BLOCKS;
use crate::size::size_name;

/// Gbit/s, and cycles per byte where the core's clock is known; of single launches, microseconds.
fn throughput_and_cycles(figure: &Figure) -> String {
    if figure.place == Place::Queued {
        return format!("{:.1}", figure.seconds * 1e6);
    }
    let throughput = throughput(figure.gbit_per_second());
    match figure.cycles_per_byte() {
        Some(cycles) => format!("{throughput} ({cycles:.3})"),
        None => throughput,
    }
}

/// A section for every cipher, place, mode and key size: backends down, sizes across.
pub(crate) fn throughputs(figures: &[Figure]) -> Vec<Section> {
    let group = |f: &Figure| (f.cipher.clone(), f.place, f.work, f.key_bits);
    let section = |key: (String, Place, Work, usize)| {
        let members: Vec<&Figure> = figures.iter().filter(|f| group(f) == key).collect();
        let has_cycles = members.iter().any(|f| f.gigahertz.is_some());
        let query = Query {
            title: format!(
                "{}, {}, {}{}",
                keyed_work(members[0]),
                key.1.name(),
                if key.1 == Place::Queued { "microseconds" } else { "Gbit/s" },
                if has_cycles { " (cycles a byte)" } else { "" }
            ),
            note: "",
            corner: "backend",
            row: &|f| f.backend.clone(),
            column: &|f| f.bytes,
            column_name: &size,
            cell: &throughput_and_cycles,
        };
        query.sorted(members)
    };
    distinct(figures.iter().map(group)).into_iter().filter_map(section).collect()
}

/// Throughput for comparing GPUs, in bits per multiprocessor and clock cycle; of a CPU there is none.
pub(crate) fn per_clock(record: &Record, figure: &Figure) -> Option<f64> {
    let details = record.environment.gpu_details.as_ref()?;
    let cycles = f64::from(details.multiprocessors) * details.gigahertz;
    (figure.place != Place::Cpu).then(|| figure.gbit_per_second() / cycles)
}

/// The same as a table: resident data at the largest size.
pub(crate) fn per_clocks(record: &Record) -> Option<Section> {
    record.environment.gpu_details.as_ref()?;
    let is_stored = |f: &&Figure| f.place == Place::Resident && f.work != Work::Keystream;
    let resident = record.measurements().iter().filter(is_stored);
    let largest = resident.clone().map(|f| f.bytes).max()?;
    let query = Query {
        title: format!("N, resident, {}", size_name(largest)),
        note: "N = Gbit/s / (multiprocessors x GHz).",
        corner: "backend",
        row: &|f| f.backend.clone(),
        column: &keyed_work,
        column_name: &String::clone,
        cell: &|f| per_clock(record, f).map_or_else(String::new, |n| format!("{n:.1}")),
    };
    query.of(resident.filter(|f| f.bytes == largest))
}

/// P3's question: throughput by threads of a thread block: backends down, sizes across, and what is chosen.
pub(crate) fn thread_blocks(record: &Record) -> Option<Section> {
    let measured = record.part(Part::ThreadBlocks);
    let bytes = measured.iter().map(|f| f.bytes).max()?;
    let name = |f: &Figure| format!("{} {}", f.keyed(), f.backend);
    let row = |backend: &String| {
        let members = measured.iter().filter(|f| name(f) == *backend);
        let rate = |threads: u32| {
            let found = members.clone().find(|f| f.count == threads as usize);
            found.map(Figure::gbit_per_second)
        };
        let fastest = THREAD_BLOCKS.iter().filter_map(|&threads| rate(threads)).fold(0.0, f64::max);
        let cell = |threads: &u32| match rate(*threads) {
            None => String::new(),
            Some(rate) if rate < fastest => throughput(rate),
            Some(rate) => format!("* {}", throughput(rate)),
        };
        let chosen = rate(0).map_or_else(String::new, throughput);
        let cells = THREAD_BLOCKS.iter().map(cell);
        std::iter::once(backend.clone()).chain(cells).chain([chosen]).collect()
    };
    let sizes = THREAD_BLOCKS.map(|threads| threads.to_string());
    Some(Section {
        title: "Thread-block sizes, Gbit/s".into(),
        note: format!(
            "Resident ECB encryption of {} with so many threads in a thread block, as far as the kernel \
             allows, as many of these as run at once; * marks the fastest. Last, as it is launched by \
             itself: by experience data.",
            size_name(bytes)
        ),
        header: std::iter::once("backend".to_owned())
            .chain(sizes)
            .chain(["by itself".to_owned()])
            .collect(),
        rows: distinct(measured.iter().map(name)).iter().map(row).collect(),
    })
}

/// Throughput of batches: messages down, ciphers, modes and places across.
pub(crate) fn batches(record: &Record) -> Option<Section> {
    let query = Query {
        title: "Batches of messages with keys of their own, Gbit/s".into(),
        note: "One call for all messages, key schedules counted; on the GPU the upload of keys and \
               places is not.",
        corner: "messages",
        row: &|f| format!("{} of {}", f.count, size_name(f.bytes / f.count.max(1))),
        column: &|f| format!("{}, {}", keyed_work(f), f.place.name()),
        column_name: &String::clone,
        cell: &|f| throughput(f.gbit_per_second()),
    };
    query.of(record.part(Part::Batches))
}

/// Throughput from host memory to host memory: ciphers down, places and sizes across.
pub(crate) fn host_memory(record: &Record) -> Option<Section> {
    let query = Query {
        title: "Host memory, GB/s".into(),
        note: "In place, from host memory to host memory; CPU is all of its cores.",
        corner: "cipher",
        row: &keyed_work,
        column: &|f| format!("{}, {}", f.place.name(), size_name(f.bytes)),
        column_name: &String::clone,
        cell: &|f| format!("{:.2}", f.gigabytes_per_second()),
    };
    query.of(record.part(Part::HostMemory))
}

/// Milliseconds of first calls: calls down, their parts across.
pub(crate) fn first_calls(record: &Record) -> Option<Section> {
    let query = Query {
        title: "The first call of a process, milliseconds".into(),
        note: "Opening comes before the call; the others are what it takes longer than the next one.",
        corner: "call",
        row: &|f| format!("{}, {}, {}", keyed_work(f), f.place.name(), size_name(f.bytes)),
        column: &|f| f.step,
        column_name: &|step| {
            let name = match step {
                Step::Open => "device opened",
                Step::Compile => "kernels compiled",
                _ => "kernels of the driver's cache",
            };
            name.into()
        },
        cell: &|f| format!("{:.0}", 1e3 * f.seconds),
    };
    query.sorted(record.part(Part::FirstCalls))
}

/// Throughput by the number of devices, and how many times that of one it is.
pub(crate) fn fleet(record: &Record) -> Option<Section> {
    let measured = record.part(Part::Fleet);
    let kind = |f: &Figure| format!("{}, {}", f.keyed(), f.place.name());
    let cell = |f: &Figure| {
        let speed = f.gigabytes_per_second();
        match measured.iter().find(|one| one.count == 1 && kind(one) == kind(f)) {
            Some(one) if f.count > 1 => {
                format!("{speed:.1} ({:.2})", speed / one.gigabytes_per_second())
            }
            _ => format!("{speed:.1}"),
        }
    };
    let query = Query {
        title: "Several GPUs, GB/s".into(),
        note: "CTR by a fleet, by the host's clock: resident in place, with as many bytes on every \
               device; pinned memory from one buffer to another, and other memory in place, the same \
               bytes shared by the devices.",
        corner: "cipher",
        row: &kind,
        column: &|f| f.count,
        column_name: &|count| match count {
            1 => "1 device".into(),
            count => format!("{count} devices (times one)"),
        },
        cell: &cell,
    };
    query.of(measured)
}

/// Commands down, sizes across, both ways in a cell.
pub(crate) fn files(record: &Record) -> Option<Section> {
    let measured = record.part(Part::Files);
    let both = |f: &Figure| {
        let way = |step| {
            let is_it = |other: &&Figure| {
                (&other.backend, other.bytes, other.step) == (&f.backend, f.bytes, step)
            };
            let found = measured.iter().find(is_it);
            found.map_or_else(String::new, |f| format!("{:.2}", f.gigabytes_per_second()))
        };
        format!("{} / {}", way(Step::Encryption), way(Step::Decryption))
    };
    let query = Query {
        title: "Whole files on a RAM disk (P5), GB/s".into(),
        note: "Each a process from its start to its end, the median of three; `cp` is what the disk takes. \
               P5's text has no figures of its test.",
        corner: "command, encryption / decryption",
        row: &|f| f.backend.clone(),
        column: &|f| f.bytes,
        column_name: &size,
        cell: &both,
    };
    query.of(measured)
}

/// What a choice may take of the better one's time.
const ALLOWED: f64 = 1.1;

/// Both places and the choice between them, over one size: the figures of a row.
pub(crate) struct Choice<'a> {
    pub(crate) cpu: &'a Figure,
    pub(crate) gpu: &'a Figure,
    pub(crate) auto: &'a Figure,
}

impl Choice<'_> {
    /// What the choice takes of the better one's time.
    fn ratio(&self) -> f64 {
        self.auto.seconds / self.cpu.seconds.min(self.gpu.seconds)
    }
}

/// Every choice of a record, in its order.
pub(crate) fn choices(record: &Record) -> Vec<Choice<'_>> {
    let measured = record.part(Part::Auto);
    let autos = measured.iter().filter(|f| f.step == Step::Auto);
    let choice = |auto: &'_ Figure| {
        let beside = |step| {
            measured.iter().find(|f| {
                (&f.cipher, f.key_bits, f.work, f.bytes, f.step)
                    == (&auto.cipher, auto.key_bits, auto.work, auto.bytes, step)
            })
        };
        Some((beside(Step::Cpu)?, beside(Step::Gpu)?))
    };
    autos.filter_map(|auto| choice(auto).map(|(cpu, gpu)| Choice { cpu, gpu, auto })).collect()
}

/// Switches, and both places beside the choice.
pub(crate) fn auto(record: &Record) -> Option<Section> {
    let choices = choices(record);
    let microseconds = |figure: &Figure| format!("{:.1}", 1e6 * figure.seconds);
    let row = |choice: &Choice<'_>| {
        let Choice { cpu, gpu, auto } = choice;
        let ratio = choice.ratio();
        vec![
            keyed_work(auto),
            size_name(auto.bytes),
            if auto.place == Place::Cpu { "CPU" } else { "GPU" }.to_owned(),
            microseconds(cpu),
            microseconds(gpu),
            microseconds(auto),
            format!("{ratio:.2}{}", if ratio > ALLOWED { " !" } else { "" }),
        ]
    };
    let late = choices.iter().filter(|choice| choice.ratio() > ALLOWED).count();
    let switching = choices.iter().filter(|choice| !choice.auto.switches.is_empty());
    let switches = distinct(switching.map(|Choice { auto, .. }| {
        let at = auto.switches.iter().map(|&at| size_name(at as usize)).collect::<Vec<_>>();
        format!("{}: {}", keyed_work(auto), at.join(", "))
    }));
    let header =
        ["", "bytes", "goes to", "CPU, us", "GPU, us", "Auto, us", "of the better one's time"];
    (!choices.is_empty()).then(|| Section {
        title: "Auto: CPU or GPU, from host memory to host memory".into(),
        note: format!(
            "CPU with its threads. {late} of {} choices take more than {ALLOWED} of the better one's time \
             (!). Switches: {}; others stay on the CPU.",
            choices.len(),
            if switches.is_empty() { "none".to_owned() } else { switches.join("; ") }
        ),
        header: header.map(str::to_owned).to_vec(),
        rows: choices.iter().map(row).collect(),
    })
}

/// What every kernel takes, with P1's figures first.
pub(crate) fn resources(record: &Record) -> Option<Section> {
    let row = |name: &str, place: &str, numbers: [u32; 4]| {
        let texts = numbers.into_iter().map(|number| number.to_string());
        [name.to_owned(), place.to_owned()].into_iter().chain(texts).collect()
    };
    let theirs = P1_RESOURCES.iter().map(|theirs| {
        let numbers = [theirs.registers, theirs.shared_bytes, theirs.local_bytes, 0];
        row(theirs.name, "P1, Table 4", numbers)
    });
    let ours = record.kernels.iter().map(|k| {
        let numbers = [k.registers, k.shared_bytes, k.local_bytes, k.spill_bytes];
        row(&k.kernel, &k.architecture, numbers)
    });
    let header = ["kernel", "on", "registers", "shared bytes", "local bytes", "spilled bytes"];
    (!record.kernels.is_empty()).then(|| Section {
        title: "What the kernels take (P1, Table 4)".into(),
        note: "P1's numbers are from the compiler of 2007 for the 8800 series.".into(),
        header: header.map(str::to_owned).to_vec(),
        rows: theirs.chain(ours).collect(),
    })
}

#[cfg(test)]
mod tests {
    use lanecrypt_record::Environment;

    use super::*;

    fn record(part: Part, figures: impl IntoIterator<Item = Figure>) -> Record {
        let mut record = Record::default();
        record.add(part, figures);
        record
    }

    #[test]
    fn a_row_a_backend_and_a_column_a_size() {
        let measurement = |backend: &str, bytes, seconds| {
            Figure::of(("aes", backend), (Work::EcbEncrypt, Place::Cpu), bytes, seconds)
        };
        let all = [
            measurement("a", 1 << 20, 1e-3),
            measurement("b", 1 << 20, 1e-4),
            measurement("b", 16, 1e-6),
        ];
        let [section] = throughputs(&all).try_into().ok().expect("one section");
        assert_eq!(section.header, ["backend", "16 B", "1 MiB"]);
        assert_eq!(section.rows[0], ["a", "", "8.389"]);
        assert_eq!(section.rows[1], ["b", "0.128", "83.886"]);
        assert!(section.render(true).contains("| backend |"));
        let cycles = [Figure { gigahertz: Some(2.0), ..all[0].clone() }];
        let [section] = throughputs(&cycles).try_into().ok().expect("one section");
        assert!(section.title.ends_with("Gbit/s (cycles a byte)"), "{}", section.title);
        assert_eq!(section.rows[0], ["a", "8.389 (1.907)"]);
        assert!(per_clocks(&Record::of(Environment::default(), all.to_vec())).is_none());
    }

    #[test]
    fn batches_have_a_row_a_shape() {
        assert!(batches(&Record::default()).is_none());
        let figures = [(Place::Cpu, 10), (Place::Resident, 10), (Place::Resident, 20)];
        let record = record(
            Part::Batches,
            figures.map(|(place, count)| Figure {
                count,
                ..Figure::of(("aes", ""), (Work::Ctr, place), count << 20, 1e-3 * count as f64)
            }),
        );
        let section = batches(&record).expect("there are measurements");
        assert_eq!(section.header[1..], ["AES-128 CTR, CPU", "AES-128 CTR, GPU, resident"]);
        assert_eq!(section.rows[0], ["10 of 1 MiB", "8.389", "8.389"]);
        assert_eq!(section.rows[1], ["20 of 1 MiB", "", "8.389"]);
    }

    #[test]
    fn host_memory_has_a_column_a_place_and_size() {
        assert!(host_memory(&Record::default()).is_none());
        let figure = |place| Figure::of(("aes", ""), (Work::Ctr, place), 1 << 20, 1e-3);
        let record = record(Part::HostMemory, [Place::EndToEnd, Place::Cpu].map(figure));
        let section = host_memory(&record).expect("there are measurements");
        assert_eq!(section.header[1..], ["GPU, end to end, 1 MiB", "CPU, 1 MiB"]);
        assert_eq!(section.rows, [["AES-128 CTR", "1.05", "1.05"]]);
    }

    #[test]
    fn first_calls_have_a_row_each() {
        assert!(first_calls(&Record::default()).is_none());
        let figure = |(step, seconds)| Figure {
            step,
            ..Figure::of(("aes", ""), (Work::Ctr, Place::Resident), 1 << 20, seconds)
        };
        let steps = [(Step::Open, 0.3), (Step::Compile, 0.25), (Step::Load, 0.0015)];
        let section = first_calls(&record(Part::FirstCalls, steps.map(figure)));
        let row = ["AES-128 CTR, GPU, resident, 1 MiB", "300", "250", "2"];
        assert_eq!(section.expect("there is one").rows, [row]);
    }

    #[test]
    fn a_fleet_has_a_column_a_number_of_devices() {
        assert!(fleet(&Record::default()).is_none());
        let figure = |(place, count, seconds)| Figure {
            count,
            ..Figure::of(("aes", ""), (Work::Ctr, place), 1 << 30, seconds)
        };
        let figures =
            [(Place::Pinned, 1, 0.02), (Place::Pinned, 2, 0.011), (Place::Resident, 1, 0.002)];
        let section = fleet(&record(Part::Fleet, figures.map(figure)));
        let section = section.expect("there are measurements");
        assert_eq!(section.header, ["cipher", "1 device", "2 devices (times one)"]);
        assert_eq!(section.rows[0], ["AES-128, GPU, pinned memory", "53.7", "97.6 (1.82)"]);
        assert_eq!(section.rows[1], ["AES-128, GPU, resident", "536.9", ""]);
    }

    #[test]
    fn both_ways_of_a_file_stand_in_a_cell() {
        let row = |backend: &str, bytes, seconds| {
            [(Step::Encryption, seconds), (Step::Decryption, seconds / 2.0)].map(
                |(step, seconds)| Figure {
                    backend: backend.into(),
                    step,
                    bytes,
                    seconds,
                    ..Figure::default()
                },
            )
        };
        let figures = [row("a", 1 << 20, 0.001), row("a", 1 << 30, 1.0), row("b", 1 << 20, 1.0)];
        let section = files(&record(Part::Files, figures.concat())).expect("there are rows");
        assert_eq!(section.header[1..], ["1 MiB", "1 GiB"]);
        assert_eq!(section.rows[0], ["a", "1.05 / 2.10", "1.07 / 2.15"]);
        assert_eq!(section.rows[1], ["b", "0.00 / 0.00", ""]);
        assert!(files(&Record::default()).is_none());
    }

    #[test]
    fn choices_that_are_late_are_marked() {
        let row = |bytes, auto_seconds| {
            [
                (Step::Cpu, Place::Cpu, 2e-6),
                (Step::Gpu, Place::EndToEnd, 1e-6),
                (Step::Auto, Place::EndToEnd, auto_seconds),
            ]
            .map(|(step, place, seconds)| Figure {
                key_bits: 64,
                step,
                switches: vec![4096],
                ..Figure::of(("des", ""), (Work::Ctr, place), bytes, seconds)
            })
        };
        assert!(auto(&Record::default()).is_none());
        let record = record(Part::Auto, [row(8192, 1.04e-6), row(16384, 2e-6)].concat());
        let section = auto(&record).expect("two rows");
        assert!(section.note.contains("1 of 2 choices"), "{}", section.note);
        assert!(section.note.contains("DES-64 CTR: 4 KiB"), "{}", section.note);
        let cells = ["DES-64 CTR", "8 KiB", "GPU", "2.0", "1.0", "1.0", "1.04"];
        assert_eq!(section.rows[0], cells);
        assert_eq!(section.rows[1][6], "2.00 !");
    }

    #[test]
    fn the_fastest_thread_block_is_marked() {
        assert!(thread_blocks(&Record::default()).is_none());
        let rows = [
            ("a", 128, 1e-3),
            ("a", 256, 1e-4),
            ("b", 768, 1e-3),
            ("a", 384, 2e-4),
            ("a", 0, 1e-4),
        ];
        let figure = |(backend, count, seconds)| Figure {
            count,
            ..Figure::of(("aes", backend), (Work::EcbEncrypt, Place::Resident), 1 << 20, seconds)
        };
        let section = thread_blocks(&record(Part::ThreadBlocks, rows.map(figure)));
        let section = section.expect("there are measurements");
        assert_eq!(section.header[1..7], ["128", "256", "384", "512", "768", "1024"]);
        let cells = ["AES-128 a", "8.389", "* 83.886", "41.943", "", "", "", "83.886"];
        assert_eq!(section.rows[0], cells);
        assert_eq!(section.rows[1], ["AES-128 b", "", "", "", "", "* 8.389", "", ""]);
        assert!(section.note.contains("1 MiB"));
    }
}
