//! The one reader of the vector files: the text format `bcv1`, in its three kinds.
//!
//! `vectors/README.md` in the workspace's root defines the format. A file is read strictly
//! ([`VectorFile::read`], [`VectorFile::parse`]: the first fault fails the file) or leniently
//! ([`VectorFile::read_lenient`], [`VectorFile::parse_lenient`]: the good lines, and a list of the
//! others). Ciphers and modes are kept as the file writes them, known or not: skipping what a tool
//! does not know is the tool's decision.

mod error;
mod fields;
mod lines;

pub use crate::plaintext::PlaintextStream;
pub use error::{FormatError, Problem, VectorError};
pub use lines::{BigMessage, Direction, MonteCarlo, Outcome, Vector};

use core::ops::Range;
use error::excerpt;
use fields::{Fields, invalid};
use lines::Line;
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    string::{String, ToString},
    vec::Vec,
};

/// What a vector file says of itself in its first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The cipher as the file writes it.
    pub cipher: String,
    /// The mode of lines that do not name one; only vector files have it.
    pub mode: Option<String>,
    /// What must come of the vectors; only vector files have it.
    pub expectation: Option<Expectation>,
    /// The number of lines that the header promises.
    pub stated: usize,
}

/// What must come of the vectors of a file: the header's `expect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// `ok` or `reject`: the same for every line.
    Every(Outcome),
    /// `per-line`: each line says it, by its `expect` field or by the absence of a plaintext.
    PerLine,
}

/// The lines of a file; a file has one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lines {
    /// `# bcv1`: plaintexts and ciphertexts.
    Vectors(Vec<Vector>),
    /// `# bcv1-mct`: steps of Monte Carlo chains.
    MonteCarlo(Vec<MonteCarlo>),
    /// `# bcv1-big`: long messages from a generator.
    Big(Vec<BigMessage>),
}

impl Lines {
    /// The number of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Vectors(lines) => lines.len(),
            Self::MonteCarlo(lines) => lines.len(),
            Self::Big(lines) => lines.len(),
        }
    }

    /// Whether there is no line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The mode of each line, in order.
    fn modes(&self) -> Vec<&str> {
        match self {
            Self::Vectors(lines) => lines.iter().map(|line| &line.mode[..]).collect(),
            Self::MonteCarlo(lines) => lines.iter().map(|line| &line.mode[..]).collect(),
            Self::Big(lines) => lines.iter().map(|line| &line.mode[..]).collect(),
        }
    }
}

/// Lines that come from one source: what follows a `# source:` comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceGroup {
    /// The text of the comment.
    pub source: String,
    /// The size that a `# count:` comment states, if it states one; it is not checked.
    pub stated: Option<usize>,
    /// The group's indexes in the file's lines.
    pub lines: Range<usize>,
}

/// A vector file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorFile {
    /// The name or path under which it was read.
    pub name: String,
    /// Its first line.
    pub header: Header,
    /// Where its lines come from, in order.
    pub sources: Vec<SourceGroup>,
    /// Its lines, in order.
    pub lines: Lines,
}

impl VectorFile {
    /// Reads a file of which every line must be good.
    ///
    /// # Errors
    /// [`VectorError::Read`], or [`VectorError::Format`] with the first fault.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, VectorError> {
        let (name, text) = load(path.as_ref())?;
        Self::parse(&name, &text)
    }

    /// Reads a file as far as its lines are good; see [`parse_lenient`](Self::parse_lenient).
    ///
    /// # Errors
    /// [`VectorError::Read`], or [`VectorError::Format`] if the first line is no good header.
    pub fn read_lenient(path: impl AsRef<Path>) -> Result<(Self, Vec<FormatError>), VectorError> {
        let (name, text) = load(path.as_ref())?;
        Self::parse_lenient(&name, &text)
    }

    /// Reads `text`, of which every line must be good; `name` is for errors.
    ///
    /// # Errors
    /// [`VectorError::Format`] with the first fault.
    pub fn parse(name: &str, text: &str) -> Result<Self, VectorError> {
        let (file, errors) = Self::parse_lenient(name, text)?;
        match errors.into_iter().next() {
            None => Ok(file),
            Some(error) => Err(error.into()),
        }
    }

    /// Reads `text` as far as its lines are good: the file of the good lines, and an error for each
    /// other line. A wrong number of lines in the header is the last of the errors.
    ///
    /// # Errors
    /// [`VectorError::Format`] if the first line is no good header: without it, nothing that
    /// follows has a meaning.
    pub fn parse_lenient(name: &str, text: &str) -> Result<(Self, Vec<FormatError>), VectorError> {
        let first = text.lines().next().unwrap_or("");
        let (kind, header) = parse_header(first).map_err(|problem| FormatError {
            file: name.to_string(),
            line: 1,
            problem,
        })?;
        let mut faults = Vec::new();
        let (lines, sources) = match kind {
            Kind::Vectors => collect(text, &header, &mut faults, Lines::Vectors),
            Kind::MonteCarlo => collect(text, &header, &mut faults, Lines::MonteCarlo),
            Kind::Big => collect(text, &header, &mut faults, Lines::Big),
        };
        let found = lines.len() + faults.len();
        if found != header.stated {
            let (field, stated) = (kind.count_field(), header.stated);
            faults.push((1, Problem::Count { field, stated, found }));
        }
        let at = |(line, problem)| FormatError { file: name.to_string(), line, problem };
        let errors = faults.into_iter().map(at).collect();
        Ok((Self { name: name.to_string(), header, sources, lines }, errors))
    }

    /// The modes that occur in the lines, sorted, each once.
    #[must_use]
    pub fn modes(&self) -> Vec<&str> {
        let mut modes = self.lines.modes();
        modes.sort_unstable();
        modes.dedup();
        modes
    }

    /// The source of the line with this index in [`lines`](Self::lines), if the file names one.
    #[must_use]
    pub fn source_of(&self, index: usize) -> Option<&str> {
        let group = self.sources.iter().find(|group| group.lines.contains(&index))?;
        Some(&group.source)
    }
}

