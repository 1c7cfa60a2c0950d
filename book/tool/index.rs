//! The index: terms of the glossary, words that a page defines, and headings, each with the places that explain it. All of it
//! is read from the pages when the book is built.
//!
//! A word is defined where it stands in emphasis and is said to be something: "a *kernel* is …", "called *spills*".

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::Path,
};

use mdbook_driver::{MDBook, book::Chapter};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::{
    glossary::{self, first_form, terms},
    page::{self, Heading},
    records,
};

/// The directive that the index takes the place of.
const MARK: &str = "{{#index}}";
/// A heading that more pages have is part of their form, and no key word.
const PAGES_OF_A_HEADING: usize = 2;
/// What a heading begins with that is not one: a question, a place, or the number of a step or of a paper's section.
const NO_KEY_WORDS: [&str; 38] = [
    "against", "all", "any", "at", "by", "every", "few", "from", "how", "I", "in", "more", "near",
    "on", "one", "other", "same", "section", "sections", "several", "ten", "then", "three", "to",
    "two", "what", "when", "where", "which", "who", "why", "with", "your", "five", "minute",
    "data", "exercise", "chosen",
];
/// What a definition ends with, behind the word, or begins with, in front of it.
const DEFINES: ([&str; 5], [&str; 5]) =
    ([" is ", " are ", " means ", " says ", " has "], ["a ", "an ", "called ", "named ", "the "]);

/// Where something is explained: its page's name, and a link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    link: String,
    name: String,
}

/// A page, as the index reads it.
struct Page<'a> {
    path: &'a str,
    name: &'a str,
    text: &'a str,
    headings: Vec<Heading>,
}

impl Page<'_> {
    /// The section of a heading; the page where it is the page's title.
    fn place(&self, heading: Option<&Heading>) -> Place {
        let id = heading.filter(|heading| heading.level > 1).map_or("", |heading| &heading.id);
        place(self.path, self.name, id)
    }
}

/// The places by key word.
type Index = BTreeMap<String, BTreeSet<Place>>;

/// Puts the index where a page asks for it. Pages of records have no words of their own.
pub(crate) fn fill(book: &mut MDBook) {
    let chapters: Vec<Chapter> = book.book.chapters().cloned().collect();
    let pages: Vec<Page<'_>> = chapters.iter().filter_map(page).collect();
    let text = written(&index(&pages));
    book.book.for_each_chapter_mut(|chapter| {
        chapter.content = chapter.content.replace(MARK, &text);
    });
}

fn page(chapter: &Chapter) -> Option<Page<'_>> {
    let path = chapter.path.as_deref().and_then(Path::to_str)?;
    let is_read = !chapter.content.contains(MARK) && path != records::INDEX;
    let (name, text) = (&*chapter.name, &*chapter.content);
    is_read.then(|| Page { path, name, text, headings: page::headings(text) })
}

