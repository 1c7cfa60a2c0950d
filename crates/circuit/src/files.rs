//! The table of S-boxes, the files written from their circuits, and the search that finds them.
//!
//! A cipher whose S-box is affine-equivalent to inversion is one entry in [`TARGETS`], two data
//! files that [`derive_files`] writes, and the truth table that the caller hands in.

use crate::derive::{self, Affine};
use crate::{Error, Program, emit_cuda, emit_rust, lut};

/// The core of every derived circuit.
const INVERSION: &str = include_str!("../data/inversion.slp");

/// Where the data files are, from the root of the workspace.
const DATA: &str = "crates/circuit/data";

/// Greedy runs for the linear layers: seconds.
const LINEAR_EFFORT: derive::Effort =
    derive::Effort { seed: 1, survey: 10, refine: 300, maps: 150 };

/// An S-box for which the workspace has circuits.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name of the circuit and stem of its data files, `aes_inv_sbox`.
    pub name: &'static str,
    /// The cipher: the folder under `crates/` and `kernels/`.
    pub cipher: &'static str,
    /// Name of the Rust function in `crates/<cipher>/src/sbox.rs`.
    pub rust_function: &'static str,
    /// What the functions do, for their documentation.
    pub doc: &'static str,
    /// Carries the S-box's input to the inversion's.
    top: fn(u8) -> u8,
    /// What `top` is, in words.
    top_text: &'static str,
    /// The two-input circuit.
    two_input: &'static str,
    /// The circuit of three-input lookups.
    lookups: &'static str,
    /// The search that found `lookups`: which of the derived circuits it starts from (all were
    /// tried with few steps), and how it goes on.
    start: usize,
    effort: lut::Effort,
}

/// Every S-box with circuits.
pub const TARGETS: &[Target] = &[
    Target {
        name: "aes_sbox",
        cipher: "aes",
        rust_function: "sbox",
        doc: "The AES S-box on eight words, word `i` holding bit `i` of every byte.",
        top: |input| input,
        top_text: "the input",
        two_input: include_str!("../data/aes_sbox.slp"),
        lookups: include_str!("../data/aes_sbox.lut"),
        start: 67,
        effort: lut::Effort { seed: 1, steps: 2_500_000 },
    },
    Target {
        name: "aes_inv_sbox",
        cipher: "aes",
        rust_function: "inv_sbox",
        doc: "The inverse AES S-box on eight words, word `i` holding bit `i` of every byte.",
        top: |input| input.rotate_left(1) ^ input.rotate_left(3) ^ input.rotate_left(6) ^ 0x05,
        top_text: "the inverse of the affine map of FIPS 197, 5.1.1",
        two_input: include_str!("../data/aes_inv_sbox.slp"),
        lookups: include_str!("../data/aes_inv_sbox.lut"),
        start: 1,
        effort: lut::Effort { seed: 1, steps: 2_500_000 },
    },
];

impl Target {
    /// The committed two-input circuit.
    ///
    /// # Errors
    /// What is wrong with the data file.
    pub fn two_input(&self) -> Result<Program, Error> {
        self.two_input.parse()
    }

    /// The committed circuit of three-input lookups.
    ///
    /// # Errors
    /// What is wrong with the data file.
    pub fn lookups(&self) -> Result<Program, Error> {
        self.lookups.parse()
    }
}

/// A file as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedFile {
    /// From the root of the workspace, with `/`.
    pub path: String,
    /// The whole text.
    pub contents: String,
}

/// A truth table and the name of the target that it belongs to.
pub type NamedTable<'a> = (&'a str, &'a [u8; 256]);

