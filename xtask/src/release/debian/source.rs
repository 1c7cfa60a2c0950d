//! The tree of the source package: what the packages are built of, with manifests that name nothing else.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::Value;

use super::{PACKAGES, copyright, vendored};
use crate::{
    command::{command, copy_folder, output, root, run},
    packages,
    release::artifacts::{EPOCH, epoch},
    sources::tree,
};

/// What Debian calls it.
const NAME: &str = "lanecrypt";

/// Files of the root that belong to it.
const OF_THE_ROOT: [&str; 7] = [
    ".cargo/config.toml",
    "CHANGELOG.md",
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
];

/// Folders of a package that no build reads.
const NOT_BUILT: [&str; 3] = ["benches/", "examples/", "tests/"];

/// Writes the tree and both tarballs into a folder; gives the tree.
pub(super) fn make(folder: &Path) -> Result<PathBuf> {
    let listed = packages::metadata()?;
    let needed = needed(&listed)?;
    let version = env!("CARGO_PKG_VERSION");
    let name = format!("{NAME}-{version}");
    let tree = folder.join(&name);
    for (path, bytes) in tree::sources(&root())? {
        if let Some(bytes) = kept(&path, bytes, &needed)? {
            let to = tree.join(&path);
            fs::create_dir_all(to.parent().context("a file lies in a folder")?)?;
            fs::write(to, bytes)?;
        }
    }
    vendored::make(&tree)?;
    let epoch = epoch()?;
    let archive = |part: &str| folder.join(format!("{NAME}_{version}.orig{part}.tar.xz"));
    pack(&archive(""), folder, &name, &epoch)?;
    pack(&archive("-vendor"), &tree, vendored::FOLDER, &epoch)?;
    let packaging = tree.join("debian");
    copy_folder(&root().join("packaging/debian"), &packaging)?;
    let control = fs::read_to_string(packaging.join("control"))?;
    fs::write(packaging.join("changelog"), changelog(&control, version, &epoch)?)?;
    let copyright = copyright::text(&tree.join(vendored::FOLDER), field(&control, "Homepage")?)?;
    fs::write(packaging.join("copyright"), copyright)?;
    Ok(tree)
}

/// A field of `packaging/debian/control`.
fn field<'a>(control: &'a str, name: &str) -> Result<&'a str> {
    let value = |line: &'a str| line.strip_prefix(name)?.strip_prefix(": ");
    control.lines().find_map(value).with_context(|| format!("the source package has no {name}"))
}

/// The folders of the packages that these are built of, by their names, tests left aside.
fn needed(listed: &[Value]) -> Result<BTreeMap<String, String>> {
    let mut needed = BTreeMap::new();
    let mut waiting: Vec<&str> = PACKAGES.to_vec();
    while let Some(name) = waiting.pop() {
        let package = listed.iter().find(|package| package["name"] == name);
        let package = package.with_context(|| format!("there is no {name}"))?;
        let manifest = Path::new(package["manifest_path"].as_str().context("no manifest")?);
        let folder = manifest.parent().context("a manifest lies in a folder")?;
        let folder = folder.strip_prefix(root())?.to_string_lossy().into_owned();
        if needed.insert(name.to_owned(), folder).is_some() {
            continue;
        }
        let all = package["dependencies"].as_array().into_iter().flatten();
        let ours = all.filter(|other| other["path"].is_string() && other["kind"] != "dev");
        waiting.extend(ours.filter_map(|other| other["name"].as_str()));
    }
    Ok(needed)
}

/// What becomes of a file of this tree: nothing, where no build reads it.
fn kept(path: &str, bytes: Vec<u8>, needed: &BTreeMap<String, String>) -> Result<Option<Vec<u8>>> {
    if path == "Cargo.toml" {
        return manifest(&bytes, |table| of_the_root(table, needed)).map(Some);
    }
    if OF_THE_ROOT.contains(&path) {
        return Ok(Some(bytes));
    }
    let below = needed.values().find_map(|folder| path.strip_prefix(folder)?.strip_prefix('/'));
    match below {
        Some("Cargo.toml") => manifest(&bytes, without_tests).map(Some),
        Some(below) if NOT_BUILT.iter().any(|folder| below.starts_with(folder)) => Ok(None),
        Some(_) => Ok(Some(bytes)),
        None => Ok(None),
    }
}

/// A manifest, changed.
fn manifest(bytes: &[u8], change: impl FnOnce(&mut toml::Table)) -> Result<Vec<u8>> {
    let mut table: toml::Table = toml::from_str(std::str::from_utf8(bytes)?)?;
    change(&mut table);
    let head = "# Lanecrypt's, without what no build of the Debian packages reads.\n\n";
    Ok((head.to_owned() + &toml::to_string(&table)?).into_bytes())
}

