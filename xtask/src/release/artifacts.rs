//! The files that are shipped, built so that others who build them get the same bytes: packages, the command, the wheel,
//! the provider, each with what it is made of, and the sums of all.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use clap::ValueEnum;
use sha2::{Digest, Sha256};

use super::{
    licences, sbom,
    shipped::{COMMAND, Graph, PROVIDER, Product, WHEEL},
};
use crate::{
    checks::publishing,
    command::{cargo, command, copy, empty, output, root, run, target},
    kernels::host::hex,
    sources::tree::contents,
    wheel,
};

/// Something that is shipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Artifact {
    /// What goes to crates.io.
    Crates,
    /// The command `lanecrypt`.
    Command,
    /// The wheel for Python.
    Wheel,
    /// The provider for OpenSSL.
    Provider,
}

/// Where all of them are laid.
pub(super) fn folder() -> PathBuf {
    target().join("release-artifacts")
}

/// The sums of all files of the folder, as `sha256sum --check` reads them.
pub(super) const SUMS: &str = "SHA256SUMS";

/// The time that is written wherever something has one: seconds since 1970 (reproducible-builds.org).
pub(super) const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// Builds these, and lists them.
pub(super) fn build(artifacts: &[Artifact]) -> Result<()> {
    let all = empty(folder())?;
    let environment = environment()?;
    let graph = Graph::read()?;
    for artifact in artifacts {
        match artifact {
            Artifact::Crates => crates(&all.join("crates"))?,
            Artifact::Command => {
                let folder = papers(&graph, &COMMAND, &all.join("command"), &environment)?;
                let file = folder.join("lanecrypt");
                built(COMMAND.package, "--bins", "lanecrypt", &file, &environment)?;
            }
            Artifact::Provider => {
                let folder = papers(&graph, &PROVIDER, &all.join("provider"), &environment)?;
                let (from, to) = ("liblanecrypt_openssl_provider.so", folder.join("lanecrypt.so"));
                built(PROVIDER.package, "--lib", from, &to, &environment)?;
                // How programs are told to take it.
                for file in ["README.md", "openssl.cnf"] {
                    copy(&root().join("crates/openssl-provider").join(file), &folder.join(file))?;
                }
            }
            Artifact::Wheel => {
                let folder = papers(&graph, &WHEEL, &all.join("wheel"), &environment)?;
                wheel::build_with(&folder, &environment)?;
            }
        }
    }
    let sums = sums(&all)?;
    fs::write(all.join(SUMS), &sums)?;
    println!("{}:\n{sums}", all.display());
    Ok(())
}

/// The lists of all products alone.
pub(super) fn lists() -> Result<()> {
    let all = empty(target().join("release-lists"))?;
    let (environment, graph) = (environment()?, Graph::read()?);
    for (product, folder) in [(COMMAND, "command"), (PROVIDER, "provider"), (WHEEL, "wheel")] {
        papers(&graph, &product, &all.join(folder), &environment)?;
    }
    Ok(())
}

/// The packages for crates.io.
fn crates(to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    publishing::run_task(false)?;
    for name in publishing::archives()? {
        copy(&target().join("package").join(&name), &to.join(&name))?;
    }
    Ok(())
}

/// A folder for a product with its licences, those of others in it, and its SBOM.
fn papers(
    graph: &Graph,
    product: &Product,
    to: &Path,
    environment: &[(&str, OsString)],
) -> Result<PathBuf> {
    fs::create_dir_all(to)?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&root().join(licence), &to.join(licence))?;
    }
    let parts = graph.parts(product)?;
    fs::write(to.join(wheel::THIRD_PARTY), licences::third_party(product.name, &parts)?)?;
    let epoch = environment.iter().find(|(name, _)| *name == EPOCH).context("a time")?;
    let bill = sbom::bill(product, &parts, &iso_8601(&epoch.1.to_string_lossy())?)?;
    fs::write(to.join(wheel::SBOM), serde_json::to_string_pretty(&bill)? + "\n")?;
    let linked = parts.values().filter(|part| part.is_linked).count();
    println!("{}: {linked} packages are linked, {} only build", product.name, parts.len() - linked);
    Ok(to.to_owned())
}

/// Builds a file of a package as users get it, without its symbols, which are most of it.
fn built(
    package: &str,
    what: &str,
    name: &str,
    to: &Path,
    environment: &[(&str, OsString)],
) -> Result<()> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--release", "--locked", "--package", package, what]);
    run(build.envs(environment.iter().map(|(name, value)| (name, value))))?;
    run(command("strip").arg("-o").arg(to).arg(build_folder().join("release").join(name)))
}

