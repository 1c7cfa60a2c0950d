//! `debian/copyright` (DEP-5): whose each part of the source package is, under which licence, and the licences' texts.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use anyhow::{Context, Result, bail};
use spdx::{
    Expression, LicenseReq, ParseMode,
    expression::{ExprNode, Operator},
};

use super::vendored;
use crate::release::{licences::texts_of, shipped::one_form};

/// Licences whose texts every Debian has, and the files that have them.
const COMMON: [(&str, &str); 4] = [
    ("Apache-2.0", "Apache-2.0"),
    ("CC0-1.0", "CC0-1.0"),
    ("LGPL-2.1-or-later", "LGPL-2.1"),
    ("MPL-2.0", "MPL-2.0"),
];

/// The file, of a folder of others' packages, and the page of our own.
pub(super) fn text(vendor: &Path, homepage: &str) -> Result<String> {
    let mut text = format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: Lanecrypt\nSource: {homepage}\n\n\
         Files: *\nCopyright: 2026 The Lanecrypt developers\nLicense: MIT or Apache-2.0\n"
    );
    let mut licences = BTreeMap::new();
    let mut expressions = vec!["MIT OR Apache-2.0".to_owned()];
    for folder in vendored::folders(vendor)? {
        let manifest = vendored::read(&folder)?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let licence = one_form(vendored::field(&manifest, "license"));
        let of_debian = of_debian(&licence).with_context(|| name.to_string())?;
        let holders = holders(&folder, &manifest)?.join("\n           ");
        write!(
            text,
            "\nFiles: {}/{name}/*\nCopyright: {holders}\nLicense: {of_debian}\n",
            vendored::FOLDER
        )?;
        expressions.push(licence);
    }
    for expression in &expressions {
        for requirement in Expression::parse_mode(expression, ParseMode::STRICT)?.requirements() {
            licences.insert(name_of(&requirement.req), requirement.req.clone());
        }
    }
    for (name, licence) in licences {
        write!(text, "\nLicense: {name}\n{}", paragraph(&licence)?)?;
    }
    Ok(text)
}

/// Who a package says that it is of: in its licences, among its authors, or by its name.
fn holders(folder: &Path, manifest: &toml::Table) -> Result<Vec<String>> {
    let mut holders = Vec::new();
    for (_, text) in texts_of(folder)? {
        holders.extend(text.lines().filter_map(holder).map(str::to_owned));
    }
    if holders.is_empty() {
        let package = manifest.get("package").and_then(|package| package.get("authors"));
        let authors = package.and_then(toml::Value::as_array).into_iter().flatten();
        holders.extend(authors.filter_map(|author| author.as_str().map(str::to_owned)));
    }
    if holders.is_empty() {
        holders.push(format!("The {} developers", vendored::field(manifest, "name")));
    }
    holders.sort();
    holders.dedup();
    Ok(holders)
}

/// The holder that a line of a licence names, and not a place for one.
fn holder(line: &str) -> Option<&str> {
    let line = line.trim();
    let rest = line.strip_prefix("Copyright ").or_else(|| line.strip_prefix("© "))?;
    let rest =
        ["(c) ", "(C) ", "© "].iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest);
    let is_one = rest.starts_with(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
    (is_one && !rest.contains(['{', '['])).then_some(rest)
}

/// An expression of SPDX as Debian writes it: without brackets, where a comma ends what comes before.
fn of_debian(expression: &str) -> Result<String> {
    let expression = Expression::parse_mode(expression, ParseMode::STRICT)?;
    // What was read, and whether it offers a choice.
    let mut read: Vec<(String, bool)> = Vec::new();
    for node in expression.iter() {
        let operator = match node {
            ExprNode::Req(requirement) => {
                read.push((name_of(&requirement.req), false));
                continue;
            }
            ExprNode::Op(operator) => operator,
        };
        let (second, first) = (read.pop(), read.pop());
        let (first, second) = first.zip(second).context("an operator of nothing")?;
        read.push(match (operator, first, second) {
            (Operator::Or, (a, _), (b, _)) => (format!("{a} or {b}"), true),
            (Operator::And, (a, false), (b, false)) => (format!("{a} and {b}"), false),
            (Operator::And, (a, true), (b, false)) | (Operator::And, (b, false), (a, true)) => {
                (format!("{a}, and {b}"), false)
            }
            (Operator::And, (_, true), (_, true)) => bail!("two choices in {expression}"),
        });
    }
    read.pop().map(|(text, _)| text).context("no licence")
}

