//! The public interfaces beside those of the last release: what was taken away or changed asks for a new version.

use anyhow::{Context, Result};

use crate::{
    command::{command, output, run},
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
    compare_with(last)
}

fn compare_with(revision: &str) -> Result<()> {
    let mut check = command(SEMVER_CHECKS.path()?);
    check.args(["semver-checks", "--baseline-rev", revision]);
    for package in packages::metadata()?.iter().filter(|package| packages::is_published(package)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_no_baseline() {
        assert_eq!(newest("v0.2.0-rc.1\nv0.1.0\nv0.0.9\n"), Some("v0.1.0"));
        assert_eq!(newest(""), None);
    }
}