/// A folder of its own: with other flags, what lies in the usual one would be built anew each time.
fn build_folder() -> PathBuf {
    target().join("release-build")
}

/// The time that is written: the one that is asked for, or that of the last commit.
pub(super) fn epoch() -> Result<String> {
    match std::env::var(EPOCH) {
        Ok(epoch) => Ok(epoch),
        Err(_) => Ok(output(command("git").args(["log", "-1", "--format=%ct"]))?.trim().to_owned()),
    }
}

/// What makes a build one that others can repeat: nothing in it says where it was built, or when.
fn environment() -> Result<Vec<(&'static str, OsString)>> {
    let epoch = epoch()?;
    let home = std::env::var_os("CARGO_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cargo"),
        PathBuf::from,
    );
    // The last one that fits a path is taken.
    let places = [(home, "/cargo"), (root(), "/lanecrypt"), (build_folder(), "/target")];
    let settings = fs::read_to_string(root().join(".cargo/config.toml"))?;
    let mut flags = flags(&settings)?;
    let renamed = |option: &str| {
        let pairs = places.iter().map(|(from, to)| format!("{option}={}={to}", from.display()));
        pairs.collect::<Vec<_>>()
    };
    flags.extend(renamed("--remap-path-prefix"));
    let c = renamed("-ffile-prefix-map").join(" ");
    Ok(vec![
        (EPOCH, epoch.into()),
        ("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f").into()),
        ("CARGO_TARGET_DIR", build_folder().into()),
        ("CFLAGS", c.clone().into()),
        ("CXXFLAGS", c.into()),
    ])
}

/// The compiler's flags that cargo's settings have: a variable with flags takes their place.
fn flags(settings: &str) -> Result<Vec<String>> {
    let settings: toml::Table = toml::from_str(settings).context(".cargo/config.toml")?;
    let build = settings.get("build").and_then(|build| build.get("rustflags"));
    let flags = build.and_then(toml::Value::as_array).into_iter().flatten();
    Ok(flags.filter_map(|flag| flag.as_str().map(str::to_owned)).collect())
}

/// Seconds since 1970 as a date and a time.
fn iso_8601(epoch: &str) -> Result<String> {
    let mut date = command("date");
    date.args(["--utc", "--date", &format!("@{epoch}"), "+%Y-%m-%dT%H:%M:%SZ"]);
    Ok(output(&mut date)?.trim().to_owned())
}

/// The sums of all files below a folder, in the order of their names.
fn sums(folder: &Path) -> Result<String> {
    let files = contents(folder)?;
    let lines =
        files.iter().map(|(name, file)| format!("{}  {name}\n", hex(&Sha256::digest(file))));
    Ok(lines.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_say_neither_where_nor_when() {
        let environment = environment().expect("a tree");
        let value = |name: &str| {
            let found = environment.iter().find(|(found, _)| *found == name).expect(name);
            found.1.to_string_lossy().into_owned()
        };
        let flags = value("CARGO_ENCODED_RUSTFLAGS");
        let flags: Vec<_> = flags.split('\x1f').collect();
        assert!(flags.contains(&"symbol-mangling-version=v0"), "{flags:?}");
        let tree = format!("--remap-path-prefix={}=/lanecrypt", root().display());
        assert!(flags.contains(&&*tree) && value("CFLAGS").contains("=/target"), "{flags:?}");
        assert!(value(EPOCH).parse::<u64>().is_ok_and(|seconds| seconds > 1_700_000_000));
        assert_eq!(iso_8601("86400").expect("date"), "1970-01-02T00:00:00Z");
        assert!(iso_8601("never").is_err());
    }

    #[test]
    fn sums_are_those_of_sha256sum() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        fs::create_dir(folder.path().join("b")).expect("a folder for tests");
        fs::write(folder.path().join("b/c"), "abc").expect("a file for tests");
        fs::write(folder.path().join("a"), "").expect("a file for tests");
        let sums = sums(folder.path()).expect("files");
        let lines: Vec<_> = sums.lines().collect();
        assert!(lines[0].starts_with("e3b0c44298fc1c14") && lines[0].ends_with("  a"), "{sums}");
        assert!(lines[1].starts_with("ba7816bf8f01cfea") && lines[1].ends_with("  b/c"), "{sums}");
    }
}
