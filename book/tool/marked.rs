//! Figures that a page types with a mark of what they are, since no report has them.
//!
//! | on a page | what it is |
//! |---|---|
//! | `{{given 4.8 TB/s}}` | no measurement of ours: from a data sheet, a standard or a paper, a threshold, or arithmetic |
//! | `{{tried 2,974 Gbit/s}}` | read once in a trial whose program is not kept: the record of trials has it for this page |
//!
//! The record of trials is the one whose name ends in `-trials`. Its report is a table with a row for each figure: the page, the
//! figure as the page has it, and where it comes from.

use std::{
    collections::BTreeSet,
    ops::Range,
    path::{Path, PathBuf},
};

use mdbook_driver::MDBook;

use crate::{
    record::{Record, named},
    records::up,
};

/// What the name of the record of trials ends with.
const TRIALS: &str = "-trials";

/// A mark: where it stands, which one it is, and the figure.
struct Mark<'a> {
    range: Range<usize>,
    is_tried: bool,
    figure: &'a str,
}

/// The marks of a text; one behind a backslash is text.
fn marks(text: &str) -> Vec<Mark<'_>> {
    let starts = text.match_indices("{{").filter(|(at, _)| !text[..*at].ends_with('\\'));
    let mark = |(at, start): (usize, &str)| {
        let (inner, _) = text[at + start.len()..].split_once("}}")?;
        let (name, figure) = inner.split_once(char::is_whitespace)?;
        let is_tried = match name {
            "tried" => true,
            "given" => false,
            _ => return None,
        };
        let range = at..at + start.len() + inner.len() + "}}".len();
        Some(Mark { range, is_tried, figure: figure.trim() })
    };
    starts.filter_map(mark).collect()
}

/// A row of the record of trials.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Trial<'a> {
    page: &'a str,
    figure: &'a str,
}

/// The record of trials and its rows, where there is one.
fn trials(records: &[Record]) -> Option<(&Record, BTreeSet<Trial<'_>>)> {
    let record = records.iter().find(|record| record.name.ends_with(TRIALS))?;
    let lines = record.report.as_deref()?.lines();
    Some((record, lines.filter_map(row).collect()))
}

/// A row of its table; its head and what is round it are none.
fn row(line: &str) -> Option<Trial<'_>> {
    let mut cells = line.strip_prefix("| ")?.split('|').map(str::trim);
    let (page, figure) = (cells.next()?, cells.next()?);
    let page = page.strip_prefix('`')?.strip_suffix('`')?;
    Some(Trial { page, figure })
}

/// The figures of trials that a page quotes and the record of trials has not, with their places.
pub(crate) fn missing(text: &str, page: &Path, records: &[Record]) -> Vec<(usize, String)> {
    let trials = trials(records).map(|(_, trials)| trials).unwrap_or_default();
    let has = |figure: &str| {
        let figure = one_line(figure);
        trials.contains(&Trial { page: &page.to_string_lossy(), figure: &figure })
    };
    let unknown = marks(text).into_iter().filter(|mark| mark.is_tried && !has(mark.figure));
    let what = |figure| format!("the record of trials has no {} for this page", one_line(figure));
    unknown.map(|mark| (mark.range.start, what(mark.figure))).collect()
}

/// What is wrong with the rows of the record of trials: that none of these pages quotes the figure, or that the record which
/// it comes from is not there. With the report, and the line there.
pub(crate) fn faults<'a>(
    pages: impl Iterator<Item = (&'a Path, &'a str)>,
    records: &[Record],
) -> Vec<(PathBuf, usize, String)> {
    let Some((record, _)) = trials(records) else { return Vec::new() };
    let quoted: BTreeSet<(String, String)> = pages
        .flat_map(|(page, text)| {
            let tried = marks(text).into_iter().filter(|mark| mark.is_tried);
            tried.map(move |mark| (page.to_string_lossy().into_owned(), one_line(mark.figure)))
        })
        .collect();
    let rows = record.report.as_deref().unwrap_or_default().lines().enumerate();
    let fault = |line: &str| {
        let Trial { page, figure } = row(line)?;
        if !quoted.contains(&(page.to_owned(), figure.to_owned())) {
            return Some(format!("{page} does not quote {figure}"));
        }
        // Of others the commit is named that has them.
        let source = line.rsplit(" | ").next().filter(|source| source.starts_with("record "))?;
        let mut sources = named(source).map(|(_, name)| name);
        let lost = sources.find(|name| records.iter().all(|record| record.name != *name))?;
        Some(format!("there is no record {lost}"))
    };
    let faults =
        rows.filter_map(|(i, line)| Some((record.folder.join("report.md"), i + 1, fault(line)?)));
    faults.collect()
}

/// Puts the figures in the place of the marks of all pages.
pub(crate) fn fill(book: &mut MDBook, records: &[Record]) {
    book.book.for_each_chapter_mut(|chapter| {
        chapter.content = filled(&chapter.content, records, &up(chapter));
    });
}

/// The text with the figures themselves: those of trials lead to their record, on a page from which `up` leads to the
/// book's source folder.
pub(crate) fn filled(text: &str, records: &[Record], up: &str) -> String {
    let record = trials(records).map(|(record, _)| record);
    let mut filled = text.to_owned();
    for mark in marks(text).into_iter().rev() {
        let figure = mark.figure;
        let text = match record.filter(|_| mark.is_tried) {
            Some(record) => format!("[{figure}]({up}{} \"a trial\")", record.page().display()),
            None => figure.to_owned(),
        };
        filled.replace_range(mark.range, &text);
    }
    filled
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "# Trials\n\n| page | figure | from |\n|---|---|---|\n\
        | `aes.md` | 2,974 Gbit/s | c048953a |\n| `des.md` | 94% | c048953a |\n\
        | `aes.md` | 5 s | record `2026-11-21-gone` |\n";

    fn records() -> Vec<Record> {
        let report = Some(REPORT.to_owned());
        vec![Record { name: "a-trials".to_owned(), folder: PathBuf::new(), report, data: None }]
    }

    #[test]
    fn marks_are_the_figures_and_trials_lead_to_their_record() {
        let text = "{{given 4.8 TB/s}}, {{tried 2,974\nGbit/s}}, `\\{{given 1}}`, {{#figure a}}";
        let expected = "4.8 TB/s, [2,974\nGbit/s](../records/a-trials/report.md \"a trial\"), \
            `\\{{given 1}}`, {{#figure a}}";
        assert_eq!(filled(text, &records(), "../"), expected);
    }

    #[test]
    fn a_trial_is_in_the_record_and_quoted_by_its_page() {
        let (page, text) =
            (Path::new("aes.md"), "{{given 1 s}} {{tried 2,974\nGbit/s}} {{tried 94%}}");
        let unknown = vec![(37, "the record of trials has no 94% for this page".to_owned())];
        assert_eq!(missing(text, page, &records()), unknown);
        assert_eq!(missing(text, page, &[]).len(), 2);
        let at = |line, what: &str| (PathBuf::from("report.md"), line, what.to_owned());
        let stale = [at(6, "des.md does not quote 94%"), at(7, "aes.md does not quote 5 s")];
        assert_eq!(faults([(page, text)].into_iter(), &records()), stale);
        assert!(faults([(page, text)].into_iter(), &[]).is_empty());
        let lost = [stale[0].clone(), at(7, "there is no record 2026-11-21-gone")];
        let text = format!("{text} {{{{tried 5 s}}}}");
        assert_eq!(faults([(page, &*text)].into_iter(), &records()), lost);
    }
}
