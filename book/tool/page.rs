//! What the check needs to know of a page: where it links to, and which ids it offers.

use std::collections::HashSet;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A link or a picture.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// Byte offset in the page.
    pub(crate) offset: usize,
    /// As written.
    pub(crate) target: String,
}

/// The syntax that mdBook reads with the settings in `book.toml`.
pub(crate) fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
}

/// The links and pictures of a page, those in HTML included.
pub(crate) fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                links.push(Link { offset: range.start, target: dest_url.into_string() });
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                links.extend(html_links(&html, range.start));
            }
            _ => {}
        }
    }
    links
}

/// The values of `href="…"` and `src="…"`.
fn html_links(html: &str, start: usize) -> Vec<Link> {
    let attributes = [" href=\"", " src=\""];
    let found = attributes.iter().flat_map(|attribute| {
        html.match_indices(attribute).map(|(offset, name)| {
            let value = &html[offset + name.len()..];
            Link {
                offset: start + offset,
                target: value[..value.find('"').unwrap_or(value.len())].to_owned(),
            }
        })
    });
    found.collect()
}

/// The ids of a page's headings, as mdBook gives them.
pub(crate) fn ids(text: &str) -> HashSet<String> {
    let mut ids = HashSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, options()) {
        match event {
            Event::Start(Tag::Heading { id: Some(id), .. }) => {
                ids.insert(id.into_string());
            }
            Event::Start(Tag::Heading { id: None, .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    *heading += &text;
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some(heading) = heading.take() {
                    insert_unique(&mut ids, &id_of(&heading));
                }
            }
            _ => {}
        }
    }
    ids
}

/// Lower case, blanks as hyphens, letters, digits, `_` and `-` only.
pub(crate) fn id_of(heading: &str) -> String {
    let kept = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    };
    heading.trim().to_lowercase().chars().filter_map(kept).collect()
}

/// Inserts `id`, with the first free number behind it where it is taken.
fn insert_unique(ids: &mut HashSet<String>, id: &str) {
    if ids.insert(id.to_owned()) {
        return;
    }
    let mut number = 1;
    while !ids.insert(format!("{id}-{number}")) {
        number += 1;
    }
}
