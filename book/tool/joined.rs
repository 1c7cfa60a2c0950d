//! All pages of the book as one text: headings one level deeper for each part and page above them, with ids that no other
//! page has; links to pages as links to these ids, and others to where the project is; without what only a browser does.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    ops::Range,
    path::{Path, PathBuf},
};

use mdbook_driver::book::{Book, BookItem, Chapter};
use pulldown_cmark::{Event, Parser, Tag};

use crate::{check::normalised, page};

/// Where the pages of records are, which this text leaves out.
const RECORDS: &str = "records/";
/// More do not fit a page.
const MOST_COLUMNS: usize = 12;
/// What stands in the place of a form that a browser fills.
const NO_FORM: &str = "*A browser has a form here: see the book on the web.*\n";

/// The text, and the pictures that it shows, by their path on the web.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    pub(crate) text: String,
    pub(crate) pictures: BTreeSet<PathBuf>,
}

/// Joins the pages of a book whose project is at `address`.
pub(crate) fn join(book: &Book, address: &str) -> Joined {
    let pages = book.chapters().filter_map(|chapter| chapter.path.clone());
    let pages = pages.filter(|path| !path.starts_with(RECORDS)).collect();
    let mut joining = Joining { address, pages, joined: Joined::default() };
    let mut depth = 0;
    for (i, item) in book.items.iter().enumerate() {
        match item {
            BookItem::PartTitle(title) => {
                depth = 1;
                let _ = write!(joining.joined.text, "# {title} {{#part-{i}}}\n\n");
            }
            BookItem::Separator => depth = 0,
            BookItem::Chapter(chapter) => joining.add(chapter, depth),
        }
    }
    joining.joined
}

struct Joining<'a> {
    address: &'a str,
    pages: BTreeSet<PathBuf>,
    joined: Joined,
}

impl Joining<'_> {
    fn add(&mut self, chapter: &Chapter, depth: usize) {
        let Some(path) = chapter.path.as_deref().filter(|path| self.pages.contains(*path)) else {
            return;
        };
        let text = self.with_links(&printed(&chapter.content), path);
        let text = with_ids(&text, &slug(path), depth);
        self.joined.text += text.trim();
        self.joined.text += "\n\n";
        for item in &chapter.sub_items {
            if let BookItem::Chapter(chapter) = item {
                self.add(chapter, depth + 1);
            }
        }
    }

    /// The text of a page with links and pictures as the joined text has them.
    fn with_links(&mut self, text: &str, page: &Path) -> String {
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for (event, range) in Parser::new_ext(text, page::options()).into_offset_iter() {
            let (target, is_picture) = match event {
                Event::Start(Tag::Link { dest_url, .. }) => (dest_url, false),
                Event::Start(Tag::Image { dest_url, .. }) => (dest_url, true),
                _ => continue,
            };
            let mark = format!("]({target}");
            let Some(at) = text[range.clone()].rfind(&mark) else { continue };
            let start = range.start + at + "](".len();
            let new = self.target(&target, page, is_picture);
            edits.push((start..start + target.len(), new));
        }
        edited(text, edits)
    }

    fn target(&mut self, target: &str, page: &Path, is_picture: bool) -> String {
        if target.contains("://") || target.starts_with("mailto:") {
            return target.to_owned();
        }
        let (file, id) = target.split_once('#').unwrap_or((target, ""));
        let folder = page.parent().unwrap_or(Path::new(""));
        let path = match file {
            "" => Some(page.to_owned()),
            file => normalised(&folder.join(file)),
        };
        let Some(path) = path else { return target.to_owned() };
        if is_picture {
            self.joined.pictures.insert(path.clone());
            return path.display().to_string();
        }
        if self.pages.contains(&path) {
            let mark = if id.is_empty() { "" } else { "--" };
            return format!("#{}{mark}{id}", slug(&path));
        }
        let folder = match path.strip_prefix(RECORDS) {
            Ok(path) => Path::new("benches/record").join(path),
            Err(_) => Path::new("book/src").join(path),
        };
        format!("{}/blob/main/{}", self.address, folder.display())
    }
}

/// A page's path as an id.
fn slug(path: &Path) -> String {
    path.with_extension("").to_string_lossy().replace('/', "-")
}

/// The text with its headings `depth` levels deeper, and ids that begin with the page's.
fn with_ids(text: &str, slug: &str, depth: usize) -> String {
    let edit = |heading: page::Heading| {
        let line = text[heading.range.clone()].trim_end();
        let bare = line.rsplit_once(" {#").filter(|_| line.ends_with('}'));
        let bare = bare.map_or(line, |(bare, _)| bare);
        let id = match heading.level {
            1 => " .page".to_owned(),
            _ => format!("--{}", heading.id),
        };
        let range = heading.range.start..heading.range.start + line.len();
        (range, format!("{}{bare} {{#{slug}{id}}}", "#".repeat(depth)))
    };
    edited(text, page::headings(text).into_iter().map(edit).collect())
}

