//! The check: links, anchors, pictures, includes, figures that no record has, and pages that nothing leads to.

use std::{
    collections::{BTreeMap, HashSet},
    fmt, fs, io,
    path::{Component, Path, PathBuf},
};

use crate::{
    browser, glossary, include, marked, page, quoted, record, record::Record, records, typed,
};

/// The table of contents: its links are the pages of the book.
const SUMMARY: &str = "SUMMARY.md";

/// The part of it whose pages have the same sections.
const CIPHERS: &str = "the ciphers";
/// The sections of a cipher's page, in their order.
const SECTIONS: [&str; 9] = [
    "Description",
    "Reference",
    "Representation",
    "Circuit",
    "CPU words",
    "CUDA",
    "The roof",
    "Measurements",
    "What failed",
];

/// Something wrong, at a line of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    file: PathBuf,
    line: usize,
    what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.what)
    }
}

/// The Markdown files of a book, by their path in its source folder.
struct Book {
    source: PathBuf,
    texts: BTreeMap<PathBuf, String>,
    ids: BTreeMap<PathBuf, HashSet<String>>,
    /// What is made when the book is built: pages of records, and the data of pages that compute.
    made: HashSet<PathBuf>,
}

/// Everything that is wrong with the book in `root`.
///
/// # Errors
/// Those of reading its files.
pub(crate) fn check(root: &Path, records: &[Record]) -> io::Result<Vec<Problem>> {
    let book = Book::read(root.join("src"), records)?;
    let mut problems = Vec::new();
    for (path, text) in &book.texts {
        let folder = book.source.join(parent(path));
        let mut report = |offset: usize, what: String| {
            problems.push(Problem {
                file: book.source.join(path),
                line: 1 + text[..offset].matches('\n').count(),
                what,
            });
        };
        for include in include::includes(text) {
            if let Some(what) = include::problem(&include, &folder) {
                report(include.offset, what);
            }
        }
        for (offset, what) in figures(path, text, records) {
            report(offset, what);
        }
        for link in page::links(text) {
            if let Err(what) = book.follow(path, &link.target) {
                report(link.offset, what);
            }
        }
        if path == Path::new(glossary::PAGE) {
            let text_of = |page: &str| book.texts.get(Path::new(page)).map(String::as_str);
            for (offset, what) in glossary::problems(text, text_of) {
                report(offset, what);
            }
        }
        if book.is_cipher(path) && !sections(text).eq(SECTIONS) {
            report(0, format!("the sections of a cipher's page are {}", SECTIONS.join(", ")));
        }
        if !book.is_reached(path) {
            report(0, format!("{SUMMARY} does not have this page"));
        }
    }
    let pages = book.texts.iter().map(|(path, text)| (path.as_path(), text.as_str()));
    let faults = marked::faults(pages, records).into_iter();
    problems.extend(faults.map(|(file, line, what)| Problem { file, line, what }));
    Ok(problems)
}

/// What is wrong with the figures of a page: no record has them, or they are typed.
fn figures(path: &Path, text: &str, records: &[Record]) -> Vec<(usize, String)> {
    let mut problems = quoted::missing(text, records);
    problems.extend(marked::missing(text, path, records));
    for (offset, heading) in records::asked(text) {
        if records::sections(records, heading, "").is_empty() {
            problems.push((offset, format!("no record has a section {heading}")));
        }
    }
    for (offset, name) in record::named(text) {
        if !records.iter().any(|record| record.name == name) {
            problems.push((offset, format!("there is no record {name}")));
        }
    }
    for (offset, figure) in typed::figures(text) {
        let what = format!("{figure} is typed; quote a record, or mark what it is");
        problems.push((offset, what));
    }
    problems
}

impl Book {
    fn read(source: PathBuf, records: &[Record]) -> io::Result<Self> {
        let mut texts = BTreeMap::new();
        read_pages(&source, Path::new(""), &mut texts)?;
        let mut ids = BTreeMap::new();
        for (path, text) in &texts {
            let text = include::with_included_pages(text, &source.join(parent(path)))?;
            ids.insert(path.clone(), page::ids(&text));
        }
        let made = records
            .iter()
            .map(Record::page)
            .chain([browser::DATA, browser::CALCULATOR].map(PathBuf::from))
            .collect();
        Ok(Self { source, texts, ids, made })
    }

    /// Checks a link of the page `from`; addresses elsewhere on the web are not followed.
    fn follow(&self, from: &Path, target: &str) -> Result<(), String> {
        if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
            return Ok(());
        }
        let (file, id) = match target.split_once('#') {
            Some((file, id)) => (file, Some(id)),
            None => (target, None),
        };
        let path = if file.is_empty() {
            from.to_owned()
        } else {
            normalised(&parent(from).join(file))
                .ok_or_else(|| format!("{target} leads out of the book"))?
        };
        match self.ids.get(&path) {
            Some(ids) if id.is_none_or(|id| ids.contains(id)) => Ok(()),
            Some(_) => Err(format!("{target}: there is no such heading")),
            None if self.made.contains(&path) || self.source.join(&path).is_file() => Ok(()),
            None => Err(format!("{target}: there is no such file")),
        }
    }

    /// Whether a page is in the part of the table of contents that the ciphers have.
    fn is_cipher(&self, path: &Path) -> bool {
        let Some(summary) = self.texts.get(Path::new(SUMMARY)) else { return false };
        let mut parts = summary.split("\n# ");
        let part =
            parts.find(|part| part.lines().next().is_some_and(|name| name.contains(CIPHERS)));
        part.is_some_and(|part| {
            page::links(part).iter().any(|link| Path::new(&link.target) == path)
        })
    }

    /// Whether a page is in the table of contents, or part of another page.
    fn is_reached(&self, path: &Path) -> bool {
        let in_summary = |text: &String| {
            let links = page::links(text);
            links.iter().any(|link| Path::new(&link.target) == path)
        };
        path == Path::new(SUMMARY)
            || self.texts.get(Path::new(SUMMARY)).is_some_and(in_summary)
            || self.texts.iter().any(|(from, text)| includes_page(from, text, path))
    }
}

/// Reads the Markdown files under `source`/`folder`.
fn read_pages(
    source: &Path,
    folder: &Path,
    texts: &mut BTreeMap<PathBuf, String>,
) -> io::Result<()> {
    for entry in fs::read_dir(source.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            read_pages(source, &path, texts)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            texts.insert(path, fs::read_to_string(entry.path())?);
        }
    }
    Ok(())
}

/// The names of a page's sections.
fn sections(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("## "))
}

/// Whether the page `from` includes the page `part`.
fn includes_page(from: &Path, text: &str, part: &Path) -> bool {
    let includes = include::includes(text);
    let mut files = includes.iter().map(|include| parent(from).join(include.path));
    files.any(|file| normalised(&file).as_deref() == Some(part))
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// The path without `.` and `..`; `None` where it leaves the folder that it starts in.
pub(crate) fn normalised(path: &Path) -> Option<PathBuf> {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => result.push(name),
            Component::ParentDir => result.pop().then_some(())?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(result)
}
