//! The workspace's libraries, as their folders say: a new one is in every task that goes over them.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::command::{cargo, root};

/// The names of the folders under `crates` for which this holds, in order.
fn crates(is_meant: impl Fn(PathBuf) -> Result<bool>) -> Result<Vec<String>> {
    let folder = root().join("crates");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        if entry.file_type()?.is_dir() && is_meant(entry.path())? {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The crates of ciphers, without `lanecrypt-`: those with a table of implementations.
pub(crate) fn ciphers() -> Result<Vec<String>> {
    crates(|path| Ok(path.join("src/backends.rs").exists()))
}

/// How the types of a cipher are named: `Lea`.
pub(crate) fn title(cipher: &str) -> String {
    format!("{}{}", cipher[..1].to_uppercase(), &cipher[1..])
}

/// The packages that are `no_std` without their features.
pub(crate) fn no_std() -> Result<Vec<String>> {
    let is_no_std = |path: PathBuf| {
        let library = path.join("src/lib.rs");
        if !library.exists() {
            return Ok(false); // a command
        }
        let text = fs::read_to_string(&library).with_context(|| library.display().to_string())?;
        Ok(text.lines().any(|line| line == "#![no_std]"))
    };
    let mut names = crates(is_no_std)?;
    if is_no_std(root().join("kernels"))? {
        names.push("kernels".to_owned());
    }
    Ok(names.into_iter().map(|name| format!("lanecrypt-{name}")).collect())
}

/// What cargo says of each package.
pub(crate) fn metadata() -> Result<Vec<Value>> {
    let arguments = ["metadata", "--no-deps", "--format-version=1", "--offline"];
    let said = cargo().args(arguments).output()?;
    ensure!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let mut metadata: Value = serde_json::from_slice(&said.stdout)?;
    Ok(serde_json::from_value(metadata["packages"].take())?)
}

/// Whether a package goes to crates.io: no list of registries is all of them, an empty one none.
pub(crate) fn is_published(package: &Value) -> bool {
    package["publish"].is_null()
}

/// The packages that go there.
pub(crate) fn published() -> Result<Vec<Value>> {
    let mut packages = metadata()?;
    packages.retain(is_published);
    Ok(packages)
}

/// The options of cargo that select these packages.
pub(crate) fn selecting(packages: &[Value]) -> impl Iterator<Item = &str> {
    packages.iter().flat_map(|package| ["--package", package["name"].as_str().unwrap_or_default()])
}

/// All features of all packages.
pub(crate) fn features() -> Result<String> {
    Ok(features_of(&metadata()?))
}

/// All features of these packages, for cargo's `--features`, without `peers` of the benches: Botan and
/// OpenSSL take ten minutes to build in each folder for a target. `bench-all --peers` builds that.
pub(crate) fn features_of(packages: &[Value]) -> String {
    let all = packages.iter().flat_map(|package| {
        let name = package["name"].as_str().unwrap_or_default();
        let features = package["features"].as_object().into_iter().flatten();
        features.map(move |(feature, _)| format!("{name}/{feature}"))
    });
    all.filter(|feature| feature != PEERS).collect::<Vec<_>>().join(",")
}

/// The same without a GPU's driver layers.
pub(crate) fn features_without_wgpu(packages: &[Value]) -> String {
    let features = features_of(packages);
    features.split(',').filter(|name| !name.ends_with("/wgpu")).collect::<Vec<_>>().join(",")
}

/// Packages that are programs of this project alone.
pub(crate) const PROGRAMS: [&str; 5] =
    ["lanecrypt-benches", "lanecrypt-book", "lanecrypt-ct", "lanecrypt-fuzz", "xtask"];

const PEERS: &str = "lanecrypt-benches/peers";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_features_but_the_slow_one_are_listed() {
        let features = features().expect("cargo lists the packages");
        let features: Vec<_> = features.split(',').collect();
        for there in ["lanecrypt/tune", "lanecrypt-aes/hazmat", "lanecrypt-openssl-provider/cuda"] {
            assert!(features.contains(&there), "{features:?}");
        }
        assert!(!features.contains(&PEERS), "{features:?}");
    }

    #[test]
    fn folders_say_what_a_package_is() {
        let ciphers = ciphers().expect("crates/ can be read");
        assert!(ciphers.iter().any(|name| name == "aes") && ciphers.len() >= 6, "{ciphers:?}");
        let no_std = no_std().expect("crates/ can be read");
        let is_there = |name: &str| no_std.iter().any(|package| package == name);
        assert!(ciphers.iter().all(|cipher| is_there(&format!("lanecrypt-{cipher}"))));
        assert!(is_there("lanecrypt-core") && is_there("lanecrypt-kernels"), "{no_std:?}");
        assert!(!is_there("lanecrypt-cuda") && !is_there("lanecrypt-lanecrypt"), "{no_std:?}");
    }
}
