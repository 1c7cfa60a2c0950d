//! Counts of a cipher's round, as a reader writes them: `block=128 rounds=10 lookups=16`.

/// What is counted of a cipher. Families whose counts are zero are not asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts([f64; NAMES.len()]);

/// The name of a count, and what it is.
pub type Name = (&'static str, &'static str);

/// All counts, in their order.
pub const NAMES: [Name; 13] = [
    ("block", "bits of a block"),
    ("rounds", "rounds"),
    ("lookups", "table look-ups per round and block"),
    ("entry-words", "32-bit words of a table's entry [1]"),
    ("table-bytes", "bytes of all tables, before they are copied into the 32 banks"),
    (
        "table-logic",
        "ALU instructions per round beside the look-ups [half the words that are looked up]",
    ),
    ("functions", "three-input functions per round, for 32 blocks by bits"),
    (
        "functions-once",
        "those that are done once, or a negative number for what the last round lacks",
    ),
    ("key-bits", "key bits per round that are XORed alone, on the multiplier"),
    ("word-logic", "ALU instructions per round on words: rotations and logic"),
    ("word-sums", "additions per round on words, which run on either pipe"),
    ("word-blocks", "blocks that a word has bytes of [1]"),
    ("transposes", "32x32 transposes for 32 blocks, in and out [two for each word of a block]"),
];

impl Counts {
    /// Reads `name=number` for some of [`NAMES`], with blanks or line ends between.
    ///
    /// # Errors
    /// What is wrong with the text, for a person.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut counts = Self::default();
        for word in text.split_whitespace() {
            let (name, value) =
                word.split_once('=').ok_or_else(|| format!("{word}: name=number"))?;
            let value: f64 = value.parse().map_err(|_| format!("{name}: {value} is no number"))?;
            counts.set(name, value)?;
        }
        counts.check()?;
        Ok(counts)
    }

    /// Sets a count.
    ///
    /// # Errors
    /// Where there is none of this name, or the number cannot be one.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        let at = NAMES.iter().position(|(other, _)| *other == name);
        let at = at.ok_or_else(|| format!("there is no count {name}"))?;
        if !value.is_finite() || value < 0.0 && name != "functions-once" {
            return Err(format!("{name}: {value} is no count"));
        }
        self.0[at] = value;
        Ok(())
    }

    /// A count; what is not given is zero, or what [`NAMES`] says in brackets.
    #[must_use]
    pub fn get(&self, name: &str) -> f64 {
        let at = NAMES.iter().position(|(other, _)| *other == name);
        let given = at.map_or(0.0, |at| self.0[at]);
        match name {
            _ if given != 0.0 => given,
            "entry-words" | "word-blocks" => 1.0,
            "table-logic" => (self.get("lookups") * self.get("entry-words") / 2.0).ceil(),
            "transposes" => 2.0 * self.get("block") / 32.0,
            _ => 0.0,
        }
    }

    fn check(&self) -> Result<(), String> {
        for name in ["block", "rounds"] {
            if self.get(name) == 0.0 {
                return Err(format!("{name} is missing"));
            }
        }
        let has_any =
            ["lookups", "functions", "word-logic"].iter().any(|name| self.get(name) > 0.0);
        if has_any { Ok(()) } else { Err("lookups, functions or word-logic is missing".to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_given_has_a_default_and_what_is_wrong_is_said() {
        let counts = Counts::read("block=64 rounds=31\nlookups=8 entry-words=2").expect("counts");
        for (name, value) in [
            ("lookups", 8.0),
            ("table-logic", 8.0),
            ("transposes", 4.0),
            ("functions", 0.0),
            ("word-blocks", 1.0),
        ] {
            assert!((counts.get(name) - value).abs() < 1e-9, "{name}: {}", counts.get(name));
        }
        for (text, what) in [
            ("rounds=1 lookups=1", "block is missing"),
            ("block=64 rounds=1", "lookups, functions or word-logic is missing"),
            ("block=64 rounds=x", "rounds: x is no number"),
            ("block=-1", "block: -1 is no count"),
            ("blocks=1", "there is no count blocks"),
            ("block", "block: name=number"),
        ] {
            assert_eq!(Counts::read(text), Err(what.to_owned()), "{text}");
        }
    }
}
