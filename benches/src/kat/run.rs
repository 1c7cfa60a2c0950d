//! Runs the cases: jobs of a few lines of a file on one backend, side by side.

use std::time::Instant;

use indicatif::ProgressBar;
use lanecrypt::{Mode, registry::Unavailable};
use lanecrypt_reference::vectors::{Lines, VectorFile};
use rayon::{ThreadPoolBuilder, prelude::*};

use super::{
    case::{Case, cases_of},
    limits::Limits,
    report::{Cell, Failure, Part, Report, Skip, Tally},
    sources::Sources,
    spread::{self, Leaving},
    targets::{Target, Targets, Wish},
};

/// Lines of a job; a long message is a job of its own.
const LINES: usize = 128;

/// Why a backend leaves a line out that others run.
const SPREAD: &str = "spread: another backend runs it; --all-vectors runs all";

/// Why a case is left out that had not begun when the run was ended.
const INTERRUPTED: &str = "interrupted before it ran";

/// Runs every line on every chosen backend. `progress` counts cases.
#[must_use]
pub fn run(
    sources: &Sources,
    targets: &Targets,
    limits: &Limits,
    progress: &ProgressBar,
) -> Report {
    let started = Instant::now();
    let mut report = Report::default();
    for failure in &sources.failures {
        report.add_failure(failure.clone());
    }
    let mut planned = Vec::new();
    for source in &sources.files {
        let file = &source.file;
        let wish = targets.wish(&file.header.cipher);
        if wish == Wish::LeaveOut {
            continue;
        }
        report.files += 1;
        for fault in &source.faults {
            report.add_failure(Failure::of_line(fault));
        }
        if wish == Wish::Unknown {
            let reason = format!("no cipher {:?} in the registry", file.header.cipher);
            report.add_unknown(reason, &file.name, file.lines.len());
            continue;
        }
        let (cases, unknown) = cases_of(file);
        for (mode, lines) in unknown {
            report.add_unknown(format!("no mode {mode:?} here"), &file.name, lines);
        }
        planned.push(Planned::new(file, cases, targets, limits));
    }
    for part in run_jobs(&jobs(&planned), limits, progress) {
        report.add(part);
    }
    report.join_skips();
    report.count_backends();
    report.seconds = started.elapsed().as_secs_f64();
    report
}

/// A file's cases, and what runs them.
struct Planned<'a> {
    file: &'a VectorFile,
    cases: Vec<(Case<'a>, Leaving)>,
    targets: Vec<&'a Target>,
}

impl<'a> Planned<'a> {
    fn new(
        file: &'a VectorFile,
        cases: Vec<Case<'a>>,
        targets: &'a Targets,
        limits: &Limits,
    ) -> Self {
        let targets: Vec<_> = targets.of(&file.header.cipher).collect();
        let leaving = spread::leaving(file, &cases, &targets, limits);
        Self { file, cases: cases.into_iter().zip(leaving).collect(), targets }
    }
}

/// A few lines of a file on one backend.
struct Job<'a> {
    file: &'a VectorFile,
    cases: &'a [(Case<'a>, Leaving)],
    target: &'a Target,
    /// Its number among the cipher's.
    number: usize,
}

fn jobs<'a>(planned: &'a [Planned<'a>]) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for Planned { file, cases, targets } in planned {
        let lines = if matches!(file.lines, Lines::Big(_)) { 1 } else { LINES };
        for (number, target) in targets.iter().enumerate() {
            let job = |cases| Job { file, cases, target, number };
            jobs.extend(cases.chunks(lines).map(job));
        }
    }
    jobs
}