/// The text of a page for paper: no forms, scripts and comments, answers unfolded, code with the name of its language alone.
fn printed(text: &str) -> String {
    let text = without_wide_tables(&without_comments(text));
    let mut lines: Vec<&str> = Vec::new();
    let mut is_form = false;
    for line in text.lines() {
        if line.starts_with("<form") {
            is_form = true;
            lines.push(NO_FORM);
        }
        let is_left_out = is_form || line.starts_with("<script") || line.starts_with("<noscript");
        if !is_left_out {
            let fence = line.strip_prefix("```").and_then(|info| info.split_once(','));
            lines.push(fence.map_or(line, |(language, _)| &line[.."```".len() + language.len()]));
        }
        is_form &= !line.starts_with("</form>");
    }
    lines.join("\n").replace("<details>", "<details open=\"open\">") + "\n"
}

/// The text without comments of HTML; those in code are code.
fn without_comments(text: &str) -> String {
    let mut edits = Vec::new();
    for (event, range) in Parser::new_ext(text, page::options()).into_offset_iter() {
        if matches!(event, Event::Start(Tag::HtmlBlock)) {
            let mut done = range.start;
            while let Some(start) = text[done..range.end].find("<!--").map(|at| done + at) {
                let length =
                    text[start..].find("-->").map_or(range.end - start, |at| at + "-->".len());
                done = start + length;
                edits.push((start..done, String::new()));
            }
        }
    }
    edited(text, edits)
}

/// The text with each table that has too many columns turned, so that its columns are rows.
fn without_wide_tables(text: &str) -> String {
    let events = Parser::new_ext(text, page::options()).into_offset_iter();
    let tables = events.filter(|(event, _)| matches!(event, Event::Start(Tag::Table(_))));
    let turned = tables.filter_map(|(_, range)| Some((range.clone(), turned(&text[range])?)));
    edited(text, turned.collect())
}

/// A table turned, where it is too wide and will be less so.
fn turned(table: &str) -> Option<String> {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim().trim_start_matches('|');
        inner
            .strip_suffix('|')
            .unwrap_or(inner)
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    // The second line is the rule below the head.
    let lines = table.trim_end().lines().enumerate().filter(|(i, _)| *i != 1);
    let rows: Vec<Vec<String>> = lines.map(|(_, line)| cells(line)).collect();
    let columns = rows.first().map_or(0, Vec::len);
    if columns <= MOST_COLUMNS || columns <= rows.len() {
        return None;
    }
    let mut text = String::new();
    for column in 0..columns {
        let row = rows.iter().map(|row| row.get(column).map_or("", String::as_str));
        let _ = writeln!(text, "| {} |", row.collect::<Vec<_>>().join(" | "));
        if column == 0 {
            let _ = writeln!(text, "|{}", "---|".repeat(rows.len()));
        }
    }
    Some(text)
}

/// The text with these ranges, which do not overlap, replaced.
fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut text = text.to_owned();
    for (range, new) in edits.into_iter().rev() {
        text.replace_range(range, &new);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chapter(name: &str, path: &str, text: &str) -> BookItem {
        BookItem::Chapter(Chapter::new(name, text.to_owned(), path, Vec::new()))
    }

    #[test]
    fn pages_become_one_text_whose_links_lead_to_its_headings() {
        let one = "# One\n\n[two](parts/two.md), [its end](parts/two.md#end \"a\"), [here](#b)\n\n## B\n\n\
            ```rust,ignore\n# no heading\n```\n";
        let two = "# Two\n<!-- a: -- b -->\n\n[one](../one.md#b) [r](../records/a/report.md) [w](https://a.b)\n\n\
            ![p](../img/p.svg)\n\n## An end {#end}\n\n<form id=\"a\">\n<p></p>\n</form>\n<script src=\"a\"></script>\n\n\
            <details><summary>A</summary>\n";
        let mut book = Book::new();
        book.push_item(chapter("One", "one.md", one));
        book.push_item(BookItem::PartTitle("Part 1".to_owned()));
        book.push_item(chapter("Two", "parts/two.md", two));
        book.push_item(chapter("R", "records/a/report.md", "# R\n"));
        let Joined { text, pictures } = join(&book, "https://c.d");
        let expected = "# One {#one .page}\n\n[two](#parts-two), [its end](#parts-two--end \"a\"), [here](#one--b)\n\n\
            ## B {#one--b}\n\n```rust\n# no heading\n```\n\n# Part 1 {#part-1}\n\n## Two {#parts-two .page}\n\n\n\
            [one](#one--b) [r](https://c.d/blob/main/benches/record/a/report.md) [w](https://a.b)\n\n\
            ![p](img/p.svg)\n\n### An end {#parts-two--end}\n\n\
            *A browser has a form here: see the book on the web.*\n\n\n<details open=\"open\"><summary>A</summary>\n\n";
        assert_eq!(text, expected);
        assert_eq!(pictures, BTreeSet::from([PathBuf::from("img/p.svg")]));
    }
    #[test]
    fn a_table_of_many_columns_is_turned() {
        let row = |cell: &str| format!("| {} |\n", [cell; 13].join(" | "));
        let text = format!("A\n\n{}|{}\n{}\nB | c\n", row("h"), "---|".repeat(13), row("1"));
        let expected = format!("A\n\n| h | 1 |\n|---|---|\n{}\nB | c\n", "| h | 1 |\n".repeat(12));
        assert_eq!(without_wide_tables(&text), expected);
        let narrow = "| a | b |\n|---|---|\n| c | d |\n";
        assert_eq!(without_wide_tables(narrow), narrow);
    }
}