fn index(pages: &[Page<'_>]) -> Index {
    let mut index = Index::new();
    let glossary = pages.iter().find(|page| page.path == glossary::PAGE);
    let terms = glossary.map(|page| terms(page.text)).unwrap_or_default();
    let others = || pages.iter().filter(|page| page.path != glossary::PAGE);
    let mut pages_of: BTreeMap<&str, usize> = BTreeMap::new();
    for heading in others().flat_map(|page| &page.headings) {
        *pages_of.entry(&heading.text).or_default() += 1;
    }
    // A word by the name that the glossary has for it.
    let key_of = |word: &str| {
        let whole =
            |forms: &[&str]| first_form(word, forms).is_some_and(|at| at.len() == word.len());
        let term = terms.iter().find(|term| whole(&term.forms));
        term.map_or_else(|| word.to_owned(), |term| term.forms[0].to_owned())
    };
    for term in &terms {
        let places = index.entry(key(term.forms[0])).or_default();
        places.insert(place(glossary::PAGE, "Glossary", &page::id_of(term.forms[0])));
        for page in others() {
            let has = |heading: &&Heading| first_form(&heading.text, &term.forms).is_some();
            places
                .extend(page.headings.iter().filter(has).map(|heading| page.place(Some(heading))));
            let link = term.link.filter(|link| link.split('#').next() == Some(page.path));
            places.extend(link.map(|link| place(link, page.name, "")));
        }
    }
    for page in others() {
        for heading in page.headings.iter().filter(|heading| is_key_word(&heading.text)) {
            if pages_of[&*heading.text] <= PAGES_OF_A_HEADING {
                index
                    .entry(key(&key_of(&heading.text)))
                    .or_default()
                    .insert(page.place(Some(heading)));
            }
        }
        for (at, word) in defined(page.text) {
            let above = page.headings.iter().rev().find(|heading| heading.range.start < at);
            index.entry(key(&key_of(&word))).or_default().insert(page.place(above));
        }
    }
    index
}

fn place(path: &str, name: &str, id: &str) -> Place {
    let mark = if id.is_empty() { "" } else { "#" };
    let name = name.split(':').next().unwrap_or(name);
    Place { link: format!("{path}{mark}{id}"), name: name.to_owned() }
}

/// Whether a heading is the name of something.
fn is_key_word(heading: &str) -> bool {
    let heading = without_article(heading);
    let first = heading.split([' ', ',', ':', '\'']).next().unwrap_or_default();
    let is_number = first.starts_with(|c: char| c.is_ascii_digit())
        || first.len() == 2
            && first.starts_with('P')
            && first.ends_with(|c: char| c.is_ascii_digit());
    !is_number && !NO_KEY_WORDS.iter().any(|word| first.eq_ignore_ascii_case(word))
}

fn without_article(text: &str) -> &str {
    let articles = ["The ", "A ", "An "];
    let bare = articles.into_iter().find_map(|article| text.strip_prefix(article));
    bare.unwrap_or(text)
}

/// The words that a page defines, with their places.
fn defined(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open = None;
    for (event, range) in Parser::new_ext(text, page::options()).into_offset_iter() {
        match event {
            Event::Start(Tag::Emphasis) => open = Some(String::new()),
            Event::Text(part) => {
                if let Some(word) = &mut open {
                    *word += &part;
                }
            }
            Event::SoftBreak => {
                if let Some(word) = &mut open {
                    word.push(' ');
                }
            }
            Event::End(TagEnd::Emphasis) => {
                let word = open.take().unwrap_or_default();
                let behind = text[range.end..].replace('\n', " ");
                let front = text[..range.start].replace('\n', " ");
                let is_defined = DEFINES.0.iter().any(|is| behind.starts_with(is))
                    && (DEFINES.1.iter().any(|a| front.to_lowercase().ends_with(a))
                        || word.starts_with(char::is_uppercase))
                    || front.ends_with("called ")
                    || front.ends_with("call it ");
                let is_word = word.len() > 2
                    && word.chars().all(|c| c.is_alphabetic() || c == ' ' || c == '-');
                if is_defined && is_word && is_key_word(&word) {
                    found.push((range.start, word));
                }
            }
            _ => {}
        }
    }
    found
}

/// A key word as the index has it: without an article, with a capital.
fn key(word: &str) -> String {
    let word = without_article(word.trim());
    let mut rest = word.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    first.chain(rest.clone()).collect()
}

/// Links to places; the second and further ones of a page are numbers.
fn links(places: &BTreeSet<Place>) -> Vec<String> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut links = Vec::new();
    for Place { name, link } in places {
        let number = numbers.entry(name).or_default();
        *number += 1;
        let text = if *number == 1 { name.clone() } else { number.to_string() };
        links.push(format!("[{text}]({link})"));
    }
    links
}

/// By letters: key words, each with its places.
fn written(index: &Index) -> String {
    let mut entries: Vec<_> = index.iter().collect();
    entries.sort_by_key(|(word, _)| word.to_lowercase());
    let mut text = String::new();
    let mut letter = None;
    for (word, places) in entries {
        let first =
            word.chars().next().filter(|c| c.is_alphabetic()).map(|c| c.to_ascii_uppercase());
        if letter != Some(first) {
            letter = Some(first);
            let _ = write!(text, "\n**{}**\n\n", first.map_or("0 to 9".to_owned(), String::from));
        }
        let _ = writeln!(text, "- {word}: {}", links(places).join(", "));
    }
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_headings_and_defined_words_lead_to_their_places() {
        let texts = [
            (
                "glossary.md",
                "Glossary",
                "# Glossary\n\n## Warp\n<!-- also: warps -->\n\nA group. In [One](one.md).\n",
            ),
            (
                "one.md",
                "One",
                "# One\n\n## The warps\n\nA *kernel* is a *very* long thing.\n\n## Pitfall\n",
            ),
            (
                "two.md",
                "Two",
                "# Two\n\n*Occupancy* is how many.\n\n## Pitfall\n\n## DES in `u32`\n",
            ),
            ("three.md", "Three", "# Three\n\n## Pitfall\n\nA run is called *job*.\n"),
        ];
        let pages = texts.map(|(path, name, text)| Page {
            path,
            name,
            text,
            headings: page::headings(text),
        });
        let expected = "**D**\n\n- DES in u32: [Two](two.md#des-in-u32)\n\n**J**\n\n- Job: [Three](three.md#pitfall)\n\n\
            **K**\n\n- Kernel: [One](one.md#the-warps)\n\n**O**\n\n- Occupancy: [Two](two.md)\n\n\
            **W**\n\n- Warp: [Glossary](glossary.md#warp), [One](one.md), [2](one.md#the-warps)\n\
            - Warps: [One](one.md#the-warps)";
        assert_eq!(written(&index(&pages)), expected);
    }
}
