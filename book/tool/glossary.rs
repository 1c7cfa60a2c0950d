//! The glossary's terms, and links to them: when the book is built, the first use of a term becomes one on each page of Parts 0
//! to 2 and of the ladder. The headings of `glossary.md` are the one list. Comments below a heading have other forms of its
//! word, `<!-- also: lanes -->`, and phrases in which it means something else, `<!-- not: key stream -->`.

use std::{cmp::Reverse, collections::BTreeSet, ops::Range, path::Path};

use mdbook_driver::{
    MDBook,
    book::{BookItem, Chapter},
};
use pulldown_cmark::{Event, Parser, TagEnd};

use crate::{marked, page};

/// The page that has them.
pub(crate) const PAGE: &str = "glossary.md";

/// The parts whose pages get links. What stands in front of all parts does too.
const PARTS: [&str; 4] = ["Part 0", "The ladder", "Part 1", "Part 2"];

/// A term and what the glossary says of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Term<'a> {
    /// Its name, and other forms of the word.
    pub(crate) forms: Vec<&'a str>,
    /// Phrases that are not it.
    not: Vec<&'a str>,
    /// What it is: the first paragraph below its heading, in one line and without its last sentence, which says where.
    what: String,
    /// Where it is explained, as the entry's last link says.
    pub(crate) link: Option<&'a str>,
    /// The page that uses it most.
    used_in: Option<&'a str>,
    /// Where the entry begins.
    pub(crate) offset: usize,
}

/// The terms of a glossary.
pub(crate) fn terms(text: &str) -> Vec<Term<'_>> {
    let starts: Vec<_> = text.match_indices("\n## ").map(|(at, _)| at + 1).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(&start, end)| term(&text[start..end], start)).collect()
}

fn term(entry: &str, offset: usize) -> Term<'_> {
    let (heading, rest) = entry.split_once('\n').unwrap_or((entry, ""));
    let mut forms = vec![heading.trim_start_matches("## ").trim()];
    let (also, rest) = comment(rest, "also");
    let (not, text) = comment(rest, "not");
    forms.extend(also);
    let text = text.trim();
    let last = text.rsplit_once("In\n[").or_else(|| text.rsplit_once("In ["));
    let what = plain(last.map_or(text, |(what, _)| what));
    let target = text.rsplit_once("](").and_then(|(_, rest)| rest.split(')').next());
    let used_in = target.map(|target| target.split('#').next().unwrap_or(target));
    Term { forms, not, what, link: target, used_in, offset }
}

/// What a comment of this name at the start of a text lists, and the text behind it.
fn comment<'a>(text: &'a str, name: &str) -> (Vec<&'a str>, &'a str) {
    let inside = text.trim_start().strip_prefix("<!-- ").and_then(|text| text.strip_prefix(name));
    match inside.and_then(|text| text.strip_prefix(':')?.split_once("-->")) {
        Some((list, rest)) => (list.split(',').map(str::trim).collect(), rest),
        None => (Vec::new(), text),
    }
}

/// A text in one line, for a title: no marks of Markdown, no quotes.
fn plain(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.replace(['`', '*'], "").replace('"', "'")
}

/// What is wrong with the glossary: an entry whose page does not use its term, or names none.
pub(crate) fn problems<'a>(
    glossary: &str,
    text_of: impl Fn(&str) -> Option<&'a str>,
) -> Vec<(usize, String)> {
    let fault = |term: &Term<'_>| match term.used_in {
        None => Some(format!("{} has no page that uses it", term.forms[0])),
        Some(page) => {
            let text = text_of(page)?; // a page that is missing is a broken link
            let text = marked::filled(text, &[], "");
            let is_used =
                prose(&text).iter().any(|(_, prose)| first_form(prose, &term.forms).is_some());
            (!is_used).then(|| format!("{page} does not use the term {}", term.forms[0]))
        }
    };
    terms(glossary).iter().filter_map(|term| Some((term.offset, fault(term)?))).collect()
}

/// Links the first use of each term on the pages of the book that get them.
pub(crate) fn link(book: &mut MDBook) {
    let glossary = book.book.chapters().find(|chapter| is_glossary(chapter));
    let Some(glossary) = glossary.map(|chapter| chapter.content.clone()) else { return };
    let terms = terms(&glossary);
    let mut is_linked = true;
    for item in &mut book.book.items {
        match item {
            BookItem::PartTitle(title) => {
                is_linked = PARTS.iter().any(|part| title.starts_with(part));
            }
            BookItem::Chapter(chapter) if is_linked && !is_glossary(chapter) => {
                chapter.content = linked(&chapter.content, &terms);
            }
            _ => {}
        }
    }
}

fn is_glossary(chapter: &Chapter) -> bool {
    chapter.path.as_deref() == Some(Path::new(PAGE))
}

