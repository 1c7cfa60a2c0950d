//! What the programs and modules that are shipped are made of: packages that are linked, and those that only build.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::command::{cargo, command, output, root};

/// Something that is shipped as one file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    /// As people name it.
    pub(super) name: &'static str,
    /// The package that it is built of.
    pub(super) package: &'static str,
    /// What `CycloneDX` calls it.
    pub(super) kind: &'static str,
}

pub(super) const COMMAND: Product =
    Product { name: "lanecrypt", package: "lanecrypt-cli", kind: "application" };
pub(super) const WHEEL: Product =
    Product { name: "lanecrypt for Python", package: "lanecrypt-python", kind: "library" };
pub(super) const PROVIDER: Product =
    Product { name: "lanecrypt.so", package: "lanecrypt-openssl-provider", kind: "library" };

/// A package by its name and version: one from elsewhere may have the name of another version.
pub(super) type Key = (String, String);

/// A package that something is made of.
#[derive(Debug)]
pub(super) struct Part {
    /// What cargo says of it.
    pub(super) package: Value,
    /// Whether it is in what is shipped. Macros and build scripts run while that is built.
    pub(super) is_linked: bool,
    /// SHA-256 of its archive on crates.io, in hex; none for a package of this tree.
    pub(super) archive: Option<String>,
    /// The other parts that it needs.
    pub(super) needs: BTreeSet<Key>,
}

impl Part {
    pub(super) fn text(&self, field: &str) -> &str {
        self.package[field].as_str().unwrap_or_default()
    }

    /// Whether it is of this tree.
    pub(super) fn is_ours(&self) -> bool {
        self.package["source"].is_null()
    }

    /// Its licence, as SPDX writes it.
    pub(super) fn licence(&self) -> String {
        one_form(self.text("license"))
    }

    /// The folder that it lies in.
    pub(super) fn folder(&self) -> &Path {
        Path::new(self.text("manifest_path")).parent().unwrap_or(Path::new(""))
    }
}

/// A licence as SPDX writes it: old packages have a slash between those that they offer.
pub(super) fn one_form(licence: &str) -> String {
    licence.replace(" / ", " OR ").replace('/', " OR ")
}

/// All parts of a product, itself among them.
pub(super) type Parts = BTreeMap<Key, Part>;

/// What cargo says of all packages, from which the parts of each product are taken.
pub(super) struct Graph {
    metadata: Value,
    archives: BTreeMap<Key, String>,
}

impl Graph {
    pub(super) fn read() -> Result<Self> {
        let mut metadata = cargo();
        metadata.args(["metadata", "--locked", "--format-version=1"]);
        // What is for other systems alone may never have been downloaded.
        metadata.args(["--filter-platform", &this_machine()?]);
        let said = metadata.output()?;
        ensure!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        let lock = fs::read_to_string(root().join("Cargo.lock"))?;
        Ok(Self { metadata: serde_json::from_slice(&said.stdout)?, archives: archives(&lock)? })
    }

    /// The parts of a product as it is built for this machine, with the features that it is built with.
    pub(super) fn parts(&self, product: &Product) -> Result<Parts> {
        let linked = tree(&root(), &[product.package], &["--edges=normal,no-proc-macro"])?;
        let all = tree(&root(), &[product.package], &["--edges=normal,build"])?;
        self.chosen(&linked, &all)
    }

    /// What is linked into the programs of these packages, tests among them.
    pub(super) fn parts_with_tests(&self, packages: &[&str]) -> Result<Parts> {
        let linked = tree(&root(), packages, &["--edges=normal,dev,no-proc-macro"])?;
        self.chosen(&linked, &linked)
    }

    /// Of these packages what cargo says, and which of them each needs.
    fn chosen(&self, linked: &BTreeSet<Key>, all: &BTreeSet<Key>) -> Result<Parts> {
        let packages = self.metadata["packages"].as_array().context("no packages")?;
        let id = |package: &Value| package["id"].as_str().unwrap_or_default().to_owned();
        let keys: BTreeMap<String, Key> = packages.iter().map(|p| (id(p), key(p))).collect();
        let needs = self.needs(&keys)?;
        let mut parts = Parts::new();
        for package in packages.iter().filter(|package| all.contains(&key(package))) {
            let key = key(package);
            let needs = needs.get(&key).into_iter().flatten();
            let part = Part {
                package: package.clone(),
                is_linked: linked.contains(&key),
                archive: self.archives.get(&key).cloned(),
                needs: needs.filter(|need| all.contains(*need)).cloned().collect(),
            };
            parts.insert(key, part);
        }
        let missing: Vec<_> = all.iter().filter(|key| !parts.contains_key(*key)).collect();
        ensure!(missing.is_empty(), "cargo does not say what these are: {missing:?}");
        Ok(parts)
    }

    /// Who needs whom, tests left aside.
    fn needs(&self, keys: &BTreeMap<String, Key>) -> Result<BTreeMap<Key, Vec<Key>>> {
        let nodes = self.metadata["resolve"]["nodes"].as_array().context("no graph")?;
        let needs = nodes.iter().filter_map(|node| {
            let deps = node["deps"].as_array().into_iter().flatten().filter(|dep| {
                let mut kinds = dep["dep_kinds"].as_array().into_iter().flatten();
                kinds.any(|kind| kind["kind"] != "dev")
            });
            let deps = deps.filter_map(|dep| keys.get(dep["pkg"].as_str()?).cloned());
            Some((keys.get(node["id"].as_str()?)?.clone(), deps.collect()))
        });
        Ok(needs.collect())
    }
}

