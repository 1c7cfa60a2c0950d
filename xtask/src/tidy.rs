//! Rules that no other tool checks.

mod circles;
mod paths;
mod promises;
mod words;

use std::{collections::BTreeSet, fs};

use anyhow::{Result, bail};

use crate::command::{command, output, root};

/// Lines that a hand-written file may have before it should be two.
const LONGEST: usize = 600;

pub(crate) fn run() -> Result<()> {
    let listed =
        output(command("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    let variables = fs::read_to_string(root().join(VARIABLES))?;
    let mut faults = Vec::new();
    for path in listed.lines() {
        let Ok(text) = fs::read_to_string(root().join(path)) else {
            continue;
        };
        let mut found = faults_of(path, &text);
        if path != HEADER {
            found.extend(unlisted_variables(&text, &variables));
        }
        found.extend(words::faults(path, &text));
        found.extend(paths::faults(path, &text, &listed));
        found.extend(examples_not_compiled(path, &text));
        if path.starts_with(RECORDS) {
            found.extend(paths_of_a_machine(&text));
        }
        if let Some(package) = path.strip_suffix("/Cargo.toml") {
            found.extend(tests_not_run(&text, &with_unit_tests(&listed, package)));
            found.extend(compiled_for_nothing(&text));
            found.extend(circles_of(package, circle_of(&listed, package)));
        }
        if path == promises::FILE {
            let source = |path: &str| fs::read_to_string(root().join(path)).ok();
            found.extend(promises::faults(&text, source));
        }
        let found = found.into_iter();
        faults.extend(found.map(|fault| format!("{path}: {fault}")));
    }
    if faults.is_empty() {
        return Ok(());
    }
    bail!("{}", faults.join("\n"))
}

/// Where every environment variable is listed.
const VARIABLES: &str = "docs/environment.md";

/// Its macros are named like variables.
const HEADER: &str = "kernels/include/lanecrypt.cuh";

/// Environment variables of ours that a file names and the list does not.
fn unlisted_variables(text: &str, list: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_uppercase() || c == '_';
    let names = text.split("LANECRYPT_").skip(1).filter_map(|rest| {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        (end > 0).then(|| format!("LANECRYPT_{}", &rest[..end]))
    });
    let is_listed = |name: &String| list.contains(&format!("`{name}`"));
    names
        .filter(|name| !is_listed(name))
        .map(|name| format!("environment variable {name} is not listed in {VARIABLES}"))
        .collect()
}

/// Examples of a README that no compiler sees, and that go stale. Those of other languages are another matter.
fn examples_not_compiled(path: &str, text: &str) -> Option<String> {
    let is_readme = path.rsplit('/').next() == Some("README.md");
    let is_ignored = text.lines().any(|line| line.starts_with("```rust,ignore"));
    (is_readme && is_ignored).then(|| "an example that is not compiled: `rust,no_run`".to_owned())
}

/// Where the figures of benchmarks are kept.
const RECORDS: &str = "benches/record/";

/// Folders that every Linux has, of which a record may speak.
const EVERYWHERE: [&str; 3] = ["/dev/", "/proc/", "/sys/"];

/// Absolute paths in a record: folders of the machine that it was made on, which nobody else has.
fn paths_of_a_machine(text: &str) -> BTreeSet<String> {
    let ends = |c: char| c.is_whitespace() || "\"'(),;`<>|=".contains(c);
    let is_path = |word: &&str| {
        word.starts_with('/')
            && word[1..].contains('/')
            && !word.starts_with("//")
            && !EVERYWHERE.iter().any(|folder| word.starts_with(folder))
    };
    let words = text.split(ends).map(|word| word.trim_end_matches([':', '.']));
    words
        .filter(is_path)
        .map(|path| format!("a path of the machine that it was made on, {path}"))
        .collect()
}

/// Source files of a package that have unit tests.
fn with_unit_tests<'a>(listed: &'a str, package: &str) -> Vec<&'a str> {
    let sources = format!("{package}/src/");
    let has_tests = |path: &&str| {
        let text = fs::read_to_string(root().join(path)).unwrap_or_default();
        text.lines().any(|line| line.trim() == "#[test]")
    };
    listed.lines().filter(|path| path.starts_with(&sources)).filter(has_tests).collect()
}

