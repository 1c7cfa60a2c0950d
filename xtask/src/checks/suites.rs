//! The test suites of RustCrypto's crates of modes, over our ciphers: as published, with our crates in the place of the
//! ciphers that they name.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use toml::{Table, Value as Toml};

use crate::command::{cargo, copy_folder, empty, output, root, target};

/// Crates whose packages hold tests over a cipher that we have, and the version that is tested.
const SUITES: [(&str, &str); 17] = [
    ("aes-gcm", "0.11.1"),
    ("aes-gcm-siv", "0.12.1"),
    ("aes-kw", "0.3.1"),
    ("cbc", "0.2.1"),
    ("ccm", "0.6.1"),
    ("cfb-mode", "0.9.1"),
    ("cfb8", "0.9.1"),
    ("cmac", "0.8.0"),
    ("ctr", "0.10.1"),
    ("cts", "0.7.0"),
    ("eax", "0.6.1"),
    ("ige", "0.2.1"),
    ("ocb3", "0.2.0"),
    ("ofb", "0.7.1"),
    ("pcbc", "0.2.1"),
    ("pmac", "0.8.0"),
    ("xts-mode", "0.6.0"),
];

/// Tests that read files which the package leaves out, by a part of their names.
const WITHOUT_FILES: [(&str, &str); 1] = [("xts-mode", "_file_")];

/// Crates of ciphers, and ours that take their place. Others that a suite names stay.
const OURS: [(&str, &str); 5] =
    [("aes", "aes"), ("aria", "aria"), ("camellia", "camellia"), ("des", "des"), ("sm4", "sm4")];

/// Tables of a manifest that name crates.
const TABLES: [&str; 2] = ["dependencies", "dev-dependencies"];

/// Runs the suites whose names contain one of these, or all, and prints how many tests of each passed.
pub(crate) fn run(only: &[String]) -> Result<()> {
    let is_meant = |name: &str| only.is_empty() || only.iter().any(|part| name.contains(part));
    let suites: Vec<_> = SUITES.into_iter().filter(|(name, _)| is_meant(name)).collect();
    ensure!(!suites.is_empty(), "no suite is named so");
    let folder = target().join("judges/suites");
    let sources = fetch(&folder.join("fetched"), &suites)?;
    let mut failed = Vec::new();
    let mut lines = Vec::new();
    for (name, version) in suites {
        println!("{name} {version}");
        let source = sources.get(name).with_context(|| format!("cargo has not fetched {name}"))?;
        let suite = format!("{name}-{version}");
        let left_out = WITHOUT_FILES.iter().find(|(of, _)| *of == name).map(|(_, part)| *part);
        let said = match run_suite(&folder, &suite, source, left_out) {
            Ok(passed) => match left_out {
                None => format!("{passed} tests passed"),
                Some(part) => format!("{passed} tests passed; *{part}* want files not packed"),
            },
            Err(error) => {
                failed.push(suite.clone());
                println!("{error:#}");
                "FAILED".to_owned()
            }
        };
        lines.push(format!("{suite:24}{said}"));
    }
    println!("\n{}", lines.join("\n"));
    ensure!(failed.is_empty(), "{} failed", failed.join(", "));
    Ok(())
}

/// Has cargo fetch the packages, and says where each lies.
fn fetch(folder: &Path, suites: &[(&str, &str)]) -> Result<BTreeMap<String, PathBuf>> {
    let folder = empty(folder.to_path_buf())?;
    let version = |(name, version): &(&str, &str)| format!("{name} = \"={version}\"\n");
    let wanted: String = suites.iter().map(version).collect();
    let manifest = format!(
        "[package]\nname = \"fetched\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{wanted}"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "//! Names crates, so that cargo fetches them.\n")?;
    let mut metadata = cargo();
    metadata.args(["metadata", "--format-version=1", "--quiet"]).current_dir(&folder);
    let said = metadata.output()?;
    ensure!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let said: Value = serde_json::from_slice(&said.stdout)?;
    let packages = said["packages"].as_array().context("cargo names no packages")?;
    let place = |package: &Value| {
        let name = package["name"].as_str()?;
        let version = package["version"].as_str()?;
        let folder = Path::new(package["manifest_path"].as_str()?).parent()?;
        suites.contains(&(name, version)).then(|| (name.to_owned(), folder.to_path_buf()))
    };
    Ok(packages.iter().filter_map(place).collect())
}

