//! `{{#include file:anchor}}`: finding the directives, and the anchors in what they name.

use std::{fs, io, path::Path};

/// The directives that take a file.
const DIRECTIVES: [&str; 2] = ["include", "rustdoc_include"];

/// An include directive of a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Include<'a> {
    /// Byte offset in the page.
    pub(crate) offset: usize,
    /// The whole directive, braces included.
    pub(crate) directive: &'a str,
    /// The file, from the page's folder.
    pub(crate) path: &'a str,
    /// The anchor, where it is no range of lines.
    pub(crate) anchor: Option<&'a str>,
}

/// The include directives of a text; one behind a backslash is text.
pub(crate) fn includes(text: &str) -> Vec<Include<'_>> {
    let directives = text.match_indices("{{#");
    directives
        .filter(|&(offset, _)| !text[..offset].ends_with('\\'))
        .filter_map(|(offset, start)| {
            let length = text[offset..].find("}}")? + 2;
            let directive = &text[offset..offset + length];
            let inner = directive.strip_prefix(start)?.strip_suffix("}}")?;
            let (name, target) = inner.split_once(char::is_whitespace)?;
            DIRECTIVES.contains(&name).then_some(())?;
            let (path, part) = match target.trim().split_once(':') {
                Some((path, part)) => (path, Some(part)),
                None => (target.trim(), None),
            };
            let is_lines = |part: &&str| part.chars().all(|c| c.is_ascii_digit() || c == ':');
            Some(Include { offset, directive, path, anchor: part.filter(|part| !is_lines(part)) })
        })
        .collect()
}

/// What is wrong with an include whose page lies in `folder`, if anything.
pub(crate) fn problem(include: &Include<'_>, folder: &Path) -> Option<String> {
    let path = include.path;
    let text = match fs::read_to_string(folder.join(path)) {
        Ok(text) => text,
        Err(error) => return Some(format!("cannot include {path}: {error}")),
    };
    let anchor = include.anchor?;
    let line_of = |mark: &str| text.lines().position(|line| names(line, mark, anchor));
    match (line_of("ANCHOR:"), line_of("ANCHOR_END:")) {
        (Some(start), Some(end)) if start < end => None,
        (Some(_), _) => Some(format!("{path} does not end its anchor {anchor}")),
        (None, _) => Some(format!("{path} has no anchor {anchor}")),
    }
}

/// Whether `line` has `mark` with this anchor's name.
fn names(line: &str, mark: &str, anchor: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let Some((_, rest)) = line.split_once(mark) else {
        return false;
    };
    let rest = rest.trim_start();
    rest.split(|c| !is_name(c)).next() == Some(anchor)
}

/// The text with the whole Markdown files that it includes in place of the directives.
///
/// # Errors
/// Those of reading the files; one that is missing is left out, [`problem`] reports it.
pub(crate) fn with_included_pages(text: &str, folder: &Path) -> io::Result<String> {
    let mut expanded = String::new();
    let mut done = 0;
    for include in includes(text) {
        let path = folder.join(include.path);
        let is_page = path.extension().is_some_and(|extension| extension == "md");
        if is_page && path.is_file() {
            expanded += &text[done..include.offset];
            expanded += &fs::read_to_string(path)?;
            done = include.offset + include.directive.len();
        }
    }
    Ok(expanded + &text[done..])
}
