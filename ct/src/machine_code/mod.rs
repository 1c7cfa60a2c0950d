//! The machine code of instruction sets that valgrind does not run: no branch and no address depends
//! on key or data.
//!
//! All SIMD code of an instruction set is in the functions `run::region` and `run_over::region` of its
//! token, one for each body (`lanecrypt_slicing::Isa`), with everything inlined. These functions of this
//! very program are disassembled, and what depends on secrets is followed through registers, flags and
//! the stack. Functions that they call with what is secret are analysed as well.

mod bodies;
mod flow;
mod frame;
mod parse;
mod state;
mod step;
mod value;
mod vector;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use lanecrypt::ConstantTime;
use rayon::prelude::*;

use self::{
    flow::{Analysis, Entry, analyse},
    parse::{Function, Linked},
    value::{BODY, Value},
};
use crate::report::{Row, Verdict};

/// Instruction sets that valgrind 3.19 does not run: words of a backend's id, and the token whose
/// regions it runs. Any other backend that cannot run there is an error.
///
/// What is shown of these backends: that the compiler made of their ciphers' regions no branch, no
/// address and no division that depends on key or data. That their ciphers' text has none besides is
/// shown where it runs under valgrind on another instruction set (`bitslice-avx2`, `aes-avx2`,
/// `aes-ni`); so is what is outside of regions, which is the same for all. What is not shown: see
/// [`frame`] and [`bodies`] for what is taken for granted.
const BEYOND_VALGRIND: [(&str, &str); 3] =
    [("avx512", "avx512::Avx512"), ("gfni", "avx2::Avx2Gfni"), ("vaes", "avx2::Avx2Vaes")];

/// Tokens whose regions run under valgrind and trip nothing there, so nothing may be found here, too.
const SILENT: [&str; 4] = ["sse2::Sse2", "avx2::Avx2", "avx2::Avx2Aes", "aes::AesNi"];

/// Regions of modes, for whatever cipher: what their rows are called, and what their names have.
const OF_MODES: [(&str, &str); 2] =
    [("ghash", "lanecrypt_slicing::ghash::"), ("xts-masks", "lanecrypt_slicing::xts_masks::")];

/// What the names of functions have that look tables up.
const LOOKS_UP: [&str; 2] =
    ["::Table32", " as lanecrypt_core::block::Implementation>::run_batches"];

/// What an address in a table of 32-bit words ends with.
const WORDS: &str = ",4)";

/// Beginnings of the names of functions that report a defect and do not return.
const PANICS: [&str; 5] = [
    "core::panicking::",
    "core::slice::index::slice_",
    "core::option::unwrap_failed",
    "core::option::expect_failed",
    "core::result::unwrap_failed",
];

/// Findings that are shown of a backend whose claim is wrong.
const SHOWN_FINDINGS: usize = 40;

/// The program as objdump shows it.
struct Program<'a> {
    functions: Vec<Function<'a>>,
    by_address: HashMap<u64, usize>,
    relocations: HashMap<u64, Linked<'a>>,
}

/// What was found in the regions of an instruction set, for a cipher.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// How many instructions each function has, by address.
    functions: BTreeMap<u64, usize>,
    findings: BTreeSet<String>,
}

impl Evidence {
    /// What comes of a claim.
    fn verdict(&self, claim: ConstantTime) -> Verdict {
        match claim {
            ConstantTime::Yes if self.findings.is_empty() => Verdict::Holds,
            ConstantTime::No(_) if !self.findings.is_empty() => Verdict::Trips,
            _ => Verdict::Wrong,
        }
    }

    /// All of it in a line.
    fn shown(&self) -> String {
        let found = match self.findings.len() {
            0 => "nothing".to_owned(),
            count => format!("{count} places"),
        };
        let instructions: usize = self.functions.values().sum();
        format!("{found} in {} functions, {instructions} instructions", self.functions.len())
    }

    /// The first findings.
    fn details(&self) -> Vec<String> {
        self.findings.iter().take(SHOWN_FINDINGS).cloned().collect()
    }

    /// What comes of it for whatever has this name.
    pub(crate) fn row(&self, name: String, claim: ConstantTime) -> Row {
        let verdict = self.verdict(claim);
        let details = if verdict == Verdict::Wrong { self.details() } else { Vec::new() };
        Row { name, claim, how: "machine code", found: self.shown(), verdict, details }
    }

