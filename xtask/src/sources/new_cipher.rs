//! The skeleton of a new cipher: its crate, vectors and page, and its lines in files of the tree.
//!
//! Everything is made in memory first, so that a refusal leaves the tree as it was. What is left to do
//! compiles and fails: the reference by a panic, the vectors by an answer that no cipher gives.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use sha2::{Digest, Sha256};

use crate::{
    command::root,
    kernels::host::hex,
    packages::{self, title},
    sources::{
        neighbour::{Member, Neighbours},
        tree,
    },
};

/// What a skeleton is made of.
#[derive(Args, Debug)]
pub(crate) struct Specification {
    /// Name of the cipher in crates and backends: lower-case letters and digits, such as "lea".
    name: String,
    /// Standard that defines the cipher, such as "RFC 4269".
    #[arg(long, default_value = "to do: its standard")]
    standard: String,
    /// Bytes per block: 8 or 16.
    #[arg(long, default_value_t = 16)]
    block_bytes: usize,
    /// Key lengths in bytes, shortest first, such as "16,24,32".
    #[arg(long, value_delimiter = ',', default_value = "16")]
    key_bytes: Vec<usize>,
    /// Begins with a copy of this cipher, whole, which then has the new name and the new vectors' place: where a
    /// cipher is much like one that is there. Key and block are as that one's.
    #[arg(long, value_name = "CIPHER", conflicts_with_all = ["block_bytes", "key_bytes"])]
    like: Option<String>,
    /// Tree to change [default: this one].
    #[arg(long)]
    root: Option<PathBuf>,
}

/// New files: where they are, `NAME` being the cipher's, and what is in them.
const FILES: [(&str, &str); 10] = [
    ("crates/NAME/LICENSE-APACHE", include_str!("../../../LICENSE-APACHE")),
    ("crates/NAME/LICENSE-MIT", include_str!("../../../LICENSE-MIT")),
    ("crates/NAME/Cargo.toml", include_str!("../../templates/cipher/Cargo.toml.txt")),
    ("crates/NAME/README.md", include_str!("../../templates/cipher/README.md.txt")),
    ("crates/NAME/src/lib.rs", include_str!("../../templates/cipher/lib.rs.txt")),
    ("crates/NAME/src/schedule.rs", include_str!("../../templates/cipher/schedule.rs.txt")),
    ("crates/NAME/src/reference.rs", include_str!("../../templates/cipher/reference.rs.txt")),
    ("crates/NAME/src/backends.rs", include_str!("../../templates/cipher/backends.rs.txt")),
    ("vectors/NAME_ecb.txt", include_str!("../../templates/cipher/ecb.txt")),
    ("book/src/NAME.md", include_str!("../../templates/cipher/page.md")),
];

/// Lines for files of the tree: the file, how the lines begin, what they have and how they end that the
/// new one goes among, in order, and the line.
const LINES: [[&str; 5]; 8] = [
    [
        "Cargo.toml",
        "lanecrypt-",
        "",
        "}",
        "lanecrypt-@name@ = { path = \"crates/@name@\", version = \"0.1.0\", default-features = false }",
    ],
    [
        "crates/lanecrypt/Cargo.toml",
        "    \"lanecrypt-",
        "",
        "/cuda\",",
        "    \"lanecrypt-@name@/cuda\",",
    ],
    [
        "crates/lanecrypt/Cargo.toml",
        "    \"lanecrypt-",
        "",
        "/zeroize\",",
        "    \"lanecrypt-@name@/zeroize\",",
    ],
    [
        "crates/lanecrypt/Cargo.toml",
        "lanecrypt-",
        "",
        "\"alloc\"] }",
        "lanecrypt-@name@ = { workspace = true, features = [\"alloc\"] }",
    ],
    [
        "crates/lanecrypt/src/lib.rs",
        "pub use lanecrypt_",
        "",
        "",
        "pub use lanecrypt_@name@ as @name@;",
    ],
    ["crates/lanecrypt/src/lib.rs", "    &", "::", ",", "    &@name@::@NAME@,"],
    ["vectors/SHA256SUMS", "", "", ".txt", "@sum@  @name@_ecb.txt"],
    [
        "vectors/README.md",
        "| `",
        ".txt`",
        " |",
        "| `@name@_ecb.txt` | 1 | vectors, whole blocks, no padding |",
    ],
];

