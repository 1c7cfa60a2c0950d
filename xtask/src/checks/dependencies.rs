//! What the workspace depends on: licences, sources, and no crate in two versions, by the rules of deny.toml; and none
//! that needs a newer Rust than Cargo.toml promises.
//!
//! `cargo deny check bans licenses sources` reads the same file and says the same; it takes longer to compile
//! than all that this task does.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs,
};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;
use spdx::{Expression, ParseMode};

use crate::command::{cargo, root};

/// The rules, as far as they are used: a field that is not known here is an error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    graph: Graph,
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Graph {
    all_features: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Licenses {
    allow: BTreeSet<String>,
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Bans {
    multiple_versions: Denied,
    wildcards: Denied,
    allow_wildcard_paths: bool,
    skip: Vec<Named>,
    skip_tree: Vec<Named>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Sources {
    unknown_registry: Denied,
    unknown_git: Denied,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Denied {
    Deny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    /// `name`, or `name@major`.
    #[serde(rename = "crate")]
    name: String,
    #[serde(default, rename = "reason")]
    _reason: String,
}

/// What cargo says of the workspace and all that it depends on.
struct Graphed {
    /// By their identities.
    packages: BTreeMap<String, Value>,
    /// Identities of what a package depends on.
    needs: BTreeMap<String, Vec<String>>,
}

/// `cargo xtask ci` runs this.
pub(crate) fn check() -> Result<()> {
    let rules = fs::read_to_string(root().join("deny.toml"))?;
    let rules: Rules = toml::from_str(&rules).context("deny.toml has a rule not known here")?;
    // All there is to deny is denied.
    let Bans { multiple_versions: Denied::Deny, wildcards: Denied::Deny, .. } = rules.bans;
    let Sources { unknown_registry: Denied::Deny, unknown_git: Denied::Deny } = rules.sources;
    ensure!(rules.bans.allow_wildcard_paths, "paths have no versions: allow-wildcard-paths = true");
    let graph = graph(&rules)?;
    let mut faults = licence_faults(&graph, &rules.licenses);
    faults.extend(version_faults(&graph, &rules.bans)?);
    faults.extend(source_faults(&graph));
    faults.extend(wildcard_faults(&graph));
    faults.extend(rust_faults(&graph, env!("CARGO_PKG_RUST_VERSION")));
    if faults.is_empty() {
        println!("{} packages keep the rules of deny.toml", graph.packages.len());
        return Ok(());
    }
    bail!("{}", faults.join("\n"))
}

fn graph(rules: &Rules) -> Result<Graphed> {
    let mut metadata = cargo();
    metadata.args(["metadata", "--locked", "--format-version=1"]);
    if rules.graph.all_features {
        metadata.arg("--all-features");
    }
    let said = metadata.output()?;
    ensure!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let metadata: Value = serde_json::from_slice(&said.stdout)?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages = list(&metadata["packages"]).into_iter().map(|p| (text(&p["id"]), p)).collect();
    let needs = list(&metadata["resolve"]["nodes"]).into_iter();
    let needs = needs
        .map(|node| (text(&node["id"]), list(&node["dependencies"]).iter().map(text).collect()));
    Ok(Graphed { packages, needs: needs.collect() })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// `name 1.2.3`.
fn shown(package: &Value) -> String {
    format!("{} {}", text(&package["name"]), text(&package["version"]))
}

/// Packages whose licence, a choice among those that they offer, is not allowed.
fn licence_faults(graph: &Graphed, rules: &Licenses) -> Vec<String> {
    let fault = |package: &Value| {
        let licence = text(&package["license"]);
        let name = text(&package["name"]);
        let exceptions = rules.exceptions.iter().filter(|exception| exception.name == name);
        let allowed: HashSet<&String> =
            exceptions.flat_map(|exception| &exception.allow).chain(&rules.allow).collect();
        let is_allowed = Expression::parse_mode(&licence, ParseMode::LAX).is_ok_and(|expression| {
            expression.evaluate(|licence| allowed.contains(&licence.to_string()))
        });
        (!is_allowed).then(|| format!("{}: its licence is {licence:?}", shown(package)))
    };
    graph.packages.values().filter_map(fault).collect()
}

/// Crates that are there in two versions, without those that may be and all that they draw in.
fn version_faults(graph: &Graphed, rules: &Bans) -> Result<Vec<String>> {
    let is_named = |rule: &Named, package: &Value| {
        let (name, major) = rule.name.split_once('@').map_or((&*rule.name, ""), |(n, v)| (n, v));
        let version = text(&package["version"]);
        text(&package["name"]) == name && (major.is_empty() || version.starts_with(major))
    };
    let ids = |rule: &Named| {
        let mut ids = graph.packages.iter().filter(|(_, package)| is_named(rule, package));
        let first = ids.next().with_context(|| format!("deny.toml: no crate {}", rule.name))?;
        anyhow::Ok([first].into_iter().chain(ids).map(|(id, _)| id).collect::<Vec<_>>())
    };
    let mut left_out = HashSet::new();
    for rule in &rules.skip {
        left_out.extend(ids(rule)?);
    }
    let mut trees = Vec::new();
    for rule in &rules.skip_tree {
        trees.extend(ids(rule)?);
    }
    while let Some(id) = trees.pop() {
        if left_out.insert(id) {
            trees.extend(graph.needs.get(id).into_iter().flatten());
        }
    }
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, package) in graph.packages.iter().filter(|(id, _)| !left_out.contains(id)) {
        versions.entry(text(&package["name"])).or_default().push(text(&package["version"]));
    }
    let several = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
    Ok(several.map(|(name, versions)| format!("{name} twice: {}", versions.join(", "))).collect())
}

/// Packages that come from elsewhere than crates.io and this tree.
fn source_faults(graph: &Graphed) -> Vec<String> {
    let is_known = |source: &str| {
        source.is_empty() || source == "registry+https://github.com/rust-lang/crates.io-index"
    };
    let elsewhere = graph.packages.values().filter(|package| !is_known(&text(&package["source"])));
    elsewhere.map(|p| format!("{}: its source is {}", shown(p), text(&p["source"]))).collect()
}

/// Dependencies of this tree's packages on any version of what lies outside it.
fn wildcard_faults(graph: &Graphed) -> Vec<String> {
    let ours = graph.packages.values().filter(|package| package["source"].is_null());
    let faults = ours.flat_map(|package| {
        let needed = package["dependencies"].as_array().into_iter().flatten();
        let wild = needed.filter(|needed| needed["req"] == "*" && needed["path"].is_null());
        wild.map(move |needed| format!("{}: any {}", shown(package), text(&needed["name"])))
    });
    faults.collect()
}

/// Packages that say that they need a newer Rust than this.
fn rust_faults(graph: &Graphed, ours: &str) -> Vec<String> {
    let number = |version: &str| -> Vec<u32> {
        version.split('.').map(|part| part.parse().unwrap_or_default()).collect()
    };
    let needed = |package: &Value| text(&package["rust_version"]);
    let newer = graph.packages.values().filter(|package| number(&needed(package)) > number(ours));
    newer.map(|p| format!("{} needs Rust {}, {ours} is promised", shown(p), needed(p))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const RULES: &str = r#"
        graph.all-features = true
        licenses = { allow = ["MIT", "ISC"], exceptions = [{ crate = "icons", allow = ["CC0-1.0"] }] }
        sources = { unknown-registry = "deny", unknown-git = "deny" }
        [bans]
        multiple-versions = "deny"
        wildcards = "deny"
        allow-wildcard-paths = true
        skip = [{ crate = "syn@2", reason = "of macros" }]
        skip-tree = [{ crate = "old" }]
    "#;

    const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

    fn graph(packages: &[(&str, &str, &str)]) -> Graphed {
        let package = |&(name, version, license): &(&str, &str, &str)| {
            let package = json!({
                "name": name, "version": version, "license": license, "source": CRATES_IO,
            });
            (format!("{name}@{version}"), package)
        };
        Graphed { packages: packages.iter().map(package).collect(), needs: BTreeMap::new() }
    }

    fn rules() -> Rules {
        toml::from_str(RULES).expect("rules")
    }

    #[test]
    fn a_licence_is_one_that_is_allowed() {
        let good = [("a", "1.0.0", "MIT OR Apache-2.0"), ("icons", "1.0.0", "CC0-1.0 AND MIT")];
        assert!(licence_faults(&graph(&good), &rules().licenses).is_empty());
        for bad in ["GPL-3.0-only", "MIT AND Apache-2.0", "CC0-1.0", ""] {
            let faults = licence_faults(&graph(&[("a", "1.0.0", bad)]), &rules().licenses);
            assert_eq!(faults.len(), 1, "{bad}");
        }
    }

    #[test]
    fn a_crate_is_there_once() {
        let mit = |name, version| (name, version, "MIT");
        let mut all = graph(&[
            mit("old", "1.0.0"),
            mit("hash", "1.0.0"),
            mit("hash", "2.0.0"),
            mit("syn", "2.0.0"),
            mit("syn", "3.0.0"),
        ]);
        let faults = version_faults(&all, &rules().bans).expect("rules that fit");
        assert_eq!(faults, ["hash twice: 1.0.0, 2.0.0"]);
        all.needs.insert("old@1.0.0".to_owned(), vec!["hash@1.0.0".to_owned()]);
        assert!(version_faults(&all, &rules().bans).expect("rules that fit").is_empty());
        let without = graph(&[mit("syn", "2.0.0")]);
        assert!(version_faults(&without, &rules().bans).is_err(), "a rule for nothing");
    }

    #[test]
    fn sources_and_versions_are_named() {
        let mut all = graph(&[("a", "1.0.0", "MIT")]);
        assert!(source_faults(&all).is_empty());
        let own = json!({
            "name": "own", "version": "1.0.0", "license": "MIT", "source": null,
            "dependencies": [{ "name": "a", "req": "*" }, { "name": "b", "req": "*", "path": "/b" }],
        });
        all.packages.insert("own".to_owned(), own);
        assert_eq!(wildcard_faults(&all), ["own 1.0.0: any a"]);
        let package = all.packages.get_mut("a@1.0.0").expect("it is there");
        package["source"] = json!("git+https://a");
        package["rust_version"] = json!("1.90");
        assert_eq!(source_faults(&all).len(), 1);
        assert_eq!(rust_faults(&all, "1.89"), ["a 1.0.0 needs Rust 1.90, 1.89 is promised"]);
        assert!(rust_faults(&all, "1.90").is_empty() && rust_faults(&all, "1.100").is_empty());
    }
}