/// The kind of a file, which its first word tells.
#[derive(Clone, Copy)]
enum Kind {
    Vectors,
    MonteCarlo,
    Big,
}

impl Kind {
    /// The header's fields; the last is the number of lines.
    const fn header_fields(self) -> &'static [&'static str] {
        match self {
            Self::Vectors => &["cipher", "mode", "expect", "vectors"],
            Self::MonteCarlo | Self::Big => &["cipher", "lines"],
        }
    }

    const fn count_field(self) -> &'static str {
        match self {
            Self::Vectors => "vectors",
            Self::MonteCarlo | Self::Big => "lines",
        }
    }
}

/// The name and text of a file. Bytes that are not UTF-8 become U+FFFD, which no line accepts, so
/// that damage costs a line and not the file.
fn load(path: &Path) -> Result<(String, String), VectorError> {
    let file = path.display().to_string();
    match fs::read(path) {
        Ok(bytes) => Ok((file, String::from_utf8_lossy(&bytes).into_owned())),
        Err(source) => Err(VectorError::Read { file, source }),
    }
}

fn parse_header(line: &str) -> Result<(Kind, Header), Problem> {
    let (kind, rest) = match line.split_once("bcv1") {
        Some(("# ", rest)) => match rest.split_once(' ') {
            Some(("", fields)) => (Kind::Vectors, fields),
            Some(("-mct", fields)) => (Kind::MonteCarlo, fields),
            Some(("-big", fields)) => (Kind::Big, fields),
            _ => {
                return Err(Problem::NoHeader { given: excerpt(line) });
            }
        },
        _ => {
            return Err(Problem::NoHeader { given: excerpt(line) });
        }
    };
    let fields = Fields::parse(rest, kind.header_fields())?;
    let (mode, expectation) = match kind {
        // A file of several modes leaves the mode to its lines.
        Kind::Vectors => {
            let mode = fields.optional("mode").map(|_| fields.lower_case_name("mode"));
            let mode = mode.transpose()?.map(ToString::to_string);
            (mode, Some(expectation(fields.required("expect")?)?))
        }
        Kind::MonteCarlo | Kind::Big => (None, None),
    };
    let cipher = fields.lower_case_name("cipher")?.to_string();
    let stated = fields.number(kind.count_field())?;
    Ok((kind, Header { cipher, mode, expectation, stated }))
}

fn expectation(given: &str) -> Result<Expectation, Problem> {
    match given {
        "ok" => Ok(Expectation::Every(Outcome::Success)),
        "reject" => Ok(Expectation::Every(Outcome::Rejection)),
        "per-line" => Ok(Expectation::PerLine),
        _ => Err(invalid("expect", given, "ok, reject or per-line")),
    }
}

/// The good lines after the header and the groups that they form; the others go to `faults`, with
/// their line numbers.
fn collect<L: Line>(
    text: &str,
    header: &Header,
    faults: &mut Vec<(usize, Problem)>,
    wrap: impl Fn(Vec<L>) -> Lines,
) -> (Lines, Vec<SourceGroup>) {
    let mut lines = Vec::new();
    let mut sources = Vec::new();
    let mut ids = BTreeMap::new();
    for (index, text) in text.lines().enumerate().skip(1) {
        if let Some(comment) = text.strip_prefix('#') {
            note_comment(comment, lines.len(), &mut sources);
        } else if !text.is_empty() {
            match parse_line::<L>(text, header, index + 1, &mut ids) {
                Ok(line) => lines.push(line),
                Err(problem) => faults.push((index + 1, problem)),
            }
        }
        if let Some(group) = sources.last_mut() {
            group.lines.end = lines.len();
        }
    }
    (wrap(lines), sources)
}

/// Starts a group at a `# source:` comment and notes the size that a `# count:` comment states.
fn note_comment(comment: &str, next: usize, sources: &mut Vec<SourceGroup>) {
    if let Some(source) = comment.strip_prefix(" source:") {
        let source = source.trim().to_string();
        sources.push(SourceGroup { source, stated: None, lines: next..next });
    } else if let Some(count) = comment.strip_prefix(" count:")
        && let Some(group) = sources.last_mut()
    {
        group.stated = count.trim().parse().ok();
    }
}

/// One line; `ids` holds the ids of the good lines so far, with their line numbers.
fn parse_line<L: Line>(
    text: &str,
    header: &Header,
    number: usize,
    ids: &mut BTreeMap<String, usize>,
) -> Result<L, Problem> {
    let fields = Fields::parse(text, L::FIELDS)?;
    let line = L::from_fields(&fields, header, number)?;
    if let Some(&first_line) = ids.get(line.id()) {
        return Err(Problem::DuplicateId { id: excerpt(line.id()), first_line });
    }
    ids.insert(line.id().to_string(), number);
    Ok(line)
}
