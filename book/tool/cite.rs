//! How the book is cited, from `CITATION.cff`: the one place that has authors, title, version and address.
//!
//! `{{#cite}}` on a page is replaced by a line of text and an entry for BibTeX.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use mdbook_driver::MDBook;

/// The directive.
const MARK: &str = "{{#cite}}";
/// The file, from the book's folder.
const FILE: &str = "../CITATION.cff";

/// What is cited.
pub(crate) struct Citation {
    pub(crate) authors: Vec<String>,
    title: String,
    version: String,
    /// Where the project is.
    pub(crate) address: String,
}

impl Citation {
    /// That of the project whose book is in `root`.
    ///
    /// # Errors
    /// Where the file cannot be read or lacks something.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let path = root.join(FILE);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Self::parse(&text).with_context(|| format!("{}: not all is there", path.display()))
    }

    /// Of the file's lines `key: value`; authors are those of `- name: value`.
    fn parse(text: &str) -> Option<Self> {
        let value = |key: &str| {
            let of_line = |line: &str| Some(plain(line.strip_prefix(key)?.strip_prefix(':')?));
            text.lines().find_map(of_line).filter(|value| !value.is_empty())
        };
        let author = |line: &str| line.trim().strip_prefix("- name:").map(plain);
        let authors: Vec<String> = text.lines().filter_map(author).collect();
        Some(Self {
            authors: (!authors.is_empty()).then_some(authors)?,
            title: value("title")?,
            version: value("version")?,
            address: value("repository-code")?,
        })
    }

    fn text(&self) -> String {
        let Self { authors, title, version, address } = self;
        format!(
            "> {}. *{title}*, version {version}. <{address}>\n\n```bibtex\n@software{{lanecrypt,\n  \
             author = {{{{{}}}}},\n  title = {{{{{title}}}}},\n  version = {{{version}}},\n  \
             url = {{{address}}}\n}}\n```",
            authors.join(", "),
            authors.join("}} and {{"),
        )
    }
}

/// A value without its quotes.
fn plain(value: &str) -> String {
    value.trim().trim_matches('"').to_owned()
}

/// Puts the citation where pages ask for it.
pub(crate) fn fill(book: &mut MDBook, citation: &Citation) {
    book.book.for_each_chapter_mut(|chapter| {
        chapter.content = chapter.content.replace(MARK, &citation.text());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# A file\ncff-version: 1.2.0\ntitle: \"A: b\"\nauthors:\n  - name: The A\n  \
        - name: C\nversion: \"1.0\"\nrepository-code: \"https://a.b/c\"\n";

    #[test]
    fn a_citation_has_what_the_file_has() {
        let text = Citation::parse(FILE).expect("a citation").text();
        assert!(text.starts_with("> The A, C. *A: b*, version 1.0. <https://a.b/c>\n"), "{text}");
        assert!(text.contains("author = {{The A}} and {{C}},\n  title = {{A: b}},"), "{text}");
    }

    #[test]
    fn what_lacks_something_is_no_citation() {
        for line in ["title:", "version:", "repository-code:"] {
            assert!(Citation::parse(&FILE.replace(line, "other:")).is_none(), "{line}");
        }
        assert!(Citation::parse(&FILE.replace("- name:", "- alias:")).is_none());
    }
}
