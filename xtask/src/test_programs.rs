//! The test programs that cargo builds of the workspace, run without it: cargo runs one after the other, and most wait for
//! other programs, or for one thread.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
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
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let messages = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages.filter_map(|message| of(&message).transpose()).collect()
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

/// Runs these with these options, all of them whatever fails, each in the folder of its package, where cargo would run
/// it.
pub(crate) fn run_all<'a>(
    programs: impl Iterator<Item = &'a TestProgram>,
    options: &[&str],
    variables: &Variables,
) -> Result<()> {
    let mut failed = Vec::new();
    for program in programs {
        let folder = program.manifest.parent().unwrap_or(Path::new("."));
        println!("Running {} of {}: {}", program.name, folder.display(), program.path.display());
        let mut test = command(&program.path);
        test.args(options).current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
        test.envs(variables.iter().map(|(name, value)| (name, value)));
        failed.extend(run(&mut test).err().map(|error| format!("{error:#}")));
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
