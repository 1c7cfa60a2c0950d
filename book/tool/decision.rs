//! The chart of Part 0: from a cipher's round to the family to write.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use lanecrypt_record::svg;
use maud::{Markup, html};

use crate::generated;

/// A question, in two lines; and where "yes" leads: a family, its colour, and ciphers.
struct Question {
    ask: [&'static str; 2],
    yes: &'static str,
    colour: &'static str,
    ciphers: &'static str,
}

const QUESTIONS: [Question; 4] = [
    Question {
        ask: ["Is a round nothing but sums, rotations, AND", "and XOR of words of 32 or 64 bits?"],
        yes: "words",
        colour: "k2",
        ciphers: "LEA, SPECK, SIMON",
    },
    Question {
        ask: ["Must the time tell nothing", "of keys and data?"],
        yes: "bits",
        colour: "k1",
        ciphers: "any other cipher",
    },
    Question {
        ask: ["Are 32 copies of the tables of a round", "more than 227 KiB (on small cards 99)?"],
        yes: "bits",
        colour: "k1",
        ciphers: "no circuit: the tables in one copy",
    },
    Question {
        ask: ["F logic functions for a block, L words", "looked up: is F less than 2 L?"],
        yes: "bits",
        colour: "k1",
        ciphers: "DES, HIGHT, PRESENT",
    },
];
/// Where four times "no" leads.
const LAST: (&str, &str) = ("tables", "AES, ARIA, Camellia, SEED, SM4");

const EDGE: f64 = 14.0;
const ASK: f64 = 330.0;
const HIGH: f64 = 56.0;
const STEP: f64 = 88.0;
const ANSWER: (f64, f64) = (410.0, 250.0);
const WIDTH: f64 = ANSWER.0 + ANSWER.1 + EDGE;

/// The picture as (path, text).
pub(crate) fn pictures(source: &Path) -> BTreeMap<PathBuf, String> {
    let height = EDGE + QUESTIONS.len() as f64 * STEP + HIGH + EDGE;
    let content = html! {
        @for (i, question) in QUESTIONS.iter().enumerate() { (row(EDGE + i as f64 * STEP, question)) }
        @let last = EDGE + QUESTIONS.len() as f64 * STEP;
        (answer((EDGE, last), ASK, "k0", LAST))
    };
    let questions = QUESTIONS.map(|it| format!("{} Yes: {}.", it.ask.join(" "), it.yes));
    let describe = format!("{} Else: {}.", questions.join(" "), LAST.0);
    let title = "From a cipher's round to the family to write";
    let text = svg::file((title, &describe), 0.0, (WIDTH, height), &content);
    let text = generated("book/tool/decision.rs", &text);
    [(source.join("img/decision.svg"), text)].into()
}

fn row(y: f64, question: &Question) -> Markup {
    let middle = EDGE + ASK / 2.0;
    let level = y + HIGH / 2.0;
    html! {
        (svg::bar("cell k4", (EDGE, y), (ASK, HIGH)))
        @for (line, text) in question.ask.iter().enumerate() {
            (svg::text("label at-middle", (middle, y + 24.0 + 19.0 * line as f64), text))
        }
        (line((EDGE + ASK, level), (ANSWER.0, level)))
        (svg::text("label small at-middle", (f64::midpoint(EDGE + ASK, ANSWER.0), level - 6.0), "yes"))
        (line((middle, y + HIGH), (middle, y + STEP)))
        (svg::text("label small", (middle + 8.0, y + HIGH + 20.0), "no"))
        (answer((ANSWER.0, y), ANSWER.1, question.colour, (question.yes, question.ciphers)))
    }
}

fn answer((x, y): (f64, f64), wide: f64, colour: &str, (family, ciphers): (&str, &str)) -> Markup {
    let middle = x + wide / 2.0;
    html! {
        (svg::bar(&format!("cell {colour}"), (x, y), (wide, HIGH)))
        (svg::text("title at-middle", (middle, y + 25.0), family))
        (svg::text("label small at-middle", (middle, y + 44.0), ciphers))
    }
}

/// An arrow.
fn line((from_x, from_y): (f64, f64), (x, y): (f64, f64)) -> Markup {
    let is_down = from_y < y;
    let head = if is_down {
        format!("{},{} {},{} {},{}", x - 5.0, y - 8.0, x + 5.0, y - 8.0, x, y)
    } else {
        format!("{},{} {},{} {},{}", x - 8.0, y - 5.0, x - 8.0, y + 5.0, x, y)
    };
    html! {
        line class="cell" x1=(svg::px(from_x)) y1=(svg::px(from_y)) x2=(svg::px(x)) y2=(svg::px(y)) {}
        polygon class="bar c7" points=(head) {}
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_roof::{CIPHERS, Family, cipher, loads};

    use super::*;

    /// A letter of 14 pixels is 7.4 wide, one of 12 is 6.4.
    #[test]
    fn no_text_is_wider_than_its_box() {
        for question in &QUESTIONS {
            assert!(
                question.ask.iter().all(|line| 7.4 * line.len() as f64 <= ASK),
                "{:?}",
                question.ask
            );
            assert!(6.4 * question.ciphers.len() as f64 <= ANSWER.1, "{}", question.ciphers);
        }
        assert!(6.4 * LAST.1.len() as f64 <= ASK);
    }

    /// The last question is the formula's, by the two pipes that bind.
    #[test]
    fn the_chart_says_what_the_formula_says() {
        for (name, _) in CIPHERS.iter().filter(|(name, _)| !name.contains(',')) {
            let loads = loads(&cipher(name).expect("it is counted"));
            let of =
                |family| loads.iter().find(|load| load.family == family).map(|load| load.lanes);
            let (Some(tables), Some(bits)) = (of(Family::Tables), of(Family::Bits)) else {
                continue;
            };
            let short = name.split('-').next().unwrap_or(name);
            let in_bits = QUESTIONS[3].ciphers.contains(short);
            assert_eq!(bits[1] < 2.0 * tables[0], in_bits, "{name}: {bits:?}, {tables:?}");
            assert_eq!(in_bits, !LAST.1.contains(short), "{name}");
        }
    }
}
