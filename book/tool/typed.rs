//! Figures that a page types: a number with a unit of a measurement. The check refuses them, so that what a page says of
//! speed is quoted from a record, or marked as what it is (see [`marked`](crate::marked)).

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::page;

/// What makes a number a measurement. "32 times" alone is a count.
const UNITS: [&str; 36] = [
    "%",
    "per cent",
    "Tbit/s",
    "Gbit/s",
    "Mbit/s",
    "kbit/s",
    "bit/s",
    "TB/s",
    "GB/s",
    "MB/s",
    "kB/s",
    "GiB/s",
    "MiB/s",
    "ns",
    "nanoseconds",
    "µs",
    "us",
    "microseconds",
    "ms",
    "milliseconds",
    "s",
    "second",
    "seconds",
    "minutes",
    "hours",
    "W",
    "nJ",
    "cycles per byte",
    "cycles per block",
    "cycles/byte",
    "times as",
    "times the throughput",
    "times the speed",
    "times faster",
    "times slower",
    "times longer",
];

/// What stands for code, and for a directive: no number and no unit goes on behind it.
const OTHER: u8 = b'x';
/// What stands for marks of Markdown, which are skipped.
const MARK: u8 = 0;
/// What stands for the end of a cell or a paragraph, and ends a phrase.
const END: u8 = b'|';

/// The typed figures of a page, with their places. What is generated, or code, has none.
pub(crate) fn figures(text: &str) -> Vec<(usize, String)> {
    if text.lines().take(2).any(|line| line.contains("do not edit by hand")) {
        return Vec::new();
    }
    let text = without_directives(text);
    let prose = prose(&text);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = prose[at..].find(|c: char| c.is_ascii_digit()).map(|next| at + next) {
        let is_number = |c: char| c.is_ascii_digit() || ".,".contains(c);
        let length = prose[start..].find(|c| !is_number(c)).unwrap_or(prose.len() - start);
        at = start + length;
        // Part of a name, or the last thing in a sentence.
        let is_other = prose[..start].ends_with(|c: char| c.is_alphanumeric() || "-_".contains(c))
            || prose[..at].ends_with(['.', ',']);
        if let Some(end) = (!is_other).then(|| unit_end(&prose, at)).flatten() {
            found.push((start, one_line(&text[start..end])));
            at = end;
        }
    }
    found.extend(in_columns(&text, &prose));
    found.sort_unstable();
    found.dedup_by_key(|(start, _)| *start);
    found
}

/// The numbers in those columns of tables whose head names a unit.
fn in_columns(text: &str, prose: &str) -> Vec<(usize, String)> {
    let mut units: Vec<Option<&str>> = Vec::new();
    let mut column = 0;
    let mut is_head = false;
    let mut found = Vec::new();
    for (event, range) in Parser::new_ext(text, page::options()).into_offset_iter() {
        match event {
            Event::Start(Tag::TableHead) => (is_head, units) = (true, Vec::new()),
            Event::End(TagEnd::TableHead) => is_head = false,
            Event::Start(Tag::TableCell) if is_head => units.push(unit_of(&prose[range])),
            Event::Start(Tag::TableCell) => {
                let unit = units.get(column).copied().flatten();
                column += 1;
                let cell = prose[range.clone()].trim_matches(['\0', '|', ' ', '\n']);
                let mut words = cell.split(['\0', ' ', 'x']).map(|word| word.trim_end_matches(','));
                let number = words.find(|word| is_number(word));
                if let Some((unit, number)) = unit.zip(number) {
                    found.push((range.start, format!("{number} {unit}")));
                }
            }
            Event::End(TagEnd::TableRow) => column = 0,
            _ => {}
        }
    }
    found
}

/// The unit that the head of a column names.
fn unit_of(head: &str) -> Option<&'static str> {
    let mut words = head.split(['\0', '|', ' ', ',', '(', ')']);
    words.find_map(|word| UNITS.iter().copied().find(|unit| *unit == word))
}

fn is_number(word: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    word.starts_with(is_digit) && word.chars().all(|c| ".,".contains(c) || is_digit(c))
}

