//! Reading records, also those from before a measurement was one [`Figure`]: their parts lie at the top,
//! their rows may have several times side by side, and a curve has its lines and points inside.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;

use crate::{Figure, Part, Place, Record, Step};

/// The times that a row of an old record may have side by side.
const STEPS: [(&str, Step); 8] = [
    ("open_seconds", Step::Open),
    ("compiling_seconds", Step::Compile),
    ("loading_seconds", Step::Load),
    ("encrypt_seconds", Step::Encryption),
    ("decrypt_seconds", Step::Decryption),
    ("cpu_seconds", Step::Cpu),
    ("gpu_seconds", Step::Gpu),
    ("auto_seconds", Step::Auto),
];

impl Record {
    /// The file of a record: of a folder its `report.json`.
    #[must_use]
    pub fn file(path: &Path) -> PathBuf {
        if path.is_dir() { path.join("report.json") } else { path.to_path_buf() }
    }

    /// Reads a record, from a folder or from its `report.json`.
    ///
    /// # Errors
    /// A sentence naming the file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let file = Self::file(path);
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let text = fs::read_to_string(&file).map_err(|error| failed(&error))?;
        serde_json::from_str(&text).map_err(|error| failed(&error))
    }
}

/// What is as it always was.
#[derive(Deserialize)]
struct Frame {
    environment: crate::Environment,
    #[serde(default)]
    skipped: Vec<String>,
    #[serde(default)]
    kernels: Vec<crate::KernelResources>,
}

impl TryFrom<Value> for Record {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let Frame { environment, skipped, kernels } = Frame::deserialize(&value)?;
        let parts = value.get("figures").unwrap_or(&value);
        let mut record = Self { environment, skipped, kernels, ..Self::default() };
        for part in Part::ALL {
            let name = serde_json::to_value(part)?;
            let rows = parts.get(name.as_str().unwrap_or_default()).and_then(Value::as_array);
            for row in rows.into_iter().flatten() {
                record.add(part, figures(part, row)?);
            }
        }
        Ok(record)
    }
}

/// The figures of a row.
fn figures(part: Part, row: &Value) -> Result<Vec<Figure>, serde_json::Error> {
    if part == Part::BlockCurves && row.get("lines").is_some() {
        return Ok(Curve::deserialize(row)?.figures());
    }
    let figure = Figure::deserialize(row)?;
    let number = |name: &str| row.get(name).and_then(Value::as_u64);
    if let Some(bytes) = number("message_bytes") {
        return Ok(vec![Figure { bytes: figure.count * bytes as usize, ..figure }]);
    }
    let found = STEPS.iter().filter_map(|&(name, step)| {
        let seconds = row.get(name)?.as_f64()?;
        let is_on_gpu = row.get("is_on_gpu").and_then(Value::as_bool).unwrap_or(false);
        let place = match step {
            Step::Gpu => Place::EndToEnd,
            Step::Auto if is_on_gpu => Place::EndToEnd,
            _ => figure.place,
        };
        Some(Figure { place, step, seconds, ..figure.clone() })
    });
    let found: Vec<Figure> = found.collect();
    Ok(if found.is_empty() { vec![figure] } else { found })
}

/// The time of a call by its number of blocks, of several implementations.
#[derive(Deserialize)]
struct Curve {
    cipher: String,
    key_bits: usize,
    gigahertz: f64,
    /// The numbers of blocks from which on the first line runs a call another way, and which.
    ways: Vec<(usize, String)>,
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    name: String,
    /// Number of blocks and nanoseconds of a call, shortest first.
    points: Vec<(usize, f64)>,
}

