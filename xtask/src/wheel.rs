//! The wheel of the Python package: built, installed where nothing else is, and tested there.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use lanecrypt_cuda::variables::HOST_KERNELS;

use crate::{
    command::{
        self, build_checked, command, copy, copy_folder, empty, one_line, output, pip_install,
        root, run, target,
    },
    judges, kernels,
    test::Variables,
};

/// The builder of wheels: the newest of November 2026.
const MATURIN: &str = "maturin==1.16.0";

/// Compiles C and links for C libraries older than this machine's: the newest of November 2026.
const ZIG: &str = "ziglang==0.17.0";

/// The C library that a wheel for a release asks for (PEP 600): glibc 2.17, of 2012, which is the oldest that Rust
/// supports.
const OLDEST: &str = "manylinux_2_17";

/// Packs a folder into a wheel: the newest of November 2026.
const PACKER: &str = "wheel==0.48.0";

/// `cargo xtask wheel`: what is built stays in `target/wheel/dist`.
pub(crate) fn run_task(release: bool) -> Result<()> {
    let mut variables = judges::install()?;
    if release {
        return test(&build()?, &variables);
    }
    variables.push((HOST_KERNELS, kernels::host::build()?.into_os_string()));
    build_checked()?;
    test(&checked()?, &variables)
}

/// Runs the wheel's tests where nothing else is installed, with these judges.
pub(crate) fn test(wheel: &Path, variables: &Variables) -> Result<()> {
    println!("{}, {} bytes", wheel.display(), fs::metadata(wheel)?.len());
    let python = clean_environment(wheel)?;
    // Alone: the package needs nothing but Python.
    run(command(&python).args(["-I", "-c", "import lanecrypt; print(lanecrypt.devices())"]))?;
    let mut pytest = command(&python);
    pytest
        .args(["-m", "pytest", "-q", "-rfEs", "-p", "no:cacheprovider", "tests"])
        .current_dir(root().join(PACKAGE));
    run(pytest.envs(variables.iter().map(|(name, value)| (name, value))))
}

/// The package of Python.
const PACKAGE: &str = "crates/python";

fn folder() -> PathBuf {
    target().join("wheel")
}

/// The wheel as it is given to people, for this machine's Python and all newer ones.
pub(crate) fn build() -> Result<PathBuf> {
    let dist = empty(folder().join("dist"))?;
    build_into(&dist, &[("CARGO_TARGET_DIR", target().into_os_string())])?;
    only_file(&dist)
}

fn build_into(dist: &Path, environment: &[(&str, OsString)]) -> Result<()> {
    let mut build = maturin(&["build"])?;
    build.args(["--quiet", "--profile", "release", "--out"]).arg(dist);
    match tool(ZIG) {
        // maturin reads the symbols that the module takes, and refuses a tag that is not true.
        Ok(zig) => {
            build.args(["--zig", "--compatibility", OLDEST]);
            build.env("CARGO_ZIGBUILD_ZIG_PATH", zig.join("ziglang/zig"));
        }
        Err(error) => {
            println!("NOT for older systems than this machine's: {}", one_line(&error));
        }
    }
    output(build.envs(environment.iter().map(|(name, value)| (name, value))))?;
    let wheel = only_file(dist)?;
    if cfg!(target_os = "linux") {
        let library = c_library(&wheel.to_string_lossy());
        let library = library.with_context(|| format!("{}: which C library?", wheel.display()))?;
        println!("the wheel is for glibc {library} and newer");
    }
    Ok(())
}

/// The version of glibc that the name of a wheel asks for.
fn c_library(wheel: &str) -> Option<String> {
    let (_, tag) = wheel.split_once("manylinux_")?;
    let mut parts = tag.split(['_', '.']);
    let is_number = |part: &&str| part.parse::<u32>().is_ok();
    let (major, minor) = (parts.next().filter(is_number)?, parts.next().filter(is_number)?);
    Some(format!("{major}.{minor}"))
}

/// What others wrote in the wheel, and what it is made of: files that are passed on with it.
pub(crate) const THIRD_PARTY: &str = "THIRD-PARTY.md";
pub(crate) const SBOM: &str = "sbom.cdx.json";

/// The wheel for a release, built with these variables, with both lists of this folder in it, where Python looks for them
/// (PEP 639, PEP 770).
pub(crate) fn build_with(papers: &Path, environment: &[(&str, OsString)]) -> Result<()> {
    let dist = empty(folder().join("release"))?;
    build_into(&dist, environment)?;
    let tree = empty(folder().join("unpacked"))?;
    let wheel = |arguments: &[&str]| -> Result<Command> {
        let mut wheel = command("python3");
        wheel.args(["-m", "wheel"]).args(arguments).env("PYTHONPATH", tool(PACKER)?);
        wheel.envs(environment.iter().map(|(name, value)| (name, value)));
        Ok(wheel)
    };
    output(wheel(&["unpack", "--dest"])?.arg(&tree).arg(only_file(&dist)?))?;
    let tree = only_file(&tree)?; // the folder that the wheel names
    let information = information(&tree)?;
    for (part, list) in [("licenses", THIRD_PARTY), ("sboms", SBOM)] {
        fs::create_dir_all(information.join(part))?;
        copy(&papers.join(list), &information.join(part).join(list))?;
    }
    let metadata = information.join("METADATA");
    let text = with_licence(&fs::read_to_string(&metadata)?, THIRD_PARTY)?;
    fs::write(&metadata, text)?;
    output(wheel(&["pack", "--dest-dir"])?.arg(papers).arg(&tree)).map(drop)
}

