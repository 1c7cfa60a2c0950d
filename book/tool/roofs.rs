//! What kernels reach of their roofs: counts of the ledger beside what was measured, a table for each cipher, and one
//! with the best of all.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use lanecrypt_record::{
    Figure, GpuDetails, Place, Work, distinct,
    roof::{FORMS, PIPES, Roof},
    title,
};

use crate::{
    figures::GPU,
    generated,
    record::{Record, grouped},
};

/// The modes, beside each other in a cell.
const WORKS: [Work; 2] = [Work::EcbEncrypt, Work::Ctr];
/// On the device, at least.
pub(crate) const BYTES: usize = 1 << 30;
/// The kernel of every cipher whose time depends on nothing, which stands among the best.
const CONSTANT_TIME: &str = "cuda-bitslice";

/// A kernel: its roofs and what was measured, by mode.
struct Row<'a> {
    title: String,
    backend: &'a str,
    roofs: Vec<(Roof, &'a Figure)>,
    record: &'a Record,
}

/// Every table as (path of the page part, text), of records with the newest first.
pub(crate) fn tables(records: &[Record], source: &Path) -> BTreeMap<PathBuf, String> {
    let mut ciphers = distinct(resident(records).map(|(_, _, m)| m.cipher.as_str()));
    ciphers.sort_unstable();
    let mut files = BTreeMap::new();
    let mut best = String::new();
    let mut file = |name: &str, rows: &str| {
        let text =
            generated("kernels/operations.csv and benches/record", &format!("\n{}{rows}", head()));
        files.insert(source.join(name), text);
    };
    for cipher in ciphers {
        let rows = rows(records, cipher);
        let text: String = rows.iter().map(Row::line).collect();
        if !text.is_empty() {
            file(&format!("roof-{cipher}.md"), &text);
        }
        let rate = |row: &&Row<'_>| row.roofs[0].1.gbit_per_second();
        let fastest = rows.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)));
        let fastest = fastest.map_or("", |row| row.backend);
        let stands = |row: &&Row<'_>| [fastest, CONSTANT_TIME].contains(&row.backend);
        best.extend(rows.iter().filter(stands).map(Row::line));
    }
    file("roofs.md", &best);
    files.insert(source.join("forms-counted.md"), generated("benches/schema/forms.csv", &forms()));
    files
}

/// Operations of bit-sliced forms: encryption, by inputs of a word's functions.
fn forms() -> String {
    let mut counts: BTreeMap<(&str, usize), Vec<String>> = BTreeMap::new();
    for row in FORMS.lines() {
        let [cipher, bits, "encryption", _, count] = row.split(',').collect::<Vec<_>>()[..] else {
            continue;
        };
        let (Ok(bits), Ok(count)) = (bits.parse(), count.parse()) else { continue };
        // Forms of DES with longer keys are those of triple DES.
        let cipher = if cipher == "des" && bits > 64 { "tdes" } else { cipher };
        counts.entry((cipher, bits)).or_default().push(grouped(count));
    }
    let row = |((cipher, bits), counts): (&(&str, usize), &Vec<String>)| {
        format!("| {} | {} |\n", title(cipher, *bits), counts.join(" | "))
    };
    let rows: String = counts.iter().map(row).collect();
    format!("\n| | two inputs | three inputs |\n|---|---|---|\n{rows}")
}

/// The head of a table.
fn head() -> String {
    let pipes = PIPES.map(|(name, _)| name).join(" | ");
    format!("| kernel | {pipes} | roof | measured | of it |\n|{}\n", "---|".repeat(8))
}

/// What was measured of kernels whose roofs may be known, on the GPU that all pages show.
fn resident(records: &[Record]) -> impl Iterator<Item = (&Record, &GpuDetails, &Figure)> {
    let all = records.iter().flat_map(Record::figures);
    let all = all.filter(|(_, m)| m.place == Place::Resident && m.bytes >= BYTES);
    all.filter_map(|(record, m)| {
        let gpu = record.data.as_ref()?.environment.gpu_details.as_ref()?;
        (record.gpu() == Some(GPU) && !m.backend.ends_with("fastest")).then_some((record, gpu, m))
    })
}

