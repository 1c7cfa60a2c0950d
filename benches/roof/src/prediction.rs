//! Predictions: every family on every card, as a table and as JSON.

use std::fmt::Write as _;

use crate::{
    CARDS, CIPHERS, Card, Counts, Family, Load, NAMES, PIPES, RATES, binds, family::loads,
    gbit_per_second,
};

/// What a family can do on a card.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The family, and what it takes of the pipes.
    pub load: Load,
    /// The card's name.
    pub card: String,
    /// The roof; `None` where the tables' copies do not fit the shared memory of a thread block.
    pub gbit_per_second: Option<f64>,
    /// What is full first: a pipe, or the card's memory.
    pub binds: &'static str,
}

/// What binds where tables do not fit.
const NO_ROOM: &str = "room for the tables";

/// Every family that has counts on each card, family by family.
#[must_use]
pub fn predictions<C: Clone + Into<Card>>(counts: &Counts, cards: &[C]) -> Vec<Prediction> {
    let cards: Vec<Card> = cards.iter().cloned().map(Into::into).collect();
    let all = loads(counts).into_iter().flat_map(|load| cards.iter().map(move |card| (load, card)));
    all.map(|(load, card)| prediction(counts, load, card)).collect()
}

fn prediction(counts: &Counts, load: Load, card: &Card) -> Prediction {
    let by_pipes =
        gbit_per_second(counts.get("block"), &load.lanes, card.multiprocessors * card.gigahertz);
    // Each byte is read once and written once.
    let by_memory = 8.0 * card.memory / 2.0;
    let (roof, full) = if by_memory < by_pipes {
        (by_memory, "device memory")
    } else {
        (by_pipes, binds(&load.lanes))
    };
    let fits = load.family != Family::Tables || load.shared_kib <= card.shared_kib;
    Prediction {
        load,
        card: card.name.clone(),
        gbit_per_second: fits.then_some(roof),
        binds: if fits { full } else { NO_ROOM },
    }
}

/// A table in Markdown: a row for each family, a column for each card.
#[must_use]
pub fn table<C: Clone + Into<Card>>(counts: &Counts, cards: &[C]) -> String {
    let predictions = predictions(counts, cards);
    let cards: Vec<Card> = cards.iter().cloned().map(Into::into).collect();
    let pipes = PIPES.map(|(name, _)| name).join(" | ");
    let names = cards.iter().map(Card::title).collect::<Vec<_>>().join(" | ");
    let rule = "---|".repeat(5 + cards.len());
    let mut text = format!("| family | {pipes} | {names} |\n|{rule}\n");
    for row in predictions.chunks(cards.len().max(1)) {
        let load = row[0].load;
        let _ = write!(text, "| {} |", load.family.name());
        for (lanes, (pipe, _)) in row[0].lanes().iter().zip(PIPES) {
            let mark = if binds(&load.lanes) == pipe { "**" } else { "" };
            let _ = write!(text, " {mark}{lanes}{mark} |");
        }
        for cell in row {
            let _ = write!(text, " {} |", cell.cell());
        }
        text.push('\n');
    }
    text
}

impl Prediction {
    /// Lanes of each pipe, as tables show them.
    #[must_use]
    pub fn lanes(&self) -> [String; 4] {
        self.load.lanes.map(|lanes| format!("{lanes:.0}"))
    }

    /// The roof, and what binds where that is not a pipe.
    #[must_use]
    pub fn cell(&self) -> String {
        match self.gbit_per_second {
            None => format!("no room: {:.0} KiB", self.load.shared_kib),
            Some(roof) if PIPES.iter().any(|(pipe, _)| *pipe == self.binds) => grouped(roof),
            Some(roof) => format!("{} (memory)", grouped(roof)),
        }
    }
}

