//! The records of measurements in `benches/record`, in the order in which they were made.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use lanecrypt_record::{Figure, Order, Record as Data};

/// What a record's name begins with, by its signs.
const DAY: &str = "yyyy-mm-dd-";

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

/// The records, newest first; none where there is no such folder.
///
/// # Errors
/// Where one cannot be read.
pub(crate) fn read(folder: &Path) -> Result<Vec<Record>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let order = Order::of(folder);
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
    records.sort_by_key(|record| (order.place(&record.name), record.name.clone()));
    records.reverse();
    Ok(records)
}

impl Record {
    /// Its page, from the book's source folder.
    pub(crate) fn page(&self) -> PathBuf {
        Path::new("records").join(&self.name).join("report.md")
    }

    /// A link to its page, for pages from which `up` leads to the book's source folder.
    pub(crate) fn link(&self, up: &str) -> String {
        format!("[{}]({up}{})", self.name, self.page().display())
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
    pub(crate) fn measurements(&self) -> &[Figure] {
        self.data.as_ref().map_or(&[], Data::measurements)
    }

    /// The same with the record that each is of.
    pub(crate) fn figures(&self) -> impl Iterator<Item = (&Self, &Figure)> {
        self.measurements().iter().map(move |figure| (self, figure))
    }

    /// The name of its GPU.
    pub(crate) fn gpu(&self) -> Option<&str> {
        self.data.as_ref().map(|data| data.environment.gpu.as_str())
    }
}

/// The names of records in a text, with their places: a day, and something behind it.
pub(crate) fn named(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("20").filter_map(|(at, _)| {
        let rest = &text[at..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let name = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        let is_name = name.len() > DAY.len()
            && name.bytes().zip(DAY.bytes()).all(|(c, of)| (of == b'-') == (c == b'-'))
            && name.bytes().take(DAY.len()).all(|c| c == b'-' || c.is_ascii_digit());
        (is_name && !text[..at].ends_with(is_part)).then_some((at, name))
    })
}

/// Whole, with a comma at the thousands.
pub(crate) fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    match digits.len().checked_sub(3) {
        Some(at) if at > 0 => format!("{},{}", &digits[..at], &digits[at..]),
        _ => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_records_are_found() {
        let text =
            "`2026-11-21-a-b`, 2026-11-22 and benches/record/2026-11-23-c, x2026-11-24-d 20-20-20";
        assert_eq!(named(text).collect::<Vec<_>>(), [(1, "2026-11-21-a-b"), (48, "2026-11-23-c")]);
    }
}
