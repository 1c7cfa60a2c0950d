//! What came of a run: counts, failures, and what was skipped and why.

use core::{fmt, ops::AddAssign};
use std::{collections::BTreeSet, path::Path};

use lanecrypt_reference::vectors::FormatError;
use serde::Serialize;

use super::case::Kind;

/// Numbers of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Cases whose every check passed.
    pub passed: usize,
    /// Cases with a check that did not, and unreadable lines.
    pub failed: usize,
    /// Cases left out; of unknown ciphers and modes, lines left out.
    pub skipped: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, skipped } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

/// The cases of one kind of file and mode on one backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// The cipher's name.
    pub cipher: &'static str,
    /// The backend's id.
    pub backend: &'static str,
    /// The kind of file.
    pub kind: Kind,
    /// The mode as files write it.
    pub mode: String,
    /// How many came out how.
    pub tally: Tally,
}

/// Something that failed. One case can have two: one a direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The file's path.
    pub file: String,
    /// The line in it, from 1.
    pub line: Option<usize>,
    /// The line's name.
    pub id: Option<String>,
    /// The backend, as `aes/bitslice-u64`.
    pub backend: Option<String>,
    /// `encrypt` or `decrypt`.
    pub direction: Option<String>,
    /// What differed.
    pub what: String,
    /// Cases that failed by it: 0 where the failure before has counted the case already.
    pub cases: usize,
}

impl Failure {
    /// Whether this says of more cases of a file what `other` says already.
    fn continues(&self, other: &Self) -> bool {
        let is_of_file = self.line.is_none() && other.line.is_none();
        is_of_file
            && (&self.file, &self.backend, &self.what) == (&other.file, &other.backend, &other.what)
    }

    /// Of a file as a whole.
    pub(super) fn of_file(path: &Path, what: &str) -> Self {
        let (file, what) = (path.display().to_string(), what.to_owned());
        Self { file, cases: 1, what, ..Self::default() }
    }

    /// A line that the reader refuses.
    pub(super) fn of_line(fault: &FormatError) -> Self {
        Self {
            file: fault.file.clone(),
            line: Some(fault.line),
            what: fault.problem.to_string(),
            cases: 1,
            ..Self::default()
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        for word in [&self.id, &self.backend, &self.direction].into_iter().flatten() {
            write!(f, " {word}")?;
        }
        write!(f, ": {}", self.what)?;
        if self.cases > 1 { write!(f, " ({} cases)", self.cases) } else { Ok(()) }
    }
}

/// Cases that were left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skip {
    /// Why.
    pub reason: String,
    /// The lines' ids or the files' paths; none where the reason holds for all that a backend has.
    pub names: Vec<String>,
    /// The backends that it holds for; none where it holds for all.
    pub backends: Vec<String>,
    /// How many cases, or lines where no backend is named.
    pub cases: usize,
}

/// A whole run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// All cases together.
    pub total: Tally,
    /// The cases by cipher, backend, kind of file and mode.
    pub cells: Vec<Cell>,
    /// What failed, in the order of the files.
    pub failures: Vec<Failure>,
    /// What was skipped, by reason.
    pub skips: Vec<Skip>,
    /// Files that were run.
    pub files: usize,
    /// Backends that had cases.
    pub backends: usize,
    /// How long it took.
    pub seconds: f64,
}

impl Report {
    /// Adds what came of one job.
    pub(super) fn add(&mut self, part: Part) {
        for cell in part.cells {
            self.total += cell.tally;
            let same = |known: &&mut Cell| {
                (known.cipher, known.backend, known.kind, &known.mode)
                    == (cell.cipher, cell.backend, cell.kind, &cell.mode)
            };
            match self.cells.iter_mut().find(same) {
                Some(known) => known.tally += cell.tally,
                None => self.cells.push(cell),
            }
        }
        for failure in part.failures {
            match self.failures.last_mut() {
                Some(last) if failure.continues(last) => last.cases += failure.cases,
                _ => self.failures.push(failure),
            }
        }
        for skip in part.skips {
            // The same lines on several backends are one entry.
            let same =
                |known: &&mut Skip| (&known.reason, &known.names) == (&skip.reason, &skip.names);
            match self.skips.iter_mut().find(same) {
                Some(known) => known.take_backends(skip),
                None => self.skips.push(skip),
            }
        }
    }

    /// Adds a failure that belongs to no backend.
    pub(super) fn add_failure(&mut self, failure: Failure) {
        self.total.failed += failure.cases;
        self.failures.push(failure);
    }

    /// Adds lines that no backend knows.
    pub(super) fn add_unknown(&mut self, reason: String, file: &str, lines: usize) {
        self.total.skipped += lines;
        let names = vec![file.to_owned()];
        self.skips.push(Skip { reason, names, backends: Vec::new(), cases: lines });
    }

    /// Counts the backends of the cells.
    pub(super) fn count_backends(&mut self) {
        let names: BTreeSet<_> =
            self.cells.iter().map(|cell| (cell.cipher, cell.backend)).collect();
        self.backends = names.len();
    }

    /// Makes one entry of those with the same reason and the same backends.
    pub(super) fn join_skips(&mut self) {
        for skip in core::mem::take(&mut self.skips) {
            let same = |known: &&mut Skip| {
                (&known.reason, &known.backends) == (&skip.reason, &skip.backends)
            };
            match self.skips.iter_mut().find(same) {
                Some(known) => {
                    known.cases += skip.cases;
                    known.names.extend(skip.names);
                }
                None => self.skips.push(skip),
            }
        }
    }
}

impl Skip {
    fn take_backends(&mut self, other: Self) {
        self.cases += other.cases;
        for backend in other.backends {
            if !self.backends.contains(&backend) {
                self.backends.push(backend);
            }
        }
    }
}

/// What came of one job.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) cells: Vec<Cell>,
    pub(super) failures: Vec<Failure>,
    pub(super) skips: Vec<Skip>,
}

impl Part {
    /// Adds a case of a backend that was left out, by name or as one of many.
    pub(super) fn add_skip(&mut self, reason: String, name: Option<&str>, backend: String) {
        let names = name.map(str::to_owned);
        if let Some(skip) = self.skips.iter_mut().find(|skip| skip.reason == reason) {
            skip.names.extend(names);
            skip.cases += 1;
        } else {
            let names = names.into_iter().collect();
            self.skips.push(Skip { reason, names, backends: vec![backend], cases: 1 });
        }
    }
}
