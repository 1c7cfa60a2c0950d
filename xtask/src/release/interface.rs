//! The public interfaces beside those of an earlier release: what was taken away or changed asks for a new version.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    command::{command, empty, output, run, target},
    packages,
    tools::SEMVER_CHECKS,
};

/// Compares every published library with its state at the newest tag of a version. Nothing is fetched but the tool, if
/// it is not there: the tag is the baseline, and not what crates.io has.
pub(super) fn compare() -> Result<()> {
    let tags = ["tag", "--list", "v[0-9]*", "--sort=-version:refname"];
    let tags = output(command("git").args(tags))?;
    let Some(last) = newest(&tags) else {
        println!("NOT compared: no version is tagged yet, so there is no interface to keep");
        return Ok(());
    };
    compare_with(["--baseline-rev".as_ref(), last.as_ref()])
}

/// Compares every published library with the one that is packed in a folder, as `cargo package` leaves it.
pub(super) fn compare_with_packed(folder: &Path) -> Result<()> {
    let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
    let unpacked = unpack(&folder, empty(target().join("interface"))?)?;
    compare_with(["--baseline-root".as_ref(), unpacked.as_ref()])
}

fn compare_with(baseline: [&std::ffi::OsStr; 2]) -> Result<()> {
    let mut check = command(SEMVER_CHECKS.path()?);
    check.arg("semver-checks").args(baseline);
    for package in &packages::published()? {
        // A command has no interface that Rust knows.
        let targets = package["targets"].as_array().into_iter().flatten();
        if targets.into_iter().any(|target| target["kind"][0] == "lib") {
            check.args(["--package", package["name"].as_str().context("no name")?]);
        }
    }
    run(&mut check)
}

/// The first of these tags that is a release, and no candidate for one.
fn newest(tags: &str) -> Option<&str> {
    tags.lines().find(|tag| !tag.contains('-'))
}

/// Unpacks all packages of a folder, and has them find one another there: a registry may not have them.
fn unpack(packed: &Path, to: PathBuf) -> Result<PathBuf> {
    for entry in fs::read_dir(packed).with_context(|| packed.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "crate") {
            run(command("tar").arg("-xzf").arg(path).arg("--directory").arg(&to))?;
        }
    }
    let mut manifests = Vec::new();
    for entry in fs::read_dir(&to)? {
        let path = entry?.path().join("Cargo.toml");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        manifests.push((path, toml::from_str::<toml::Table>(&text)?));
    }
    ensure!(!manifests.is_empty(), "there is no package in {}", packed.display());
    let name =
        |manifest: &toml::Table| Some(manifest.get("package")?.get("name")?.as_str()?.to_owned());
    let folder = |path: &Path| path.parent().map(Path::to_owned);
    let folders: Vec<_> = manifests
        .iter()
        .filter_map(|(path, manifest)| Some((name(manifest)?, folder(path)?)))
        .collect();
    for (path, mut manifest) in manifests {
        find_one_another(&mut manifest, &folders);
        fs::write(path, toml::to_string(&manifest)?)?;
    }
    // The tool asks for a workspace there.
    fs::write(to.join("Cargo.toml"), "[workspace]\nmembers = [\"*\"]\nresolver = \"3\"\n")?;
    Ok(to)
}

/// Says of each dependency that is in one of these folders that it is there.
fn find_one_another(manifest: &mut toml::Table, folders: &[(String, PathBuf)]) {
    for (part, value) in manifest.iter_mut() {
        let Some(table) = value.as_table_mut() else { continue };
        if part == "target" {
            let targets = table.iter_mut().filter_map(|(_, target)| target.as_table_mut());
            targets.for_each(|target| find_one_another(target, folders));
        }
        if !part.ends_with("dependencies") {
            continue;
        }
        for (name, dependency) in table.iter_mut() {
            let Some((_, folder)) = folders.iter().find(|(other, _)| other == name) else {
                continue;
            };
            if let Some(dependency) = dependency.as_table_mut() {
                dependency.insert("path".to_owned(), folder.to_string_lossy().as_ref().into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_no_baseline() {
        assert_eq!(newest("v0.2.0-rc.1\nv0.1.0\nv0.0.9\n"), Some("v0.1.0"));
        assert_eq!(newest(""), None);
    }

    #[test]
    fn packages_find_one_another() {
        let mut manifest = toml::from_str(
            "[dependencies.a]\nversion = \"1\"\n[dependencies.other]\nversion = \"1\"\n\
             [target.'cfg(unix)'.dependencies.a]\nversion = \"1\"\n",
        )
        .expect("a manifest");
        find_one_another(&mut manifest, &[("a".to_owned(), "/unpacked/a-1.0.0".into())]);
        let text = manifest.to_string();
        assert_eq!(text.matches("path = \"/unpacked/a-1.0.0\"").count(), 2, "{text}");
        let empty_folder = tempfile::tempdir().expect("a folder for tests");
        let to = tempfile::tempdir().expect("a folder for tests");
        assert!(unpack(empty_folder.path(), to.path().to_owned()).is_err());
    }
}
