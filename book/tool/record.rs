//! The records of measurements in `benches/record`, in the order in which they were made.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde::Deserialize;

/// The book's worked port, which is no cipher of the library: its figures are its own page's.
pub(crate) const PORT: &str = "lea";

/// A record: its folder's name and what the pages need of its files.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// `report.md`.
    pub(crate) report: Option<String>,
    /// `report.json`.
    pub(crate) data: Option<Data>,
}

/// What is needed of `report.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct Data {
    pub(crate) environment: Environment,
    #[serde(default)]
    pub(crate) measurements: Vec<Measurement>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Environment {
    pub(crate) gpu: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Measurement {
    pub(crate) cipher: String,
    pub(crate) key_bits: u32,
    pub(crate) backend: String,
    pub(crate) work: String,
    pub(crate) place: String,
    pub(crate) bytes: u64,
    /// Of the median.
    pub(crate) seconds: f64,
    #[serde(default)]
    pub(crate) fastest_seconds: Option<f64>,
    /// The core's clock beside it.
    #[serde(default)]
    pub(crate) gigahertz: Option<f64>,
    /// Whether it is of another library.
    #[serde(default)]
    pub(crate) is_peer: bool,
}

impl Measurement {
    pub(crate) fn gbit_per_second(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.seconds / 1e9
    }

    /// Of the fastest pass, at the clock that the core had.
    pub(crate) fn cycles_a_byte(&self) -> Option<f64> {
        Some(self.fastest_seconds? * self.gigahertz? * 1e9 / self.bytes as f64)
    }
}

/// The records, newest first; none where there is no such folder.
///
/// # Errors
/// Where one cannot be read.
pub(crate) fn read(folder: &Path) -> Result<Vec<Record>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let order = fs::read_to_string(folder.join("order.txt")).unwrap_or_default();
    let mut records = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let folder = entry?.path();
        if !folder.is_dir() {
            continue;
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = |file: &str| {
            let path = folder.join(file);
            let read = || fs::read_to_string(&path).with_context(|| path.display().to_string());
            path.is_file().then(read).transpose()
        };
        let (report, json) = (text("report.md")?, text("report.json")?);
        let parse = |text: String| serde_json::from_str(&text).with_context(|| name.clone());
        let data = json.map(parse).transpose()?;
        records.push(Record { name, folder, report, data });
    }
    let place = |record: &Record| order.lines().position(|line| line == record.name);
    // Those that are not listed are the newest.
    records.sort_by_key(|record| (place(record).unwrap_or(usize::MAX), record.name.clone()));
    records.reverse();
    Ok(records)
}

impl Record {
    /// Its page, from the book's source folder.
    pub(crate) fn page(&self) -> PathBuf {
        Path::new("records").join(&self.name).join("report.md")
    }

    /// A link to its page, for pages in the book's source folder.
    pub(crate) fn link(&self) -> String {
        format!("[{}](records/{}/report.md)", self.name, self.name)
    }

    /// The same, short: the day, and what tells it from others of that day.
    pub(crate) fn short_link(&self) -> String {
        let day = self.name.get(..10).unwrap_or_default();
        let rest = self.name.get(11..).unwrap_or(&self.name);
        let commit = rest
            .split('-')
            .position(|part| part.len() == 7 && part.chars().all(|c| c.is_ascii_hexdigit()));
        let rest: Vec<&str> = rest.split('-').skip(commit.unwrap_or(0)).collect();
        format!("[{day}&nbsp;{}](records/{}/report.md)", rest.join("-"), self.name)
    }

    /// What was measured, if it has figures.
    pub(crate) fn measurements(&self) -> &[Measurement] {
        self.data.as_ref().map_or(&[], |data| &data.measurements)
    }

    /// Whether it is of the [`PORT`] alone.
    pub(crate) fn is_of_port(&self) -> bool {
        let measurements = self.measurements();
        !measurements.is_empty() && measurements.iter().all(|m| m.cipher == PORT)
    }
}

/// Distinct values in order of first appearance.
pub(crate) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// Whole, with a comma at the thousands.
pub(crate) fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    match digits.len().checked_sub(3) {
        Some(at) if at > 0 => format!("{},{}", &digits[..at], &digits[at..]),
        _ => digits,
    }
}
