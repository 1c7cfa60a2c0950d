//! Kernels made wrong, each of which must be refuted.

use anyhow::{Result, ensure};

use crate::{
    ptx,
    subject::{Claim, Device},
};

/// A line made wrong, or `None` where it is not of the kind.
type Fault = fn(&str) -> Option<String>;

/// What is made wrong, in a line among those of its kind.
const FAULTS: [(&str, Fault); 4] = [
    ("a lop3", |line| {
        let is_sum = line.contains("lop3.b32") && line.ends_with(", 150;");
        is_sum.then(|| line.replace(", 150;", ", 151;"))
    }),
    ("a key's address", |line| moved(line, "ld.shared")),
    ("a block's address", |line| moved(line, "ld.global")),
    ("an exchange of bytes", |line| {
        let (name, operands) = line.split_once("prmt.b32")?;
        let operands: Vec<&str> = operands.split(", ").collect();
        let [to, a, b, selector] = operands[..] else { return None };
        Some(format!("{name}prmt.b32{to}, {b}, {a}, {selector}"))
    }),
];

/// A line with its address 16 bytes further on.
fn moved(line: &str, instruction: &str) -> Option<String> {
    let (before, rest) = line.split_once('+').filter(|_| line.contains(instruction))?;
    let (offset, after) = rest.split_once(']')?;
    Some(format!("{before}+{}]{after}", offset.parse::<u32>().ok()? + 16))
}

/// Runs all faults on the kernel of a claim and returns what was refuted.
pub(crate) fn run(claim: &Claim, device: &Device, block_bytes: usize) -> Result<Vec<&'static str>> {
    let text = ptx::read(device)?;
    let mut refuted = Vec::new();
    for (what, fault) in FAULTS {
        let wrong = made_wrong(&text, device.entry, fault);
        ensure!(wrong.is_some(), "{} has no line for {what}", device.entry);
        let wrong = wrong.unwrap_or_default();
        ptx::check_readable(&wrong, device)?;
        let verdict = ptx::prove_text(&wrong, claim, device, block_bytes);
        ensure!(verdict.is_err(), "{}: {what} made wrong is not refuted", device.entry);
        refuted.push(what);
    }
    Ok(refuted)
}

/// The text with one of an entry's lines of a kind made wrong.
fn made_wrong(text: &str, entry: &str, fault: Fault) -> Option<String> {
    let start = text.find(&format!(".entry {entry}("))?;
    let end = start + text[start..].find("\n}")?;
    let lines: Vec<&str> = text[start..end].lines().collect();
    let places: Vec<usize> = (0..lines.len()).filter(|&i| fault(lines[i]).is_some()).collect();
    // A quarter down: behind come loads and stores of ragged ends, which the proof does not run.
    let place = *places.get(places.len() / 4)?;
    let wrong = fault(lines[place])?;
    let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
    lines[place] = wrong;
    Some(format!("{}{}{}", &text[..start], lines.join("\n"), &text[end..]))
}