/// The Rust and CUDA files of all ciphers in [`TARGETS`], from the committed circuits, each circuit
/// proved first against its table. A target without a table is an error, so none goes unproved.
///
/// # Errors
/// [`Error::Shape`] for a target without a table, [`Error::Disproved`] for a wrong circuit, and
/// what is wrong with a data file.
pub fn generated_files(tables: &[NamedTable<'_>]) -> Result<Vec<GeneratedFile>, Error> {
    let mut files: Vec<GeneratedFile> = Vec::new();
    for target in TARGETS {
        let table = table_of(target, tables)?;
        let (two_input, lookups) = (target.two_input()?, target.lookups()?);
        two_input.prove(table)?;
        lookups.prove(table)?;
        let rust = emit_rust(&two_input, target.rust_function, &doc_of(target, &two_input))?;
        let cuda = emit_cuda(&lookups, target.name, &doc_of(target, &lookups));
        let Target { cipher, .. } = target;
        append(&mut files, format!("crates/{cipher}/src/sbox.rs"), || rust_head(cipher), &rust);
        append(&mut files, format!("kernels/{cipher}/sbox.cuh"), || cuda_head(cipher), &cuda);
    }
    Ok(files)
}

/// Derives the circuits of all [`TARGETS`] anew, a thread each, and returns the data files' texts.
/// Takes two minutes in a release build; the same code gives the same texts on every machine.
///
/// # Errors
/// As [`generated_files`], and [`Error::NotEquivalent`] for a table that is no affine image of
/// inversion.
pub fn derive_files(tables: &[NamedTable<'_>]) -> Result<Vec<GeneratedFile>, Error> {
    let core: Program = INVERSION.parse()?;
    let derived: Vec<_> = std::thread::scope(|scope| {
        let start = |target| {
            let core = &core;
            scope.spawn(move || derive_target(target, core, table_of(target, tables)?))
        };
        let threads: Vec<_> = TARGETS.iter().map(start).collect();
        threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    let mut files = Vec::new();
    for result in derived {
        let stopped = |_| Error::Shape("a derivation stopped".into());
        files.extend(result.map_err(stopped)??);
    }
    Ok(files)
}

/// Both data files of a target.
fn derive_target(
    target: &Target,
    core: &Program,
    table: &[u8; 256],
) -> Result<[GeneratedFile; 2], Error> {
    let circuits = derive_two_input(target, core, table)?;
    let lookups = derive_lookups(target, &circuits)?;
    let two_input = circuits.first().ok_or_else(|| no_start(target))?;
    two_input.prove(table)?;
    lookups.prove(table)?;
    let file = |program: &Program, extension| GeneratedFile {
        path: format!("{DATA}/{}.{extension}", target.name),
        contents: program.to_string(),
    };
    Ok([file(two_input, "slp"), file(&lookups, "lut")])
}

/// The two-input circuits of a target, fewest gates first.
fn derive_two_input(
    target: &Target,
    core: &Program,
    table: &[u8; 256],
) -> Result<Vec<Program>, Error> {
    let not_affine = || Error::Shape(format!("{}: its top map is not affine", target.name));
    let top = Affine::from_fn(target.top).ok_or_else(not_affine)?;
    let derived = format!(
        "cargo xtask codegen --derive (derive::derive, {LINEAR_EFFORT:?}).\n\
         The inversion reads {}, after the best of its 2040 symmetries;\n\
         both linear layers are the project's own search.",
        target.top_text
    );
    let source = format!("{DATA}/inversion.slp, which names the publication");
    let notes = [("source", source.as_str()), ("derived", derived.as_str())];
    derive::derive(core, &top, table, target.name, &notes, LINEAR_EFFORT)
}

fn derive_lookups(target: &Target, circuits: &[Program]) -> Result<Program, Error> {
    let start = circuits.get(target.start).ok_or_else(|| no_start(target))?;
    let derived = format!(
        "cargo xtask codegen --derive (lut::map, {:?}),\n\
         from circuit {} of the {} two-input ones that derive::derive found.\n\
         A lookup's table is the immediate of PTX lop3 and of vpternlog.",
        target.effort,
        target.start,
        circuits.len()
    );
    let source = format!("{DATA}/inversion.slp, by the project's own search");
    let notes = [("source", source.as_str()), ("derived", derived.as_str())];
    lut::map(start, target.name, &notes, target.effort)
}

fn no_start(target: &Target) -> Error {
    Error::Shape(format!("{}: the search has no circuit to start from", target.name))
}

fn table_of<'a>(target: &Target, tables: &[NamedTable<'a>]) -> Result<&'a [u8; 256], Error> {
    let found = tables.iter().find(|(name, _)| *name == target.name);
    let missing = || Error::Shape(format!("no truth table for {}", target.name));
    found.map(|&(_, table)| table).ok_or_else(missing)
}

fn doc_of(target: &Target, program: &Program) -> String {
    format!("{}\n\nGates: {}.", target.doc, program.counts())
}

/// Appends a function to the file of that path, which `head` starts.
fn append(
    files: &mut Vec<GeneratedFile>,
    path: String,
    head: impl FnOnce() -> String,
    function: &str,
) {
    let index = files.iter().position(|file| file.path == path).unwrap_or_else(|| {
        files.push(GeneratedFile { path, contents: head() });
        files.len() - 1
    });
    files[index].contents.push('\n');
    files[index].contents.push_str(function);
}

/// The data files of a cipher and their counts, one comment line each.
fn sources(cipher: &str, comment: &str, extension: &str) -> String {
    let of_cipher = TARGETS.iter().filter(|target| target.cipher == cipher);
    let line = |target: &Target| {
        let program = if extension == "slp" { target.two_input() } else { target.lookups() };
        let counts = program.map_or_else(|_| String::new(), |program| program.counts().to_string());
        format!("{comment} `{DATA}/{}.{extension}`, {counts}", target.name)
    };
    of_cipher.map(line).collect::<Vec<_>>().join(";\n") + ".\n"
}

fn rust_head(cipher: &str) -> String {
    format!(
        "//! Generated by `cargo xtask codegen`, do not edit by hand: from\n{}\n\
         #![allow(\n    clippy::many_single_char_names,\n    clippy::similar_names,\n    \
         clippy::too_many_lines\n)]\n\n\
         use lanecrypt_slicing::Word;\n",
        sources(cipher, "//!", "slp")
    )
}

fn cuda_head(cipher: &str) -> String {
    format!(
        "// Generated by `cargo xtask codegen`, do not edit by hand: from\n{}\n\
         #pragma once\n\n#include \"../common/word.cuh\"\n",
        sources(cipher, "//", "lut")
    )
}
