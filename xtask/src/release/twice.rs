//! Two clean builds in two folders, whose files must be the same to the byte: what people get can be built again.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;

use super::artifacts::{Artifact, EPOCH, SUMS};
use crate::{
    command::{command, empty, output, run, target},
    sources::tree,
};

/// Below the folder of builds: the second is longer, so that a path which got into a file moves what is behind it.
const FOLDERS: [&str; 2] = ["one", "the-other/in-a-deeper-folder"];

/// Builds these in both folders. Fails with the names of files that differ.
pub(super) fn check(artifacts: &[Artifact]) -> Result<()> {
    let epoch = output(command("git").args(["log", "-1", "--format=%ct"]))?;
    let mut sums = Vec::new();
    for folder in FOLDERS {
        let folder = empty(target().join("twice").join(folder))?;
        println!("a clean build in {}", folder.display());
        sums.push(build(&folder, artifacts, epoch.trim())?);
    }
    let different = different(&sums[0], &sums[1]);
    if different.is_empty() {
        ensure!(!sums[0].is_empty(), "nothing was built");
        println!("{} files are the same in both builds", sums[0].len());
        return Ok(());
    }
    bail!("these differ: {}", different.join(", "))
}

/// Has this program build a copy of the tree, with nothing that was compiled before, and reads the sums.
fn build(folder: &Path, artifacts: &[Artifact], epoch: &str) -> Result<BTreeMap<String, String>> {
    let (copy, target) = (folder.join("tree"), folder.join("target"));
    tree::copy(&copy, |_, bytes| Some(bytes))?;
    let mut build = command(std::env::current_exe()?);
    build.args(["release", "--build-only"]);
    build.args(artifacts.iter().filter_map(|artifact| {
        artifact.to_possible_value().map(|value| value.get_name().to_owned())
    }));
    build.current_dir(&copy).env("CARGO_MANIFEST_DIR", copy.join("xtask"));
    run(build.env("CARGO_TARGET_DIR", &target).env(EPOCH, epoch))?;
    let sums = target.join("release-artifacts").join(SUMS);
    Ok(read(&fs::read_to_string(&sums).with_context(|| sums.display().to_string())?))
}

/// Sums by the names of their files.
fn read(sums: &str) -> BTreeMap<String, String> {
    let lines = sums.lines().filter_map(|line| line.split_once("  "));
    lines.map(|(sum, name)| (name.to_owned(), sum.to_owned())).collect()
}

/// Files that only one of them has, or whose sums differ.
fn different(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<String> {
    let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
    names.filter(|name| one.get(*name) != other.get(*name)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_differ_are_named() {
        let [one, other] = ["00  a\n11  b\n22  c\n", "00  a\n12  b\n33  d\n"].map(read);
        assert_eq!(one.len(), 3);
        assert_eq!(different(&one, &other), ["b", "c", "d"]);
        assert_eq!(different(&one, &one.clone()), [""; 0]);
    }
}
