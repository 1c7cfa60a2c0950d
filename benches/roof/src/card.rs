//! Cards: what the formula needs to know of them.

/// A card, or what a reader types of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// Its name.
    pub name: String,
    /// Streaming multiprocessors.
    pub multiprocessors: f64,
    /// The clock of a multiprocessor under load.
    pub gigahertz: f64,
    /// GB/s of its memory, reading and writing together, by its data sheet.
    pub memory: f64,
    /// KiB of shared memory that a thread block can have.
    pub shared_kib: f64,
    /// Whether pipes and clock are those that programs measured on such a card. Else the rates are the Programming
    /// Guide's, and the clock is the data sheet's.
    pub is_measured: bool,
}

/// A row of [`CARDS`]: name, multiprocessors, GHz, GB/s, KiB, and whether it is measured.
type Row = (&'static str, f64, f64, f64, f64, bool);

/// Cards that the project knows. Those that are measured have the clock of the records. Of the others the clock is the
/// rate of FP32 in the data sheet, divided by its lanes.
pub const CARDS: [Row; 5] = [
    ("H200", 132.0, 1.98, 4800.0, 227.0, true),
    ("H100", 132.0, 1.98, 3350.0, 227.0, true),
    ("A100", 108.0, 1.41, 2039.0, 163.0, false),
    ("RTX 4090", 128.0, 2.52, 1008.0, 99.0, false),
    ("L4", 58.0, 2.04, 300.0, 99.0, false),
];

impl From<Row> for Card {
    fn from((name, multiprocessors, gigahertz, memory, shared_kib, is_measured): Row) -> Self {
        let name = name.to_owned();
        Self { name, multiprocessors, gigahertz, memory, shared_kib, is_measured }
    }
}

impl Card {
    /// Its name, with a mark where its rates are not measured.
    #[must_use]
    pub fn title(&self) -> String {
        if self.is_measured { self.name.clone() } else { format!("{}, by formula", self.name) }
    }

    /// As it is [read](Self::read).
    #[must_use]
    pub fn text(&self) -> String {
        let values = [self.multiprocessors, self.gigahertz, self.memory, self.shared_kib];
        let digits = [0, 2, 0, 0];
        let words = RATES.iter().zip(values).zip(digits);
        words
            .map(|(((name, _), value), digits)| format!("{name}={value:.digits$}"))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Reads a card as `multiprocessors=80 gigahertz=1.7 memory=900 shared-kib=99`.
    ///
    /// # Errors
    /// What is wrong with the text, for a person.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut rates = [None; RATES.len()];
        for word in text.split_whitespace() {
            let (name, value) =
                word.split_once('=').ok_or_else(|| format!("{word}: name=number"))?;
            let at = RATES.iter().position(|(other, _)| *other == name);
            let at = at.ok_or_else(|| format!("a card has no {name}"))?;
            let value = value.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0);
            rates[at] = Some(value.ok_or_else(|| format!("{name}: more than zero"))?);
        }
        let rate = |at: usize| rates[at].ok_or_else(|| format!("{} is missing", RATES[at].0));
        Ok(Self {
            name: "this card".to_owned(),
            multiprocessors: rate(0)?,
            gigahertz: rate(1)?,
            memory: rate(2)?,
            shared_kib: rate(3)?,
            is_measured: false,
        })
    }
}

/// What is typed of a card: names, and what they are.
pub const RATES: [(&str, &str); 4] = [
    ("multiprocessors", "streaming multiprocessors"),
    ("gigahertz", "clock under load, GHz"),
    ("memory", "bandwidth of its memory, GB/s"),
    ("shared-kib", "shared memory that a thread block can have, KiB"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_read_or_what_is_wrong_is_said() {
        let text = "multiprocessors=80 gigahertz=1.7 memory=900 shared-kib=99";
        let card = Card::read(text).expect("a card");
        assert_eq!(card.title(), "this card, by formula");
        assert_eq!(Card::read(&card.text()), Ok(card));
        for (text, what) in [
            ("multiprocessors=80", "gigahertz is missing"),
            ("cores=8", "a card has no cores"),
            ("gigahertz=0", "gigahertz: more than zero"),
            ("gigahertz", "gigahertz: name=number"),
        ] {
            assert_eq!(Card::read(text), Err(what.to_owned()), "{text}");
        }
    }
}