/// How Rust names this machine, for which everything is built.
fn this_machine() -> Result<String> {
    let said = output(command("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say where it runs")
}

fn key(package: &Value) -> Key {
    let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
    (text("name"), text("version"))
}

/// The packages that cargo would compile for these of a workspace, by the edges that the options name. The graph of
/// `cargo metadata` has the features that any package of the workspace asks for; this one has those of these.
pub(super) fn tree(workspace: &Path, packages: &[&str], options: &[&str]) -> Result<BTreeSet<Key>> {
    let mut tree = cargo();
    tree.args(["tree", "--locked", "--prefix=none", "--format={p}"]).args(options);
    tree.current_dir(workspace);
    tree.args(packages.iter().flat_map(|package| ["--package", *package]));
    let said = output(&mut tree)?;
    said.lines().filter(|line| !line.is_empty()).map(listed).collect()
}

/// `name v1.2.3 (/folder)`, in the tree of a product.
fn listed(line: &str) -> Result<Key> {
    let mut words = line.split(' ');
    let key = words.next().zip(words.next().and_then(|word| word.strip_prefix('v')));
    let (name, version) = key.with_context(|| format!("cargo tree says {line:?}"))?;
    Ok((name.to_owned(), version.to_owned()))
}

/// The sums of archives that Cargo.lock has.
fn archives(lock: &str) -> Result<BTreeMap<Key, String>> {
    let lock: toml::Table = toml::from_str(lock).context("Cargo.lock")?;
    let packages = lock.get("package").and_then(toml::Value::as_array).context("no packages")?;
    let archives = packages.iter().filter_map(|package| {
        let text = |field: &str| Some(package.get(field)?.as_str()?.to_owned());
        Some(((text("name")?, text("version")?), text("checksum")?))
    });
    Ok(archives.collect())
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    pub(in super::super) fn name(name: &str) -> Key {
        (name.to_owned(), "1.0.0".to_owned())
    }

    /// A program of ours that links `hash`, which a macro helps to build.
    pub(in super::super) fn graph(folder: &Path) -> Graph {
        let package = |name: &str, licence: &str, source: Value| {
            json!({
                "id": format!("{name}#1"), "name": name, "version": "1.0.0", "license": licence,
                "source": source, "manifest_path": folder.join(name).join("Cargo.toml"),
                "repository": format!("https://a.b/{name}"),
            })
        };
        let crates_io = json!("registry+https://github.com/rust-lang/crates.io-index");
        let need = |name: &str, kind: Value| json!({ "pkg": format!("{name}#1"), "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [
                package("program", "MIT OR Apache-2.0", Value::Null),
                package("hash", "MIT/Apache-2.0", crates_io.clone()),
                package("derive", "MIT", crates_io.clone()),
                package("judge", "MIT", crates_io),
            ],
            "resolve": { "nodes": [
                { "id": "program#1", "deps": [need("hash", Value::Null), need("judge", json!("dev"))] },
                { "id": "hash#1", "deps": [need("derive", Value::Null)] },
                { "id": "derive#1", "deps": [] },
                { "id": "judge#1", "deps": [] },
            ]},
        });
        let archives = BTreeMap::from([(name("hash"), "ab".repeat(32))]);
        Graph { metadata, archives }
    }

    pub(in super::super) fn parts(folder: &Path) -> Parts {
        let linked = [name("program"), name("hash")];
        let all = [linked[0].clone(), linked[1].clone(), name("derive")];
        graph(folder).chosen(&linked.into(), &all.into()).expect("all are there")
    }

    #[test]
    fn parts_are_linked_or_only_build() {
        let parts = parts(Path::new("/r"));
        assert_eq!(parts.len(), 3, "tests have no part in it");
        let [program, hash, derive] = ["program", "hash", "derive"].map(|part| &parts[&name(part)]);
        assert!(program.is_linked && hash.is_linked && !derive.is_linked);
        assert_eq!(program.needs, [name("hash")].into());
        assert!(program.is_ours() && !hash.is_ours());
        assert_eq!(hash.licence(), "MIT OR Apache-2.0");
        assert_eq!(
            (program.archive.is_none(), hash.archive.as_deref().map(str::len)),
            (true, Some(64))
        );
        let all = ["program", "hash", "judge"].map(name);
        let with_judge = graph(Path::new("/r")).chosen(&[].into(), &all.into()).expect("there");
        assert_eq!(
            with_judge[&name("program")].needs,
            [name("hash")].into(),
            "a judge is of tests"
        );
        let unknown = graph(Path::new("/r")).chosen(&[].into(), &[name("other")].into());
        assert!(unknown.is_err());
    }

    #[test]
    fn cargo_s_words_are_read() {
        let key = |line: &str| listed(line).ok();
        assert_eq!(key("a-b v1.0.0 (/r/a) (*)"), Some(name("a-b")));
        assert_eq!(key("serde_derive v1.0.0 (proc-macro)"), Some(name("serde_derive")));
        assert_eq!(key("[build-dependencies]"), None);
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"00\"\n\n\
                    [[package]]\nname = \"ours\"\nversion = \"1.0.0\"\n";
        let archives = archives(lock).expect("a lock file");
        assert_eq!(archives, BTreeMap::from([(name("a"), "00".to_owned())]));
    }
}
