//! The report for people: a narrow table, then reasons, failures and the total.

use core::fmt::Write;
use std::collections::BTreeSet;

use comfy_table::{CellAlignment, Color, Table, presets::UTF8_FULL_CONDENSED};

use super::{
    case::Kind,
    report::{Cell, Report, Skip, Tally},
};

/// Failures that are listed.
const LISTED: usize = 20;
/// Names of lines that are listed; of more, the first and the last.
const NAMED: usize = 32;

/// The whole report; the last line is the total. `is_terminal` draws the table.
#[must_use]
pub fn render(report: &Report, is_terminal: bool) -> String {
    let mut text = String::new();
    if !report.cells.is_empty() {
        let rows = rows(&report.cells);
        text += "cases: passed/failed/skipped\n";
        text += &if is_terminal { drawn(&rows) } else { aligned(&rows) };
    }
    skips(&mut text, report);
    failures(&mut text, report);
    let Report { files, backends, seconds, total, .. } = report;
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n{files} files, {backends} backends, {seconds:.1} s\n{total}");
    text
}

/// The columns after cipher and backend: a mode's vectors, chains, messages.
const COLUMNS: [(&str, Kind); 6] = [
    ("ecb", Kind::Vectors),
    ("cbc", Kind::Vectors),
    ("ctr", Kind::Vectors),
    ("xts", Kind::Vectors),
    ("mct", Kind::Mct),
    ("big", Kind::Big),
];

/// A row of the table: cipher, backend, and the tally of each column that has one.
struct Row {
    cipher: &'static str,
    backend: &'static str,
    tallies: [Option<Tally>; COLUMNS.len()],
}

fn rows(cells: &[Cell]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for cell in cells {
        let same = |row: &Row| (row.cipher, row.backend) == (cell.cipher, cell.backend);
        let position = rows.iter().position(same).unwrap_or_else(|| {
            let (cipher, backend) = (cell.cipher, cell.backend);
            rows.push(Row { cipher, backend, tallies: Default::default() });
            rows.len() - 1
        });
        // Chains and messages have a column each, whatever their mode.
        let belongs = |(mode, kind): &(&str, Kind)| {
            *kind == cell.kind && (*kind != Kind::Vectors || *mode == cell.mode)
        };
        if let Some(column) = COLUMNS.iter().position(belongs) {
            *rows[position].tallies[column].get_or_insert_default() += cell.tally;
        }
    }
    rows
}

fn cell_text(tally: Option<Tally>) -> String {
    tally.map_or_else(String::new, |Tally { passed, failed, skipped }| {
        format!("{passed}/{failed}/{skipped}")
    })
}

fn heading() -> impl Iterator<Item = &'static str> {
    ["cipher", "backend"].into_iter().chain(COLUMNS.map(|(name, _)| name))
}

fn drawn(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(heading());
    for row in rows {
        let mut cells = vec![row.cipher.into(), row.backend.into()];
        cells.extend(row.tallies.iter().map(|&tally| {
            let cell = comfy_table::Cell::new(cell_text(tally)).set_alignment(CellAlignment::Right);
            match tally {
                Some(tally) if tally.failed > 0 => cell.fg(Color::Red),
                Some(tally) if tally.passed > 0 => cell.fg(Color::Green),
                _ => cell,
            }
        }));
        table.add_row(cells);
    }
    format!("{table}\n")
}

fn aligned(rows: &[Row]) -> String {
    let mut lines: Vec<Vec<String>> = vec![heading().map(str::to_owned).collect()];
    for row in rows {
        let names = [row.cipher, row.backend].map(str::to_owned);
        lines.push(names.into_iter().chain(row.tallies.iter().copied().map(cell_text)).collect());
    }
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let mut written = String::new();
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            // Names to the left, numbers to the right.
            let _ = match column {
                0 => write!(written, "{cell:width$}"),
                1 => write!(written, "  {cell:width$}"),
                _ => write!(written, "  {cell:>width$}"),
            };
        }
        text += written.trim_end();
        text.push('\n');
    }
    text
}

fn skips(text: &mut String, report: &Report) {
    if report.skips.is_empty() {
        return;
    }
    *text += "\nskipped:\n";
    for skip in &report.skips {
        let _ = writeln!(text, "  {}", skip_line(skip, &report.cells));
    }
}

fn skip_line(skip: &Skip, cells: &[Cell]) -> String {
    let mut line = format!("{} {}", skip.cases, skip.reason);
    match &skip.names[..] {
        [] => {}
        [first, .., last] if skip.names.len() > NAMED => {
            let _ = write!(line, ": {first} … {last}");
        }
        names => {
            let _ = write!(line, ": {}", names.join(", "));
        }
    }
    if !skip.backends.is_empty() {
        let _ = write!(line, " [{}]", folded(&skip.backends, cells).join(", "));
    }
    line
}

/// Backends as `aes/*` where they are all that a cipher has in this run, and as `aes/cuda-*` where
/// they are all whose ids start alike.
fn folded(backends: &[String], cells: &[Cell]) -> Vec<String> {
    let all: BTreeSet<String> =
        cells.iter().map(|cell| format!("{}/{}", cell.cipher, cell.backend)).collect();
    let has_all = |start: &str| {
        let mut family = all.iter().filter(|name| name.starts_with(start));
        family.clone().nth(1).is_some() && family.all(|name| backends.contains(name))
    };
    let mut names: Vec<String> = Vec::new();
    for backend in backends {
        let starts = ['/', '-'].map(|end| backend.find(end).map(|at| &backend[..=at]));
        let start = starts.into_iter().flatten().find(|start| has_all(start));
        let name = start.map_or_else(|| backend.clone(), |start| format!("{start}*"));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn failures(text: &mut String, report: &Report) {
    if report.failures.is_empty() {
        return;
    }
    *text += "\nfailed:\n";
    for failure in report.failures.iter().take(LISTED) {
        let _ = writeln!(text, "  {failure}");
    }
    if let Some(more @ 1..) = report.failures.len().checked_sub(LISTED) {
        let _ = writeln!(text, "  … and {more} more; --json FILE has them all");
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, Kind, Tally, folded};

    #[test]
    fn folds_names() {
        let ids = ["reference", "table32", "cuda-a", "cuda-b", "host-a", "host-b"];
        let cell = |backend| Cell {
            cipher: "aes",
            backend,
            kind: Kind::Big,
            mode: "ecb".to_owned(),
            tally: Tally::default(),
        };
        let cells = ids.map(cell);
        let names = |ids: &[&str]| ids.iter().map(|id| format!("aes/{id}")).collect::<Vec<_>>();
        assert_eq!(folded(&names(&ids), &cells), ["aes/*"]);
        let some = names(&["table32", "cuda-a", "cuda-b", "host-b"]);
        assert_eq!(folded(&some, &cells), ["aes/table32", "aes/cuda-*", "aes/host-b"]);
    }
}
