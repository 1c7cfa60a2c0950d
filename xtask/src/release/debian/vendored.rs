//! The sources of others, as `cargo vendor` lays them down, without those that no build of these packages compiles.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::PACKAGES;
use crate::{
    command::{cargo, empty, run},
    release::shipped::{Key, tree},
};

/// Where they lie in the tree.
pub(super) const FOLDER: &str = "vendor";

/// The machines of `packaging/debian/control`, as Rust names them.
const MACHINES: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

const SUMS: &str = ".cargo-checksum.json";

/// Lays them into a tree, and takes out of its Cargo.lock what its members do not name.
pub(super) fn make(root: &Path) -> Result<()> {
    let mut vendor = cargo();
    vendor.args(["vendor", "--quiet", "--versioned-dirs", FOLDER]).current_dir(root);
    run(vendor.stdout(std::process::Stdio::null()))?;
    let compiled = compiled(root)?;
    let (mut kept, mut emptied) = (0, 0);
    for folder in folders(&root.join(FOLDER))? {
        let manifest = read(&folder)?;
        if compiled.contains(&key(&manifest)?) {
            leave_out_binaries(&folder)?;
            kept += 1;
        } else {
            leave_the_name(&folder, manifest)?;
            emptied += 1;
        }
    }
    println!("{kept} packages of others are compiled; {emptied} more are in Cargo.lock alone");
    Ok(())
}

/// What a build for one of the machines compiles.
fn compiled(root: &Path) -> Result<BTreeSet<Key>> {
    let mut compiled = BTreeSet::new();
    for machine in MACHINES {
        compiled.extend(tree(root, &PACKAGES, &["--edges=normal,build", "--target", machine])?);
    }
    Ok(compiled)
}

/// The folders of packages, in order.
pub(super) fn folders(vendor: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(vendor).with_context(|| vendor.display().to_string())?;
    let mut folders: Vec<_> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    folders.sort_unstable();
    Ok(folders)
}

/// The manifest of a package.
pub(super) fn read(folder: &Path) -> Result<toml::Table> {
    let text = fs::read_to_string(folder.join("Cargo.toml"));
    toml::from_str(&text.with_context(|| folder.display().to_string())?)
        .with_context(|| folder.display().to_string())
}

/// A field of a manifest's section on the package; empty where it is not there.
pub(super) fn field<'a>(manifest: &'a toml::Table, name: &str) -> &'a str {
    let package = manifest.get("package").and_then(|package| package.get(name));
    package.and_then(toml::Value::as_str).unwrap_or_default()
}

fn key(manifest: &toml::Table) -> Result<Key> {
    let key = (field(manifest, "name"), field(manifest, "version"));
    (!key.0.is_empty() && !key.1.is_empty()).then_some(()).context("a manifest without a name")?;
    Ok((key.0.to_owned(), key.1.to_owned()))
}

/// Removes files that are no text from beside a package's sources: data and libraries of tests, which no build reads.
fn leave_out_binaries(folder: &Path) -> Result<()> {
    let mut sums: Value = serde_json::from_slice(&fs::read(folder.join(SUMS))?)?;
    let files = sums["files"].as_object_mut().context("no sums of files")?;
    let mut binaries = Vec::new();
    for name in files.keys().filter(|name| !name.starts_with("src/")) {
        if fs::read(folder.join(name)).with_context(|| name.clone())?.contains(&0) {
            binaries.push(name.clone());
        }
    }
    for name in &binaries {
        files.remove(name);
        fs::remove_file(folder.join(name))?;
    }
    if !binaries.is_empty() {
        println!("{}: without {}", folder.display(), binaries.join(", "));
        fs::write(folder.join(SUMS), sums.to_string())?;
    }
    Ok(())
}

/// Fields of a package without its sources.
const NAMES: [&str; 5] = ["authors", "edition", "license", "name", "version"];

/// Replaces a package by one of the same name, features and dependencies that has nothing in it: cargo reads the manifest
/// of each that is in Cargo.lock, and the sources of those that it compiles.
fn leave_the_name(folder: &Path, mut manifest: toml::Table) -> Result<()> {
    for part in ["bench", "bin", "example", "lib", "test"] {
        manifest.remove(part);
    }
    if let Some(package) = manifest.get_mut("package").and_then(toml::Value::as_table_mut) {
        package.retain(|name, _| NAMES.contains(&name));
    }
    let sums = fs::read(folder.join(SUMS)).with_context(|| folder.display().to_string())?;
    let sums: Value = serde_json::from_slice(&sums)?;
    empty(folder.to_owned())?;
    fs::create_dir(folder.join("src"))?;
    fs::write(
        folder.join("src/lib.rs"),
        "//! Left out: no build of the Debian packages compiles it.\n",
    )?;
    fs::write(folder.join("Cargo.toml"), toml::to_string(&manifest)?)?;
    let sums = json!({ "files": {}, "package": sums["package"] });
    Ok(fs::write(folder.join(SUMS), sums.to_string())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_of_tests_are_left_out() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let folder = folder.path();
        for (name, bytes) in
            [("src/a.bin", &b"\0"[..]), ("tests/a.dll", b"MZ\0"), ("b.rs", b"text")]
        {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder for tests");
            fs::write(file, bytes).expect("a file for tests");
        }
        let sums = r#"{"files":{"b.rs":"1","src/a.bin":"2","tests/a.dll":"3"},"package":"4"}"#;
        fs::write(folder.join(SUMS), sums).expect("a file for tests");
        leave_out_binaries(folder).expect("files");
        let sums = fs::read_to_string(folder.join(SUMS)).expect("it is there");
        assert_eq!(sums, r#"{"files":{"b.rs":"1","src/a.bin":"2"},"package":"4"}"#);
        assert!(!folder.join("tests/a.dll").exists() && folder.join("src/a.bin").exists());
    }

    #[test]
    fn of_what_is_not_compiled_the_name_stays() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let folder = folder.path();
        let manifest = "[package]\nname = \"a\"\nversion = \"1.0.0\"\nlinks = \"z\"\nbuild = \"build.rs\"\n\
                        license = \"MIT\"\n[lib]\npath = \"a.rs\"\n[features]\nb = []\n[[bin]]\nname = \"c\"\n";
        fs::write(folder.join("Cargo.toml"), manifest).expect("a file for tests");
        fs::write(folder.join("a.rs"), "code").expect("a file for tests");
        fs::write(folder.join(SUMS), r#"{"files":{"a.rs":"00"},"package":"11"}"#).expect("a file");
        let read_first = read(folder).expect("a manifest");
        assert_eq!(key(&read_first).expect("named"), ("a".to_owned(), "1.0.0".to_owned()));
        leave_the_name(folder, read_first).expect("a package");
        let left = fs::read_to_string(folder.join("Cargo.toml")).expect("it is there");
        assert!(left.contains("[features]") && left.contains("license = \"MIT\""), "{left}");
        for absent in ["links", "build", "bin", "a.rs"] {
            assert!(!left.contains(absent), "{absent} in {left}");
        }
        assert!(!folder.join("a.rs").exists() && folder.join("src/lib.rs").exists());
        let sums = fs::read_to_string(folder.join(SUMS)).expect("it is there");
        assert_eq!(sums, r#"{"files":{},"package":"11"}"#);
        assert!(key(&toml::Table::new()).is_err());
    }
}