impl Curve {
    fn figures(&self) -> Vec<Figure> {
        let figure = |i: usize, line: &Line, &(count, nanoseconds): &(usize, f64)| {
            let way = self.ways.iter().rfind(|way| i == 0 && way.0 <= count);
            Figure {
                cipher: self.cipher.clone(),
                key_bits: self.key_bits,
                backend: line.name.clone(),
                work: crate::Work::EcbEncrypt,
                count,
                way: way.map_or_else(String::new, |way| way.1.clone()),
                seconds: nanoseconds / 1e9,
                gigahertz: Some(self.gigahertz),
                is_peer: i > 0,
                ..Figure::default()
            }
        };
        let lines = self.lines.iter().enumerate();
        lines.flat_map(|(i, line)| line.points.iter().map(move |p| figure(i, line, p))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Work;

    /// A record as an earlier bench-all wrote it, with a row of each shape that there was.
    const OLD: &str = r#"{
        "environment": {
            "cpu": "Xeon", "cpu_features": "aes", "gpu": "none", "gpu_details": null,
            "driver": null, "compiler": "rustc 1.89.0", "commit": "0123456", "date": "2026-11-21"
        },
        "skipped": [],
        "measurements": [{
            "cipher": "aes", "key_bits": 128, "backend": "hardware", "work": "EcbEncrypt",
            "place": "Cpu", "bytes": 16, "seconds": 1e-8, "samples": 20
        }],
        "thread_blocks": [{
            "threads": 256, "cipher": "aes", "key_bits": 128, "backend": "cuda-mixed",
            "work": "EcbEncrypt", "place": "Resident", "bytes": 64, "seconds": 1e-5, "samples": 11
        }],
        "host_memory": [{
            "cipher": "aes", "key_bits": 128, "place": "Pinned", "bytes": 16, "seconds": 1e-8, "samples": 20
        }],
        "batches": [{
            "cipher": "aes", "key_bits": 128, "work": "Ctr", "place": "Resident", "messages": 10,
            "message_bytes": 256, "seconds": 1e-5, "samples": 11, "interval": [1e-6, 1e-4]
        }],
        "first_calls": [{
            "cipher": "aes", "key_bits": 128, "work": "Ctr", "place": "Resident", "bytes": 16,
            "open_seconds": 0.3, "compiling_seconds": 0.2, "loading_seconds": 0.1
        }],
        "fleet": [{
            "cipher": "aes", "key_bits": 128, "place": "Pinned", "devices": 2, "bytes": 16,
            "seconds": 1e-5, "samples": 11
        }],
        "files": [{ "tool": "age", "bytes": 16, "encrypt_seconds": 2.0, "decrypt_seconds": 1.0 }],
        "auto": [{
            "cipher": "des", "key_bits": 64, "work": "Ctr", "switches": [4096], "bytes": 8192,
            "is_on_gpu": true, "cpu_seconds": 2e-6, "gpu_seconds": 1e-6, "auto_seconds": 3e-6
        }],
        "block_curves": [{
            "cipher": "aria", "key_bits": 128, "gigahertz": 2.0,
            "ways": [[1, "1 at once"], [4, "batches of 64"]],
            "lines": [
                { "name": "default", "points": [[1, 100.0], [4, 120.0]] },
                { "name": "theirs", "points": [[1, 50.0]] }
            ]
        }],
        "kernels": [{
            "kernel": "aes_bitslice_ctr", "architecture": "sm_90", "registers": 128,
            "shared_bytes": 0, "local_bytes": 0, "spill_bytes": 0
        }]
    }"#;

    fn labels(record: &Record, part: Part) -> Vec<(&str, Work, Place, Step, usize, usize)> {
        let figures = record.part(part).iter();
        figures.map(|f| (f.backend.as_str(), f.work, f.place, f.step, f.count, f.bytes)).collect()
    }

    #[test]
    fn old_records_are_read() {
        use Place::{Cpu, EndToEnd, Pinned, Resident};
        use Work::{Ctr, EcbEncrypt};
        let record: Record = serde_json::from_str(OLD).expect("an old record is a record");
        let whole = Step::Whole;
        let labels = |part| labels(&record, part);
        assert_eq!(labels(Part::Measurements), [("hardware", EcbEncrypt, Cpu, whole, 0, 16)]);
        let sizes = [("cuda-mixed", EcbEncrypt, Resident, whole, 256, 64)];
        assert_eq!(labels(Part::ThreadBlocks), sizes);
        assert_eq!(labels(Part::HostMemory), [("", Ctr, Pinned, whole, 0, 16)]);
        assert_eq!(labels(Part::Batches), [("", Ctr, Resident, whole, 10, 2560)]);
        assert_eq!(labels(Part::Fleet), [("", Ctr, Pinned, whole, 2, 16)]);
        let calls = [Step::Open, Step::Compile, Step::Load];
        assert_eq!(labels(Part::FirstCalls), calls.map(|step| ("", Ctr, Resident, step, 0, 16)));
        let files = [Step::Encryption, Step::Decryption];
        assert_eq!(labels(Part::Files), files.map(|step| ("age", Ctr, Cpu, step, 0, 16)));
        let auto = [(Step::Cpu, Cpu), (Step::Gpu, EndToEnd), (Step::Auto, EndToEnd)];
        let auto = auto.map(|(step, place)| ("", Ctr, place, step, 0, 8192));
        assert_eq!(labels(Part::Auto), auto);
        assert!(record.part(Part::Auto).iter().all(|f| f.switches == [4096]));
        let curve: Vec<_> = record
            .part(Part::BlockCurves)
            .iter()
            .map(|f| (f.backend.as_str(), f.count, f.way.as_str(), f.is_peer))
            .collect();
        let ours = [("default", 1, "1 at once", false), ("default", 4, "batches of 64", false)];
        assert_eq!(curve, [&ours[..], &[("theirs", 1, "", true)]].concat());
        let nanoseconds = record.part(Part::BlockCurves).iter().map(|f| (f.seconds * 1e9).round());
        assert!(nanoseconds.eq([100.0, 120.0, 50.0]));
        assert_eq!((record.environment.time.as_str(), record.kernels.len()), ("", 1));
    }

    #[test]
    fn every_committed_record_is_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record");
        let entries = fs::read_dir(folder).expect("the records").filter_map(Result::ok);
        let files = entries.map(|entry| Record::file(&entry.path())).filter(|file| file.is_file());
        let files: Vec<PathBuf> = files.filter(|file| file.ends_with("report.json")).collect();
        assert!(files.len() > 10, "{files:?}");
        for file in files {
            assert!(!Record::read(&file).expect("it is a record").is_empty(), "{file:?}");
        }
    }

