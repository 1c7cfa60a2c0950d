//! Tables of measurements: a file a cipher with its kernels, and one with the default types on a core of
//! a CPU. Each row is of the newest record that has it whole.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use lanecrypt_record::{Figure, Place, Work, distinct, title};

use crate::{
    generated,
    record::{Record, grouped},
    roofs,
};

/// The columns of kernels.
const WORKS: [Work; 3] = [Work::EcbEncrypt, Work::EcbDecrypt, Work::Ctr];
/// Those on a core.
const CORE_WORKS: [Work; 5] =
    [Work::EcbEncrypt, Work::EcbDecrypt, Work::Ctr, Work::CbcDecrypt, Work::XtsEncrypt];
/// On the device.
const BYTES: usize = 4 << 30;
/// On a core: in its caches, and not.
const CORE_BYTES: [usize; 2] = [16 << 10, 1 << 20];

/// Every table as (path of the page part, text), of records with the newest first.
pub(crate) fn tables(records: &[Record], source: &Path) -> BTreeMap<PathBuf, String> {
    let ciphers = distinct(resident(records).map(|(_, m)| m.cipher.as_str()));
    let kernels = ciphers.into_iter().map(|cipher| (cipher, of_kernels(records, cipher)));
    let all = kernels.chain(of_cores(records).map(|text| ("cpu", text)));
    let all = all.chain(of_random(records).map(|text| ("random", text)));
    let all = all.chain(of_energy(records).map(|text| ("energy", text)));
    let file = |(name, text): (&str, String)| {
        let text = generated("benches/record", &format!("\n{}\n", text.trim_end()));
        (source.join(format!("{name}-measured.md")), text)
    };
    all.map(file).collect()
}

/// What was measured on a device, and is in the tables.
fn resident(records: &[Record]) -> impl Iterator<Item = (&Record, &Figure)> {
    let all = records.iter().flat_map(Record::figures);
    all.filter(|(_, m)| m.place == Place::Resident && m.bytes == BYTES && WORKS.contains(&m.work))
}

/// A table for each model of GPU: backends down, modes across, key sizes beside each other.
fn of_kernels(records: &[Record], cipher: &str) -> String {
    let members: Vec<_> = resident(records).filter(|(_, m)| m.cipher == cipher).collect();
    let of = |gpu: &str| -> Vec<(&Record, &Figure)> {
        members.iter().copied().filter(|(r, _)| r.gpu() == Some(gpu)).collect()
    };
    let mut gpus = distinct(members.iter().filter_map(|(record, _)| record.gpu()));
    // The book's own first: that of most records.
    gpus.sort_by_key(|gpu| std::cmp::Reverse(of(gpu).len()));
    gpus.iter().map(|gpu| of_gpu(gpu, cipher, records, &of(gpu))).collect()
}

fn of_gpu(gpu: &str, cipher: &str, records: &[Record], members: &[(&Record, &Figure)]) -> String {
    let mut keys = distinct(members.iter().map(|(_, m)| m.key_bits));
    keys.sort_unstable();
    let names: Vec<_> = keys.iter().map(|&bits| title(cipher, bits)).collect();
    let works = WORKS.map(|work| work.to_string()).join(" | ");
    let mut text = format!(
        "{gpu}, 4 GiB on the device, Gbit/s for {}; each row of the newest record that has it \
         whole.\n\n| backend | {works} | record |\n|---|---|---|---|---|\n",
        names.join(" / "),
    );
    let in_record = |record: &Record| {
        let of_record = members.iter().filter(|(r, _)| r.name == record.name);
        of_record.map(|(_, m)| *m).collect::<Vec<&Figure>>()
    };
    // In the order of the registry, as the record with the most of them has it.
    let backends = |record| distinct(in_record(record).into_iter().map(|m| m.backend.as_str()));
    let fullest = records.iter().map(backends).max_by_key(Vec::len).unwrap_or_default();
    let others = members.iter().map(|(_, m)| m.backend.as_str());
    for backend in distinct(fullest.into_iter().chain(others)) {
        let of = |record: &Record| -> Vec<&Figure> {
            in_record(record).into_iter().filter(|m| m.backend == backend).collect()
        };
        // Newest first, so the first of the fullest ones.
        let best = records.iter().rev().max_by_key(|record| of(record).len());
        let Some(record) = best else { continue };
        let figures = of(record);
        let cell = |work: Work| {
            let figure = |bits: &usize| {
                let found = figures.iter().find(|m| m.work == work && m.key_bits == *bits);
                found.map_or_else(|| "·".to_owned(), |m| grouped(m.gbit_per_second()))
            };
            keys.iter().map(figure).collect::<Vec<_>>().join(" / ")
        };
        let cells = WORKS.map(cell).join(" | ");
        let _ = writeln!(text, "| `{backend}` | {cells} | {} |", record.short_link());
    }
    text + "\n"
}

