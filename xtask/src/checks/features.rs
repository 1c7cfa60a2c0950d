//! Sets of features: the libraries compile without warnings under every two of theirs, and under none.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::{
    command::{cargo, output},
    packages,
};

/// Checks every published library, and what else has features, under each of its [`sets`]: a set that nobody
/// builds breaks unseen. All features together are clippy's.
pub(crate) fn check() -> Result<()> {
    let mut count = 0;
    for package in packages::metadata()? {
        let name = package["name"].as_str().unwrap_or_default();
        let features = features_of(&package);
        if features.is_empty() || packages::PROGRAMS.contains(&name) {
            continue;
        }
        for set in sets(&features) {
            check_set(name, &set)?;
            count += 1;
        }
    }
    println!("{count} sets of features compile without warnings");
    Ok(())
}

fn features_of(package: &Value) -> Vec<&str> {
    let features = package["features"].as_object().into_iter().flatten();
    features.map(|(name, _)| name.as_str()).filter(|name| *name != "default").collect()
}

/// None, each alone, and every two: what breaks is nearly always one that is missing or two that meet.
fn sets<'a>(features: &[&'a str]) -> BTreeSet<Vec<&'a str>> {
    let mut sets = BTreeSet::from([Vec::new()]);
    for (i, first) in features.iter().enumerate() {
        sets.insert(vec![*first]);
        sets.extend(features[i + 1..].iter().map(|second| vec![*first, *second]));
    }
    sets
}

fn check_set(package: &str, features: &[&str]) -> Result<()> {
    let features = features.join(",");
    let mut check = cargo();
    check.args(["check", "--quiet", "--package", package, "--no-default-features"]);
    let said = output(check.args(["--features", &features]))?;
    ensure!(said.trim().is_empty(), "{package} with the features {features:?}:\n{said}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_two_are_a_set() {
        let sets = sets(&["a", "b", "c"]);
        assert_eq!(sets.len(), 1 + 3 + 3);
        assert!(sets.contains(&vec!["a", "c"]) && sets.contains(&vec![]));
    }
}