    #[test]
    fn records_come_back() {
        let mut record: Record = serde_json::from_str(OLD).expect("an old record is a record");
        let measured = &mut record.part_mut(Part::Measurements)[0];
        (measured.run, measured.interval) = (7, Some([0.9e-8, 1.1e-8]));
        (measured.gigahertz, measured.fastest_seconds) = (Some(2.5), Some(1e-9));
        let text = serde_json::to_string(&record).expect("it is JSON");
        let again: Record = serde_json::from_str(&text).expect("a record is a record");
        // Of which run a figure is, where several are read, is nothing that a record says.
        record.part_mut(Part::Measurements)[0].run = 0;
        assert_eq!(again.figures, record.figures);
        assert_eq!(again.kernels.len(), 1);
        assert!(
            (again.measurements()[0].cycles_per_byte().expect("a clock") - 2.5 / 16.0).abs() < 1e-9
        );
    }

    #[test]
    fn what_is_no_record_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("report.json");
        assert!(Record::read(folder.path()).unwrap_err().contains("report.json"));
        for (text, is_record) in [("[]", false), (OLD, true)] {
            fs::write(&file, text).expect("a file");
            for path in [folder.path(), &file] {
                assert_eq!(Record::read(path).is_ok(), is_record, "{text}");
            }
        }
    }
}