/// A page's text with links.
pub(crate) fn linked(text: &str, terms: &[Term<'_>]) -> String {
    let mut uses: Vec<(Range<usize>, &Term<'_>)> = Vec::new();
    let mut done = BTreeSet::new();
    for (start, prose) in prose(text) {
        let found = terms.iter().enumerate().flat_map(|(i, term)| {
            let place = first_form(&prose, &term.forms).map(|range| (range, Some(i)));
            place.into_iter().chain(first_form(&prose, &term.not).map(|range| (range, None)))
        });
        let mut found: Vec<(Range<usize>, Option<usize>)> = found.collect();
        // The longest of those that overlap: "bank conflict" is not a bank.
        found.sort_by_key(|(range, _)| Reverse(range.len()));
        let mut taken: Vec<Range<usize>> = Vec::new();
        for (range, i) in found {
            let is_apart =
                |other: &Range<usize>| range.end <= other.start || other.end <= range.start;
            if taken.iter().all(is_apart) {
                taken.push(range.clone());
                if let Some(i) = i.filter(|i| done.insert(*i)) {
                    uses.push((start + range.start..start + range.end, &terms[i]));
                }
            }
        }
    }
    uses.sort_by_key(|(range, _)| Reverse(range.start));
    let mut text = text.to_owned();
    for (range, term) in uses {
        let id = page::id_of(term.forms[0]);
        let link = format!("[{}]({PAGE}#{id} \"{}\")", &text[range.clone()], term.what);
        text.replace_range(range, &link);
    }
    text
}

/// The stretches of a page that are plain text, with their places, line ends as blanks: no headings, code, links or
/// directives.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut without = 0;
    let mut stretches: Vec<Range<usize>> = Vec::new();
    let mut goes_on = false;
    for (event, range) in Parser::new_ext(text, page::options()).into_offset_iter() {
        let is_text = matches!(event, Event::Text(_)) && without == 0;
        match event {
            Event::Start(ref tag) if has_no_links(tag.to_end()) => without += 1,
            Event::End(tag) if has_no_links(tag) => without -= 1,
            _ => {}
        }
        match stretches.last_mut() {
            Some(last) if is_text && goes_on => last.end = range.end,
            _ if is_text => stretches.push(range),
            _ => {}
        }
        goes_on = is_text || goes_on && matches!(event, Event::SoftBreak);
    }
    let stretches =
        stretches.into_iter().map(|range| (range.start, text[range].replace('\n', " ")));
    stretches.filter(|(_, prose)| !prose.contains("{{")).collect()
}

/// Whether what a tag holds gets no links.
fn has_no_links(tag: TagEnd) -> bool {
    use TagEnd::{CodeBlock, Heading, HtmlBlock, Image, Link};
    matches!(tag, Heading(_) | Link | Image | CodeBlock | HtmlBlock)
}

/// Where a text first has one of these forms as words of their own, large or small; the longest of several there.
pub(crate) fn first_form(text: &str, forms: &[&str]) -> Option<Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == '/';
    let places = forms.iter().filter_map(|form| {
        // An abbreviation is one in capitals only.
        let is_name = form.chars().filter(|c| c.is_uppercase()).count() > 1;
        let same =
            |other: &str| if is_name { other == *form } else { other.eq_ignore_ascii_case(form) };
        let mut ranges = text.char_indices().map(|(at, _)| at..at + form.len());
        ranges.find(|range| {
            text.get(range.clone()).is_some_and(same)
                && !text[..range.start].ends_with(is_part)
                && !text[range.end..].starts_with(is_part)
        })
    });
    places.min_by_key(|range| (range.start, Reverse(range.end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GLOSSARY: &str = "# Glossary\n\n## Bank\n<!-- also: banks -->\n\nA *column* of \"memory\". In [One](one.md).\n\n\
        ## Bank conflict\n\nTwo lanes in a bank. In\n[Two](two.md#its-end).\n\n## SM\n<!-- not: SM card -->\n\nA part.\n";

    #[test]
    fn an_entry_is_a_heading_with_forms_a_text_and_a_page() {
        let terms = terms(GLOSSARY);
        let names: Vec<_> = terms.iter().map(|term| term.forms.join("/")).collect();
        assert_eq!(names, ["Bank/banks", "Bank conflict", "SM"]);
        assert_eq!(terms[0].what, "A column of 'memory'.");
        assert_eq!(terms[1].what, "Two lanes in a bank.");
        assert_eq!(
            terms.iter().map(|term| term.used_in).collect::<Vec<_>>(),
            [Some("one.md"), Some("two.md"), None]
        );
    }

    #[test]
    fn the_first_use_of_a_term_is_linked_and_nothing_else() {
        let bank = "glossary.md#bank \"A column of 'memory'.\"";
        let conflict = "glossary.md#bank-conflict \"Two lanes in a bank.\"";
        for (text, expected) in [
            ("Banks, and a bank.", format!("[Banks]({bank}), and a bank.")),
            (
                "A bank conflict, then a bank.",
                format!("A [bank conflict]({conflict}), then a bank."),
            ),
            (
                "# A bank\n\n`bank` and [a bank](x.md)\n",
                "# A bank\n\n`bank` and [a bank](x.md)\n".into(),
            ),
            ("```\nbank\n```\n\n*bank*", format!("```\nbank\n```\n\n*[bank]({bank})*")),
            ("| a bank |\n|---|\n| bank |", format!("| a [bank]({bank}) |\n|---|\n| bank |")),
            ("embankment, data-bank, sm", "embankment, data-bank, sm".into()),
            ("{{#records The bank | x}}", "{{#records The bank | x}}".into()),
            ("An SM card, a bank\nconflict", format!("An SM card, a [bank\nconflict]({conflict})")),
            ("an SM", "an [SM](glossary.md#sm \"A part.\")".into()),
        ] {
            assert_eq!(linked(text, &terms(GLOSSARY)), expected, "{text}");
        }
    }

    #[test]
    fn an_entry_leads_to_a_page_that_has_its_term() {
        let found = |text: &'static str| {
            let problems = problems(GLOSSARY, |_| Some(text));
            problems.into_iter().map(|(_, what)| what).collect::<Vec<_>>()
        };
        let no_page = "SM has no page that uses it";
        assert_eq!(found("banks and a bank conflict"), [no_page]);
        assert_eq!(found("banks"), ["two.md does not use the term Bank conflict", no_page]);
    }
}
