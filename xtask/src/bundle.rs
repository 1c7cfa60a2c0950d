//! A folder for a machine with a GPU but no Rust: one script, and what it runs, packed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{
    command::{self, command, copy, copy_folder, empty, root, run, said, target},
    ladder, release, wheel,
};

/// Test programs that take a device, by the name of their test target.
const TESTS: [&str; 3] = ["conformance", "device", "endurance"];

/// The packages that have all programs that are packed, and the wheel.
const PACKAGES: [&str; 5] =
    ["lanecrypt", "lanecrypt-benches", "lanecrypt-cli", "lanecrypt-ladder", "lanecrypt-python"];

/// What is packed, before it is.
const STAGE: &str = "bundle-programs";

pub(crate) fn run_task(with_wheel: bool) -> Result<()> {
    let folder = empty(root().join("bundle"))?;
    let stage = empty(target().join(STAGE))?;
    command::built("bench-all", &[])?; // and all others
    for program in command::PROGRAMS {
        copy_program(&target().join("release").join(program), &stage.join(program))?;
    }
    for (name, path) in TESTS.iter().zip(test_programs()?) {
        copy_program(&path, &stage.join(name))?;
    }
    copy_folder(&root().join("vectors"), &stage.join("vectors"))?;
    ladder::pack()?;
    copy_folder(&ladder::folder(), &stage.join("ladder"))?;
    if with_wheel {
        // Unpacked, so that the kernels in it are stored with those of the programs.
        let mut unpack = command("python3");
        unpack.args(["-m", "zipfile", "-e"]).arg(wheel::as_built()?).arg(stage.join("wheel"));
        run(&mut unpack)?;
        copy(&root().join("crates/python/tests/on_gpu.py"), &stage.join("on_gpu.py"))?;
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&root().join(licence), &stage.join(licence))?;
    }
    let list = release::third_party("these programs", &PACKAGES)?;
    fs::write(stage.join(wheel::THIRD_PARTY), list)?;
    copy(&root().join("xtask/bundle.sh"), &folder.join("run.sh"))?;
    pack(&stage, &folder.join("programs.tar.xz"))?;
    println!("{}: copy it to the machine and run ./run.sh there", folder.display());
    Ok(())
}

/// Packs a folder. All programs have the same kernels: with a dictionary that is as long as several of
/// them, these are stored once, and 270 MB become 10.
fn pack(folder: &Path, to: &Path) -> Result<()> {
    let mut tar = command("tar");
    tar.env("XZ_OPT", "--lzma2=preset=4,dict=256MiB").arg("cJf").arg(to).arg("-C").arg(folder);
    run(tar.arg("."))
}

/// Builds these tests of the facade as users' builds are and finds their programs.
fn test_programs() -> Result<Vec<PathBuf>> {
    let mut build = command::usual("test");
    build.args(["--release", "--no-run"]).args(TESTS.map(|test| format!("--test={test}")));
    // Cargo names programs on standard error.
    let report = said(&mut build)?;
    let programs = TESTS.iter().map(|test| {
        let program = program_of(test, &report).map(|path| root().join(path));
        program.with_context(|| format!("cargo did not say where test {test} is:\n{report}"))
    });
    programs.collect()
}

/// Where cargo's report says that a test's program is: `Executable tests/device.rs (target/deps/device-0123)`.
fn program_of<'a>(test: &str, report: &'a str) -> Option<&'a str> {
    let programs = report.lines().filter_map(|line| line.strip_suffix(')')?.rsplit_once('('));
    let is_of_test = |path: &&str| path.contains(&format!("/deps/{test}-"));
    programs.map(|(_, path)| path).find(is_of_test)
}

/// Copies a program without its symbols, which are most of it.
fn copy_program(from: &Path, to: &Path) -> Result<()> {
    run(command("strip").arg("-o").arg(to).arg(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_what_cargo_reports() {
        let report = "\
   Compiling lanecrypt v0.1.0 (/tree/crates/lanecrypt)
  Executable tests/conformance/main.rs (target/release/deps/conformance-0ac3)
  Executable tests/device.rs (target/release/deps/device-77f0)";
        let found = ["conformance", "device", "endurance"].map(|test| program_of(test, report));
        let expected =
            ["conformance-0ac3", "device-77f0"].map(|name| format!("target/release/deps/{name}"));
        assert_eq!(found, [Some(&*expected[0]), Some(&*expected[1]), None]);
    }
}
