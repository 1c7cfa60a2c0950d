//! Tasks that are lists of steps: what will run is said first, and at the end there is one table of what ran,
//! for how long, and how many tests passed, and what tests said that failed.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader, Read, Write as _},
    ops::AddAssign,
    path::PathBuf,
    process::{Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Instant,
};

use anyhow::{Context, Result, bail};

use crate::command::target;

/// One step of a task.
pub(crate) struct Step<'a> {
    name: &'static str,
    run: Box<dyn Fn() -> Result<()> + Sync + Send + 'a>,
}

pub(crate) fn step<'a>(
    name: &'static str,
    run: impl Fn() -> Result<()> + Sync + Send + 'a,
) -> Step<'a> {
    Step { name, run: Box::new(run) }
}

/// How a step ended.
struct Row {
    name: &'static str,
    seconds: u64,
    said: Said,
    /// The error of one that failed.
    error: Option<String>,
}

/// What test programs said of themselves.
#[derive(Debug, Default)]
struct Said {
    tally: Tally,
    /// Their lines about tests that failed.
    failures: Vec<String>,
    /// Whether the last line was one of these.
    is_of_failures: bool,
}

impl Said {
    /// Takes in what a line tells.
    fn hear(&mut self, line: &str) {
        let tally = counted(line);
        let line = line.trim_end();
        // From `failures:` to the result, as Rust's test programs print it, and pytest's `FAILED file::test - error`.
        let begins = line == "failures:" || line.starts_with("FAILED ");
        self.is_of_failures = (self.is_of_failures || begins) && tally == Tally::default();
        if self.is_of_failures && self.failures.len() < MOST_FAILURES {
            self.failures.push(line.chars().take(MOST_COLUMNS).collect());
        }
        self.tally += tally;
    }
}

impl AddAssign for Said {
    fn add_assign(&mut self, other: Self) {
        self.tally += other.tally;
        self.failures.extend(other.failures);
    }
}

/// How many tests there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// Lines of a program that are repeated at the end, and characters of each.
const MOST_FAILURES: usize = 60;
const MOST_COLUMNS: usize = 400;

/// What belongs to the step that this thread runs.
struct Log {
    /// Before each line of its output, where other steps print at the same time.
    prefix: String,
    said: Said,
}

thread_local! {
    static LOG: RefCell<Option<Log>> = const { RefCell::new(None) };
}

/// Runs the steps of all lists, each list in its order, one beside the other. The first failure ends them all. Lines of
/// all but the first list begin with their step.
pub(crate) fn run_all(task: &'static str, lists: &[&[Step<'_>]]) -> Result<()> {
    let start = Instant::now();
    let before = last_times();
    announce(task, lists.iter().copied().flatten(), &before);
    let has_failed = &AtomicBool::new(false);
    let rows: Vec<Row> = thread::scope(|scope| {
        let run = |(i, list)| scope.spawn(move || run_list(list, i > 0, has_failed));
        let running: Vec<_> = lists.iter().copied().enumerate().map(run).collect();
        running.into_iter().flat_map(|list| list.join().expect("steps do not panic")).collect()
    });
    let not_run = lists.iter().map(|list| list.len()).sum::<usize>() - rows.len();
    remember(before, &rows);
    println!("{}", table(task, &rows, start.elapsed().as_secs()));
    for row in &rows {
        row.said.failures.iter().for_each(|line| println!("[{}] {line}", row.name));
    }
    let failed: Vec<_> = rows
        .iter()
        .filter_map(|row| Some(format!("step {:?}: {}", row.name, row.error.as_ref()?)))
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    bail!("{}; {not_run} steps were not run", failed.join("; "))
}

