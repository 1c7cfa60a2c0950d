//! What was measured, as a table for a person, as JSON, as CSV, and as the report of a record.

use std::{fmt::Write as _, fs, process::Command};

use serde::Serialize;

use crate::{
    measure::{LENGTHS, Timing},
    rungs::Rung,
};

/// What ran on which machine.
#[derive(Serialize)]
pub(crate) struct Record {
    cpu: String,
    compiler: String,
    commit: String,
    date: String,
    rungs: Vec<Row>,
}

/// A rung.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    title: &'static str,
    /// Instructions per byte, or operations on registers.
    operations_per_byte: f64,
    /// Cycles per byte at the least.
    bound: f64,
    binds: &'static str,
    /// What the CPU lacks.
    lacks: Option<String>,
    #[serde(flatten)]
    timing: Option<Timing>,
}

impl Row {
    /// The same for every form: rung, bound, cycles per byte, GB/s, share of the bound, what binds.
    fn cells(&self) -> [String; 6] {
        let long = self.timing.as_ref().map(Timing::long);
        let measured = |cell: String| if long.is_some() { cell } else { String::new() };
        let (cycles, rate) =
            long.map_or((1.0, 0.0), |long| (long.cycles_per_byte, long.gigabytes_per_second()));
        [
            self.name.to_owned(),
            format!("{:.2}", self.bound),
            measured(format!("{cycles:.2}")),
            measured(format!("{rate:.2}")),
            measured(format!("{:.0}%", 100.0 * self.bound / cycles)),
            self.binds.to_owned(),
        ]
    }
}

/// The heads of the cells.
const HEADS: [&str; 6] = ["rung", "bound", "cycles per byte", "GB/s", "reached", "binds"];

impl Record {
    pub(crate) fn new(rungs: &[Rung], timings: Vec<Option<Timing>>) -> Self {
        let rows = rungs.iter().zip(timings).map(|(rung, timing)| Row {
            name: rung.name,
            title: rung.title,
            operations_per_byte: rung.bound.operations,
            bound: rung.bound.cycles,
            binds: rung.bound.binds,
            lacks: rung.encrypt.as_ref().err().map(ToString::to_string),
            timing,
        });
        let said = |program: &str, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).output().ok()?;
            Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let or_unknown = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
        Self {
            cpu: cpu(),
            compiler: or_unknown(said("rustc", &["--version"])),
            commit: or_unknown(said("git", &["rev-parse", "--short=8", "HEAD"])),
            date: jiff::Zoned::now().date().to_string(),
            rungs: rows.collect(),
        }
    }

    /// For a person: long messages, then all lengths.
    pub(crate) fn table(&self) -> String {
        let kib = LENGTHS[LENGTHS.len() - 1] / 64;
        let mut text = format!("{}, one core, messages of {kib} KiB\n", self.cpu);
        let mut line = |[name, bound, cycles, rate, reached, binds]: [String; 6]| {
            let _ = writeln!(
                text,
                "{name:<24} {cycles:>15} {bound:>6} {reached:>7} {rate:>6}  {binds}"
            );
        };
        line(HEADS.map(str::to_owned));
        for row in &self.rungs {
            line(row.cells());
        }
        text + "\n" + &self.lengths()
    }

    /// Cycles per byte by length.
    fn lengths(&self) -> String {
        let mut text = format!("{:<26}", "cycles per byte by length");
        for count in LENGTHS {
            let _ = write!(text, " {:>8}", format!("{} B", 16 * count));
        }
        text.push('\n');
        for row in &self.rungs {
            let Some(timing) = &row.timing else { continue };
            let _ = write!(text, "{:<26}", row.name);
            for length in &timing.lengths {
                let _ = write!(text, " {:>8.2}", length.cycles_per_byte);
            }
            text.push('\n');
        }
        text
    }

    /// The report of a record.
    pub(crate) fn report(&self) -> String {
        let clocks = self.rungs.iter().filter_map(|row| row.timing.as_ref());
        let clocks = clocks.flat_map(|timing| timing.lengths.iter().map(|of| of.gigahertz));
        let (lowest, highest) = clocks
            .fold((f64::MAX, 0.0_f64), |(low, high), clock| (low.min(clock), high.max(clock)));
        let Self { cpu, compiler, commit, date, .. } = self;
        let mut text = format!(
            "# The ladder on a CPU\n\n- CPU: {cpu}, one core\n- Compiler: {compiler}\n- Commit: {commit}\n- Date: {date}\n\
             - Core clock: {lowest:.2} to {highest:.2} GHz, measured beside each figure by a chain of dependent additions\n\
             - Cipher: SM4, every block by itself, in place\n\nOf the fastest tenth of some thousand short passes, beside which other programs ran, the middle one in cycles. Every rung was held against \
             known answers and every block against the first rung before. Bounds are cycles per byte by counted instructions over ports.\n\n## Long messages\n\n",
        );
        let mut row = |cells: &[String]| {
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        };
        row(&HEADS.map(str::to_owned));
        row(&HEADS.map(|_| "---".to_owned()));
        for rung in &self.rungs {
            row(&rung.cells());
        }
        let mut text = text + "\n## By length\n\n| cycles per byte |";
        for count in LENGTHS {
            let _ = write!(text, " {} B |", 16 * count);
        }
        let _ = writeln!(text, "\n|---|{}", "---|".repeat(LENGTHS.len()));
        for row in &self.rungs {
            let Some(timing) = &row.timing else { continue };
            let _ = write!(text, "| {} |", row.name);
            for length in &timing.lengths {
                let _ = write!(text, " {:.2} |", length.cycles_per_byte);
            }
            text.push('\n');
        }
        text
    }

    pub(crate) fn csv(&self) -> String {
        let mut text = HEADS.join(",");
        for count in LENGTHS {
            let _ = write!(text, ",{} B", 16 * count);
        }
        text.push('\n');
        for row in &self.rungs {
            text.push_str(&row.cells().join(","));
            for length in row.timing.iter().flat_map(|timing| &timing.lengths) {
                let _ = write!(text, ",{:.4}", length.cycles_per_byte);
            }
            text.push('\n');
        }
        text
    }
}

/// The name of the CPU.
fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    name.unwrap_or(std::env::consts::ARCH).to_owned()
}