/// The jobs' results in the jobs' order. They run side by side, on GPUs too, where half of a case's time goes by in
/// waiting: there a core has two of them.
fn run_jobs(jobs: &[Job<'_>], limits: &Limits, progress: &ProgressBar) -> Vec<Part> {
    let cases = jobs.iter().map(|job| job.cases.len() as u64).sum();
    progress.set_length(cases);
    let run = || jobs.par_iter().map(|job| job.run(limits, progress)).collect();
    let waits = jobs.iter().all(|job| job.target.backend.platform.is_gpu());
    let twice = || ThreadPoolBuilder::new().num_threads(2 * rayon::current_num_threads()).build();
    // Where there are no more threads, by those that there are.
    let pool = waits.then(twice).and_then(Result::ok);
    let parts = match pool {
        Some(pool) => pool.install(run),
        None => run(),
    };
    progress.finish_and_clear();
    parts
}

impl Job<'_> {
    fn run(&self, limits: &Limits, progress: &ProgressBar) -> Part {
        let mut part = Part::default();
        if let Some(reason) = &self.target.unavailable {
            self.note_unavailable(reason, &mut part);
            progress.inc(self.cases.len() as u64);
            return part;
        }
        for (case, leaving) in self.cases {
            if limits.is_interrupted() {
                self.skip_unnamed(case, INTERRUPTED, &mut part);
            } else if let Some(reason) = limits.leave_out(case, self.target) {
                self.skip(case, reason, &mut part);
            } else if leaving.contains(&self.number) {
                self.skip_unnamed(case, SPREAD, &mut part);
            } else {
                self.check(case, &mut part);
            }
            progress.inc(1);
        }
        part
    }

    fn check(&self, case: &Case<'_>, part: &mut Part) {
        let differences = case.check(self.target.backend);
        let is_good = differences.is_empty();
        let failed = usize::from(!is_good);
        self.count(case, Tally { passed: 1 - failed, failed, skipped: 0 }, part);
        let (id, line) = case.place();
        for (number, difference) in differences.into_iter().enumerate() {
            part.failures.push(Failure {
                file: self.file.name.clone(),
                line: Some(line),
                id: Some(id.to_owned()),
                backend: Some(self.target.name()),
                direction: difference.direction.map(|direction| direction.to_string()),
                what: difference.what,
                cases: usize::from(number == 0),
            });
        }
    }

    fn skip(&self, case: &Case<'_>, reason: String, part: &mut Part) {
        self.count(case, Tally { skipped: 1, ..Tally::default() }, part);
        part.add_skip(reason, Some(case.place().0), self.target.name());
    }

    /// Counts a case that is one of many which are left out alike.
    fn skip_unnamed(&self, case: &Case<'_>, reason: &str, part: &mut Part) {
        self.count(case, Tally { skipped: 1, ..Tally::default() }, part);
        part.add_skip(reason.to_owned(), None, self.target.name());
    }

    /// Every case skipped, or failed where the backend was expected to be there.
    fn note_unavailable(&self, reason: &Unavailable, part: &mut Part) {
        let cases = self.cases.len();
        let tally = if self.target.is_expected {
            Tally { failed: 1, ..Tally::default() }
        } else {
            Tally { skipped: 1, ..Tally::default() }
        };
        for (case, _) in self.cases {
            self.count(case, tally, part);
        }
        if self.target.is_expected {
            part.failures.push(Failure {
                file: self.file.name.clone(),
                backend: Some(self.target.name()),
                what: format!("LANECRYPT_EXPECT names it, but it cannot run here: {reason}"),
                cases,
                ..Failure::default()
            });
        } else {
            let backends = vec![self.target.name()];
            let reason = reason.to_string();
            part.skips.push(Skip { reason, names: Vec::new(), backends, cases });
        }
    }

    fn count(&self, case: &Case<'_>, tally: Tally, part: &mut Part) {
        let (kind, mode) = (case.kind(), mode_name(case.mode()));
        if let Some(cell) = part.cells.iter_mut().find(|c| c.kind == kind && c.mode == mode) {
            cell.tally += tally;
            return;
        }
        part.cells.push(Cell {
            cipher: self.target.cipher.name,
            backend: self.target.backend.id,
            kind,
            mode: mode.to_owned(),
            tally,
        });
    }
}

/// The mode as files write it.
fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Ecb => "ecb",
        Mode::Cbc => "cbc",
        Mode::Ccm => "ccm",
        Mode::Cfb => "cfb",
        Mode::Ctr => "ctr",
        Mode::Gcm => "gcm",
        Mode::GcmSiv => "gcm-siv",
        Mode::Ofb => "ofb",
        Mode::Xts => "xts",
    }
}