/// What random numbers take, and CTR beside it, as the newest record has both.
fn of_random(records: &[Record]) -> Option<String> {
    let of = |record: &Record, work| {
        let all = record.measurements().iter();
        let is_it = |m: &&Figure| m.place == Place::Resident && m.bytes == BYTES && m.work == work;
        all.filter(is_it).map(Figure::gbit_per_second).reduce(f64::max)
    };
    let record = records.iter().find(|record| of(record, Work::RandomBytes).is_some())?;
    let row = |work| of(record, work).map(|rate| format!("| {work} | {} |\n", grouped(rate)));
    let rows = Work::RANDOM.into_iter().chain([Work::Ctr]).filter_map(row);
    Some(format!(
        "{}, 4 GiB on the device, AES-128: {}.\n\n| numbers | Gbit/s |\n|---|---|\n{}",
        record.gpu()?,
        record.short_link(),
        rows.collect::<String>()
    ))
}

/// What a watt gives: of each cipher the kernels that give most, in the newest record with energy of data that is long: of
/// less, launches take as much as the work.
fn of_energy(records: &[Record]) -> Option<String> {
    let metered = |record: &Record| -> Vec<Figure> {
        let metered = |m: &&Figure| m.joules.is_some() && m.bytes >= roofs::BYTES;
        record.measurements().iter().filter(metered).cloned().collect()
    };
    let (record, figures) = records.iter().map(|r| (r, metered(r))).find(|(_, f)| !f.is_empty())?;
    let mut text = format!(
        "{}, {} GiB on the device: {}.\n\n| cipher | mode | backend | Gbit/s for each watt |\n|---|---|---|---|\n",
        record.gpu()?,
        figures[0].bytes >> 30,
        record.short_link()
    );
    for cipher in distinct(figures.iter().map(|m| (m.cipher.as_str(), m.key_bits))) {
        for work in [Work::EcbEncrypt, Work::Ctr] {
            let is_it = |m: &&Figure| (m.cipher.as_str(), m.key_bits) == cipher && m.work == work;
            let best = figures.iter().filter(is_it).max_by(|a, b| {
                f64::total_cmp(
                    &a.gbit_per_joule().unwrap_or(0.0),
                    &b.gbit_per_joule().unwrap_or(0.0),
                )
            });
            let Some((best, gbit)) = best.and_then(|m| Some((m, m.gbit_per_joule()?))) else {
                continue;
            };
            let _ = writeln!(
                text,
                "| {} | {work} | `{}` | {gbit:.1} |",
                title(cipher.0, cipher.1),
                best.backend
            );
        }
    }
    Some(text)
}

/// Cycles a byte of the default types, beside the fastest of other libraries in the same run.
fn of_cores(records: &[Record]) -> Option<String> {
    let is_core = |m: &&Figure| m.place == Place::Cpu && CORE_BYTES.contains(&m.bytes);
    let mut rows: BTreeMap<(&str, usize), String> = BTreeMap::new();
    let mut links = Vec::new();
    for record in records {
        let members: Vec<_> = record.measurements().iter().filter(is_core).collect();
        let whole = distinct(members.iter().map(|m| m.bytes)).len() == CORE_BYTES.len();
        let has_peers = record.measurements().iter().any(|m| m.is_peer);
        let known = rows.len();
        for key in distinct(members.iter().map(|m| (m.cipher.as_str(), m.key_bits))) {
            if has_peers && whole && !rows.contains_key(&key) {
                let of = |m: &&&Figure| (m.cipher.as_str(), m.key_bits) == key;
                let row = core_row(&members.iter().filter(of).copied().collect::<Vec<_>>());
                rows.insert(key, format!("| {} | {row} |\n", title(key.0, key.1)));
            }
        }
        links.extend((rows.len() > known).then(|| record.short_link()));
    }
    let works = CORE_WORKS.map(|work| work.to_string()).join(" | ");
    (!rows.is_empty()).then(|| {
        format!(
            "Cycles a byte of the row `default`, one core, over 16 KiB and 1 MiB; the fastest other \
             library in the same run, ECB encryption of 16 KiB. Each row of the newest record that \
             has its cipher: {}.\n\n\
             | | {works} | fastest other |\n|---|---|---|---|---|---|---|\n{}",
            links.join(", "),
            rows.into_values().collect::<String>()
        )
    })
}