fn run_list(steps: &[Step<'_>], has_prefix: bool, has_failed: &AtomicBool) -> Vec<Row> {
    let mut rows = Vec::new();
    for step in steps {
        if has_failed.load(Ordering::Relaxed) {
            break;
        }
        let row = step.run(has_prefix);
        if row.error.is_some() {
            has_failed.store(true, Ordering::Relaxed);
        }
        rows.push(row);
    }
    rows
}

impl Step<'_> {
    /// Whether its name contains one of these.
    pub(crate) fn is_named(&self, parts: &[String]) -> bool {
        parts.iter().any(|part| self.name.contains(part.as_str()))
    }

    fn run(&self, has_prefix: bool) -> Row {
        let prefix = if has_prefix { format!("[{}] ", self.name) } else { String::new() };
        LOG.set(Some(Log { prefix, said: Said::default() }));
        println!("== {}", self.name);
        let start = Instant::now();
        let result = (self.run)();
        let seconds = start.elapsed().as_secs();
        let said = LOG.take().map(|log| log.said).unwrap_or_default();
        let error = result.err().map(|error| format!("{error:#}"));
        match &error {
            None => println!("== {}: passed in {seconds} s", self.name),
            Some(error) => println!("== {}: FAILED after {seconds} s: {error}", self.name),
        }
        Row { name: self.name, seconds, said, error }
    }
}

/// Runs a program. Within a step, what it prints passes here, is counted, and kept where it tells of a failure.
pub(crate) fn status(command: &mut Command) -> std::io::Result<ExitStatus> {
    let Some(prefix) = LOG.with_borrow(|log| log.as_ref().map(|log| log.prefix.clone())) else {
        return command.status();
    };
    let is_beside = !prefix.is_empty();
    command.stdout(Stdio::piped());
    if is_beside {
        command.stderr(Stdio::piped());
    }
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let said = thread::scope(|scope| {
        scope.spawn(|| stderr.map(|pipe| pass_on(pipe, &prefix)));
        stdout.map(|pipe| pass_on(pipe, &prefix)).unwrap_or_default()
    });
    LOG.with_borrow_mut(|log| {
        if let Some(log) = log {
            log.said += said;
        }
    });
    child.wait()
}

/// Prints what comes from a pipe, line by line, and keeps what test programs say of themselves.
fn pass_on(pipe: impl Read, prefix: &str) -> Said {
    let mut said = Said::default();
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    while pipe.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
        said.hear(&String::from_utf8_lossy(&line));
        let mut out = std::io::stdout().lock();
        // Whoever closed the pipe has read enough.
        let _ = out.write_all(prefix.as_bytes()).and_then(|()| out.write_all(&line));
        line.clear();
    }
    said
}

/// The numbers in a line like cargo's `test result: ok. 5 passed; 0 failed; 1 ignored; ...`, pytest's
/// `1 failed, 5 passed, 1 skipped in 3.14s` and kat's `5 passed, 0 failed, 1 skipped`; nothing in others.
fn counted(line: &str) -> Tally {
    let line = line.trim();
    let second = line.split(' ').nth(1).unwrap_or_default().trim_end_matches(',');
    let is_result = line.starts_with("test result: ") || ["passed", "failed"].contains(&second);
    let mut tally = Tally::default();
    if !is_result {
        return tally;
    }
    let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).collect();
    for pair in words.windows(2) {
        let Ok(number) = pair[0].parse::<u64>() else { continue };
        match pair[1] {
            "passed" => tally.passed += number,
            "failed" => tally.failed += number,
            "ignored" | "skipped" => tally.skipped += number,
            _ => {}
        }
    }
    tally
}

/// Seconds that steps took when they last passed.
type Times = BTreeMap<String, u64>;

fn times_path() -> PathBuf {
    target().join("step-times.json")
}

