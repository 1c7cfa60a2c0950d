//! A build of the workspace with all mutants that compile, each behind its switch.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::switches::{Mutant, Switched, switched};
use crate::{
    command::{built_quickly, cargo},
    sources::tree,
    test_programs::{self, TestProgram, messages},
};

/// Which mutant is on, as a module of each crate.
pub(super) const ON: &str = include_str!("on.rs");

/// What to build.
#[derive(Debug)]
pub(super) struct Build<'a> {
    /// The copy of the workspace.
    pub(super) copy: &'a Path,
    pub(super) target: &'a Path,
    /// The folders of the packages that have mutants, under `crates`.
    pub(super) folders: &'a [&'a str],
    /// The packages whose tests are built.
    pub(super) tests: &'a [String],
    pub(super) features: &'a str,
}

/// Mutants of a build.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) programs: Vec<TestProgram>,
    /// The numbers of those that are behind switches.
    pub(super) switched: BTreeSet<usize>,
    /// Those that do not compile.
    pub(super) unviable: BTreeSet<usize>,
}

impl Build<'_> {
    /// Builds the tests with these mutants, without those that the compiler refuses.
    pub(super) fn tests_with(&self, mutants: &[Mutant]) -> Result<Built> {
        let mut unviable = BTreeSet::new();
        loop {
            let files = self.write(mutants, &unviable)?;
            let refused = self.refused(&files)?;
            if refused.is_empty() {
                let switched = files.values().flat_map(Switched::numbers).collect();
                return Ok(Built { programs: self.programs()?, switched, unviable });
            }
            unviable.extend(refused);
        }
    }

    /// Writes the copy, and gives the files that have mutants by their paths.
    fn write(
        &self,
        mutants: &[Mutant],
        without: &BTreeSet<usize>,
    ) -> Result<BTreeMap<String, Switched>> {
        let files = switched(mutants, without)?;
        tree::copy(self.copy, |path, bytes| Some(self.changed(path, bytes, &files)))?;
        Ok(files)
    }

    /// What the copy has of a file.
    fn changed(&self, path: &str, bytes: Vec<u8>, files: &BTreeMap<String, Switched>) -> Vec<u8> {
        let is_root = |folder: &str| {
            ["lib", "main"].iter().any(|root| path == format!("crates/{folder}/src/{root}.rs"))
        };
        let mut text = files.get(path).map_or(bytes, |switched| switched.text.clone().into_bytes());
        if self.folders.iter().any(|folder| is_root(folder)) {
            let on = Value::from(self.copy.with_file_name("on.rs").to_string_lossy()); // in quotes
            text.extend_from_slice(format!("\n#[path = {on}]\nmod mutants;\n").as_bytes());
        }
        text
    }

    fn cargo(&self, task: &str) -> Command {
        let mut cargo = cargo();
        cargo.args([task, "--message-format", "json", "--features", self.features]);
        cargo.args(self.tests.iter().flat_map(|package| ["--package", package]));
        cargo.current_dir(self.copy).env_remove("CARGO_MANIFEST_DIR");
        cargo.env("CARGO_TARGET_DIR", self.target).env("CARGO_INCREMENTAL", "0");
        // Faults are what lints are for.
        cargo.env("RUSTFLAGS", "--cap-lints=allow");
        cargo.stderr(Stdio::null());
        built_quickly(&mut cargo);
        cargo
    }

    /// The mutants that the compiler refuses; none once all compiles.
    fn refused(&self, files: &BTreeMap<String, Switched>) -> Result<BTreeSet<usize>> {
        let mut check = self.cargo("check");
        let output = check.args(["--tests", "--keep-going"]).output().context("cargo")?;
        let mut refused = BTreeSet::new();
        let mut others = String::new();
        for message in messages(&output.stdout) {
            if message["reason"] != "compiler-message" || message["message"]["level"] != "error" {
                continue;
            }
            let message = &message["message"];
            match spans(message).find_map(|(file, bytes)| files.get(file)?.mutant_at(&bytes)) {
                Some(mutant) => _ = refused.insert(mutant),
                None => others += message["rendered"].as_str().unwrap_or_default(),
            }
        }
        ensure!(
            output.status.success() || !refused.is_empty(),
            "what is no mutant does not compile:\n{others}"
        );
        Ok(refused)
    }

    fn programs(&self) -> Result<Vec<TestProgram>> {
        let output = self.cargo("test").arg("--no-run").output().context("cargo")?;
        if !output.status.success() {
            let texts = messages(&output.stdout);
            let texts = texts.filter_map(|m| m["message"]["rendered"].as_str().map(str::to_owned));
            bail!("the tests do not compile:\n{}", texts.collect::<String>());
        }
        test_programs::told(&output.stdout)
    }
}

/// The places of an error: first where it is, then what it has to do with.
fn spans(message: &Value) -> impl Iterator<Item = (&str, Range<usize>)> {
    let all = list(&message["spans"]);
    let (first, rest): (Vec<_>, Vec<_>) = all.partition(|span| span["is_primary"] == true);
    let hints = list(&message["children"]).flat_map(|hint| list(&hint["spans"]));
    first.into_iter().chain(rest).chain(hints).filter_map(|span| {
        let number = |field: &str| Some(span[field].as_u64()? as usize);
        Some((span["file_name"].as_str()?, number("byte_start")?..number("byte_end")?))
    })
}

fn list(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