    fn add(&mut self, other: Self) {
        self.functions.extend(other.functions);
        self.findings.extend(other.findings);
    }
}

/// What was found in all of them.
pub(crate) struct MachineCode {
    /// By token and by crate.
    evidence: HashMap<(&'static str, String), Evidence>,
    silent: Vec<Row>,
}

/// The token of the instruction set that valgrind does not run and that a backend needs.
pub(crate) fn token(backend: &str) -> Option<&'static str> {
    let is_in = |word: &str| backend.split('-').any(|part| part == word);
    BEYOND_VALGRIND.iter().find(|(word, _)| is_in(word)).map(|(_, token)| *token)
}

impl MachineCode {
    /// Of this very program.
    ///
    /// # Errors
    /// Where objdump does not run; where a function is not understood; where nothing is found in
    /// functions that look tables up, and where there are none.
    pub(crate) fn of_this_program() -> Result<Self> {
        let path = std::env::current_exe()?;
        let disassemble = ["--disassemble", "--demangle=rust", "--no-show-raw-insn"];
        let listing = objdump(&disassemble, &path)?;
        let relocations = objdump(&["--dynamic-reloc"], &path)?;
        let program = Program::parse(&listing, &relocations);
        program.require_trips()?;
        let regions = program.functions.iter().map(|f| f.name).filter(|name| is_region_name(name));
        bodies::require_run(&regions.collect::<Vec<_>>())?;
        let mut evidence = HashMap::new();
        for (_, token) in BEYOND_VALGRIND {
            evidence.extend(program.evidence(token)?);
        }
        let silent = SILENT.map(|token| program.row(token)).into_iter().collect::<Result<_>>()?;
        Ok(Self { evidence, silent })
    }

    /// What was found of the instruction sets that valgrind does run, a row for each: were anything
    /// found there that valgrind does not report, the search would be too coarse. And of what modes
    /// have, which is no backend, on the others.
    pub(crate) fn into_rows(self) -> Vec<Row> {
        let is_of_mode = |owner: &str| OF_MODES.iter().any(|(name, _)| *name == owner);
        let of_modes = self.evidence.into_iter().filter(|((_, owner), _)| is_of_mode(owner));
        let row = |((token, owner), evidence): ((&str, String), Evidence)| {
            evidence.row(format!("{owner}/{token}"), ConstantTime::Yes)
        };
        self.silent.into_iter().chain(of_modes.map(row)).collect()
    }

    /// What was found of a backend.
    pub(crate) fn of(&self, cipher: &str, backend: &str) -> Option<&Evidence> {
        let cipher = cipher.split('-').next().unwrap_or(cipher);
        let owner = if cipher == "tdes" { "des" } else { cipher };
        self.evidence.get(&(token(backend)?, owner.to_owned()))
    }
}

/// Whether a function is compiled with an instruction set, to run a body.
fn is_region_name(name: &str) -> bool {
    name.contains("::run::region::<") || name.contains("::run_over::region::<")
}

