//! THIRD-PARTY.md: what others wrote in something that is shipped, with their licences.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use anyhow::{Context, Result, ensure};

use super::shipped::{Part, Parts};

/// How files begin that have a licence, or what a licence asks to be passed on.
const TEXTS: [&str; 5] = ["licen", "copying", "copyright", "notice", "unlicense"];

/// The list, and the text of each licence once.
pub(super) fn third_party(name: &str, parts: &Parts) -> Result<String> {
    let others: Vec<_> = parts.values().filter(|p| p.is_linked && !p.is_ours()).collect();
    let mut list = format!(
        "# What others wrote in {name}\n\nWhat is Lanecrypt's own is under MIT or Apache 2.0, at your option. Linked with \
         it are these packages of crates.io,\nbeside Rust's standard library (MIT OR Apache-2.0):\n\n\
         | package | licence | source |\n|---|---|---|\n"
    );
    let mut texts = BTreeMap::<String, Vec<String>>::new();
    let mut without = Vec::new();
    for part in others {
        let licence = part.licence();
        ensure!(!licence.is_empty(), "{} says no licence", shown(part));
        writeln!(list, "| {} | {licence} | {} |", shown(part), part.text("repository"))?;
        let found = texts_of(part.folder())?;
        if found.is_empty() {
            without.push(format!("{} ({licence})", shown(part)));
        }
        for (name, text) in found {
            texts.entry(text).or_default().push(format!("{}, {name}", shown(part)));
        }
    }
    if !without.is_empty() {
        write!(list, "\nWithout a text of their own: {}.\n", without.join(", "))?;
    }
    for (text, files) in in_order(texts) {
        write!(list, "\n## {}\n\n````text\n{text}\n````\n", files.join("; "))?;
    }
    Ok(list)
}

/// `name 1.2.3`
fn shown(part: &Part) -> String {
    format!("{} {}", part.text("name"), part.text("version"))
}

/// Texts by the first file that has each.
fn in_order(texts: BTreeMap<String, Vec<String>>) -> Vec<(String, Vec<String>)> {
    let mut texts: Vec<_> = texts.into_iter().collect();
    texts.sort_by(|(_, a), (_, b)| a.cmp(b));
    texts
}

/// The files of a package that have a licence, or what one asks to be passed on, by their paths: sources of others that it
/// brings along have theirs in folders of their own.
pub(super) fn texts_of(folder: &Path) -> Result<Vec<(String, String)>> {
    let (mut texts, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(&below).with_context(|| below.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if is_licence(&path) {
                // Some are not UTF-8; a name with a wrong letter is better than none.
                let text = String::from_utf8_lossy(&fs::read(&path)?).replace('\r', "");
                let name = path.strip_prefix(folder)?.to_string_lossy().into_owned();
                texts.push((name, text.trim_end().to_owned()));
            }
        }
    }
    texts.sort();
    Ok(texts)
}

/// Whether a file's name is one of a licence, and not of code that deals with licences.
fn is_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let end = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_code = ["rs", "c", "h", "py", "go", "json", "toml"].contains(&&*end);
    !is_code && TEXTS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::{super::shipped::tests::parts, *};

    #[test]
    fn others_and_their_texts_are_listed_once() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        for (file, text) in [
            ("program/LICENSE", "ours"),
            ("hash/LICENSE-MIT", "MIT, by someone\r\n"),
            ("hash/NOTICE", "MIT, by someone"),
            ("hash/vendored/c/COPYING.md", "of what it brings along"),
            ("hash/licence.rs", "code"),
            ("derive/LICENSE", "not linked"),
        ] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for tests");
            fs::write(path, text).expect("a file for tests");
        }
        let mut parts = parts(folder.path());
        let list = third_party("a", &parts).expect("a list");
        assert!(list.contains("| hash 1.0.0 | MIT OR Apache-2.0 | https://a.b/hash |"), "{list}");
        assert_eq!(list.matches("MIT, by someone\n````").count(), 1, "{list}");
        assert!(list.contains("## hash 1.0.0, LICENSE-MIT; hash 1.0.0, NOTICE\n"), "{list}");
        assert!(list.contains("## hash 1.0.0, vendored/c/COPYING.md\n"), "{list}");
        for absent in ["ours\n", "not linked", "code", "program", "Without a text"] {
            assert!(!list.contains(absent), "{absent} in {list}");
        }
        fs::remove_file(folder.path().join("hash/LICENSE-MIT")).expect("it is there");
        fs::remove_file(folder.path().join("hash/NOTICE")).expect("it is there");
        fs::remove_dir_all(folder.path().join("hash/vendored")).expect("it is there");
        let list = third_party("a", &parts).expect("a list");
        assert!(list.contains("own: hash 1.0.0 (MIT OR Apache-2.0)."), "{list}");
        for part in parts.values_mut() {
            part.package["license"] = serde_json::Value::Null;
        }
        assert!(third_party("a", &parts).is_err());
    }
}
