//! Mutants: a fault at a time in the code, and whether the tests notice.

use std::{fs, slice};

use anyhow::{Context, Result, bail, ensure};
use lanecrypt_cuda::variables::HOST_KERNELS;

use crate::{
    command::{command, target},
    kernels, packages,
    tools::MUTANTS,
};

/// A package whose code gets the faults.
struct Subject {
    package: String,
    /// Where, in the package's `src`.
    files: &'static [&'static str],
    /// Other packages whose tests must notice. Those of the facade hold engines, modes and kernels.
    tests: &'static [&'static str],
}

/// The parts of a cipher that have bounds, sizes and keys; its rounds are held by every vector.
fn cipher(package: String) -> Subject {
    Subject { package, files: &["cuda.rs", "schedule.rs"], tests: &["lanecrypt"] }
}

/// A package all of whose code gets them.
fn whole(package: &str, tests: &'static [&'static str]) -> Subject {
    Subject { package: package.to_owned(), files: &["**/*.rs"], tests }
}

fn subjects() -> Result<Vec<Subject>> {
    let mut subjects = vec![
        whole("core", &["lanecrypt-aes", "lanecrypt-fuzz", "lanecrypt"]),
        whole("cuda", &["lanecrypt"]),
        whole("slicing", &["lanecrypt-aes", "lanecrypt-hight"]),
        whole("reference", &["lanecrypt-fuzz"]),
        // Where plaintext or a key could leak.
        whole("modes", &["lanecrypt-fuzz", "lanecrypt"]),
        whole("tink", &["lanecrypt-fuzz"]),
        whole("luks", &["lanecrypt-fuzz"]),
        whole("objects", &["lanecrypt-fuzz"]),
        whole("parquet", &["lanecrypt-fuzz"]),
        whole("lanecrypt", &["lanecrypt-fuzz"]),
        whole("openssl-provider", &[]),
        whole("cli", &[]),
    ];
    subjects.extend(packages::ciphers()?.into_iter().map(cipher));
    Ok(subjects)
}

/// Puts faults into these packages, or into all; `file` restricts them to one file's.
pub(crate) fn run(packages: &[String], file: Option<&str>) -> Result<()> {
    let subjects = subjects()?;
    let has = |name: &String| subjects.iter().any(|subject| subject.package == *name);
    if let Some(unknown) = packages.iter().find(|name| !has(name)) {
        let known = subjects.iter().map(|subject| subject.package.as_str()).collect::<Vec<_>>();
        bail!("no faults are put into {unknown:?}; there are {}", known.join(", "));
    }
    let chosen = |subject: &&Subject| packages.is_empty() || packages.contains(&subject.package);
    let mut survivors = Vec::new();
    for subject in subjects.iter().filter(chosen) {
        survivors.extend(subject.run(file)?);
    }
    if survivors.is_empty() {
        println!("no mutant survived");
        return Ok(());
    }
    println!("survivors:\n{}", survivors.join("\n"));
    bail!("{} mutants survived", survivors.len())
}

impl Subject {
    /// The survivors, as cargo-mutants describes them. The tests run on a copy of the workspace,
    /// with the host build of the kernels.
    fn run(&self, file: Option<&str>) -> Result<Vec<String>> {
        let folder = target().join("mutants").join(&self.package);
        fs::create_dir_all(&folder)?;
        let package = format!("lanecrypt-{}", self.package);
        let mut mutants = command(MUTANTS.path()?);
        mutants.args(["mutants", "--no-shuffle", "--colors", "never", "--all-features"]);
        mutants.args(["--package", &package, "--test-package", &package]);
        for tests in self.tests {
            mutants.args(["--test-package", tests]);
        }
        for name in file.as_ref().map_or(self.files, slice::from_ref) {
            mutants.args(["--file", &format!("crates/{}/src/{name}", self.package)]);
        }
        // Twice what the tests take without a fault: a mutant that loops is caught, too.
        mutants.args(["--timeout-multiplier", "2", "--build-timeout-multiplier", "5"]);
        mutants.arg("--output").arg(&folder).env(HOST_KERNELS, kernels::host::build()?);
        let status = mutants.status().context("cargo-mutants does not start")?;
        // 2: some were missed; 3: some ran out of time.
        ensure!(matches!(status.code(), Some(0 | 2 | 3)), "cargo-mutants ended with {status}");
        let missed = fs::read_to_string(folder.join("mutants.out/missed.txt"))?;
        Ok(missed.lines().map(str::to_owned).collect())
    }
}