fn objdump(options: &[&str], path: &std::path::Path) -> Result<String> {
    let output = Command::new("objdump").args(options).arg(path).output();
    let output = output.context("objdump does not start: apt-get install binutils")?;
    ensure!(output.status.success(), "objdump: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

impl<'a> Program<'a> {
    fn parse(listing: &'a str, relocations: &'a str) -> Self {
        let functions = parse::functions(listing);
        let by_address = functions.iter().enumerate().map(|(i, f)| (f.address, i)).collect();
        Self { functions, by_address, relocations: parse::relocations(relocations) }
    }

    /// The function that begins at an address.
    fn function(&self, address: u64) -> Option<&Function<'a>> {
        self.by_address.get(&address).map(|&i| &self.functions[i])
    }

    /// What the loader writes at an address.
    fn linked(&self, address: u64) -> Option<Linked<'a>> {
        self.relocations.get(&address).copied()
    }

    /// Whether a function only reports an error and does not return.
    fn is_panic(name: &str) -> bool {
        PANICS.iter().any(|start| name.starts_with(start))
    }

    /// The regions of an instruction set.
    fn regions(&self, token: &str) -> Vec<&Function<'a>> {
        let token = format!("<lanecrypt_slicing::x86::{token} as lanecrypt_slicing::isa::Isa>::");
        let is_of = |name: &str| name.starts_with(&token) && is_region_name(name);
        self.functions.iter().filter(|function| is_of(function.name)).collect()
    }

    /// What is in the regions of an instruction set, by crate of the cipher.
    fn evidence(&self, token: &'static str) -> Result<HashMap<(&'static str, String), Evidence>> {
        let mut of_crates: HashMap<(&str, String), Evidence> = HashMap::new();
        for (function, searched) in self.search(token)? {
            let (_, body) = bodies::types(function.name)?;
            let owner = body
                .split("lanecrypt_")
                .filter_map(|part| part.split_once("::").map(|(name, _)| name))
                .find(|name| *name != "slicing")
                .or_else(|| {
                    let of_mode = OF_MODES.iter().find(|(_, part)| function.name.contains(part));
                    of_mode.map(|(name, _)| *name)
                })
                .with_context(|| format!("{}: of no cipher", function.name))?;
            of_crates.entry((token, owner.to_owned())).or_default().add(searched);
        }
        Ok(of_crates)
    }

    /// What is in the regions of an instruction set, whatever the cipher.
    fn row(&self, token: &str) -> Result<Row> {
        let mut all = Evidence::default();
        for (_, searched) in self.search(token)? {
            all.add(searched);
        }
        Ok(all.row(format!("all/{token}"), ConstantTime::Yes))
    }

    /// Searches the regions of an instruction set.
    fn search(&self, token: &str) -> Result<Vec<(&Function<'a>, Evidence)>> {
        let regions = self.regions(token);
        ensure!(!regions.is_empty(), "the program has no function of {token}");
        let search = |function: &Function<'a>| {
            let entry = bodies::entry(function.name)?;
            self.follow(function, entry, true)
        };
        let searched = regions.into_par_iter().map(|function| {
            let searched = search(function).with_context(|| function.name.to_owned())?;
            Ok((function, searched))
        });
        searched.collect()
    }

    /// Searches a function and those that it calls.
    fn follow(&self, root: &Function<'a>, entry: Entry<'a>, is_region: bool) -> Result<Evidence> {
        let mut searched = Evidence::default();
        let mut waiting = vec![(root.address, entry)];
        let mut seen: HashSet<(u64, [Value; 6])> = HashSet::new();
        while let Some((address, entry)) = waiting.pop() {
            let function = self.function(address).context("a call of no function")?;
            let instructions = function.instructions()?;
            let analysis = analyse(self, &instructions, &entry);
            let analysis: Analysis = analysis.with_context(|| function.name.to_owned())?;
            if is_region && address == root.address {
                bodies::require_read(&entry, &analysis)?;
            }
            searched.functions.insert(address, instructions.len());
            for (at, what) in &analysis.findings {
                let text = instructions.iter().find(|i| i.address == *at).map_or("", |i| i.text);
                searched.findings.insert(format!("{at:x}: {what}: {text} in {}", function.name));
            }
            for (callee, arguments) in analysis.calls {
                let is_root = self.function(callee).is_some_and(|f| is_region_name(f.name));
                if !is_root && seen.insert((callee, arguments)) {
                    waiting.push((callee, Entry { arguments, body: None }));
                }
            }
        }
        Ok(searched)
    }

    /// Checks that the search finds something in functions that look tables up.
    fn require_trips(&self) -> Result<()> {
        let looks_up = |name: &str| LOOKS_UP.iter().all(|part| name.contains(part));
        let functions: Vec<_> = self.functions.iter().filter(|f| looks_up(f.name)).collect();
        ensure!(!functions.is_empty(), "the program has no function that looks tables up");
        // Itself, its keys and the blocks, whose pointers and number come by pointer.
        let mut arguments = [Value::Public; 6];
        arguments[1..3].fill(Value::Frame(Some(BODY)));
        let body = flow::Body { bytes: 24, keys: 0, public_keys: &[], public: &[] };
        for function in functions {
            let entry = Entry { arguments, body: Some(body) };
            let searched = self.follow(function, entry, false);
            let searched = searched.with_context(|| function.name.to_owned())?;
            let is_look_up =
                |finding: &String| finding.contains(step::ADDRESS) && finding.contains(WORDS);
            let is_found = searched.findings.iter().any(is_look_up);
            ensure!(is_found, "no look-up is found in {}: the search is blind", function.name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