/// One licence as Debian names it.
fn name_of(licence: &LicenseReq) -> String {
    let name = licence.license.to_string();
    match licence.addition.as_ref().map(ToString::to_string) {
        Some(addition) => {
            format!("{name} with {} exception", addition.trim_end_matches("-exception"))
        }
        None => name,
    }
}

/// The text of a licence, or where Debian has it.
fn paragraph(licence: &LicenseReq) -> Result<String> {
    let id = licence.license.id().context("a licence that SPDX does not know")?;
    let common = COMMON.iter().find(|(name, _)| *name == id.name);
    let mut text = match common {
        Some((_, file)) => format!(
            "On Debian systems, the text of this licence is in\n/usr/share/common-licenses/{file}."
        ),
        None => id.text().trim().to_owned(),
    };
    if let Some(exception) = licence.addition.as_ref().and_then(spdx::AdditionItem::id) {
        text = format!("{text}\n\n{}", exception.text().trim());
    }
    let lines = text.lines().map(|line| match line.trim_end() {
        "" => " .\n".to_owned(),
        line => format!(" {line}\n"),
    });
    Ok(lines.collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn expressions_are_debian_s() {
        let said = |expression: &str| of_debian(expression).expect("an expression");
        assert_eq!(said("MIT OR Apache-2.0 OR Zlib"), "MIT or Apache-2.0 or Zlib");
        assert_eq!(
            said("(MIT OR Apache-2.0) AND Unicode-3.0"),
            "MIT or Apache-2.0, and Unicode-3.0"
        );
        assert_eq!(
            said("Unicode-3.0 AND (MIT OR Apache-2.0)"),
            "MIT or Apache-2.0, and Unicode-3.0"
        );
        assert_eq!(said("Apache-2.0 WITH LLVM-exception"), "Apache-2.0 with LLVM exception");
        assert!(of_debian("(MIT OR Zlib) AND (ISC OR Zlib)").is_err());
        assert!(of_debian("").is_err() && of_debian("Mine").is_err());
    }

    #[test]
    fn holders_are_read() {
        assert_eq!(holder("Copyright (c) 2019 A B <a@b.c>"), Some("2019 A B <a@b.c>"));
        assert_eq!(holder("  Copyright 2020 The X Developers"), Some("2020 The X Developers"));
        for none in [
            "Copyright [yyyy] [name of copyright owner]",
            "Copyright {yyyy} {name of copyright owner}",
            "copyright owner that is granting the License.",
            "Copyright (c) <year> <owner>",
        ] {
            assert_eq!(holder(none), None, "{none}");
        }
    }

    #[test]
    fn parts_and_texts_are_listed() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let package = folder.path().join("a-1.0.0");
        fs::create_dir(&package).expect("a folder for tests");
        let manifest = "[package]\nname = \"a\"\nversion = \"1.0.0\"\nlicense = \"MIT/Zlib\"\n";
        fs::write(package.join("Cargo.toml"), manifest).expect("a file for tests");
        let list = text(folder.path(), "https://a.b").expect("a list");
        assert!(list.contains("\nSource: https://a.b\n"), "{list}");
        assert!(list.contains(
            "Files: vendor/a-1.0.0/*\nCopyright: The a developers\nLicense: MIT or Zlib\n"
        ));
        for there in ["\nLicense: Zlib\n", "\nLicense: MIT\n", "common-licenses/Apache-2.0."] {
            assert!(list.contains(there), "{there} in {list}");
        }
        assert!(!list.contains("\n\n\n") && list.lines().all(|line| line == line.trim_end()));
    }
}
