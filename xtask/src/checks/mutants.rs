//! Mutants: a fault at a time in the code, and whether the tests notice.

mod build;
mod switches;
mod trials;

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    path::Path,
    process::{Command, ExitStatus},
    slice,
};

use anyhow::{Context, Result, bail, ensure};
use lanecrypt_cuda::variables::HOST_KERNELS;

use self::{
    build::{Build, ON},
    switches::Mutant,
    trials::{Outcome, Trials},
};
use crate::{
    command::{built_quickly, cargo, command, output, target},
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
        whole("tink", &["lanecrypt-cli", "lanecrypt-fuzz", "lanecrypt-objects"]),
        whole("luks", &["lanecrypt-fuzz"]),
        whole("objects", &["lanecrypt-fuzz"]),
        whole("parquet", &["lanecrypt-fuzz"]),
        whole("lanecrypt", &["lanecrypt-cli", "lanecrypt-fuzz"]),
        whole("openssl-provider", &[]),
        whole("cli", &[]),
    ];
    subjects.extend(packages::ciphers()?.into_iter().map(cipher));
    Ok(subjects)
}

/// Puts faults into these packages, or into all; `file` restricts them to one file's, and `shard`, K/N, to each Nth.
/// Where `compiled` says so, it tries those that no switch can turn on, each by a compilation, and else the others.
pub(crate) fn run(
    packages: &[String],
    file: Option<&str>,
    shard: Option<&str>,
    compiled: bool,
) -> Result<()> {
    let mut subjects = subjects()?;
    let has = |name: &String| subjects.iter().any(|subject| subject.package == *name);
    if let Some(unknown) = packages.iter().find(|name| !has(name)) {
        let known = subjects.iter().map(|subject| subject.package.as_str()).collect::<Vec<_>>();
        bail!("no faults are put into {unknown:?}; there are {}", known.join(", "));
    }
    subjects.retain(|subject| packages.is_empty() || packages.contains(&subject.package));
    let mut mutants = Vec::new();
    for subject in &subjects {
        mutants.extend(subject.mutants(file, shard)?);
    }
    let tests = subjects.iter().flat_map(Subject::tests).collect::<BTreeSet<_>>();
    let tests: Vec<_> = tests.into_iter().collect();
    let all = target().join("mutants");
    let environment = environment()?;
    let workspace =
        Workspace { subjects: &subjects, tests: &tests, environment: &environment, all: &all };
    let survivors = if compiled {
        workspace.survivors_of_compilations(&mutants)?
    } else {
        workspace.survivors_of_switches(&mutants)?
    };
    if survivors.is_empty() {
        println!("no mutant survived");
        return Ok(());
    }
    println!("survivors:\n{}", survivors.join("\n"));
    bail!("{} mutants survived", survivors.len())
}

/// What is tried, and with what.
struct Workspace<'a> {
    subjects: &'a [Subject],
    /// The packages whose tests must notice.
    tests: &'a [String],
    environment: &'a [(&'static str, OsString)],
    /// The folder for builds.
    all: &'a Path,
}

impl Workspace<'_> {
    /// What the tests do not notice of faults behind switches, a line for each.
    fn survivors_of_switches(&self, mutants: &[Mutant]) -> Result<Vec<String>> {
        let folders: Vec<_> =
            self.subjects.iter().map(|subject| subject.package.as_str()).collect();
        let (copy, target) = (self.all.join("tree"), self.all.join("target"));
        fs::create_dir_all(&copy)?;
        fs::write(self.all.join("on.rs"), ON)?;
        let (tests, features) = (self.tests, &features(self.tests)?);
        let whole = Build { copy: &copy, target: &target, folders: &folders, tests, features };
        let built = whole.tests_with(mutants)?;
        let (switched, unviable) = (built.switched.len(), built.unviable.len());
        let rest = mutants.len() - switched - unviable;
        println!(
            "{} mutants: {switched} behind switches, {unviable} do not compile",
            mutants.len()
        );
        if rest > 0 {
            println!("{rest} need a compilation each, as in constants: --compiled tries them");
        }
        let trials = Trials::new(&built.programs, self.environment, &self.all.join("reached"))?;
        let outcomes = trials.outcomes(mutants, &built.switched)?.into_iter();
        let survivors = outcomes.filter_map(|(number, outcome)| match outcome {
            Outcome::Noticed => None,
            Outcome::Survived(tests) => {
                Some(format!("{} ({tests} tests run it)", mutants[number - 1].name))
            }
        });
        Ok(survivors.collect())
    }

    /// What they do not notice of those that no switch can turn on.
    fn survivors_of_compilations(&self, mutants: &[Mutant]) -> Result<Vec<String>> {
        let rest = switches::unswitched(mutants)?;
        println!("{} of {} mutants need a compilation each", rest.len(), mutants.len());
        let mut survivors = Vec::new();
        for subject in self.subjects {
            let path = format!("crates/{}/", subject.package);
            let rest = rest.iter().copied().filter(|mutant| mutant.file.starts_with(&path));
            survivors.extend(subject.compiled(&rest.collect::<Vec<_>>(), self)?);
        }
        Ok(survivors)
    }

    /// Runs cargo in a copy of the workspace.
    fn run_in(&self, copy: &Path, cargo: &mut Command) -> Result<ExitStatus> {
        cargo.env("CARGO_TARGET_DIR", self.all.join("target")).env("CARGO_INCREMENTAL", "0");
        cargo.current_dir(copy).env_remove("CARGO_MANIFEST_DIR");
        built_quickly(cargo).status().context("cargo")
    }
}