/// Whether a manifest has a line that begins so in its section on the library.
fn library_says(manifest: &str, line: &str) -> bool {
    let library = manifest.split("\n[lib]").nth(1).and_then(|rest| rest.split("\n[").next());
    library.is_some_and(|library| library.lines().any(|other| other.starts_with(line)))
}

/// Unit tests that cargo leaves out, since the manifest of their package says that its library has none.
fn tests_not_run(manifest: &str, with_tests: &[&str]) -> Option<String> {
    let has_none = library_says(manifest, "test = false");
    (has_none && !with_tests.is_empty())
        .then(|| format!("`test = false`, but these have tests: {}", with_tests.join(", ")))
}

/// A library that has no unit tests and that cargo compiles as a benchmark.
fn compiled_for_nothing(manifest: &str) -> Option<String> {
    let has = |line: &str| library_says(manifest, line);
    let what = "`test = false` without `bench = false`: cargo compiles the library once more for `--all-targets`";
    (has("test = false") && !has("bench = false")).then(|| what.to_owned())
}

/// Packages whose modules are in circles still.
const IN_CIRCLES: &[&str] = &[
    "crates/aes",
    "crates/aria",
    "crates/camellia",
    "crates/circuit",
    "crates/cli",
    "crates/core",
    "crates/lanecrypt",
    "crates/lea",
    "crates/luks",
    "crates/modes",
    "crates/nbdkit-plugin",
    "crates/openssl-provider",
    "crates/python",
    "crates/reference",
    "crates/seed",
    "crates/slicing",
    "crates/sm4",
    "ct",
    "kernels",
    "xtask",
];

/// The first circle of modules in a package's sources.
fn circle_of(listed: &str, package: &str) -> Option<String> {
    let sources = format!("{package}/src/");
    let read = |path: &'_ str| {
        let below = path.strip_prefix(&sources)?.strip_suffix(".rs")?;
        let is_of_library = below != "main" && !below.starts_with("bin/");
        let text = is_of_library.then(|| fs::read_to_string(root().join(path)).ok())??;
        Some((below.to_owned(), text))
    };
    let read: Vec<_> = listed.lines().filter_map(read).collect();
    let sources: Vec<_> = read.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    circles::circle(&sources)
}

/// What is wrong with the modules of a package that has this circle, or none.
fn circles_of(package: &str, circle: Option<String>) -> Option<String> {
    match (circle, IN_CIRCLES.contains(&package)) {
        (Some(circle), false) => Some(format!("modules in a circle: {circle}")),
        (None, true) => Some("no modules in circles any more: take it off the list".to_owned()),
        _ => None,
    }
}

/// What is wrong with a source file; nothing for files of other kinds.
fn faults_of(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let first = text.lines().next().unwrap_or_default();
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_rust = extension == "rs";
    let is_cuda = ["cu", "cuh", "hpp", "cpp"].contains(&extension);
    if is_rust && !first.starts_with("//!") || is_cuda && !first.starts_with("//") {
        faults.push("the first line does not say what the file is for".to_owned());
    }
    if !(is_rust || is_cuda) {
        return faults;
    }
    let generated = text.lines().take(3).any(|line| line.contains("do not edit by hand"));
    if !generated && text.lines().count() > LONGEST {
        faults.push(format!("{} lines; at most {LONGEST}", text.lines().count()));
    }
    let may_be_unsafe = path.starts_with("crates/cuda/")
        || path.starts_with("crates/slicing/")
        || path.ends_with("/src/ffi.rs")
        || path.contains("/src/ffi/");
    if is_rust && !may_be_unsafe && text.lines().any(has_unsafe) {
        faults.push("unsafe outside crates/cuda, crates/slicing and src/ffi.rs".to_owned());
    }
    if path.contains("/tests/") && text.lines().any(|line| line.starts_with("#![cfg(feature")) {
        // A program with a `main` of its own would have none, and one of libtest's would pass with no test.
        faults.push("features of a whole test are the manifest's `required-features`".to_owned());
    }
    for mark in ["todo!", "unimplemented!", "dbg!", "FIXME"] {
        if path != "xtask/src/tidy.rs" && text.contains(mark) {
            faults.push(format!("contains {mark}"));
        }
    }
    faults
}

