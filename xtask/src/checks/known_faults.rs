//! Faults that are known, of `xtask/faults.toml`: whether the tests that hold them still do.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, bail, ensure};
use lanecrypt_cuda::variables::HOST_KERNELS;
use serde::Deserialize;

use crate::{
    command::{command, root, target},
    kernels,
    sources::tree,
};

const LIST: &str = "xtask/faults.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    fault: Vec<Fault>,
}

/// A fault, and who must notice it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    what: String,
    /// The file, and text that is there once, with what replaces it.
    file: String,
    from: String,
    to: String,
    /// The step of `cargo xtask test`.
    step: String,
    /// What `cargo test` is told.
    tests: Vec<String>,
}

/// Puts one fault after the other into a copy of the tree; each must compile, and its tests must fail. All, or those
/// that have one of these texts in what they are or in their file's path.
pub(crate) fn run(only: &[String]) -> Result<()> {
    let mut list = read()?;
    list.retain(|fault| fault.is_named(only));
    ensure!(!list.is_empty(), "no fault of {LIST} is named {}", only.join(", "));
    let copy = target().join("known-faults");
    tree::copy(&copy, |_, bytes| Some(bytes))?;
    let mut survivors = Vec::new();
    for fault in &list {
        let is_noticed = fault.is_noticed(&copy).with_context(|| fault.what.clone())?;
        println!(
            "{} ({}): {}",
            fault.what,
            fault.step,
            if is_noticed { "noticed" } else { "LIVES" }
        );
        if !is_noticed {
            survivors.push(fault.what.as_str());
        }
    }
    ensure!(survivors.is_empty(), "not noticed: {}", survivors.join("; "));
    println!("{} faults, each noticed by its tests", list.len());
    Ok(())
}

fn read() -> Result<Vec<Fault>> {
    let text = fs::read_to_string(root().join(LIST)).context(LIST)?;
    let List { fault } = toml::from_str(&text).context(LIST)?;
    Ok(fault)
}

impl Fault {
    fn is_named(&self, only: &[String]) -> bool {
        let has = |text: &String| self.what.contains(text) || self.file.contains(text);
        only.is_empty() || only.iter().any(has)
    }

    /// The file with the fault in it.
    fn put_into(&self, text: &str) -> Result<String> {
        let places = text.matches(&self.from).count();
        ensure!(places == 1, "{}: {:?} is there {places} times, not once", self.file, self.from);
        Ok(text.replace(&self.from, &self.to))
    }

    fn is_noticed(&self, copy: &Path) -> Result<bool> {
        let path = copy.join(&self.file);
        let sound = fs::read_to_string(&path).with_context(|| self.file.clone())?;
        fs::write(&path, self.put_into(&sound)?)?;
        let noticed = self.tests_fail(copy);
        fs::write(&path, sound)?;
        noticed
    }

    fn tests_fail(&self, copy: &Path) -> Result<bool> {
        let mut environment = Vec::new();
        if self.tests.iter().any(|test| test == "--test=device") {
            environment.push((HOST_KERNELS, kernels::host::build_of_tree(copy)?));
        }
        let test = |options: &[&str]| -> Command {
            let mut test = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            test.args(["test", "--quiet"])
                .args(options)
                .args(&self.tests)
                .envs(environment.iter().map(|(k, v)| (k, v)));
            test.current_dir(copy).env_remove("CARGO_MANIFEST_DIR");
            test.env("CARGO_TARGET_DIR", target().join("known-faults-target"));
            test
        };
        let built = test(&["--no-run"]).output().context("cargo does not start")?;
        if !built.status.success() {
            bail!("it does not compile:\n{}", String::from_utf8_lossy(&built.stderr));
        }
        Ok(!test(&[]).output().context("cargo does not start")?.status.success())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fault whose text is gone would be no fault.
    #[test]
    fn every_fault_has_its_place() {
        for fault in read().expect("the list can be read") {
            let text = fs::read_to_string(root().join(&fault.file)).expect("the file is there");
            let faulty = fault.put_into(&text).expect("its text is there once");
            assert_ne!(faulty, text, "{}", fault.what);
        }
    }
}