/// The folder of an unpacked wheel that says what it is.
fn information(tree: &Path) -> Result<PathBuf> {
    let mut folders = fs::read_dir(tree)?.filter_map(|entry| Some(entry.ok()?.path()));
    let found = folders.find(|path| path.extension().is_some_and(|end| end == "dist-info"));
    found.with_context(|| format!("{} is no wheel", tree.display()))
}

/// The metadata of a wheel with one more file of licences, named among the others.
fn with_licence(metadata: &str, file: &str) -> Result<String> {
    const FIELD: &str = "License-File: ";
    let at = metadata.find(FIELD).context("the wheel has no licence")?;
    Ok(format!("{}{FIELD}{file}\n{}", &metadata[..at], &metadata[at..]))
}

/// A wheel with the module of the build that checks, which has a device everywhere.
pub(crate) fn checked() -> Result<PathBuf> {
    pack(&command::checked(MODULE))
}

/// A wheel with the module as the programs for people are built.
pub(crate) fn as_built() -> Result<PathBuf> {
    run(&mut command::release_libraries())?;
    pack(&target().join("release").join(MODULE))
}

/// The module of Python, as cargo names it.
const MODULE: &str = "lib_lanecrypt.so";

/// A wheel with a module that cargo built beside everything else: maturin builds one package alone, whose
/// features are not the workspace's, and with it all that is below. What is in it besides is what maturin
/// makes of the package.
fn pack(module: &Path) -> Result<PathBuf> {
    let tree = empty(folder().join("tree"))?;
    let mut metadata = maturin(&["pep517", "write-dist-info"])?;
    output(metadata.arg("--metadata-directory").arg(&tree))?;
    let (from, to) = (root().join(PACKAGE).join("python/lanecrypt"), tree.join("lanecrypt"));
    copy_folder(&from, &to)?;
    copy(module, &to.join("_lanecrypt.abi3.so"))?;
    let dist = empty(folder().join("packed"))?;
    let mut pack = command("python3");
    pack.args(["-m", "wheel", "pack", "--dest-dir"]).arg(&dist).arg(&tree);
    output(pack.env("PYTHONPATH", tool(PACKER)?))?;
    only_file(&dist)
}

/// A task of maturin over the package.
fn maturin(task: &[&str]) -> Result<Command> {
    let mut maturin = command(tool(MATURIN)?.join("bin/maturin"));
    let package = root().join(PACKAGE);
    maturin.args(task).args(["--interpreter", "python3", "--manifest-path"]);
    maturin.arg(package.join("Cargo.toml"));
    Ok(maturin)
}

/// Where a tool of PyPI is installed.
fn tool(requirement: &str) -> Result<PathBuf> {
    let installed = folder().join(requirement);
    if !installed.exists() {
        output(pip_install(&installed).arg(requirement))?;
    }
    Ok(installed)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    files.next().with_context(|| format!("there is no wheel in {}", folder.display()))
}

/// A new virtual environment with the wheel alone; its Python.
pub(crate) fn clean_environment(wheel: &Path) -> Result<PathBuf> {
    let folder = folder().join("venv");
    output(command("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let python = folder.join("bin/python");
    let pip = ["-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"];
    output(command(&python).args(pip).arg(wheel))?;
    Ok(python)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_names_its_c_library() {
        let named = |tags: &str| c_library(&format!("dist/lanecrypt-0.1.0-cp311-abi3-{tags}.whl"));
        assert_eq!(named("manylinux_2_17_x86_64.manylinux2014_x86_64").as_deref(), Some("2.17"));
        assert_eq!(named("manylinux_2_36_aarch64").as_deref(), Some("2.36"));
        assert_eq!(named("linux_x86_64"), None, "any, or none");
    }

    #[test]
    fn a_wheel_names_the_licences_of_others() {
        let metadata = "Name: a\nLicense-File: LICENSE-MIT\nVersion: 1\n\ntext\n";
        let with = with_licence(metadata, THIRD_PARTY).expect("it has one");
        assert_eq!(
            with,
            "Name: a\nLicense-File: THIRD-PARTY.md\nLicense-File: LICENSE-MIT\nVersion: 1\n\ntext\n"
        );
        assert!(with_licence("Name: a\n", THIRD_PARTY).is_err());
    }
}