/// Of one cipher and key: the cells of the modes, and that of the fastest peer.
fn core_row(members: &[&Figure]) -> String {
    let cell = |work: Work| {
        let ours = |bytes: usize| {
            let is_it = |m: &&&Figure| m.backend == "default" && (m.work, m.bytes) == (work, bytes);
            members.iter().find(is_it).and_then(|m| cycles(m)).map(|cycles| format!("{cycles:.2}"))
        };
        CORE_BYTES.into_iter().filter_map(ours).collect::<Vec<_>>().join(",&nbsp;")
    };
    let is_peer =
        |m: &&&Figure| m.is_peer && (m.work, m.bytes) == (Work::EcbEncrypt, CORE_BYTES[0]);
    let peers = members.iter().filter(is_peer).filter_map(|m| Some((cycles(m)?, &m.backend)));
    let peer = peers.min_by(|a, b| a.0.total_cmp(&b.0));
    let peer = peer.map_or_else(String::new, |(cycles, name)| format!("{cycles:.2} {name}"));
    format!("{} | {peer}", CORE_WORKS.map(cell).join(" | "))
}

/// Cycles per byte, where the fastest pass and the core's clock are known.
fn cycles(figure: &Figure) -> Option<f64> {
    figure.fastest_seconds.and_then(|_| figure.cycles_per_byte())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::record::read;

    const RECORD: &str = r#"{
        "environment": {"gpu": "G", "driver": "1", "commit": "c", "date": "d", "cpu": "x"},
        "measurements": [
            {"cipher": "aes", "key_bits": 128, "backend": "a", "work": "Ctr", "place": "Resident",
             "bytes": 4294967296, "seconds": 1e-2, "samples": 11},
            {"cipher": "aes", "key_bits": 128, "backend": "a", "work": "EcbEncrypt", "place": "Resident",
             "bytes": 4294967296, "seconds": 1e-2, "samples": 11},
            {"cipher": "aes", "key_bits": 128, "backend": "default", "work": "Ctr", "place": "Cpu",
             "bytes": 1048576, "seconds": 1e-3, "samples": 11}]}"#;

    #[test]
    fn a_row_is_of_the_newest_record_that_has_it_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [
            ("2026-01-01-g-aaaaaaa", RECORD.replace("1e-2", "1e-1")),
            ("2026-01-02-g-fffffff", RECORD.replace("1e-2", "2e-2")),
            ("2026-01-02-g-bbbbbbb", RECORD.to_owned()), // newer: so says order.txt
            // Another backend; less of it; less data.
            ("2026-01-03-g-ccccccc", RECORD.replace(r#""backend": "a""#, r#""backend": "b""#)),
            ("2026-01-04-g-ddddddd", RECORD.replace("EcbEncrypt", "Keystream")),
            ("2026-01-05-g-eeeeeee", RECORD.replace("4294967296", "1024")),
        ] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
            fs::write(folder.path().join(name).join("report.json"), text).expect("a file");
        }
        let order = "2026-01-01-g-aaaaaaa\n2026-01-02-g-fffffff\n2026-01-02-g-bbbbbbb\n";
        fs::write(folder.path().join("order.txt"), order).expect("a file");
        let records = read(folder.path()).expect("records");
        let tables = tables(&records, Path::new("src"));
        let text = &tables[Path::new("src/aes-measured.md")];
        assert!(text.contains("| `a` | 3,436 | · | 3,436 | [2026-01-02&nbsp;bbbbbbb]("), "{text}");
        assert!(text.contains("| `b` |"), "{text}");
        assert!(!text.contains("eeeeeee"), "{text}");
    }
}
