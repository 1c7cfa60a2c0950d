//! Tools of cargo that tasks need, each in one pinned version.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::command::{cargo, command, output, run, target};

/// A program on crates.io whose name is that of its package.
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
}

pub(crate) const FUZZ: Tool = Tool { name: "cargo-fuzz", version: "0.13.2" };
pub(crate) const SEMVER_CHECKS: Tool = Tool { name: "cargo-semver-checks", version: "0.51.0" };
pub(crate) const MUTANTS: Tool = Tool { name: "cargo-mutants", version: "27.1.0" };

impl Tool {
    /// The program of this version: the user's own, or one under the target folder, which is
    /// installed if it is not there.
    pub(crate) fn path(&self) -> Result<PathBuf> {
        let root = target().join("tools");
        let ours = root.join("bin").join(self.name);
        for candidate in [PathBuf::from(self.name), ours.clone()] {
            if self.is(&candidate) {
                return Ok(candidate);
            }
        }
        println!("installing {} {}", self.name, self.version);
        let options = ["install", "--quiet", "--locked", "--force", "--version", self.version];
        run(cargo().args(options).arg("--root").arg(&root).arg(self.name))?;
        if self.is(&ours) {
            return Ok(ours);
        }
        bail!("{} is not {} {}", ours.display(), self.name, self.version)
    }

    /// Whether a program can be run and says that it is of this version.
    fn is(&self, program: &PathBuf) -> bool {
        let subcommand = self.name.trim_start_matches("cargo-");
        let version = output(command(program).args([subcommand, "--version"]));
        version.is_ok_and(|text| text.split_whitespace().any(|word| word == self.version))
    }
}