fn has_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    ["unsafe {", "unsafe fn", "unsafe impl"].iter().any(|form| code.contains(form))
        && !code.contains('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_can_fail() {
        assert!(faults_of("crates/aes/src/a.rs", "//! Fine.\nfn main() {}\n").is_empty());
        let fault = |path: &str, text: &str| faults_of(path, text).join("; ");
        assert!(fault("a.rs", "fn main() {}").contains("first line"));
        assert!(fault("a.cu", "int x;").contains("first line"));
        assert!(fault("a.rs", "//! A.\nunsafe fn f() {}").contains("unsafe"));
        assert!(fault("crates/cuda/src/a.rs", "//! A.\nunsafe fn f() {}").is_empty());
        assert!(fault("ct/src/ffi.rs", "//! A.\nunsafe { f() }").is_empty());
        assert!(fault("ct/src/ffi/a.rs", "//! A.\nunsafe { f() }").is_empty());
        assert!(fault("ct/src/a/ffi.rs", "//! A.\nunsafe { f() }").contains("unsafe"));
        assert!(fault("a.rs", &("//! A.\n".to_owned() + &"//\n".repeat(700))).contains("lines"));
        assert!(fault("a.rs", "//! A.\nfn f() { dbg!(1); }").contains("dbg!"));
        let of_feature = "//! A.\n#![cfg(feature = \"alloc\")]\n";
        assert!(fault("crates/a/tests/a.rs", of_feature).contains("required-features"));
        assert!(fault("crates/a/src/a.rs", of_feature).is_empty());
        assert!(faults_of("a.txt", "anything").is_empty());
        let example = "```rust,ignore\nf();\n```";
        assert!(examples_not_compiled("crates/cuda/README.md", example).is_some());
        assert_eq!(examples_not_compiled("README.md", "```rust,no_run\nf();\n```"), None);
        let list = "| `LANECRYPT_DEVICE` | … |";
        assert!(unlisted_variables("$LANECRYPT_DEVICE, LANECRYPT_", list).is_empty());
        let record = "of /home/me/x.toml: 5, \"/work/a\", 5 bytes/s, /dev/shm/a 1 / 2 // 3";
        let named: Vec<_> = paths_of_a_machine(record).into_iter().collect();
        assert!(named.len() == 2 && named[0].ends_with(" /home/me/x.toml"), "{named:?}");
        let manifest = "\n[lib]\ntest = false # none\n\n[features]\n";
        assert!(tests_not_run(manifest, &["src/a.rs"]).is_some_and(|f| f.contains("src/a.rs")));
        assert_eq!(tests_not_run(manifest, &[]), None);
        assert_eq!(tests_not_run("\n[lib]\n\n[[bin]]\ntest = false\n", &["src/a.rs"]), None);
        assert!(compiled_for_nothing("\n[lib]\ntest = false # none\n").is_some());
        assert_eq!(compiled_for_nothing("\n[lib]\ntest = false\nbench = false\n"), None);
        assert_eq!(compiled_for_nothing("\n[lib]\n"), None);
        let circle = circles::circle(&[("a.rs", "use crate::b::B;"), ("b.rs", "use crate::a::A;")]);
        let found = circles_of("crates/cuda", circle.clone()).unwrap_or_default();
        assert_eq!(found, "modules in a circle: crate::a → crate::b → crate::a");
        assert_eq!(circles_of("crates/cuda", None), None);
        assert_eq!(circles_of("crates/core", circle), None, "known");
        assert!(circles_of("crates/core", None).is_some_and(|f| f.contains("off the list")));
        let unlisted = ["LANECRYPT", "_DEVICES"].concat();
        assert!(unlisted_variables(&unlisted, list)[0].contains(&unlisted));
    }
}
