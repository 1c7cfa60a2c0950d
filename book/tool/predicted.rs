//! What the calculator predicts, for the page of Part 0: the best family of every cipher on three cards, and the exercises.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use lanecrypt_roof::{CARDS, CIPHERS, Card, Counts, Family, Prediction, predictions, table};

use crate::generated;

/// The cards of Part 0: one that is measured, and two others, of which the last has slow memory for its pipes.
const SHOWN: [&str; 3] = ["H200", "A100", "RTX 4090"];
/// The exercises: ciphers of the list, and the part of the page that has their answer.
const EXERCISES: [(&str, &str); 2] =
    [("PRESENT-80", "predicted-present.md"), ("SPECK-128/128", "predicted-speck.md")];
/// The card of most records, by its name here.
const MEASURED: &str = "H200";

/// Families, the one that is least work first.
const SIMPLEST: [Family; 3] = [Family::Words, Family::Tables, Family::Bits];
/// The part of the highest roof that is as good.
const ENOUGH: f64 = 0.9;

fn shown() -> Vec<Card> {
    CARDS.into_iter().map(Card::from).filter(|card| SHOWN.contains(&&*card.name)).collect()
}

/// Every table as (path of the page part, text).
pub(crate) fn tables(source: &Path) -> BTreeMap<PathBuf, String> {
    let cards = shown();
    let of_exercise = |name: &str| {
        let counts = lanecrypt_roof::cipher(name);
        counts.map(|counts| table(&counts, &cards)).unwrap_or_default()
    };
    let exercises = EXERCISES.map(|(name, file)| (file, of_exercise(name)));
    let all = exercises.into_iter().chain([("predicted.md", best(&cards))]);
    let text = |text: String| generated("benches/roof/src/ciphers.rs", &format!("\n{text}"));
    all.map(|(file, table)| (source.join(file), text(table))).collect()
}

/// Gbit/s that the counts of a cipher give for a family on the card of the records: `SM4 tables`.
pub(crate) fn predicted(what: &str) -> Option<f64> {
    let (name, family) = what.trim().rsplit_once(' ')?;
    let cards: Vec<Card> = CARDS.into_iter().map(Card::from).collect();
    let all = predictions(&lanecrypt_roof::cipher(name)?, &cards);
    let is_it = |p: &&Prediction| p.card == MEASURED && p.load.family.name() == family;
    all.iter().find(is_it)?.gbit_per_second
}

/// Of every cipher the best family on each card: the highest roof, or the simplest of those that are nearly as high.
fn best(cards: &[Card]) -> String {
    let titles = cards.iter().map(Card::title).collect::<Vec<_>>().join(" | ");
    let mut text = format!("| cipher | {titles} |\n|{}\n", "---|".repeat(1 + cards.len()));
    // A variant of a cipher has a comma in its name.
    for (name, counts) in CIPHERS.iter().filter(|(name, _)| !name.contains(',')) {
        let Ok(counts) = Counts::read(counts) else { continue };
        let all = predictions(&counts, cards);
        let cells = cards.iter().map(|card| {
            let own = all.iter().filter(|prediction| prediction.card == card.name);
            let roof = |prediction: &&Prediction| prediction.gbit_per_second.unwrap_or(0.0);
            let highest = own.clone().map(|own| roof(&own)).fold(0.0, f64::max);
            let best = own.filter(|own| roof(own) >= ENOUGH * highest);
            let best = best.min_by_key(|own| SIMPLEST.iter().position(|f| *f == own.load.family));
            best.map_or_else(String::new, |best| {
                format!("{}: {}", best.load.family.name(), best.cell())
            })
        });
        let _ = writeln!(text, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prediction_is_of_one_family_on_the_card_of_the_records() {
        let rounded = |what| predicted(what).map(f64::round);
        assert_eq!(rounded("SM4 tables"), Some(7_872.0));
        assert_eq!(rounded("SPECK-128/128 words"), Some(8_364.0));
        assert_eq!([predicted("SM4 words"), predicted("SM5 bits"), predicted("SM4")], [None; 3]);
    }

    #[test]
    fn the_best_family_has_the_highest_roof_or_is_simpler() {
        let files = tables(Path::new("src"));
        let text = &files[Path::new("src/predicted.md")];
        assert_eq!(shown().len(), SHOWN.len());
        assert!(text.contains("| AES-128 | tables: 6,372 | "), "{text}");
        assert!(text.contains("| DES | bits: "), "{text}");
        assert!(text.contains("| SPECK-128/128 | words: "), "{text}");
        assert!(!text.contains("one table"), "{text}");
        assert!(files[Path::new("src/predicted-speck.md")].contains("| words | "));
    }
}