/// What the tool leaves to its reader.
const LEFT: &str = "\
To do, in this order (the book's page \"Porting LEA\" does it with an example):
  vectors/NAME_ecb.txt             vectors of the standard; `sha256sum` of it into vectors/SHA256SUMS
  crates/NAME/src/reference.rs     the cipher as its standard reads
  cargo xtask kat --cipher NAME    fails until both are there
  crates/NAME/src/schedule.rs      the key schedule; then forms, kernels and types that users name
  README.md, SECURITY.md           its name; its backends, and which are constant-time";

/// What it leaves where the new cipher begins as another one.
const LEFT_OF_COPY: &str = "\
To do, in this order; until then NAME is the other cipher, and all tests pass:
  vectors/NAME_*.txt               vectors of the standard; `sha256sum` of them into vectors/SHA256SUMS
  crates/NAME/src/reference.rs     the cipher as its standard reads; then `cargo test -p lanecrypt-NAME` says
                                   which forms are still the other cipher's
  crates/circuit/src/targets.rs    its S-boxes; `cargo xtask codegen --derive --cipher NAME`
  kernels/NAME                     then `cargo xtask kernels NAME`, and `cargo xtask codegen`
  README.md, SECURITY.md           its name; its backends, and which are constant-time
  crates/openssl-provider/src/algorithm.rs, crates/python: its names there, if it has any";

pub(crate) fn run(specification: &Specification) -> Result<()> {
    let tree = specification.root.clone().unwrap_or_else(root);
    let (touched, left) = match &specification.like {
        Some(old) => (copy(specification, old, &tree)?, LEFT_OF_COPY),
        None => (make(specification, &tree)?, LEFT),
    };
    for (made, path) in touched {
        println!("{} {path}", if made { "made    " } else { "added to" });
    }
    println!("\n{}", left.replace("NAME", &specification.name));
    Ok(())
}

/// Makes the copy of another cipher and says what was made (`true`) or added to.
fn copy(specification: &Specification, old: &str, tree: &Path) -> Result<Vec<(bool, String)>> {
    check(specification, tree)?;
    let mut files = Vec::new();
    let page = FILES.iter().find(|(path, _)| path.starts_with("book/"));
    let (path, template) = page.context("the skeleton has a page")?;
    let path = path.replace("NAME", &specification.name);
    files.push((path, filled(template, &fields(specification)).into_bytes()));
    let ciphers = packages::ciphers()?;
    let old = Member { name: old, ciphers: &ciphers };
    let neighbours = Neighbours { old, new: &specification.name };
    files.extend(neighbours.added(tree, &tree::listed(tree)?)?);
    let mut touched = Vec::new();
    for (path, text) in files {
        let is_made = !tree.join(&path).exists();
        write(tree, &path, &text)?;
        touched.push((is_made, path));
    }
    Ok(touched)
}

/// Writes a file of a tree, in a folder that may be new.
fn write(tree: &Path, path: &str, text: &[u8]) -> Result<()> {
    let path = tree.join(path);
    fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
    fs::write(&path, text).with_context(|| path.display().to_string())
}

