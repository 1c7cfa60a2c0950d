//! Sets of features: the libraries compile without warnings under none of theirs, each alone, and sets of several.

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
