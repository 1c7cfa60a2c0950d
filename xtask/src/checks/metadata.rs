//! What crates.io and docs.rs read of a package that is published: fields of its manifest, and a line of its library.

use std::{fs, path::Path};

use serde_json::Value;

/// Fields of text that each has.
const FIELDS: [&str; 6] =
    ["description", "license", "readme", "rust_version", "repository", "homepage"];

/// Categories of crates.io that ours are in: it leaves out others without a word.
const CATEGORIES: [&str; 5] =
    ["command-line-utilities", "cryptography", "filesystem", "hardware-support", "no-std"];

/// How many keywords and categories crates.io takes, and letters of a keyword.
const MOST: usize = 5;
const LONGEST: usize = 20;

/// The line by which documentation names the features behind which items are.
const SAYS_FEATURES: &str = "#![cfg_attr(docsrs, feature(doc_cfg))]";

/// What a package's manifest and library lack of all this, or have wrong.
pub(super) fn faults(package: &Value) -> Vec<String> {
    let is_empty = |field: &&str| package[field].as_str().unwrap_or_default().is_empty();
    let missing = FIELDS.into_iter().filter(is_empty).map(|field| format!("no {field}"));
    let mut faults: Vec<_> = missing.collect();
    faults.extend(list_faults(package, "keywords", is_keyword));
    faults.extend(list_faults(package, "categories", |name| CATEGORIES.contains(&name)));
    if let Some(library) = library(package) {
        faults.extend(documentation_faults(&package["metadata"]["docs"]["rs"]));
        let text = fs::read_to_string(library).unwrap_or_default();
        if !text.lines().any(|line| line == SAYS_FEATURES) {
            faults.push(format!("no {SAYS_FEATURES} in {library}"));
        }
    }
    faults
}

/// The root file of its library; a command has none, and docs.rs builds none.
fn library(package: &Value) -> Option<&str> {
    let targets = package["targets"].as_array().into_iter().flatten();
    let mut roots = targets.filter(|target| target["kind"][0] == "lib");
    roots.find_map(|target| target["src_path"].as_str())
}

/// What is wrong with a list of words.
fn list_faults(package: &Value, field: &str, is_valid: impl Fn(&str) -> bool) -> Vec<String> {
    let words = package[field].as_array().into_iter().flatten();
    let words: Vec<_> = words.filter_map(Value::as_str).collect();
    if words.is_empty() {
        return vec![format!("no {field}")];
    }
    let wrong = words.iter().filter(|word| !is_valid(word));
    let mut faults: Vec<_> = wrong.map(|word| format!("{word:?} in {field}")).collect();
    if words.len() > MOST {
        faults.push(format!("{} {field}, of which crates.io takes {MOST}", words.len()));
    }
    faults
}

/// Whether crates.io takes a keyword.
fn is_keyword(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-+".contains(c);
    word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(is_part)
        && word.len() <= LONGEST
}

/// What is wrong with how docs.rs is told to build.
fn documentation_faults(settings: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if settings["all-features"] != true && !settings["features"].is_array() {
        faults.push("docs.rs is not told which features".to_owned());
    }
    if settings["rustdoc-args"] != serde_json::json!(["--cfg", "docsrs"]) {
        faults.push("docs.rs does not pass --cfg docsrs".to_owned());
    }
    faults
}

/// The address and the version stand in one table of the workspace. Another file that has them, too, says the same.
pub(super) fn citation_faults(package: &Value, root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join(CITATION)).unwrap_or_default();
    let fields = [("repository-code", "repository"), ("version", "version")];
    let differs = fields.into_iter().filter_map(|(key, field)| {
        let ours = package[field].as_str().unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        let theirs = line.unwrap_or_default().trim_matches('"');
        (theirs != ours).then(|| format!("{CITATION}: {key} is {theirs:?}, not {ours:?}"))
    });
    differs.collect()
}

/// How the project is quoted.
const CITATION: &str = "CITATION.cff";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A package that has everything, with a library whose text this is.
    fn whole(folder: &Path, library: &str) -> Value {
        let root = folder.join("lib.rs");
        fs::write(&root, library).expect("a folder for tests");
        json!({
            "name": "a", "version": "1.2.3", "description": "a", "license": "MIT",
            "readme": "README.md", "rust_version": "1.89", "repository": "https://a.b/c",
            "homepage": "https://a.b", "keywords": ["aes", "block-cipher"],
            "categories": ["cryptography", "no-std"],
            "targets": [{ "kind": ["test"], "src_path": "t" }, { "kind": ["lib"], "src_path": root }],
            "metadata": { "docs": { "rs": {
                "all-features": true, "rustdoc-args": ["--cfg", "docsrs"],
            }}},
        })
    }

    #[test]
    fn a_package_that_has_everything_is_taken() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let mut package = whole(folder.path(), &format!("//! A.\n{SAYS_FEATURES}\n"));
        assert_eq!(faults(&package), [""; 0]);
        package["metadata"]["docs"]["rs"]["all-features"] = Value::Null;
        package["metadata"]["docs"]["rs"]["features"] = json!(["cuda"]);
        assert_eq!(faults(&package), [""; 0], "chosen features");
        package["targets"] = json!([{ "kind": ["bin"], "src_path": "main.rs" }]);
        package["metadata"] = Value::Null;
        assert_eq!(faults(&package), [""; 0], "a command");
    }

    #[test]
    fn whatever_is_missing_is_named() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let package = whole(folder.path(), SAYS_FEATURES);
        for field in FIELDS.into_iter().chain(["keywords", "categories"]) {
            let mut package = package.clone();
            package[field] = Value::Null;
            assert_eq!(faults(&package), [format!("no {field}")]);
        }
        let mut without = package.clone();
        without["metadata"] = Value::Null;
        assert_eq!(faults(&without).len(), 2, "features and arguments of docs.rs");
        let without = whole(folder.path(), "//! A.\n// #![cfg_attr(docsrs, feature(doc_cfg))]\n");
        assert!(faults(&without)[0].starts_with("no #![cfg_attr(docsrs"), "{without}");
    }

    #[test]
    fn words_are_those_of_crates_io() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let package = whole(folder.path(), SAYS_FEATURES);
        for (field, words) in [
            ("keywords", json!(["two words"])),
            ("keywords", json!(["-dash"])),
            ("keywords", json!(["a-word-of-twenty-1-letters"])),
            ("keywords", json!(["a", "b", "c", "d", "e", "f"])),
            ("categories", json!(["crypto"])),
        ] {
            let mut package = package.clone();
            package[field] = words;
            assert_eq!(faults(&package).len(), 1, "{}", package[field]);
        }
    }

    #[test]
    fn a_citation_has_the_address_and_the_version() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let package = whole(folder.path(), SAYS_FEATURES);
        let cite = |text: &str| {
            fs::write(folder.path().join(CITATION), text).expect("a folder for tests");
            citation_faults(&package, folder.path())
        };
        let good = "cff-version: 1.2.0\nversion: \"1.2.3\"\nrepository-code: \"https://a.b/c\"\n";
        assert_eq!(cite(good), [""; 0]);
        assert!(cite(&good.replace("1.2.3", "1.2.4"))[0].contains("\"1.2.4\", not \"1.2.3\""));
        assert_eq!(cite("").len(), 2);
    }
}