/// Makes the skeleton and says what was made (`true`) or added to.
fn make(specification: &Specification, tree: &Path) -> Result<Vec<(bool, String)>> {
    check(specification, tree)?;
    let mut fields = fields(specification);
    let mut files: Vec<(bool, String, String)> = Vec::new();
    for (path, template) in FILES {
        let path = path.replace("NAME", &specification.name);
        let text = filled(template, &fields);
        if path.starts_with("vectors/") {
            fields.push(("sum", hex(&Sha256::digest(&text))));
        }
        files.push((true, path, text));
    }
    for [path, start, with, end, line] in LINES {
        let known = files.iter().position(|(_, known, _)| known == path);
        let text = match known {
            Some(at) => files.remove(at).2,
            None => fs::read_to_string(tree.join(path)).with_context(|| path.to_owned())?,
        };
        let line = filled(line, &fields);
        let text = inserted(&text, [start, with, end], &line).with_context(|| path.to_owned())?;
        files.push((false, path.to_owned(), text));
    }
    for (path, edit) in [
        ("book/src/SUMMARY.md", listed as fn(&str, &Specification, &Path) -> Result<String>),
        ("crates/lanecrypt/tests/rustcrypto.rs", agreeing),
    ] {
        let text = fs::read_to_string(tree.join(path)).with_context(|| path.to_owned())?;
        let text = edit(&text, specification, tree).with_context(|| path.to_owned())?;
        files.push((false, path.to_owned(), text));
    }
    for (_, path, text) in &files {
        write(tree, path, text.as_bytes())?;
    }
    Ok(files.into_iter().map(|(made, path, _)| (made, path)).collect())
}

/// Names that Rust, or the facade, has another use for.
const TAKEN: [&str; 20] = [
    "abstract", "async", "await", "batch", "box", "cipher", "const", "crate", "dyn", "enum",
    "final", "io", "macro", "match", "size", "static", "trait", "tuning", "type", "yield",
];

fn check(specification: &Specification, tree: &Path) -> Result<()> {
    let Specification { name, block_bytes, key_bytes, .. } = specification;
    let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    ensure!(
        is_plain && starts && (2..=16).contains(&name.len()),
        "{name:?} is no name of a cipher: 2 to 16 lower-case letters and digits, a letter first"
    );
    ensure!(
        !TAKEN.contains(&name.as_str()),
        "{name:?} has another meaning in Rust or in lanecrypt"
    );
    let theirs = FILES.iter().map(|(path, _)| path.replace("NAME", name));
    for path in theirs.chain([format!("crates/{name}"), format!("kernels/{name}")]) {
        ensure!(
            !tree.join(&path).exists(),
            "{path} is there already: is {name:?} another cipher's name?"
        );
    }
    ensure!([8, 16].contains(block_bytes), "blocks have 8 or 16 bytes, not {block_bytes}");
    let is_sorted = key_bytes.is_sorted_by(|shorter, longer| shorter < longer);
    ensure!(
        is_sorted
            && !key_bytes.is_empty()
            && key_bytes.iter().all(|bytes| (1..=64).contains(bytes)),
        "keys have 1 to 64 bytes, each length once and the shortest first, not {key_bytes:?}"
    );
    Ok(())
}

/// What stands for `@field@` in the templates.
fn fields(specification: &Specification) -> Vec<(&'static str, String)> {
    let Specification { name, standard, block_bytes, key_bytes, .. } = specification;
    let title = title(&specification.name);
    let of_keys = |line: &dyn Fn(usize) -> String, between: &str| {
        key_bytes.iter().map(|bytes| line(*bytes)).collect::<Vec<_>>().join(between)
    };
    let types = of_keys(
        &|bytes| {
            let bits = 8 * bytes;
            format!(
                "/// {title} with a key of {bits} bits. To do: `Fastest<CpuForms<_>>`.\n\
                 pub type {title}{bits} = Cipher<Reference<Key{bits}>>;"
            )
        },
        "\n",
    );
    let key_lengths = of_keys(
        &|bytes| {
            let bits = 8 * bytes;
            format!(
                "/// A key of {bits} bits.\n#[derive(Clone, Copy, Debug)]\npub enum Key{bits} {{}}\n\n\
                 impl KeyLength for Key{bits} {{\n    type Size = U{bytes};\n    \
                 const NAME: &'static str = \"{title}{bits}\";\n}}"
            )
        },
        "\n\n",
    );
    vec![
        ("name", name.clone()),
        ("Name", title.clone()),
        ("NAME", name.to_uppercase()),
        ("standard", standard.clone()),
        ("block_bytes", block_bytes.to_string()),
        ("block_size", format!("U{block_bytes}")),
        ("key_bytes", of_keys(&|bytes| bytes.to_string(), ", ")),
        ("key_names", of_keys(&|bytes| format!("Key{}", 8 * bytes), ", ")),
        ("sizes", of_keys(&|bytes| format!("U{bytes}"), ", ")),
        ("types", types),
        ("key_lengths", key_lengths),
        ("zero_key", "00".repeat(key_bytes[0])),
        ("zero_block", "00".repeat(*block_bytes)),
    ]
}

