//! The numbered examples of the crates: each says how it is run and is on its crate's page, and all of them run.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::command::{command, root, run, target};

/// Lines of a page.
const LONGEST: usize = 80;

/// An example that a reader begins with: `examples/2_bulk.rs` of a crate. Others are tools.
#[derive(Debug)]
struct Example {
    /// The folder of its crate.
    folder: PathBuf,
    /// `2_bulk`
    name: String,
}

/// Checks and runs all of them, which are built, each by itself and without arguments.
pub(crate) fn run_all() -> Result<()> {
    let examples = all(&root())?;
    let mut faults = twice(&examples);
    for example in &examples {
        faults.extend(faults_of(example)?);
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    for example in &examples {
        println!("{}:", example.name);
        run(&mut command(target().join("debug/examples").join(&example.name)))?;
    }
    println!("{} examples run", examples.len());
    Ok(())
}

/// The numbered examples of the crates below this root, in order.
fn all(root: &Path) -> Result<Vec<Example>> {
    let mut examples = Vec::new();
    let crates = root.join("crates");
    for entry in fs::read_dir(&crates).with_context(|| crates.display().to_string())? {
        let folder = entry?.path();
        let Ok(files) = fs::read_dir(folder.join("examples")) else { continue };
        for file in files {
            let path = file?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let is_rust = path.extension().is_some_and(|extension| extension == "rs");
            if is_rust && name.starts_with(|c: char| c.is_ascii_digit()) {
                examples.push(Example { folder: folder.clone(), name });
            }
        }
    }
    examples.sort_unstable_by(|a, b| (&a.folder, &a.name).cmp(&(&b.folder, &b.name)));
    ensure!(!examples.is_empty(), "no crate has examples");
    Ok(examples)
}

/// Names that two crates have: cargo builds all examples into one folder.
fn twice(examples: &[Example]) -> Vec<String> {
    let mut counts = BTreeMap::<_, usize>::new();
    for example in examples {
        *counts.entry(&example.name).or_default() += 1;
    }
    let several = counts.into_iter().filter(|(_, count)| *count > 1);
    several.map(|(name, count)| format!("{count} examples have the name {name}")).collect()
}

/// What an example lacks that a reader wants.
fn faults_of(example: &Example) -> Result<Vec<String>> {
    let Example { folder, name } = example;
    let read = |path: PathBuf| {
        fs::read_to_string(&path).with_context(|| format!("{} is not there", path.display()))
    };
    let text = read(folder.join("examples").join(format!("{name}.rs")))?;
    let readme = read(folder.join("README.md"))?;
    let head: Vec<_> = text.lines().take_while(|line| line.starts_with("//!")).collect();
    let head = head.join(" ").replace("//! ", "");
    let lacks = [
        (!head.contains("uns without a GPU"), "its head does not say that it runs without a GPU"),
        (!head.contains(&format!("--example {name}")), "its head does not say how it is run"),
        (!readme.contains(&format!("(examples/{name}.rs)")), "the crate's README does not list it"),
        (text.lines().count() > LONGEST, "it is longer than a page"),
        (!text.contains("assert"), "it checks nothing of what it shows"),
    ];
    let lacks = lacks.into_iter().filter(|(is_lacking, _)| *is_lacking);
    Ok(lacks.map(|(_, what)| format!("example {name}: {what}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "//! A. Runs\n//! without a GPU.\n//!\n//! `cargo run --example 1_a`\n\nassert!(true);\n";

    /// A root with one crate, whose example and README these are.
    fn tree(text: &str, readme: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder for tests");
        let folder = root.path().join("crates/a/examples");
        fs::create_dir_all(&folder).expect("a folder for tests");
        fs::write(folder.join("1_a.rs"), text).expect("a file for tests");
        fs::write(folder.join("tool.rs"), "").expect("a file for tests");
        fs::write(folder.join("../README.md"), readme).expect("a file for tests");
        root
    }

    fn faults(text: &str, readme: &str) -> Vec<String> {
        let root = tree(text, readme);
        let examples = all(root.path()).expect("one is there");
        assert_eq!(examples.len(), 1, "{examples:?}");
        faults_of(&examples[0]).expect("its files can be read")
    }

    #[test]
    fn each_rule_can_fail() {
        let readme = "[one](examples/1_a.rs)";
        assert_eq!(faults(GOOD, readme), [""; 0]);
        for (text, readme, what) in [
            (GOOD.replace("GPU", "CPU"), readme, "without a GPU"),
            (GOOD.replace("--example", ""), readme, "how it is run"),
            (GOOD.to_owned(), "nothing", "does not list it"),
            (GOOD.to_owned() + &"\n".repeat(LONGEST), readme, "longer"),
            (GOOD.replace("assert", "drop"), readme, "checks nothing"),
        ] {
            let faults = faults(&text, readme);
            assert!(faults.len() == 1 && faults[0].contains(what), "{faults:?}");
        }
    }

    #[test]
    fn those_of_this_tree_keep_the_rules() {
        let examples = all(&root()).expect("there are some");
        let mut faults = twice(&examples);
        for example in &examples {
            faults.extend(faults_of(example).expect("its files can be read"));
        }
        assert!(faults.is_empty() && examples.len() > 10, "{faults:?}");
    }

    #[test]
    fn one_name_is_one_example() {
        let example = |folder: &str| Example { folder: folder.into(), name: "1_a".to_owned() };
        assert_eq!(twice(&[example("a"), example("b")]), ["2 examples have the name 1_a"]);
        assert_eq!(twice(&[example("a")]), [""; 0]);
        assert!(all(tempfile::tempdir().expect("a folder").path()).is_err());
    }
}
