//! Sets of features: the libraries compile without warnings under none of theirs, each alone, and sets of several.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{
    command::{cargo, said},
    packages,
};

/// A GPU's driver layers take as long to check as all of ours, once more with each set that changes what they share with
/// others: they are checked alone, and by clippy with all other features.
const DRIVERS: &str = "wgpu";

/// Checks every published library, and what else has features, under each of its [`sets`]: a set that nobody
/// builds breaks unseen. All features together are clippy's.
///
/// Ciphers are written alike: the empty set is checked on all of them, each other set on one of them in turn.
pub(crate) fn check() -> Result<()> {
    let mut count = 0;
    for (features, packages) in by_features(&packages::metadata()?)? {
        let (drivers, others): (Vec<_>, Vec<_>) =
            features.iter().partition(|name| **name == DRIVERS);
        let alone = drivers.iter().map(|name| vec![*name]);
        for (number, set) in sets(&others).into_iter().chain(alone).enumerate() {
            let one = number % packages.len();
            let packages = if set.is_empty() { &packages[..] } else { &packages[one..=one] };
            check_set(packages, &set)?;
            count += packages.len();
        }
    }
    println!("{count} sets of features compile without warnings");
    Ok(())
}

/// The packages that have the same features: ciphers, which cargo checks side by side.
fn by_features(packages: &[Value]) -> Result<BTreeMap<Vec<&str>, Vec<&str>>> {
    let mut groups = BTreeMap::<_, Vec<_>>::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let features = features_of(package)?;
        if !features.is_empty() && !packages::PROGRAMS.contains(&name) {
            groups.entry(features).or_default().push(name);
        }
    }
    Ok(groups)
}

/// Those that a source of the package names. Others hand themselves on to a dependency, whose own they are.
fn features_of(package: &Value) -> Result<Vec<&str>> {
    let manifest = Path::new(package["manifest_path"].as_str().context("no path")?);
    let mut sources = String::new();
    read_all(&manifest.with_file_name("src"), &mut sources)?;
    let is_named =
        |name: &&str| *name != "default" && sources.contains(&format!("feature = \"{name}\""));
    let features = package["features"].as_object().into_iter().flatten();
    Ok(features.map(|(name, _)| name.as_str()).filter(is_named).collect())
}

/// The text of all Rust sources in a folder.
fn read_all(folder: &Path, text: &mut String) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            read_all(&path, text)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            *text += &fs::read_to_string(&path)?;
        }
    }
    Ok(())
}

/// None, and each alone, which shows what it takes from others that nobody asks for; then each among others and
/// without any one of them: two numbers differ in some bit, and the features whose numbers have a bit are a set, as are
/// those that lack it. So sets grow in number with the features, not with their square.
fn sets<'a>(features: &[&'a str]) -> BTreeSet<Vec<&'a str>> {
    let mut sets = BTreeSet::from([Vec::new()]);
    sets.extend(features.iter().map(|feature| vec![*feature]));
    let bits = usize::BITS - features.len().saturating_sub(1).leading_zeros();
    for bit in 0..bits {
        for value in [0, 1] {
            let numbered = features.iter().enumerate();
            let chosen = numbered.filter(|(number, _)| number >> bit & 1 == value);
            sets.insert(chosen.map(|(_, feature)| *feature).collect());
        }
    }
    sets
}

fn check_set(packages: &[&str], features: &[&str]) -> Result<()> {
    let mut check = cargo();
    check.args(["check", "--quiet", "--no-default-features"]);
    for package in packages {
        check.args(["--package", package]);
        check.args(features.iter().map(|feature| format!("--features={package}/{feature}")));
    }
    let said = said(&mut check)?;
    ensure!(said.trim().is_empty(), "{packages:?} with the features {features:?}:\n{said}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_on_is_checked_where_it_is_named() {
        let packages = packages::metadata().expect("cargo lists them");
        let groups = by_features(&packages).expect("sources");
        let of = |name: &str| groups.iter().find(|(_, packages)| packages.contains(&name));
        assert!(of("lanecrypt").is_some_and(|(features, _)| features.contains(&"wgpu")));
        assert!(of("lanecrypt-cli").is_none(), "its features are the facade's");
        assert!(of("lanecrypt-aes").is_some_and(|(features, _)| features.contains(&"cuda")));
    }

    #[test]
    fn each_is_among_others_without_any_one_of_them() {
        let features = ["a", "b", "c", "d", "e", "f"];
        let sets = sets(&features);
        assert!(sets.contains(&vec![]));
        for one in features {
            assert!(sets.contains(&vec![one]));
            for other in features.iter().filter(|other| **other != one) {
                let mut without = sets.iter().filter(|set| !set.contains(other));
                assert!(without.any(|set| set.len() > 1 && set.contains(&one)), "{one}, {other}");
            }
        }
    }
}
