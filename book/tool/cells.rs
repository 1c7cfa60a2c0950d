//! Single cells of the tables and texts that a record keeps beside its figures.
//!
//! | on a page | is replaced by |
//! |---|---|
//! | `{{#cell RECORD / ROW / COLUMN}}` | what the record's tables have there |
//! | `{{#cell RECORD / ROW}}` | the first number behind that beginning of a line, with its unit |

use std::fs;

use crate::record::Record;

/// The cell, leading to its record.
pub(crate) fn cell(records: &[Record], what: &str, up: &str) -> Option<String> {
    let mut parts = what.trim().split(" / ").map(str::trim);
    let (name, row, column) = (parts.next()?, parts.next()?, parts.next());
    let record = records.iter().find(|record| record.name == name)?;
    let texts = texts(record);
    let found = texts.iter().find_map(|text| match column {
        Some(column) => in_table(text, row, column),
        None => behind(text, row),
    })?;
    Some(format!("[{found}]({up}{})", record.page().display()))
}

/// The texts of a record: its report first.
fn texts(record: &Record) -> Vec<String> {
    let mut texts: Vec<String> = record.report.clone().into_iter().collect();
    let Ok(entries) = fs::read_dir(&record.folder) else { return texts };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let is_text = |end: &std::ffi::OsStr| end == "txt" || end == "md";
    paths.retain(|path| path.extension().is_some_and(is_text) && !path.ends_with("report.md"));
    texts.extend(paths.iter().filter_map(|path| fs::read_to_string(path).ok()));
    texts
}

/// The cell of the first table that has both.
fn in_table(text: &str, row: &str, column: &str) -> Option<String> {
    let mut at = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(inner) = line.strip_prefix('|') else {
            at = None;
            continue;
        };
        let cells: Vec<&str> = inner.split('|').map(str::trim).collect();
        if lines.peek().is_some_and(|next| next.starts_with("|-")) {
            at = cells.iter().position(|cell| *cell == column);
        } else if cells[0] == row
            && let Some(cell) = at.and_then(|at| cells.get(at)).filter(|cell| !cell.is_empty())
        {
            return Some((*cell).to_owned());
        }
    }
    None
}

/// The first number behind this beginning of a line, and the word behind it where that is a unit.
fn behind(text: &str, row: &str) -> Option<String> {
    let of_row = |line: &str| {
        let rest = line.trim_start_matches(['|', ' ']).strip_prefix(row)?.replace('|', " ");
        let mut words = rest.split_whitespace();
        let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit() || c == '+');
        let number = words.find(is_number)?.trim_end_matches(',').to_owned();
        let unit = words.next().map(|unit| unit.trim_end_matches(',')).unwrap_or_default();
        let is_unit = ["s", "ms", "µs", "ns"].contains(&unit) || unit.ends_with("/s");
        Some(if is_unit { format!("{number}&nbsp;{unit}") } else { number })
    };
    text.lines().find_map(of_row)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "pread, 4 threads    17.65 GB/s  cpu 1.94 s\nvs tink  1.5\n\n\
        | cipher | a, 1 MiB | b |\n|---|---|---|\n| AES | 4.39 | 2 |\n\n\
        | cipher | c |\n|---|---|\n| AES |  |\n| DES | 1 |\n| the job | 0.33 s, 3.27 GB/s |\n";

    #[test]
    fn a_cell_is_found_by_its_row_and_column() {
        assert_eq!(in_table(TEXT, "AES", "a, 1 MiB").as_deref(), Some("4.39"));
        assert_eq!(in_table(TEXT, "DES", "c").as_deref(), Some("1"));
        for (row, column) in [("AES", "c"), ("DES", "a, 1 MiB"), ("AES", "d")] {
            assert_eq!(in_table(TEXT, row, column), None, "{row} {column}");
        }
    }

    #[test]
    fn a_number_behind_the_beginning_of_a_line_has_its_unit() {
        assert_eq!(behind(TEXT, "pread, 4 threads").as_deref(), Some("17.65&nbsp;GB/s"));
        assert_eq!(behind(TEXT, "vs tink").as_deref(), Some("1.5"));
        assert_eq!(behind(TEXT, "the job").as_deref(), Some("0.33&nbsp;s"));
        assert_eq!(behind(TEXT, "nothing"), None);
    }
}
