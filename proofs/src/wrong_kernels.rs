//! Kernels made wrong, each of which must be refuted.

use anyhow::{Context, Result, ensure};

use crate::ptx::{self, Job, Mode};

/// The number of a line made wrong, and what it is then; `None` where there is no such line.
type Fault = fn(&[&str]) -> Option<(usize, String)>;

/// What is made wrong in every kernel.
const FAULTS: [(&str, Fault); 4] = [
    ("a lop3", |lines| {
        among(lines, |line| {
            let is_sum = line.contains("lop3.b32") && line.ends_with(", 150;");
            is_sum.then(|| line.replace(", 150;", ", 151;"))
        })
    }),
    ("a key's address", |lines| among(lines, |line| moved(line, "ld.shared"))),
    ("a block's address", |lines| among(lines, |line| moved(line, "ld.global"))),
    ("an exchange of bytes", |lines| {
        among(lines, |line| {
            let (name, operands) = line.split_once("prmt.b32")?;
            let operands: Vec<&str> = operands.split(", ").collect();
            let [to, a, b, selector] = operands[..] else { return None };
            Some(format!("{name}prmt.b32{to}, {b}, {a}, {selector}"))
        })
    }),
];

/// And in the counter of CTR: `Counter::plus` in kernels/common/parameters.cuh.
const COUNTER_FAULTS: [(&str, Fault); 3] = [
    ("a counter's increment", |lines| {
        let place = carry(lines)?.checked_sub(2)?;
        let line = lines[place];
        line.contains("add.s64").then(|| (place, line.replace("add.s64", "sub.s64")))
    }),
    ("a byte of the counter", |lines| {
        let first = carry(lines)?;
        let is_shift = |line: &&str| line.contains("shr.u64") && line.ends_with(", 32;");
        let place = first + lines[first..].iter().position(is_shift)?;
        Some((place, lines[place].replace(", 32;", ", 40;")))
    }),
    CARRY,
];

/// Of counters of 16 bytes: the upper half of those of eight is not read.
const CARRY: (&str, Fault) = ("a carry", |lines| {
    let place = carry(lines)?;
    Some((place, lines[place].replace(", 1, 0, ", ", 0, 0, ")))
});

/// The line that makes a number of the carry; those before compare the sum, and add it up. The last one is that of the
/// loop, where tables are made as well.
fn carry(lines: &[&str]) -> Option<usize> {
    lines.iter().rposition(|line| line.contains("selp.u64") && line.contains(", 1, 0, "))
}

/// One of the lines that can be made wrong like this: a quarter down, since behind come loads and stores of ragged ends,
/// of which a proof runs fewer.
fn among(lines: &[&str], fault: fn(&str) -> Option<String>) -> Option<(usize, String)> {
    let places: Vec<usize> = (0..lines.len()).filter(|&i| fault(lines[i]).is_some()).collect();
    let place = *places.get(places.len() / 4)?;
    Some((place, fault(lines[place])?))
}

/// A line with its address 16 bytes further on.
fn moved(line: &str, instruction: &str) -> Option<String> {
    let (before, rest) = line.split_once('+').filter(|_| line.contains(instruction))?;
    let (offset, after) = rest.split_once(']')?;
    Some(format!("{before}+{}]{after}", offset.parse::<u32>().ok()? + 16))
}

/// Runs all faults on a kernel and returns what was refuted.
pub(crate) fn run(job: &Job<'_>) -> Result<Vec<&'static str>> {
    let text = job.text()?;
    let mut faults = FAULTS.to_vec();
    if job.mode == Mode::Ctr {
        faults
            .extend(COUNTER_FAULTS.iter().filter(|(what, _)| *what != CARRY.0 || job.has_carry()));
    }
    let mut refuted = Vec::new();
    for (what, fault) in faults {
        let wrong = made_wrong(&text, &job.entry(), fault);
        let wrong = wrong.with_context(|| format!("{} has no line for {what}", job.entry()))?;
        job.check_readable(&wrong)?;
        let verdict = ptx::prove_text(job, &wrong);
        ensure!(verdict.is_err(), "{}: {what} made wrong is not refuted", job.entry());
        refuted.push(what);
    }
    Ok(refuted)
}

/// The text with one of an entry's lines made wrong.
fn made_wrong(text: &str, entry: &str, fault: Fault) -> Option<String> {
    let start = text.find(&format!(".entry {entry}("))?;
    let end = start + text[start..].find("\n}")?;
    let mut lines: Vec<&str> = text[start..end].lines().collect();
    let (place, wrong) = fault(&lines)?;
    lines[place] = &wrong;
    Some(format!("{}{}{}", &text[..start], lines.join("\n"), &text[end..]))
}
