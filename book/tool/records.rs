//! The records as pages: one for each, and, where a page asks for it, the newest table of a kind.
//!
//! `{{#records HEADING}}` on a page is replaced by the sections of that name in `report.md`, newest
//! first; `{{#records HEADING | RECORD}}` by that of one record. With ` | rows P3; AES` behind that, tables keep the
//! rows that begin so. Nothing of this is kept in the repository: what a record says is copied when the book is built.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};
use mdbook_driver::{
    MDBook,
    book::{BookItem, Chapter},
};

use crate::{quoted, record::Record};

/// The page whose children the records are.
pub(crate) const INDEX: &str = "records.md";

/// What a page asks with.
const START: &str = "{{#records ";

impl Record {
    /// A line of the report's head, as `- CPU: ...`.
    fn head(&self, of: &str) -> Option<&str> {
        let lines = self.report.as_deref()?.lines();
        lines
            .take(12)
            .find_map(|line| line.strip_prefix("- ")?.strip_prefix(of)?.strip_prefix(": "))
    }

    /// What it was measured on: card, and processor with what it can do.
    fn machine(&self) -> String {
        let gpu = self.head("GPU").and_then(|gpu| gpu.split([',', '(']).next()).map(str::trim);
        let cpu = self.head("CPU").map(|cpu| cpu.replace("(R)", ""));
        let gpu = gpu.filter(|gpu| *gpu != "none").map(str::to_owned);
        gpu.into_iter().chain(cpu).collect::<Vec<_>>().join("; ")
    }

    /// The headings of its sections.
    fn headings(&self) -> impl Iterator<Item = &str> {
        self.report.iter().flat_map(|text| text.lines()).filter_map(|line| line.strip_prefix("## "))
    }

    /// The section under a heading.
    fn section(&self, heading: &str) -> Option<&str> {
        let text = self.report.as_deref()?;
        let (_, rest) = text.split_once(&format!("\n## {heading}\n"))?;
        Some(rest.split("\n## ").next().unwrap_or(rest).trim())
    }

    /// The page's text: the report, or what there is in its place, and the record's other files.
    fn text(&self) -> Result<String> {
        let mut text = format!("# {}\n\n", self.name);
        if let Some(report) = &self.report {
            text += report.split_once('\n').map_or("", |(_, rest)| rest).trim();
            text += "\n";
        }
        let mut files = Vec::new();
        for file in self.files()? {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if self.report.is_none() && file.extension().is_some_and(|end| end == "txt") {
                write!(text, "\n```text\n{}\n```\n", fs::read_to_string(&file)?.trim_end())?;
            }
            files.push(format!("[{name}]({name})"));
        }
        if !files.is_empty() {
            write!(text, "\nFiles: {}.\n", files.join(", "))?;
        }
        Ok(text)
    }

    /// What it is of, where there is no report: the first line of its text, or its files.
    fn first_line(&self) -> io::Result<String> {
        let files = self.files()?;
        let text = files.iter().find(|file| file.extension().is_some_and(|end| end == "txt"));
        let text = text.map(fs::read_to_string).transpose()?.unwrap_or_default();
        let first = text.lines().next().unwrap_or_default().trim_start_matches('#').trim();
        // The head of a table says nothing.
        if first.is_empty() || first.contains("   ") {
            let names = files.iter().filter_map(|file| Some(file.file_name()?.to_string_lossy()));
            return Ok(names.collect::<Vec<_>>().join(", "));
        }
        Ok(first.replace('|', "/"))
    }

    /// What is copied beside the page.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let is_copied = path.extension().is_some_and(|end| end != "md" && end != "json");
            if is_copied {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }
}

/// The headings that a page asks for, with their places.
pub(crate) fn asked(text: &str) -> Vec<(usize, &str)> {
    let found = text.match_indices(START).filter(|(at, _)| !text[..*at].ends_with('\\'));
    found
        .filter_map(|(at, start)| {
            let rest = &text[at + start.len()..];
            Some((at, &rest[..rest.find("}}")?]))
        })
        .collect()
}