fn last_times() -> Times {
    let text = fs::read_to_string(times_path()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Keeps the times for the next run; without them it only says less.
fn remember(mut times: Times, rows: &[Row]) {
    let passed = rows.iter().filter(|row| row.error.is_none());
    times.extend(passed.map(|row| (row.name.to_owned(), row.seconds)));
    let written = serde_json::to_string_pretty(&times).context("times").and_then(|text| {
        fs::create_dir_all(target())?;
        Ok(fs::write(times_path(), text)?)
    });
    if let Err(error) = written {
        eprintln!("the steps' times are not kept: {error:#}");
    }
}

fn announce<'a>(task: &str, steps: impl Iterator<Item = &'a Step<'a>>, before: &Times) {
    println!("cargo xtask {task}; in brackets, what a step took the last time here:");
    for step in steps {
        match before.get(step.name) {
            Some(seconds) => println!("  {} ({seconds} s)", step.name),
            None => println!("  {}", step.name),
        }
    }
}

/// The last thing a task prints.
fn table(task: &str, rows: &[Row], seconds: u64) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let mut text = format!("\n{:<width$}  seconds  result\n", "step");
    let mut all = Tally::default();
    for Row { name, seconds, said, error } in rows {
        all += said.tally;
        let verdict = if error.is_some() { "FAILED" } else { "passed" };
        let _ = writeln!(text, "{name:<width$}  {seconds:>7}  {verdict}{}", shown(said.tally));
    }
    let _ =
        writeln!(text, "{:<width$}  {seconds:>7} {}", format!("cargo xtask {task}"), shown(all));
    text
}

/// `: 5 tests, 1 skipped`, or nothing where no test ran.
fn shown(tally: Tally) -> String {
    let Tally { passed, failed, skipped } = tally;
    if tally == Tally::default() {
        return String::new();
    }
    format!(": {passed} passed, {failed} failed, {skipped} skipped")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_test_programs_are_counted() {
        let cargo =
            "test result: FAILED. 5 passed; 2 failed; 1 ignored; 0 measured; 9 filtered out";
        assert_eq!(counted(cargo), Tally { passed: 5, failed: 2, skipped: 1 });
        let pytest = "175 passed, 2 skipped in 84.31s\n";
        assert_eq!(counted(pytest), Tally { passed: 175, failed: 0, skipped: 2 });
        assert_eq!(counted("test a::b_7_passed ... ok"), Tally::default());
        assert_eq!(counted("  3 passed, 0 failed, 4 skipped").passed, 3);
    }

    #[test]
    fn a_failure_ends_the_list_and_is_in_the_table() {
        let has_failed = AtomicBool::new(false);
        let steps = [
            step("one", || Ok(())),
            step("two", || bail!("it broke")),
            step("three", || panic!("it is not run")),
        ];
        let rows = run_list(&steps, false, &has_failed);
        assert_eq!(rows.len(), 2);
        let table = table("test", &rows, 3);
        assert!(table.contains("one") && table.contains("FAILED"), "{table}");
    }

    #[test]
    fn what_a_program_prints_is_counted_for_its_step() {
        let says = step("says", || {
            let mut echo = Command::new("echo");
            echo.arg("test result: ok. 5 passed; 0 failed; 1 ignored");
            anyhow::ensure!(status(&mut echo)?.success());
            Ok(())
        });
        // With a prefix, so that the step that runs this test does not count it.
        let said = says.run(true).said;
        assert_eq!(said.tally, Tally { passed: 5, failed: 0, skipped: 1 });
        assert!(said.failures.is_empty());
    }

    #[test]
    fn what_failed_is_kept() {
        let heard = |text: &str| {
            let mut said = Said::default();
            text.lines().for_each(|line| said.hear(line));
            said
        };
        let said = heard(
            "test a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b ----\nit broke\n\nfailures:\n    b\n\n\
            test result: FAILED. 1 passed; 1 failed; 0 ignored\nand on\n",
        );
        assert_eq!(said.tally, Tally { passed: 1, failed: 1, skipped: 0 });
        let text = said.failures.join("\n");
        assert!(text.starts_with("failures:") && text.contains("---- b ----\nit broke"), "{text}");
        assert!(!text.contains("test result") && !text.contains("and on"), "{text}");
        let said = heard("== summary ==\nFAILED t.py::b - it broke\n1 failed, 5 passed in 3.1s\n");
        assert_eq!(said.failures, ["FAILED t.py::b - it broke"]);
        assert_eq!(said.tally, Tally { passed: 5, failed: 1, skipped: 0 });
        let long = heard(&format!("failures:\n{}", "more\n".repeat(MOST_FAILURES)));
        assert_eq!(long.failures.len(), MOST_FAILURES);
    }
}