fn filled(template: &str, fields: &[(&str, String)]) -> String {
    fields.iter().fold(template.to_owned(), |text, (field, value)| {
        text.replace(&format!("@{field}@"), value)
    })
}

/// The text with one line more among those that begin, have and end like this: before the first that is
/// greater, or behind the last. What lies before a digest in the sums does not count for the order.
fn inserted(text: &str, [start, with, end]: [&str; 3], line: &str) -> Result<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let is_one = |line: &str| line.starts_with(start) && line.contains(with) && line.ends_with(end);
    let order = |line: &str| line.rsplit("  ").next().unwrap_or(line).trim_start().to_owned();
    let Some(last) = lines.iter().rposition(|line| is_one(line)) else {
        bail!("no line begins with {start:?} and ends with {end:?}; where does {line:?} belong?");
    };
    let greater = |other: &&str| is_one(other) && order(other) > order(line);
    let mut at = lines.iter().position(greater).unwrap_or(last + 1);
    // A line that is left out under some features takes that with it.
    while at > 0 && lines[at - 1].starts_with("#[") {
        at -= 1;
    }
    lines.insert(at, line);
    Ok(lines.join("\n") + "\n")
}

/// The table of contents with the cipher's page, after those of the other ciphers.
fn listed(text: &str, specification: &Specification, tree: &Path) -> Result<String> {
    let name = &specification.name;
    let title = name.to_uppercase();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let is_ciphers = |line: &String| {
        let page = line.rsplit_once('(').and_then(|(_, page)| page.strip_suffix(".md)"));
        page.is_some_and(|page| tree.join("crates").join(page).join("src/backends.rs").exists())
    };
    let last = lines.iter().rposition(is_ciphers).context("no page of a cipher is listed")?;
    lines.insert(last + 1, format!("- [{title}]({name}.md)"));
    Ok(lines.join("\n") + "\n")
}

