//! Packages as they would be published: which, in which order, with what in them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{
    checks::metadata,
    command::{cargo, output, root, run},
    packages,
};

/// What cargo says of a package of the workspace, and what is asked of it here.
struct Package {
    name: String,
    folder: PathBuf,
    is_published: bool,
    /// What is wrong with what crates.io and docs.rs read of it.
    faults: Vec<String>,
    dependencies: Vec<Dependency>,
}

/// On another package of the workspace.
struct Dependency {
    name: String,
    /// Whether cargo leaves it out of the package: one of tests, without a version.
    is_left_out: bool,
}

/// `cargo xtask package`: lists what is published and packages it, building nothing unless it is told to.
pub(crate) fn run_task(build: bool) -> Result<()> {
    let listed = packages::metadata()?;
    let packages = packages(&listed)?;
    let mut faults = faults(&packages);
    let named_by_all = listed.iter().find(|package| packages::is_published(package));
    faults.extend(named_by_all.into_iter().flat_map(|one| metadata::citation_faults(one, &root())));
    let order = order(&packages)?;
    for package in &order {
        println!("{}", package.name);
        faults.extend(files_outside(package)?);
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    let mut package = cargo();
    // What is not committed yet is packaged too: this is a check, and nothing is sent anywhere.
    package.args(["package", "--quiet", "--offline", "--allow-dirty"]);
    if !build {
        package.arg("--no-verify");
    }
    for one in &order {
        package.args(["--package", &one.name]);
    }
    run(&mut package)?;
    holds_kernels(&order)
}

/// The names of the files that `cargo package` makes of what is published.
pub(crate) fn archives() -> Result<Vec<String>> {
    let listed = packages::metadata()?;
    let published = listed.iter().filter(|package| packages::is_published(package));
    let names = published.map(|package| {
        let text = |field: &str| package[field].as_str().with_context(|| format!("no {field}"));
        Ok(format!("{}-{}.crate", text("name")?, text("version")?))
    });
    names.collect()
}

/// The packages of the workspace, from what cargo says of them.
fn packages(listed: &[Value]) -> Result<Vec<Package>> {
    let names: BTreeSet<_> = listed.iter().filter_map(|package| package["name"].as_str()).collect();
    let package = |package: &Value| {
        let manifest = Path::new(package["manifest_path"].as_str().context("no manifest")?);
        let folder = manifest.parent().context("a manifest in no folder")?.to_owned();
        let dependencies = package["dependencies"].as_array().context("no dependencies")?.iter();
        let ours = dependencies.filter_map(|dependency| {
            let name = dependency["name"].as_str().filter(|name| names.contains(name))?;
            let is_left_out = dependency["kind"] == "dev" && dependency["req"] == "*";
            Some(Dependency { name: name.to_owned(), is_left_out })
        });
        Ok(Package {
            name: package["name"].as_str().context("no name")?.to_owned(),
            folder,
            is_published: packages::is_published(package),
            faults: metadata::faults(package),
            dependencies: ours.collect(),
        })
    };
    listed.iter().map(package).collect()
}

/// Files in the folder of each package: both licences ask for their text beside what they are of. Links to the
/// workspace's are packaged as files.
const FILES: [&str; 3] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// What keeps a package that is to be published from being published.
fn faults(packages: &[Package]) -> Vec<String> {
    let published = || packages.iter().filter(|package| package.is_published);
    let is_there = |name: &str| published().any(|package| package.name == name);
    let mut faults = Vec::new();
    for package in published() {
        let name = &package.name;
        faults.extend(package.faults.iter().map(|fault| format!("{name}: {fault}")));
        let absent = FILES.iter().filter(|file| !package.folder.join(file).is_file());
        faults.extend(absent.map(|file| format!("{name}: no {file}")));
        let stays = package.dependencies.iter().filter(|dependency| !dependency.is_left_out);
        let unpublished = stays.filter(|dependency| !is_there(&dependency.name));
        faults.extend(unpublished.map(|other| {
            format!(
                "{name} needs {}, which is not published; of tests, leave out its version",
                other.name
            )
        }));
    }
    faults
}

/// What is published, each after what it depends on.
fn order(packages: &[Package]) -> Result<Vec<&Package>> {
    let mut waiting: BTreeMap<&str, &Package> = packages
        .iter()
        .filter(|package| package.is_published)
        .map(|package| (package.name.as_str(), package))
        .collect();
    let mut order = Vec::new();
    while !waiting.is_empty() {
        let waits = |package: &Package| {
            let mut needs = package.dependencies.iter().filter(|needed| !needed.is_left_out);
            // Tests of a crate may name the crate itself, with other features.
            needs.any(|needed| needed.name != package.name && waiting.contains_key(&*needed.name))
        };
        let ready: Vec<&str> =
            waiting.iter().filter(|(_, package)| !waits(package)).map(|(name, _)| *name).collect();
        if ready.is_empty() {
            let names: Vec<_> = waiting.keys().copied().collect();
            bail!("these need each other: {}", names.join(", "));
        }
        order.extend(ready.into_iter().filter_map(|name| waiting.remove(name)));
    }
    Ok(order)
}

/// Files beside its sources that a package's code includes and that lie outside its folder, where they
/// would be missing. Those of documentation tests are, and are read in the repository alone.
fn files_outside(package: &Package) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut folders = vec![package.folder.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let lines: Vec<&str> = text.lines().collect();
            for (i, line) in lines.iter().enumerate() {
                let of_doctest =
                    lines[i.saturating_sub(2)..i].iter().any(|before| before.contains("doctest"));
                let outside = included(line).is_some_and(|file| {
                    let steps = file.split('/').filter(|part| *part == "..").count();
                    let depth =
                        path.strip_prefix(&package.folder).map_or(0, |p| p.components().count());
                    steps >= depth
                });
                if outside && !of_doctest {
                    faults.push(format!(
                        "{}:{}: includes what is not packaged",
                        path.display(),
                        i + 1
                    ));
                }
            }
        }
    }
    Ok(faults)
}

