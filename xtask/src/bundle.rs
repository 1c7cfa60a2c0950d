//! A folder for a machine with a GPU but no Rust: one script, and what it runs, packed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::{
    command::{self, command, output, root, run, target},
    wheel,
};

/// Test programs that take a device, by the name of their test target.
const TESTS: [&str; 3] = ["conformance", "device", "endurance"];

/// What is packed, before it is.
const STAGE: &str = "bundle-programs";

pub(crate) fn run_task(with_wheel: bool) -> Result<()> {
    let (folder, stage) = (root().join("bundle"), target().join(STAGE));
    for folder in [&folder, &stage] {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
    }
    command::built("bench-all", &[])?; // and all others
    for program in command::PROGRAMS {
        copy_program(&target().join("release").join(program), &stage.join(program))?;
    }
    for test in TESTS {
        copy_program(&test_program(test)?, &stage.join(test))?;
    }
    copy_folder(&root().join("vectors"), &stage.join("vectors"))?;
    if with_wheel {
        // Unpacked, so that the kernels in it are stored with those of the programs.
        let mut unpack = command("python3");
        unpack.args(["-m", "zipfile", "-e"]).arg(wheel::build(true)?).arg(stage.join("wheel"));
        run(&mut unpack)?;
        copy(&root().join("crates/python/tests/on_gpu.py"), &stage.join("on_gpu.py"))?;
    }
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

/// Builds a test target of the facade in release mode and finds its program.
fn test_program(test: &str) -> Result<PathBuf> {
    let options = ["--release", "--no-run", "--test", test];
    let report = output(command::workspace("test").args(options))?;
    // Cargo says: Executable tests/device.rs (target/release/deps/device-0123)
    let path = report.rsplit_once('(').and_then(|(_, rest)| rest.split_once(')'));
    match path {
        Some((path, _)) => Ok(root().join(path)),
        None => bail!("cargo did not say where test {test} is:\n{report}"),
    }
}

/// Copies a program without its symbols, which are most of it.
fn copy_program(from: &Path, to: &Path) -> Result<()> {
    run(command("strip").arg("-o").arg(to).arg(from))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let what = || format!("copying {} to {}", from.display(), to.display());
    fs::copy(from, to).map(drop).with_context(what)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let name = path.file_name().context("an entry has a name")?;
        if path.is_dir() {
            copy_folder(&path, &to.join(name))?;
        } else {
            copy(&path, &to.join(name))?;
        }
    }
    Ok(())
}
