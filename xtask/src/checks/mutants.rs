//! Mutants: a fault at a time in the code, and whether the tests notice.

use std::{fs, path::Path, process::Command, slice};

use anyhow::{Context, Result, bail, ensure};
use lanecrypt_cuda::variables::HOST_KERNELS;

use crate::{
    command::{self, built_quickly, cargo, command, target},
    judges, kernels, packages,
    sources::tree,
    tools::MUTANTS,
};

/// A package whose code gets the faults.
struct Subject {
    /// Its folder under `crates`.
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

/// Puts faults into these packages, or into all; `file` restricts them to one file's, and `shard`, K/N, to each Nth.
pub(crate) fn run(packages: &[String], file: Option<&str>, shard: Option<&str>) -> Result<()> {
    let subjects = subjects()?;
    let has = |name: &String| subjects.iter().any(|subject| subject.package == *name);
    if let Some(unknown) = packages.iter().find(|name| !has(name)) {
        let known = subjects.iter().map(|subject| subject.package.as_str()).collect::<Vec<_>>();
        bail!("no faults are put into {unknown:?}; there are {}", known.join(", "));
    }
    let chosen = |subject: &&Subject| packages.is_empty() || packages.contains(&subject.package);
    let mut survivors = Vec::new();
    for subject in subjects.iter().filter(chosen) {
        survivors.extend(subject.run(file, shard)?);
    }
    if survivors.is_empty() {
        println!("no mutant survived");
        return Ok(());
    }
    println!("survivors:\n{}", survivors.join("\n"));
    bail!("{} mutants survived", survivors.len())
}

impl Subject {
    /// The survivors, as cargo-mutants describes them. The package's own tests, which take seconds, have the first look;
    /// the other packages' have what these miss.
    fn run(&self, file: Option<&str>, shard: Option<&str>) -> Result<Vec<String>> {
        let package = match self.package.as_str() {
            facade @ "lanecrypt" => facade.to_owned(),
            folder => format!("lanecrypt-{folder}"),
        };
        let files = file.as_ref().map_or(self.files, slice::from_ref).iter();
        let in_crate = |name| format!("crates/{}/src/{name}", self.package);
        let files: Vec<_> = files.map(in_crate).collect();
        let mut tests = vec![package.as_str()];
        let every_nth = |shard| ["--sharding", "round-robin", "--shard", shard];
        let shard = shard.map(every_nth);
        let first = look(&package, &files, &tests, shard.as_slice().as_flattened())?;
        if first.is_empty() || self.tests.is_empty() {
            return Ok(first);
        }
        tests.extend(self.tests);
        // As regular expressions, in which a period is any character.
        let expression = |mutant: &String| mutant.replace(|c: char| !c.is_alphanumeric(), ".");
        let missed: Vec<_> =
            first.iter().map(|mutant| format!("^{}$", expression(mutant))).collect();
        let missed: Vec<_> = missed.iter().flat_map(|mutant| ["--re", mutant]).collect();
        look(&package, &files, &tests, &missed)
    }
}

/// Those of the faults that `options` choose which the tests of these packages miss. They are put into a copy of the
/// workspace; the tests have the host build of the kernels.
fn look(package: &str, files: &[String], tests: &[&str], options: &[&str]) -> Result<Vec<String>> {
    let all = target().join("mutants");
    let (copy, folder) = (all.join("tree"), all.join(package));
    tree::copy(&copy, |_, bytes| Some(bytes))?;
    fs::create_dir_all(&folder)?;
    let mut mutants = command(MUTANTS.path()?);
    mutants.args(["mutants", "--in-place", "--dir"]).arg(&copy).args(options);
    let features = features(tests)?;
    mutants.args(["--no-shuffle", "--colors", "never", "--features", &features]);
    mutants.args(["--package", package]);
    mutants.args(tests.iter().flat_map(|package| ["--test-package", package]));
    mutants.args(files.iter().flat_map(|file| ["--file", file]));
    if tests == [package] {
        // Twice what the tests take without a fault: a mutant that loops is caught, too.
        mutants.args(["--timeout-multiplier", "2", "--build-timeout-multiplier", "5"]);
    } else {
        // cargo-mutants looks at a tree without a fault by the package's own tests alone, which have no features of others.
        let mut sound = cargo();
        sound.arg("test").current_dir(&copy).args(["--features", &features]);
        sound.args(tests.iter().flat_map(|package| ["--package", package]));
        command::run(prepared(&mut sound, &all)?)?;
        mutants.args(["--baseline", "skip", "--timeout", "1800", "--build-timeout", "3600"]);
    }
    mutants.arg("--output").arg(&folder);
    let status = prepared(&mut mutants, &all)?.status().context("cargo-mutants does not start")?;
    // 2: some were missed; 3: some ran out of time.
    ensure!(matches!(status.code(), Some(0 | 2 | 3)), "cargo-mutants ended with {status}");
    let missed = fs::read_to_string(folder.join("mutants.out/missed.txt"))?;
    Ok(missed.lines().map(str::to_owned).collect())
}

/// With what tests need, and a folder for builds in `all`.
fn prepared<'a>(command: &'a mut Command, all: &Path) -> Result<&'a mut Command> {
    command.env(HOST_KERNELS, kernels::host::build()?);
    command.env("CARGO_TARGET_DIR", all.join("target"));
    // A test whose judge is missing would notice nothing.
    command.envs(judges::install()?).env("LANECRYPT_EXPECT_JUDGES", "all");
    Ok(built_quickly(command))
}

/// The features of the packages that are tested, without a GPU's driver layers.
fn features(tests: &[&str]) -> Result<String> {
    let mut packages = packages::metadata()?;
    packages.retain(|package| tests.iter().any(|name| package["name"] == *name));
    Ok(packages::features_without_wgpu(&packages))
}
