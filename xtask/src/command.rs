//! Running other programs from the workspace's root.

use std::{
    ffi::OsStr,
    fmt::Display,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

use anyhow::{Context, Result, bail, ensure};

use crate::steps;

/// The workspace's root: of the tree that cargo runs this task in, where copies of a tree share what
/// cargo builds, and else of the one that it was built in.
pub(crate) fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR");
    let here = here.map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().unwrap_or(&here).to_path_buf()
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A program that starts in the root.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// The cargo that runs this task.
pub(crate) fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A task of cargo over the whole workspace. What compiles anything in a profile of its own passes here:
/// cargo unites the features that the selected packages ask for, so that each other selection would
/// compile the ciphers once more.
pub(crate) fn workspace(task: &str) -> Command {
    let mut cargo = cargo();
    cargo.args([task, "--workspace"]);
    cargo
}

/// The same without GPUs of any make, which users' builds are without.
pub(crate) fn usual(task: &str) -> Command {
    let mut cargo = workspace(task);
    cargo.args(["--exclude", "lanecrypt-wgpu"]);
    cargo
}

/// An installation of packages of PyPI into a folder: what is appended names them.
pub(crate) fn pip_install(folder: &Path) -> Command {
    let mut install = command("python3");
    install.args(["-m", "pip", "install", "--quiet", "--root-user-action", "ignore", "--upgrade"]);
    install.arg("--no-compile"); // most modules are never imported
    install.arg("--target").arg(folder);
    install
}

/// The cargo of another toolchain, "nightly" or a version. The cargo that runs this task would pass
/// its own on.
pub(crate) fn cargo_of(toolchain: &str) -> Command {
    let mut cargo = command("cargo");
    cargo.env_remove("RUSTUP_TOOLCHAIN").env_remove("RUSTC").env_remove("CARGO");
    cargo.arg(format!("+{toolchain}"));
    cargo
}

/// Runs rustup, which without a network fails, and says so once.
pub(crate) fn rustup(arguments: &[&str]) -> Result<()> {
    output(command("rustup").args(arguments).env("RUSTUP_MAX_RETRIES", "0")).map(drop)
}

/// Has cargo compile a package with this setting, whatever the profile `dev` says.
pub(crate) fn setting(cargo: &mut Command, package: &str, key: &str, value: impl Display) {
    cargo.args(["--config", &format!("profile.dev.package.{package}.{key}={value}")]);
}

/// Has cargo optimise little, where builds are most of the time: at level 1 generic code takes less than at 0, where all of
/// it is compiled.
pub(crate) fn built_quickly(cargo: &mut Command) -> &mut Command {
    cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
}

/// Installs packages, as root, on Debian and its like.
pub(crate) fn apt_install(packages: &[&str]) -> Result<()> {
    // Steps run beside each other, and apt-get refuses to run twice.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    println!("installing {}", packages.join(", "));
    output(command("apt-get").args(["update", "-qq"]))?;
    let mut install = command("apt-get");
    install.args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages);
    output(install.env("DEBIAN_FRONTEND", "noninteractive")).map(drop)
}

/// What a tool says of its own failure, or else all of the error's first line.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let said = text.lines().find(|line| is_failure(line));
    said.or(text.lines().next()).unwrap_or_default().to_owned()
}

/// Cargo's and rustup's, pip's, and apt's lines.
fn is_failure(line: &str) -> bool {
    ["error", "ERROR", "E: "].iter().any(|start| line.starts_with(start))
}

/// Runs a command to its end; an error names it and how it ended.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status =
        steps::status(command).with_context(|| format!("{} does not start", shown(command)))?;
    if status.success() {
        return Ok(());
    }
    bail!("{} ended with {status}", shown(command))
}

/// What a command prints on standard output. What it says on standard error, such as that cargo waits for a lock, is in
/// the error alone.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    printed(command).map(|(output, _)| output)
}

/// What a command prints on standard output and standard error.
pub(crate) fn said(command: &mut Command) -> Result<String> {
    printed(command).map(|(output, error)| output + &error)
}

/// Both by themselves.
fn printed(command: &mut Command) -> Result<(String, String)> {
    let output = command.output().with_context(|| format!("{} does not start", shown(command)))?;
    let [text, error] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    ensure!(
        output.status.success(),
        "{} ended with {}:\n{text}{error}",
        shown(command),
        output.status
    );
    Ok((text, error))
}