/// Those of a cipher under its shortest key, in the order of the record with the most of them: of each the newest
/// record that has both modes.
fn rows<'a>(records: &'a [Record], cipher: &str) -> Vec<Row<'a>> {
    let of_cipher = || resident(records).filter(|(_, _, m)| m.cipher == cipher);
    let Some(bits) = of_cipher().map(|(_, _, m)| m.key_bits).min() else { return Vec::new() };
    let backends = |record: &&Record| {
        let own = of_cipher().filter(|(r, _, _)| r.name == record.name);
        distinct(own.map(|(_, _, m)| m.backend.as_str()))
    };
    let fullest = records.iter().map(|record| backends(&record)).max_by_key(Vec::len);
    let row = |backend: &'a str| {
        records.iter().find_map(|record| {
            let of = |work: Work| {
                let own = of_cipher().filter(|(r, _, _)| r.name == record.name);
                let is_it = |m: &Figure| (&*m.backend, m.work, m.key_bits) == (backend, work, bits);
                let own = own.filter(|(_, _, m)| is_it(m));
                let (_, gpu, figure) = own.max_by_key(|(_, _, m)| m.bytes)?;
                Some((Roof::of(figure, Some(gpu))?, figure))
            };
            let roofs = WORKS.into_iter().map(of).collect::<Option<_>>()?;
            Some(Row { title: title(cipher, bits), backend, roofs, record })
        })
    };
    fullest.unwrap_or_default().into_iter().filter_map(row).collect()
}

impl Row<'_> {
    /// Both modes in each cell.
    fn line(&self) -> String {
        let cell = |of: &dyn Fn(&Roof, &Figure) -> String| {
            let modes: Vec<_> = self.roofs.iter().map(|(roof, figure)| of(roof, figure)).collect();
            modes.join(" / ")
        };
        let mut line = format!("| {}, `{}`", self.title, self.backend);
        for (i, (pipe, _)) in PIPES.iter().enumerate() {
            let lanes = cell(&|roof, _| {
                let lanes = format!("{:.0}", roof.lanes[i]);
                if roof.binds() == *pipe { format!("**{lanes}**") } else { lanes }
            });
            let _ = write!(line, " | {lanes}");
        }
        let roof = cell(&|roof, _| grouped(roof.gbit_per_second));
        let measured = cell(&|_, figure| grouped(figure.gbit_per_second()));
        let reached = cell(&|roof, _| format!("{:.0}%", 100.0 * roof.reached));
        let page = self.record.page();
        line + &format!(" | {roof} | [{measured}]({}) | {reached} |\n", page.display())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::record::read;

    #[test]
    fn a_row_has_both_modes_of_the_newest_record() {
        let figure = |backend: &str, work: &str, seconds: &str| {
            format!(
                r#"{{"cipher": "aes", "key_bits": 128, "backend": "{backend}", "work": "{work}",
                "place": "Resident", "bytes": 4294967296, "seconds": {seconds}, "samples": 11}}"#
            )
        };
        let record = |gpu: &str, figures: &[String]| {
            format!(
                r#"{{"environment": {{"gpu": "{gpu}", "gpu_details": {{"multiprocessors": 132, "gigahertz": 1.98,
                "compute_capability": "9.0"}}}}, "measurements": [{}]}}"#,
                figures.join(", ")
            )
        };
        let both = |backend: &str, seconds: &str| {
            ["EcbEncrypt", "Ctr"].map(|work| figure(backend, work, seconds))
        };
        let folder = tempfile::tempdir().expect("a folder");
        let older = [both("cuda-bitslice", "1e-2"), both("cuda-mixed", "5e-3")].concat();
        let newer =
            [&both("cuda-bitslice", "2e-2")[..], &[figure("cuda-mixed", "Ctr", "1e-3")]].concat();
        let other = both("cuda-bitslice", "3e-2").to_vec();
        for (name, gpu, figures) in [
            ("2026-01-01-g-aaaaaaa", GPU, older),
            ("2026-01-02-g-bbbbbbb", GPU, newer),
            ("2026-01-03-g-ccccccc", "another", other),
        ] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
            let path = folder.path().join(name).join("report.json");
            fs::write(path, record(gpu, &figures)).expect("a file");
        }
        let records = read(folder.path()).expect("records");
        let tables = tables(&records, Path::new("src"));
        let text = &tables[Path::new("src/roof-aes.md")];
        let lines: Vec<&str> = text.lines().filter(|line| line.contains('`')).skip(1).collect();
        let [bits, mixed] = lines[..] else { panic!("{text}") };
        assert!(bits.contains("| [1,718 / 1,718](") && bits.contains("bbbbbbb"), "{bits}");
        assert!(mixed.contains("| [6,872 / 6,872](") && mixed.contains("aaaaaaa"), "{mixed}");
        assert!(bits.contains("**"), "the pipe that binds is bold: {bits}");
        assert_eq!(tables[Path::new("src/roofs.md")], *text);
    }
}
