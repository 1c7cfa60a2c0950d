//! What the check needs to know of a page: where it links to, and which ids it offers.

use std::{collections::HashSet, iter, ops::Range};

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};

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

/// A heading of a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    /// Where it stands, from its first mark to the end of its line.
    pub(crate) range: Range<usize>,
    /// 1 is the page's title.
    pub(crate) level: usize,
    /// Its words without marks.
    pub(crate) text: String,
    /// As mdBook gives it.
    pub(crate) id: String,
}

/// The headings of a page, in their order.
pub(crate) fn headings(text: &str) -> Vec<Heading> {
    let mut ids = HashSet::new();
    let mut headings = Vec::new();
    let mut open: Option<(Option<String>, String)> = None;
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { id, .. }) => {
                open = Some((id.map(CowStr::into_string), String::new()));
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some((_, words)) = &mut open {
                    *words += &part;
                }
            }
            Event::End(TagEnd::Heading(level)) => {
                let (id, text) = open.take().unwrap_or_default();
                let id = id.unwrap_or_else(|| unique(&ids, &id_of(&text)));
                ids.insert(id.clone());
                headings.push(Heading { range, level: level as usize, text, id });
            }
            _ => {}
        }
    }
    headings
}

/// The ids of a page's headings.
pub(crate) fn ids(text: &str) -> HashSet<String> {
    headings(text).into_iter().map(|heading| heading.id).collect()
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

/// `id`, with the first free number behind it where it is taken.
fn unique(ids: &HashSet<String>, id: &str) -> String {
    let numbered = (1..).map(|number| format!("{id}-{number}"));
    let mut candidates = iter::once(id.to_owned()).chain(numbered);
    candidates.find(|id| !ids.contains(id)).unwrap_or_default()
}
