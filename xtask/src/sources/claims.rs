//! The table of claims: written once, in docs/, and copied to where people look.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::{command::root, packages};

/// Where the table is written.
const SOURCE: &str = "docs/claims.md";

/// What stands before and behind the table.
const MARKS: [&str; 2] = ["<!-- claims -->\n", "<!-- end of claims -->"];

/// The files that have the table, with their texts: the security policy, and the front pages of the crates that people
/// depend on.
pub(crate) fn files() -> Result<Vec<(String, String)>> {
    let source = read(SOURCE)?;
    let [_, table, _] = parts(&source).with_context(|| marks_of(SOURCE))?;
    let mut paths = vec!["SECURITY.md".to_owned(), "crates/lanecrypt/README.md".to_owned()];
    paths.extend(packages::ciphers()?.iter().map(|name| format!("crates/{name}/README.md")));
    let with_table = |path: String| {
        let text = read(&path)?;
        let [before, _, behind] = parts(&text).with_context(|| marks_of(&path))?;
        Ok((path, [before, table, behind].concat()))
    };
    paths.into_iter().map(with_table).collect()
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(root().join(path)).with_context(|| path.to_owned())
}

fn marks_of(path: &str) -> String {
    format!("{path} needs the lines {:?} and {:?}", MARKS[0].trim_end(), MARKS[1])
}

/// What is before the table, with its mark, the table, and what is behind it.
fn parts(text: &str) -> Result<[&str; 3]> {
    let start = text.find(MARKS[0]).context("no mark before the table")? + MARKS[0].len();
    let (before, rest) = text.split_at(start);
    let end = rest.find(MARKS[1]).context("no mark behind the table")?;
    ensure!(!rest[end..].contains(MARKS[0]), "two tables");
    let (table, behind) = rest.split_at(end);
    Ok([before, table, behind])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_what_stands_between_the_marks() {
        let text = "A\n<!-- claims -->\n| a |\n<!-- end of claims -->\nB\n";
        let [before, table, behind] = parts(text).expect("both marks");
        assert_eq!((before, table), ("A\n<!-- claims -->\n", "| a |\n"));
        assert_eq!(behind, "<!-- end of claims -->\nB\n");
        assert!(parts("A\n<!-- claims -->\n| a |\n").is_err());
        assert!(parts("| a |\n<!-- end of claims -->\n").is_err());
        assert!(parts(&text.repeat(2)).is_err());
    }
}