/// Where the unit behind a number ends, if one is there.
fn unit_end(prose: &str, at: usize) -> Option<usize> {
    let mut start = at;
    while let Some(blank) = ["&nbsp;", "\u{a0}", " ", "\n", "\0"]
        .into_iter()
        .find(|blank| prose[start..].starts_with(blank))
    {
        start += blank.len();
    }
    // Units of several words may be broken over two lines.
    let rest: String = prose[start..].chars().take(30).collect::<String>().replace('\n', " ");
    let is_whole = |unit: &&&str| {
        rest.strip_prefix(**unit).is_some_and(|behind| {
            unit.ends_with('%') || !behind.starts_with(|c: char| c.is_alphanumeric() || c == '-')
        })
    };
    UNITS.iter().filter(is_whole).map(|unit| start + unit.len()).max()
}

/// The text with something else in the place of each directive, `{{…}}`; places stay.
fn without_directives(text: &str) -> String {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, start) in text.match_indices("{{") {
        let length = text[at..].find("}}").map_or(start.len(), |length| length + "}}".len());
        ranges.push(at..at + length);
    }
    let mut text = text.to_owned();
    for range in ranges.into_iter().rev() {
        let filler = text[range.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { 'x' });
        let filler: String = filler.collect();
        text.replace_range(range, &filler);
    }
    text
}

/// The text as readers see it, at the same places: code and marks of Markdown are something else.
fn prose(text: &str) -> String {
    let mut bytes = vec![MARK; text.len()];
    let mut is_code = false;
    for (event, range) in Parser::new_ext(text, page::options()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Text(_) if !is_code => {
                bytes[range.clone()].copy_from_slice(text[range].as_bytes());
            }
            Event::SoftBreak | Event::HardBreak => bytes[range].fill(b'\n'),
            Event::Code(_) => bytes[range].fill(OTHER),
            Event::End(
                TagEnd::TableCell | TagEnd::Paragraph | TagEnd::Item | TagEnd::Heading(_),
            ) => {
                if let Some(last) = bytes[range].last_mut().filter(|last| **last == MARK) {
                    *last = END;
                }
            }
            _ => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Vec<String> {
        figures(text).into_iter().map(|(_, figure)| figure).collect()
    }

    #[test]
    fn a_typed_figure_is_found_wherever_it_stands() {
        for (text, figure) in [
            ("It runs at 2,974 Gbit/s.", "2,974 Gbit/s"),
            ("It takes 4.2\nns per block.", "4.2 ns"),
            ("| a | 93% |\n|---|---|\n| b | c |\n", "93%"),
            ("| a | b |\n|---|---|\n| [b](c.md) | 580 µs |\n", "580 µs"),
            ("- **Pieces** of 17.2&nbsp;GB/s", "17.2&nbsp;GB/s"),
            ("[19% faster](a.md)", "19%"),
            ("3.9 times the\nthroughput of one", "3.9 times the throughput"),
            ("## A title with 5 µs", "5 µs"),
            ("It takes **4** s.", "4** s"),
        ] {
            assert_eq!(typed(text), [figure], "{text}");
        }
        let table = "| a | CTR, Gbit/s | threads |\n|---|---|---|\n| b | 12 / 13 | 256 |\n| 4 | {{tried 5}} | 6 |\n";
        assert_eq!(typed(table), ["12 Gbit/s"]);
        assert_eq!(figures("a\n\n*b* 1 s, 2 ms"), [(7, "1 s".to_owned()), (12, "2 ms".to_owned())]);
    }

    #[test]
    fn counts_code_and_what_is_quoted_are_none() {
        for text in [
            "32 times in a row, 16 bytes, 4 cycles, 132 multiprocessors at 1.98 GHz",
            "`--seconds 60 s`, `5%`",
            "```text\n3 GB/s\n```",
            "{{#figure aes-128 cuda-a CTR}} Gbit/s, {{given 4.8 TB/s}}, {{tried 2,974\nGbit/s}}",
            "<!-- Generated by a tool, do not edit by hand. -->\n\n3 GB/s\n",
            "P4 s, AES-128 s, x2 s",
            "| 12 | s |\n|---|---|\n| 1 | s |\n",
            "It has 12.\n\nSeconds are s.",
            "**Table 2.** Gbit/s",
        ] {
            assert!(typed(text).is_empty(), "{text}: {:?}", typed(text));
        }
    }
}