/// The tests of RustCrypto's modes with the cipher's types beside its reference.
fn agreeing(text: &str, specification: &Specification, _: &Path) -> Result<String> {
    const HEAD: &str = "ciphers! {\n";
    let Specification { name, block_bytes, key_bytes, .. } = specification;
    let title = title(&specification.name);
    let by = if *block_bytes == 16 { "large_agrees" } else { "small_agrees" };
    let row = |bytes: &usize| {
        let bits = 8 * bytes;
        format!(
            "        lanecrypt::{name}::{title}{bits}, \
             Cipher<lanecrypt::{name}::Reference<lanecrypt::{name}::Key{bits}>>;\n"
        )
    };
    let rows: String = key_bytes.iter().map(row).collect();
    let (before, after) = text.split_once(HEAD).context("where are the ciphers?")?;
    Ok(format!("{before}{HEAD}    {name}_agrees(\"{name}\"): {by} {{\n{rows}    }}\n{after}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn specification(name: &str) -> Specification {
        Specification {
            name: name.to_owned(),
            standard: "the sea".to_owned(),
            block_bytes: 16,
            key_bytes: vec![16, 32],
            like: None,
            root: None,
        }
    }

    /// A tree with what the tool adds lines to.
    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let others = ["book/src/SUMMARY.md", "crates/lanecrypt/tests/rustcrypto.rs"];
        let ciphers = ["crates/aes/src/backends.rs", "crates/seed/src/backends.rs"];
        for path in LINES.iter().map(|[path, ..]| *path).chain(others).chain(ciphers) {
            let to = folder.path().join(path);
            fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
            fs::copy(root().join(path), to).expect(path);
        }
        folder
    }

    fn contents(folder: &Path, into: &mut BTreeMap<PathBuf, String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                contents(&path, into);
            } else {
                into.insert(path.clone(), fs::read_to_string(&path).expect("text"));
            }
        }
    }

    fn all(tree: &tempfile::TempDir) -> BTreeMap<PathBuf, String> {
        let mut files = BTreeMap::new();
        contents(tree.path(), &mut files);
        files
    }

    #[test]
    fn a_skeleton_has_its_files_and_lines() {
        let tree = tree();
        let before = all(&tree);
        let touched = make(&specification("newt"), tree.path()).expect("a new name");
        let after = all(&tree);
        assert_eq!(touched.iter().filter(|(made, _)| *made).count(), FILES.len());
        for (path, text) in &after {
            let name = path.display();
            assert!(!text.contains("@name@") && !text.contains("@Name@"), "{name}");
            let Some(old) = before.get(path) else { continue };
            let new: Vec<_> = text.lines().filter(|line| line.contains("newt")).collect();
            let is_changed = touched.iter().any(|(_, touched)| path.ends_with(touched));
            assert_eq!(!new.is_empty(), is_changed, "{name}");
            let kept: Vec<_> =
                text.lines().filter(|line| old.lines().any(|old| old == *line)).collect();
            assert!(kept.len() >= old.lines().count(), "{name} lost a line");
        }
        let facade = &after[&tree.path().join("crates/lanecrypt/src/lib.rs")];
        let at = |text: &str| facade.find(text).expect(text);
        assert!(at("    &lea::LEA,\n    &newt::NEWT,\n    &seed::SEED,") > 0);
        assert!(at("pub use lanecrypt_newt as newt;") < at("pub use lanecrypt_seed as seed;"));
    }

    #[test]
    fn no_line_comes_between_an_attribute_and_its_item() {
        let tree = tree();
        make(&specification("crab"), tree.path()).expect("a new name");
        let facade = fs::read_to_string(tree.path().join("crates/lanecrypt/src/lib.rs"));
        let facade = facade.expect("text");
        assert!(facade.contains("pub use lanecrypt_crab as crab;\n#[cfg(feature = \"cuda\")]\n"));
    }

    #[test]
    fn a_refusal_changes_nothing() {
        let tree = tree();
        make(&specification("newt"), tree.path()).expect("a new name");
        let before = all(&tree);
        for name in ["newt", "aes", "x", "Newt", "new-t", "9newt", "type", "io", "", "ä"] {
            assert!(make(&specification(name), tree.path()).is_err(), "{name:?}");
        }
        for (block_bytes, key_bytes) in
            [(12, vec![16]), (16, vec![]), (16, vec![24, 16]), (8, vec![65])]
        {
            let specification = Specification { block_bytes, key_bytes, ..specification("crab") };
            assert!(make(&specification, tree.path()).is_err(), "{specification:?}");
        }
        // A tree without the place for a line.
        fs::write(tree.path().join("crates/lanecrypt/src/lib.rs"), "").expect("a file");
        assert!(make(&specification("crab"), tree.path()).is_err());
        fs::write(
            tree.path().join("crates/lanecrypt/src/lib.rs"),
            &before[&tree.path().join("crates/lanecrypt/src/lib.rs")],
        )
        .expect("a file");
        assert_eq!(before, all(&tree));
    }
}