/// A command as a person would type it.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Programs that people run and measure: those of the benches package, and the command.
pub(crate) const PROGRAMS: [&str; 4] = ["kat", "bench-all", "tune", "lanecrypt"];

/// Builds the programs as users get them, with these features of the benches package, and says where
/// this one is.
pub(crate) fn built(name: &str, features: &[&str]) -> Result<PathBuf> {
    run(release(features).arg("--quiet"))?;
    Ok(target().join("release").join(name))
}

/// The build of the programs as users get them.
fn release(features: &[&str]) -> Command {
    let mut build = usual("build");
    build.arg("--release").args(PROGRAMS.map(|program| format!("--bin={program}"))).args(AS_TESTS);
    build.args(features.iter().map(|feature| format!("--features=lanecrypt-benches/{feature}")));
    build
}

/// The libraries, built like these programs.
pub(crate) fn release_libraries() -> Command {
    let mut build = release(&[]);
    build.args(["--quiet", "--lib"]);
    build
}

/// A test program that takes a second to build. Where one is asked for, cargo builds the libraries with the
/// features that tests want, so that they are not built once more when others are.
const AS_TESTS: [&str; 1] = ["--test=texts"];

/// What every call of cargo passes that builds or runs checks: so the tests' build of the Python module is
/// the one that has a device everywhere, and ciphers are not compiled once more for GPUs of any make.
const CHECKED: [&str; 2] = ["--features", "lanecrypt-python/host-kernels,lanecrypt/wgpu"];

/// A task of cargo over the workspace in the one build that checks: the profile `dev`, which is optimised
/// as users' builds are, and asserts.
pub(crate) fn checking(task: &str) -> Command {
    let mut cargo = workspace(task);
    cargo.args(CHECKED);
    cargo
}

/// Builds everything that checks: libraries, programs, tests. Whoever needs one of them asks for all, since
/// cargo unites the features of what it builds together. Benches are not run here, and clippy checks them.
pub(crate) fn build_checked() -> Result<()> {
    run(checking("build").args(["--quiet", "--lib", "--bins", "--tests", "--examples"]))
}

/// Where a program of that build lies.
pub(crate) fn checked(program: &str) -> PathBuf {
    target().join("debug").join(program)
}

/// Builds one program of that build, where it is not there yet, and says where it lies.
pub(crate) fn build_one(program: &str) -> Result<PathBuf> {
    build_one_as_released(program, &[])
}

/// The same, with these packages as a release build has them.
pub(crate) fn build_one_as_released(program: &str, packages: &[&str]) -> Result<PathBuf> {
    let mut build = checking("build");
    build.args(["--quiet", "--bin", program]).args(AS_TESTS);
    for package in packages {
        setting(&mut build, package, "opt-level", 3);
        setting(&mut build, package, "codegen-units", 16);
        setting(&mut build, package, "debug-assertions", false);
        setting(&mut build, package, "overflow-checks", false);
    }
    run(&mut build)?;
    Ok(checked(program))
}

/// Runs a program, and ends with its exit code.
pub(crate) fn hand_over(
    path: &Path,
    options: &[String],
    environment: &[(&str, PathBuf)],
) -> Result<()> {
    let status = command(path)
        .args(options)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .status()
        .with_context(|| format!("{} does not start", path.display()))?;
    std::process::exit(status.code().unwrap_or(1))
}

/// Builds the book and checks its links.
pub(crate) fn book(options: &[&OsStr]) -> Result<()> {
    run(command(build_one("lanecrypt-book")?).args(options))
}

/// Copies a file.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    let what = || format!("copying {} to {}", from.display(), to.display());
    fs::copy(from, to).map(drop).with_context(what)
}

/// Copies a folder, but for what Python compiled in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let name = path.file_name().context("an entry has a name")?;
        if name == "__pycache__" {
            continue;
        }
        if path.is_dir() {
            copy_folder(&path, &to.join(name))?;
        } else {
            copy(&path, &to.join(name))?;
        }
    }
    Ok(())
}

/// A folder without anything in it.
pub(crate) fn empty(folder: PathBuf) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