/// Copies a package, puts our ciphers into its manifest and runs its tests. How many passed, which is one at least.
fn run_suite(folder: &Path, suite: &str, source: &Path, left_out: Option<&str>) -> Result<usize> {
    let copied = empty(folder.join(suite))?;
    copy_folder(source, &copied)?;
    let manifest = copied.join("Cargo.toml");
    let (changed, swapped) = with_ours(&fs::read_to_string(&manifest)?)?;
    ensure!(!swapped.is_empty(), "{suite} names no cipher that we have");
    println!("  with our {}", swapped.join(", "));
    fs::write(&manifest, changed)?;
    let lock = copied.join("Cargo.lock"); // that of their workspace
    if lock.exists() {
        fs::remove_file(lock)?;
    }
    let mut test = cargo();
    test.args(["test", "--quiet", "--lib", "--tests", "--target-dir"]).arg(folder.join("built"));
    // Long messages of the suites take minutes unoptimised; assertions stay.
    test.env("CARGO_PROFILE_DEV_OPT_LEVEL", "2").env_remove("RUSTFLAGS").current_dir(&copied);
    if let Some(part) = left_out {
        test.args(["--", "--skip", part]);
    }
    let passed = passed(&output(&mut test)?);
    ensure!(passed > 0, "{suite} has run no test: its package holds none");
    Ok(passed)
}

/// A manifest with our crates for ciphers, as a workspace of its own; and the crates that were replaced.
fn with_ours(manifest: &str) -> Result<(String, Vec<String>)> {
    let mut manifest: Table = manifest.parse()?;
    let mut swapped = Vec::new();
    for table in TABLES {
        let Some(dependencies) = manifest.get_mut(table) else { continue };
        let dependencies = dependencies.as_table_mut().with_context(|| format!("no {table}"))?;
        for (theirs, ours) in OURS {
            if let Some(dependency) = dependencies.get_mut(theirs) {
                *dependency = replaced(dependency, ours)?;
                swapped.push(format!("{ours} ({table})"));
            }
        }
    }
    manifest.insert("workspace".to_owned(), Toml::Table(Table::new()));
    // Warnings are theirs, and benches want a nightly compiler.
    for unused in ["lints", "bench"] {
        manifest.remove(unused);
    }
    Ok((manifest.to_string(), swapped))
}

/// The dependency on a cipher, as one on ours by its path, under the same name.
fn replaced(dependency: &Toml, ours: &str) -> Result<Toml> {
    let mut changed = match dependency {
        Toml::String(_) => Table::new(),
        Toml::Table(table) => table.clone(),
        other => bail!("{other} is no dependency"),
    };
    changed.remove("version");
    let path = root().join("crates").join(ours);
    let path = path.to_str().context("the path is no UTF-8")?;
    changed.insert("package".to_owned(), format!("lanecrypt-{ours}").into());
    changed.insert("path".to_owned(), path.into());
    Ok(Toml::Table(changed))
}

/// The tests that passed in all of a suite's programs, as their harness says.
fn passed(said: &str) -> usize {
    let of_line = |line: &str| {
        let (count, _) = line.strip_prefix("test result: ok. ")?.split_once(" passed")?;
        count.parse::<usize>().ok()
    };
    said.lines().filter_map(of_line).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ciphers_are_replaced_under_their_names() {
        let theirs = "[package]\nname = \"gcm\"\n[dependencies.aes]\nversion = \"0.9\"\noptional = true\n\
             [dependencies]\nghash = \"0.6\"\n[dev-dependencies]\ndes = \"0.9\"\nmagma = \"0.10\"\n\
             [lints.rust]\nunsafe_code = \"forbid\"\n";
        let (changed, swapped) = with_ours(theirs).expect("a good manifest");
        assert_eq!(swapped, ["aes (dependencies)", "des (dev-dependencies)"]);
        let changed: Table = changed.parse().expect("a good manifest");
        let aes = &changed["dependencies"]["aes"];
        assert_eq!(aes["package"].as_str(), Some("lanecrypt-aes"));
        assert_eq!(aes["optional"].as_bool(), Some(true));
        assert!(aes["path"].as_str().expect("a path").ends_with("crates/aes"));
        assert!(aes.get("version").is_none() && changed.get("lints").is_none());
        assert_eq!(changed["dependencies"]["ghash"].as_str(), Some("0.6"));
        assert_eq!(changed["dev-dependencies"]["magma"].as_str(), Some("0.10"));
        assert_eq!(changed["dev-dependencies"]["des"]["package"].as_str(), Some("lanecrypt-des"));
        assert!(changed["workspace"].as_table().expect("a table").is_empty());
    }

    #[test]
    fn a_cipher_of_others_stays() {
        let (_, swapped) = with_ours("[dev-dependencies]\nmagma = \"0.10\"\n").expect("a manifest");
        assert!(swapped.is_empty());
    }

    #[test]
    fn passed_tests_of_all_programs_are_counted() {
        let said = "\nrunning 3 tests\n...\ntest result: ok. 3 passed; 0 failed; 0 ignored\n\n\
             test result: ok. 12 passed; 0 failed; 1 ignored\ntest result: FAILED. 5 passed; 1 failed\n";
        assert_eq!(passed(said), 15);
        assert_eq!(passed("test result: ok. 0 passed; 0 failed"), 0);
    }
}