/// The workspace has these members alone.
fn of_the_root(table: &mut toml::Table, needed: &BTreeMap<String, String>) {
    if let Some(workspace) = table.get_mut("workspace").and_then(toml::Value::as_table_mut) {
        let members: Vec<_> = needed.values().cloned().map(toml::Value::String).collect();
        workspace.insert("members".to_owned(), members.into());
        workspace.remove("default-members");
    }
    let Some(profiles) = table.get_mut("profile").and_then(toml::Value::as_table_mut) else {
        return;
    };
    profiles.retain(|name, _| name == "release");
    let of_packages = profiles.get_mut("release").and_then(|profile| profile.get_mut("package"));
    if let Some(of_packages) = of_packages.and_then(toml::Value::as_table_mut) {
        of_packages.retain(|name, _| !name.starts_with(NAME) || needed.contains_key(name));
    }
}

/// What tests, benches and examples need is in no source package.
fn without_tests(table: &mut toml::Table) {
    for part in ["bench", "dev-dependencies", "example", "test"] {
        table.remove(part);
    }
    let targets = table.get_mut("target").and_then(toml::Value::as_table_mut);
    for (_, target) in targets.into_iter().flatten() {
        if let Some(target) = target.as_table_mut() {
            target.remove("dev-dependencies");
        }
    }
}

/// An archive of one folder, the same from the same files.
fn pack(to: &Path, from: &Path, name: &str, epoch: &str) -> Result<()> {
    let mut tar = command("tar");
    tar.args(["--create", "--xz", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.args(["--mode=u+rw,go+r-w", &format!("--mtime=@{epoch}")]);
    tar.arg(format!("--exclude={name}/{}", vendored::FOLDER));
    run(tar.arg("--file").arg(to).arg("--directory").arg(from).arg(name).env(EPOCH, epoch))
}

/// Debian's list of changes, which has one: the version.
fn changelog(control: &str, version: &str, epoch: &str) -> Result<String> {
    let maintainer = field(control, "Maintainer")?;
    let mut date = command("date");
    date.args(["--utc", "--rfc-email", "--date", &format!("@{epoch}")]);
    let date = output(&mut date)?;
    Ok(format!(
        "{NAME} ({version}-1) UNRELEASED; urgency=medium\n\n  * Lanecrypt {version}: its CHANGELOG.md says what \
         is new.\n\n -- {maintainer}  {}\n",
        date.trim()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_has_what_is_built_alone() {
        let needed = needed(&packages::metadata().expect("packages")).expect("all are there");
        for there in ["lanecrypt-luks", "lanecrypt-kernels", "lanecrypt-wgpu"] {
            assert!(needed.contains_key(there), "{needed:?}");
        }
        assert!(!needed.contains_key("lanecrypt-judges"), "tests want it alone");
        let kept = |path: &str, text: &str| {
            let kept = kept(path, text.into(), &needed).expect("a manifest");
            kept.map(|bytes| String::from_utf8(bytes).expect("text"))
        };
        assert_eq!(kept("crates/luks/src/a.rs", "a").as_deref(), Some("a"));
        assert_eq!(kept("LICENSE-MIT", "a").as_deref(), Some("a"));
        for not in ["crates/luks/tests/a.rs", "crates/python/src/a.rs", "vectors/a.txt"] {
            assert_eq!(kept(not, "a"), None, "{not}");
        }
        let manifest = kept(
            "crates/luks/Cargo.toml",
            "[dependencies]\na = \"1\"\n[dev-dependencies]\nb = \"1\"\n\
             [target.'cfg(unix)'.dev-dependencies]\nc = \"1\"\n[[test]]\nname = \"d\"\n",
        );
        let manifest = manifest.expect("it is kept");
        assert!(manifest.contains("a = \"1\""), "{manifest}");
        assert!(!manifest.contains("dev-dep") && !manifest.contains("test"), "{manifest}");
    }

    #[test]
    fn the_workspace_is_cut() {
        let needed = BTreeMap::from([("lanecrypt-a".to_owned(), "crates/a".to_owned())]);
        let text = "[workspace]\nmembers = [\"crates/*\"]\ndefault-members = [\"x\"]\n[profile.dev]\nopt-level = 3\n\
                    [profile.release.package.lanecrypt-b]\ncodegen-units = 1\n\
                    [profile.release.package.aes]\ncodegen-units = 2\n";
        let cut = manifest(text.as_bytes(), |table| of_the_root(table, &needed)).expect("toml");
        let cut = String::from_utf8(cut).expect("text");
        assert!(cut.contains("members = [\"crates/a\"]") && cut.contains("package.aes"), "{cut}");
        for absent in ["default-members", "profile.dev", "lanecrypt-b"] {
            assert!(!cut.contains(absent), "{cut}");
        }
    }

    #[test]
    fn changes_name_the_maintainer() {
        let changes = changelog("Maintainer: A B <a@b.c>\n", "1.2.3", "0").expect("a maintainer");
        assert!(changes.starts_with("lanecrypt (1.2.3-1) UNRELEASED;"), "{changes}");
        let end = "\n\n -- A B <a@b.c>  Thu, 01 Jan 1970 00:00:00 +0000\n";
        assert!(changes.ends_with(end), "{changes}");
        assert!(changelog("", "1", "0").is_err());
    }
}
