//! What a change can break: the packages whose files changed, and all that depend on them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use anyhow::Result;
use serde_json::Value;

use crate::{
    command::{command, output, root},
    packages,
    test::Variables,
    test_programs::{self, TestProgram},
};

/// What is to be tested after a change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Affected {
    /// Names of packages.
    pub(crate) packages: BTreeSet<String>,
    /// Whether `kat` has other vectors, or is another program.
    pub(crate) kat: bool,
    /// Whether the wheel is another one.
    pub(crate) wheel: bool,
}

impl Affected {
    /// By what differs from a revision, and is not committed.
    pub(crate) fn since(revision: &str) -> Result<Self> {
        let committed = output(command("git").args(["diff", "--name-only", revision]))?;
        let new = output(command("git").args(["ls-files", "--others", "--exclude-standard"]))?;
        let files: Vec<&str> = committed.lines().chain(new.lines()).collect();
        Ok(Self::by(&files, &packages::metadata()?, &root()))
    }

    fn by(files: &[&str], packages: &[Value], root: &Path) -> Self {
        let name = |package: &Value| package["name"].as_str().unwrap_or_default().to_owned();
        let folders: BTreeMap<String, String> = packages
            .iter()
            .filter_map(|package| {
                let folder = Path::new(package["manifest_path"].as_str()?).parent()?;
                let folder = folder.strip_prefix(root).ok()?.to_str()?;
                Some((format!("{folder}/"), name(package)))
            })
            .collect();
        let mut affected = BTreeSet::new();
        for file in files {
            // What all packages are built by.
            if file.starts_with("Cargo.") || file.starts_with(".cargo/") {
                affected.extend(packages.iter().map(&name));
            }
            // The last: a package that lies inside another one comes after it.
            let own = folders.iter().rev().find(|(folder, _)| file.starts_with(folder.as_str()));
            affected.extend(own.map(|(_, name)| name.clone()));
        }
        let needs = |package: &Value, affected: &BTreeSet<String>| {
            let needed = package["dependencies"].as_array().into_iter().flatten();
            needed.into_iter().any(|needed| affected.contains(&name(needed)))
        };
        loop {
            let before = affected.len();
            let more: Vec<_> = packages.iter().filter(|p| needs(p, &affected)).map(&name).collect();
            affected.extend(more);
            if affected.len() == before {
                break;
            }
        }
        Self {
            kat: affected.contains("lanecrypt-benches")
                || files.iter().any(|file| file.starts_with("vectors/")),
            wheel: affected.contains("lanecrypt-python"),
            packages: affected,
        }
    }

    /// For people.
    pub(crate) fn shown(&self) -> String {
        let mut parts: Vec<&str> = self.packages.iter().map(String::as_str).collect();
        parts.extend(self.wheel.then_some("the wheel"));
        parts.extend(self.kat.then_some("kat"));
        if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
    }

    /// Runs those of the test programs that are of these packages.
    pub(crate) fn run_tests(&self, programs: &[TestProgram], variables: &Variables) -> Result<()> {
        let manifests = self.manifests()?;
        let is_affected = |program: &&TestProgram| manifests.contains(&program.manifest);
        test_programs::run_all(programs.iter().filter(is_affected), &[], variables)
    }

    /// Manifests of the packages.
    fn manifests(&self) -> Result<BTreeSet<PathBuf>> {
        let all = packages::metadata()?.into_iter();
        let ours = all.filter(|package| {
            package["name"].as_str().is_some_and(|name| self.packages.contains(name))
        });
        Ok(ours.filter_map(|package| Some(package["manifest_path"].as_str()?.into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_depends_on_a_change_is_affected() {
        let package = |name: &str, folder: &str, needs: &[&str]| {
            let needs: Vec<_> = needs.iter().map(|name| json!({ "name": name })).collect();
            json!({ "name": name, "manifest_path": format!("/r/{folder}/Cargo.toml"),
                    "dependencies": needs })
        };
        let packages = [
            package("lanecrypt-core", "crates/core", &[]),
            package("lanecrypt-aes", "crates/aes", &["lanecrypt-core"]),
            package("lanecrypt-benches", "benches", &["lanecrypt-aes", "clap"]),
            package("lanecrypt-python", "crates/python", &["lanecrypt-core"]),
            package("lanecrypt-record", "benches/schema", &[]),
        ];
        let by = |file: &str| {
            let affected = Affected::by(&[file], &packages, Path::new("/r"));
            let names: Vec<String> = affected.packages.into_iter().collect();
            (names.join(" "), affected.kat, affected.wheel)
        };
        let of = |names: &str, kat, wheel| (names.to_owned(), kat, wheel);
        assert_eq!(by("crates/aes/src/lib.rs"), of("lanecrypt-aes lanecrypt-benches", true, false));
        assert_eq!(by("crates/python/src/lib.rs"), of("lanecrypt-python", false, true));
        assert_eq!(by("benches/schema/src/lib.rs"), of("lanecrypt-record", false, false));
        assert_eq!(by("vectors/aes_ecb.txt"), of("", true, false));
        assert_eq!(by("README.md"), of("", false, false));
        assert_eq!(by("Cargo.lock").0.split(' ').count(), 5);
    }
}