/// The sections of this name, newest first, but those whose rows newer ones of the same machine have; for a page from
/// which `up` leads to the book's source folder.
pub(crate) fn sections(records: &[Record], asked: &str, up: &str) -> String {
    let (asked, starts) = match asked.split_once(" | rows ") {
        Some((asked, starts)) => (asked, Some(starts.split("; ").collect::<Vec<_>>())),
        None => (asked, None),
    };
    let (heading, only) = match asked.split_once(" | ") {
        Some((heading, name)) => (heading, Some(name)),
        None => (asked, None),
    };
    let mut shown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut text = String::new();
    let is_asked = |record: &&Record| only.is_none_or(|name| record.name == name);
    for record in records.iter().filter(is_asked) {
        let Some(section) = record.section(heading) else { continue };
        let section = match &starts {
            Some(starts) => with_rows(section, starts),
            None => Some(section.to_owned()),
        };
        let Some(section) = section else { continue };
        let rows: BTreeSet<String> = rows(&section).collect();
        let seen = shown.entry(record.machine()).or_default();
        if rows.is_subset(seen) {
            continue;
        }
        seen.extend(rows);
        let _ = write!(text, "{} ({}):\n\n{section}\n\n", record.link(up), record.machine());
    }
    text.trim_end().to_owned()
}

/// A section whose table keeps its head and the rows that begin with one of these; none where it has no such row.
fn with_rows(section: &str, starts: &[&str]) -> Option<String> {
    let is_kept = |row: &str| starts.iter().any(|start| row.starts_with(start));
    let mut lines = Vec::new();
    let (mut head, mut kept) = (0, 0);
    for line in section.lines() {
        match line.strip_prefix("| ") {
            // The row of names; the one of hyphens below it begins otherwise.
            Some(_) if head == 0 => head = 1,
            Some(row) if is_kept(row) => kept += 1,
            Some(_) => continue,
            None => {}
        }
        lines.push(line);
    }
    (kept > 0).then(|| lines.join("\n"))
}

/// What the rows of a section's tables are about: the cells before the first number.
fn rows(section: &str) -> impl Iterator<Item = String> {
    let rows = section.lines().filter(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells = row.split('|').map(str::trim).skip(1);
        let is_label =
            |cell: &&str| !cell.starts_with(|c: char| c.is_ascii_digit() || "*-".contains(c));
        cells.take_while(is_label).collect::<Vec<_>>().join(" | ")
    })
}

/// The way from a page to the book's source folder.
pub(crate) fn up(page: &Chapter) -> String {
    let folder = page.path.as_deref().and_then(Path::parent);
    "../".repeat(folder.map_or(0, |folder| folder.components().count()))
}

/// Puts the records' tables and pages into a book.
///
/// # Errors
/// Where a page asks for what no record has.
pub(crate) fn add(book: &mut MDBook, records: &[Record]) -> Result<()> {
    let mut pages = Vec::new();
    for record in records {
        pages.push((record.name.clone(), record.text()?, record.page()));
    }
    let list = list(records)?;
    let mut missing = Vec::new();
    book.book.for_each_chapter_mut(|chapter| {
        let up = up(chapter);
        chapter.content = quoted::filled(&chapter.content, records, &up);
        while let Some(&(at, heading)) = asked(&chapter.content).first() {
            let found = sections(records, heading, &up);
            if found.is_empty() {
                missing.push(format!("no record has a section `{heading}`"));
            }
            let end = at + START.len() + heading.len() + "}}".len();
            chapter.content.replace_range(at..end, &found);
        }
        if chapter.path.as_deref() == Some(Path::new(INDEX)) {
            chapter.content += &list;
            let parents = vec![chapter.name.clone()];
            // The table of contents folds what has its parent's number before its own.
            let number = chapter.number.clone().unwrap_or_default();
            let children = std::mem::take(&mut pages).into_iter().zip(1..);
            let child = |((name, text, path), i): ((String, String, PathBuf), u32)| {
                let mut child = Chapter::new(&name, text, path, parents.clone());
                let mut section = number.clone();
                section.push(i);
                child.number = Some(section);
                BookItem::Chapter(child)
            };
            chapter.sub_items.extend(children.map(child));
        }
    });
    if !missing.is_empty() {
        bail!("{}", missing.join("; "));
    }
    Ok(())
}