/// A whole number with commas.
#[must_use]
pub fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Predictions as JSON: an array of objects.
#[must_use]
pub fn json(predictions: &[Prediction]) -> String {
    let rows = predictions.iter().map(|prediction| {
        let lanes = prediction.load.lanes.map(|lanes| lanes.to_string()).join(",");
        let shown = prediction.lanes().join(r#"",""#);
        let roof = prediction.gbit_per_second.map_or("null".to_owned(), |roof| roof.to_string());
        format!(
            r#"{{"family":"{}","card":"{}","lanes":[{lanes}],"shown":["{shown}"],"shared_kib":{},"gbit_per_second":{roof},"fullest":"{}","binds":"{}","cell":"{}"}}"#,
            prediction.load.family.name(),
            prediction.card,
            prediction.load.shared_kib,
            binds(&prediction.load.lanes),
            prediction.binds,
            prediction.cell()
        )
    });
    format!("[{}]", rows.collect::<Vec<_>>().join(","))
}

/// Predictions for counts and for all cards, and one more where its rates are given, as texts: the answer to the page and
/// to the command line.
///
/// # Errors
/// What is wrong with a text, for a person.
pub fn answer(counts: &str, card: &str) -> Result<Vec<Prediction>, String> {
    Ok(predictions(&Counts::read(counts)?, &cards(card)?))
}

/// All cards, and one more where its rates are given.
///
/// # Errors
/// What is wrong with the text, for a person.
pub fn cards(card: &str) -> Result<Vec<Card>, String> {
    let own = if card.trim().is_empty() { None } else { Some(Card::read(card)?) };
    Ok(CARDS.into_iter().map(Card::from).chain(own).collect())
}

/// What a form offers, as JSON: counts and rates with their names, ciphers with their counts, titles of cards, pipes.
#[must_use]
pub fn known() -> String {
    let pairs = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter().map(|(name, what)| format!(r#"["{name}","{what}"]"#));
        format!("[{}]", pairs.collect::<Vec<_>>().join(","))
    };
    let names = |names: &[String]| format!(r#"["{}"]"#, names.join(r#"",""#));
    format!(
        r#"{{"counts":{},"rates":{},"ciphers":{},"cards":{},"pipes":{}}}"#,
        pairs(&NAMES),
        pairs(&RATES),
        pairs(&CIPHERS),
        names(&CARDS.map(|card| Card::from(card).title())),
        names(&PIPES.map(|(name, _)| name.to_owned()))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(cipher: &str, family: Family) -> Vec<String> {
        let (_, counts) = CIPHERS.iter().find(|(name, _)| *name == cipher).expect("it is counted");
        let all = answer(counts, "").expect("counts");
        let own = all.iter().filter(|prediction| prediction.load.family == family);
        own.map(Prediction::cell).collect()
    }

    #[test]
    fn memory_and_room_bind_as_pipes_do() {
        let tables = cells("ARIA-128", Family::Tables);
        assert_eq!(tables[0], "5,353");
        assert_eq!(tables[3], "no room: 128 KiB");
        let words = cells("LEA-128", Family::Words);
        assert_eq!(words[4], "1,200 (memory)");
    }

    #[test]
    fn a_card_of_one_s_own_is_one_more() {
        let counts = "block=128 rounds=24 word-logic=9";
        let card = "multiprocessors=132 gigahertz=1.98 memory=4800 shared-kib=227";
        let all = answer(counts, card).expect("counts and a card");
        assert_eq!((all.len(), all[0].cell()), (6, all[5].cell()));
        assert!(answer(counts, "multiprocessors=132").is_err());
        let text = json(&all);
        assert!(
            text.starts_with(r#"[{"family":"words","card":"H200","lanes":[8,216,0,"#),
            "{text}"
        );
        assert!(table(&Counts::read(counts).expect("counts"), &CARDS).contains("**216**"));
    }

    #[test]
    fn numbers_have_commas() {
        let texts = [0.4, 12.0, 999.6, 1234.0, 1_234_567.0].map(grouped);
        assert_eq!(texts, ["0", "12", "1,000", "1,234", "1,234,567"]);
    }
}
