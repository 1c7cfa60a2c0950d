//! The test programs that cargo builds of the workspace, run without it: cargo runs one after the other, and most wait for
//! other programs, or for one thread.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{
    command::{checking, command, run},
    test::Variables,
};

/// A test program.
#[derive(Debug)]
pub(crate) struct TestProgram {
    /// Of a library or program, its name; of a file of tests/, that of the file.
    pub(crate) name: String,
    /// Whether it has the tests within a library.
    pub(crate) is_of_library: bool,
    /// The manifest of its package.
    pub(crate) manifest: PathBuf,
    path: PathBuf,
}

/// Builds all of them, as always: a smaller selection would have other features, and be compiled anew.
pub(crate) fn all() -> Result<Vec<TestProgram>> {
    let mut build = checking("test");
    build.args(["--quiet", "--no-run", "--message-format=json"]).stderr(Stdio::inherit());
    let said = build.output()?;
    ensure!(said.status.success(), "the tests do not compile");
    told(&said.stdout)
}

/// Those that cargo tells of with `--message-format=json`.
pub(crate) fn told(output: &[u8]) -> Result<Vec<TestProgram>> {
    messages(output).filter_map(|message| of(&message).transpose()).collect()
}

/// What cargo says with `--message-format=json`.
pub(crate) fn messages(output: &[u8]) -> impl Iterator<Item = Value> {
    output.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

impl TestProgram {
    /// Whether it has tests that are ignored but where the host build of the kernels is.
    pub(crate) fn has_tests_of_kernels(&self) -> bool {
        self.is_of_library || self.name == "tuning"
    }

    /// The program, which `launcher` starts where that is not empty. It runs in the folder of its package, where cargo
    /// would run it.
    pub(crate) fn started_by(&self, launcher: &[impl AsRef<OsStr>]) -> Command {
        let folder = self.manifest.parent().unwrap_or(Path::new("."));
        let mut program = match launcher.split_first() {
            None => command(&self.path),
            Some((launcher, options)) => {
                let mut launcher = command(launcher);
                launcher.args(options).arg(&self.path);
                launcher
            }
        };
        program.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
        program
    }
}

/// The program that a message of cargo tells of; none where it is no test.
fn of(message: &Value) -> Result<Option<TestProgram>> {
    let Some(path) = message["executable"].as_str() else { return Ok(None) };
    if message["profile"]["test"] != true {
        return Ok(None);
    }
    let text =
        |value: &Value, what: &str| value.as_str().map(str::to_owned).context(what.to_owned());
    let kinds = message["target"]["kind"].as_array().context("no kinds of a target")?;
    Ok(Some(TestProgram {
        name: text(&message["target"]["name"], "no name of a target")?,
        is_of_library: kinds.iter().any(|kind| kind.as_str().is_some_and(|k| k.ends_with("lib"))),
        manifest: text(&message["manifest_path"], "no manifest")?.into(),
        path: path.into(),
    }))
}

/// Runs these with these options, all of them whatever fails.
pub(crate) fn run_all<'a>(
    programs: impl Iterator<Item = &'a TestProgram>,
    options: &[&str],
    variables: &Variables,
) -> Result<()> {
    let mut failed = Vec::new();
    for program in programs {
        let (name, manifest) = (&program.name, program.manifest.display());
        println!("Running {name} of {manifest}: {}", program.path.display());
        let mut test = program.started_by(&[] as &[&str]);
        test.args(options);
        test.envs(variables.iter().map(|(name, value)| (name, value)));
        failed.extend(run(&mut test).err().map(|error| format!("{error:#}")));
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::{command::root, sources::tree};

    /// An ignored test of another program would never run.
    #[test]
    fn tests_of_kernels_are_in_programs_that_are_asked_for_them() {
        let files = tree::listed(&root()).expect("git lists files").into_iter();
        let ignored = files.filter(|path| {
            let text = fs::read_to_string(root().join(path)).unwrap_or_default();
            Path::new(path).extension().is_some_and(|end| end == "rs")
                && text.lines().any(|line| line.trim().starts_with("#[ignore"))
        });
        let ignored: Vec<_> = ignored.collect();
        assert!(ignored.iter().any(|path| path.ends_with("tests/tuning.rs")), "{ignored:?}");
        for path in ignored {
            let is_of_library = path.split_once("/src/").is_some_and(|(package, file)| {
                !file.starts_with("bin/") && root().join(package).join("src/lib.rs").exists()
            });
            assert!(is_of_library || path.ends_with("/tests/tuning.rs"), "{path}");
        }
    }

    #[test]
    fn messages_of_cargo_tell_of_tests() {
        let message = |test: bool, executable: Option<&str>| {
            json!({
                "executable": executable, "profile": { "test": test },
                "target": { "name": "device", "kind": ["test"] },
                "manifest_path": "/r/crates/lanecrypt/Cargo.toml",
            })
        };
        let found = of(&message(true, Some("/r/device-1"))).expect("it is whole");
        assert!(found.is_some_and(|program| program.name == "device" && !program.is_of_library));
        let mut library = message(true, Some("/r/lanecrypt-1"));
        library["target"]["kind"] = json!(["cdylib", "rlib"]);
        let found = of(&library).expect("it is whole");
        assert!(found.is_some_and(|program| program.is_of_library));
        assert!(of(&message(false, Some("/r/kat"))).expect("a program").is_none());
        assert!(of(&message(true, None)).expect("a library").is_none());
        assert!(of(&json!({ "executable": "/r/a", "profile": { "test": true } })).is_err());
    }
}