impl Subject {
    /// Its name as a package.
    fn name(&self) -> String {
        match self.package.as_str() {
            facade @ "lanecrypt" => facade.to_owned(),
            folder => format!("lanecrypt-{folder}"),
        }
    }

    /// The packages whose tests must notice.
    fn tests(&self) -> impl Iterator<Item = String> {
        [self.name()].into_iter().chain(self.tests.iter().map(|&name| name.to_owned()))
    }

    /// What cargo-mutants is told of its files.
    fn options(&self, file: Option<&str>) -> Vec<String> {
        let files = file.as_ref().map_or(self.files, slice::from_ref).iter();
        let files = files.map(|name| format!("crates/{}/src/{name}", self.package));
        let files = files.flat_map(|file| ["--file".to_owned(), file]);
        ["--package".to_owned(), self.name()].into_iter().chain(files).collect()
    }

    fn mutants(&self, file: Option<&str>, shard: Option<&str>) -> Result<Vec<Mutant>> {
        let mut list = command(MUTANTS.path()?);
        list.args(["mutants", "--list", "--json"]).args(self.options(file));
        if let Some(shard) = shard {
            list.args(["--sharding", "round-robin", "--shard", shard]);
        }
        serde_json::from_str(&output(&mut list)?).context("the list of cargo-mutants")
    }

    /// Those of these mutants that tests miss, by a compilation for each: its own first, which take the least time.
    fn compiled(&self, rest: &[&Mutant], workspace: &Workspace<'_>) -> Result<Vec<String>> {
        let missed = self.missed(rest, &[self.name()], workspace)?;
        if self.tests.is_empty() {
            return Ok(missed);
        }
        let rest = rest.iter().copied().filter(|mutant| missed.contains(&mutant.name));
        self.missed(&rest.collect::<Vec<_>>(), &self.tests().collect::<Vec<_>>(), workspace)
    }

    /// Those that the tests of these packages miss. The mutants are put into a copy of the workspace.
    fn missed(
        &self,
        rest: &[&Mutant],
        tests: &[String],
        workspace: &Workspace<'_>,
    ) -> Result<Vec<String>> {
        if rest.is_empty() {
            return Ok(Vec::new());
        }
        let (copy, folder) = (workspace.all.join("compiled"), workspace.all.join(&self.package));
        tree::copy(&copy, |_, bytes| Some(bytes))?;
        fs::create_dir_all(&folder)?;
        let features = features(tests)?;
        let each = |option: &'static str| tests.iter().flat_map(move |package| [option, package]);
        // Where they do not compile, none would be tried, and where they fail, each would seem noticed. The baseline of
        // cargo-mutants runs only those of the package itself.
        let mut test = cargo();
        test.args(["test", "--quiet", "--features", &features]).args(each("--package"));
        test.envs(workspace.environment.iter().cloned());
        let status = workspace.run_in(&copy, &mut test)?;
        ensure!(status.success(), "the tests of {} fail without a fault", self.package);
        let mut mutants = command(MUTANTS.path()?);
        mutants.args(["mutants", "--in-place", "--dir"]).arg(&copy).args(self.options(None));
        mutants.args(["--no-shuffle", "--colors", "never", "--features", &features]);
        mutants.args(each("--test-package")).args(rest.iter().flat_map(|mutant| mutant.chosen()));
        mutants.args(["--baseline", "skip", "--timeout", "600", "--build-timeout", "3600"]);
        mutants.arg("--output").arg(&folder).envs(workspace.environment.iter().cloned());
        let status = workspace.run_in(&copy, &mut mutants)?;
        // 2: some were missed; 3: some ran out of time.
        ensure!(matches!(status.code(), Some(0 | 2 | 3)), "cargo-mutants ended with {status}");
        let missed = fs::read_to_string(folder.join("mutants.out/missed.txt"))?;
        Ok(missed.lines().map(str::to_owned).collect())
    }
}

/// What tests need: the host build of the kernels, and judges, since a test whose judge is missing would notice nothing.
fn environment() -> Result<Vec<(&'static str, OsString)>> {
    let mut environment = judges::install()?;
    environment.push((HOST_KERNELS, kernels::host::build()?.into()));
    environment.push(("LANECRYPT_EXPECT_JUDGES", "all".into()));
    Ok(environment)
}

/// The features of the packages that are tested, without a GPU's driver layers.
fn features(tests: &[String]) -> Result<String> {
    let mut packages = packages::metadata()?;
    packages.retain(|package| tests.iter().any(|name| package["name"] == *name));
    Ok(packages::features_without_wgpu(&packages))
}