/// The list of all records: where, and what of.
fn list(records: &[Record]) -> io::Result<String> {
    let mut text = "\n| record | machine | ciphers | what |\n|---|---|---|---|\n".to_owned();
    for record in records {
        let (mut ciphers, mut kinds) = (Vec::new(), Vec::new());
        for heading in record.headings().filter(|heading| !is_in_every(heading)) {
            let (first, rest) = heading.split_once(' ').unwrap_or((heading, ""));
            let is_cipher = first.rsplit_once('-').is_some_and(|(name, bits)| {
                name.chars().all(|c| c.is_ascii_uppercase()) && bits.parse::<u32>().is_ok()
            });
            let (cipher, kind) = match rest.split_once(", ") {
                Some((_, place)) if is_cipher => {
                    (first.rsplit_once('-').map(|(name, _)| name), place)
                }
                _ => (None, heading),
            };
            let kind = kind.split(" (").next().unwrap_or(kind);
            ciphers.extend(cipher.filter(|cipher| !ciphers.contains(cipher)));
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let machine = record.machine();
        let machine = machine.split(" (").next().unwrap_or_default().to_owned();
        let what = if record.report.is_some() { kinds.join("; ") } else { record.first_line()? };
        let row = [record.link(""), machine, ciphers.join(", "), what];
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    Ok(text)
}

/// Whether reports have this section whatever was measured.
fn is_in_every(heading: &str) -> bool {
    ["What the kernels take", "N, resident", "The papers'"]
        .iter()
        .any(|start| heading.starts_with(start))
}

/// Copies the records' pictures and tables to the built book.
///
/// # Errors
/// Those of copying.
pub(crate) fn copy_files(records: &[Record], built: &Path) -> io::Result<()> {
    for record in records {
        let folder = built.join(record.page()).with_file_name("");
        fs::create_dir_all(&folder)?;
        for file in record.files()? {
            fs::copy(&file, folder.join(file.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, report: &str) -> Record {
        let report = Some(report.to_owned());
        Record { name: name.to_owned(), folder: PathBuf::new(), report, data: None }
    }

    fn report(gpu: &str, rows: &str) -> String {
        format!(
            "# bench-all\n\n- CPU: C (x)\n- GPU: {gpu}, 1\n\n## Rates\n\n| of | a |\n|--|--|\n{rows}\n\n## More\n"
        )
    }

    #[test]
    fn a_newer_table_of_the_same_machine_takes_the_place_of_an_older_one() {
        let records = [
            record("2026-01-04", &report("H", "| aes | 4 |")),
            record("2026-01-03", &report("G", "| aes | 3 |")),
            record("2026-01-02", &report("G", "| aes | 2 |")),
            record("2026-01-01", &report("G", "| aes | 1 |\n| des | 1 |")),
        ];
        let text = sections(&records, "Rates", "");
        for (row, is_there) in
            [("aes | 4", true), ("aes | 3", true), ("aes | 2", false), ("des | 1", true)]
        {
            assert_eq!(text.contains(row), is_there, "{row} in {text}");
        }
        assert!(text.contains("(G; C (x))") && !text.contains("More"), "{text}");
        assert!(sections(&records, "Rate", "").is_empty());
        let text = sections(&records, "Rates | 2026-01-02", "../");
        assert!(text.contains("aes | 2") && !text.contains("aes | 3"), "{text}");
        assert!(text.starts_with("[2026-01-02](../records/2026-01-02/report.md)"), "{text}");
        let text = sections(&records, "Rates | rows d; seed", "");
        assert!(text.contains("| of | a |\n|--|--|\n| des | 1 |"), "{text}");
        assert!(!text.contains("aes") && sections(&records, "Rates | rows es", "").is_empty());
    }

    #[test]
    fn a_page_asks_by_heading() {
        assert_eq!(
            asked("a\n{{#records Host memory, GB/s}}\n\\{{#records b}}"),
            [(2, "Host memory, GB/s")]
        );
    }
}