/// The file that a line of Rust includes, if any.
fn included(line: &str) -> Option<&str> {
    let (_, rest) =
        line.split_once("include_str!(\"").or_else(|| line.split_once("include_bytes!(\""))?;
    rest.split('"').next()
}

/// Whether the package of the kernels has their sources, the PTX and the machine code.
fn holds_kernels(order: &[&Package]) -> Result<()> {
    let kernels = order.iter().find(|package| package.folder.join("ptx").is_dir());
    let kernels = kernels.context("no package has kernels")?;
    let listed = output(cargo().args([
        "package",
        "--list",
        "--offline",
        "--allow-dirty",
        "--package",
        &kernels.name,
    ]))?;
    let ptx = fs::read_dir(kernels.folder.join("ptx"))?.count();
    let of = |end: &str| listed.lines().filter(|file| file.ends_with(end)).count();
    if of(".ptx") != ptx || of(".cubin") != ptx || of(".cu") == 0 || of(".cuh") == 0 {
        bail!(
            "{}: {} PTX files and {} of machine code instead of {ptx}, {} sources",
            kernels.name,
            of(".ptx"),
            of(".cubin"),
            of(".cu"),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, needs: &[(&str, bool)]) -> Package {
        let needs = needs.iter().map(|(name, is_left_out)| Dependency {
            name: (*name).to_owned(),
            is_left_out: *is_left_out,
        });
        Package {
            name: name.to_owned(),
            folder: root(),
            is_published: name != "tool",
            faults: Vec::new(),
            dependencies: needs.collect(),
        }
    }

    #[test]
    fn what_is_needed_comes_first() {
        let packages = [
            package("a", &[("b", false), ("tool", true)]),
            package("b", &[]),
            package("tool", &[]),
        ];
        let names: Vec<_> = order(&packages).expect("an order").iter().map(|p| &*p.name).collect();
        assert_eq!(names, ["b", "a"]);
        let packages = [package("a", &[("b", false)]), package("b", &[("a", false)])];
        assert!(order(&packages).is_err());
    }

    #[test]
    fn what_is_not_published_is_not_needed() {
        let packages = [package("a", &[("tool", false)]), package("tool", &[])];
        let faults = faults(&packages).join("; ");
        assert!(faults.contains("a needs tool"), "{faults}");
    }

    #[test]
    fn faults_of_what_is_published_count() {
        let mut packages = [package("a", &[]), package("tool", &[])];
        for package in &mut packages {
            package.faults = vec!["no keywords".to_owned()];
        }
        assert_eq!(faults(&packages), ["a: no keywords"]);
        packages[0] = Package { folder: root().join("xtask/src"), ..package("a", &[]) };
        assert_eq!(faults(&packages), FILES.map(|file| format!("a: no {file}")));
    }

    #[test]
    fn includes_are_found() {
        let line = ["include_", "str!(\"../README.md\")"].concat();
        assert_eq!(included(&line), Some("../README.md"));
        assert_eq!(included("include!(\"x\")"), None);
    }
}
