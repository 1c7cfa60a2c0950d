//! What a cipher could do on cards, by the counts of its round: `cargo xtask roof`.

use anyhow::{Error, Result, ensure};
use lanecrypt_roof::{CIPHERS, Counts, answer, cards, json, table};

/// What a person asks.
#[derive(clap::Args)]
pub(crate) struct Question {
    /// A cipher of the list, and counts as NAME=NUMBER, which take the place of the cipher's [default: all ciphers].
    words: Vec<String>,
    /// One more card: "multiprocessors=80 gigahertz=1.7 memory=900 shared-kib=99", memory in GB/s.
    #[arg(long, default_value = "")]
    card: String,
    /// Prints JSON: for each family and card the lanes per block, Gbit/s, and what binds.
    #[arg(long)]
    json: bool,
    /// Lists the names of counts, and the ciphers with theirs.
    #[arg(long)]
    names: bool,
}

pub(crate) fn run(question: &Question) -> Result<()> {
    if question.names {
        let counts = lanecrypt_roof::NAMES.map(|(name, what)| format!("{name:16}{what}\n"));
        let ciphers = CIPHERS.map(|(name, counts)| format!("{name:26}{counts}\n"));
        print!("{}\n{}", counts.concat(), ciphers.concat());
        return Ok(());
    }
    if question.words.is_empty() {
        ensure!(!question.json, "JSON of which cipher?");
        return CIPHERS.iter().try_for_each(|(name, counts)| {
            println!("{name}\n\n{}", text(counts, question)?);
            Ok(())
        });
    }
    println!("{}", text(&counts(&question.words)?, question)?);
    Ok(())
}

/// The counts that these words say: those of a cipher, and what takes their place.
fn counts(words: &[String]) -> Result<String> {
    let (counts, names): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| word.contains('='));
    let mut texts = Vec::new();
    for name in names {
        let found = CIPHERS.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        let (_, counts) = found.ok_or_else(|| {
            Error::msg(format!("no counts of {name}: {}", CIPHERS.map(|(name, _)| name).join("; ")))
        })?;
        texts.push(*counts);
    }
    texts.extend(counts.into_iter().map(String::as_str));
    Ok(texts.join(" "))
}

/// A table, and what its numbers are; or JSON.
fn text(counts: &str, question: &Question) -> Result<String> {
    let predictions = answer(counts, &question.card).map_err(Error::msg)?;
    if question.json {
        return Ok(json(&predictions));
    }
    let counts = Counts::read(counts).map_err(Error::msg)?;
    let table = table(&counts, &cards(&question.card).map_err(Error::msg)?);
    Ok(format!("{table}\nLanes per block of each pipe, of which the bold one binds, and Gbit/s.\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_a_cipher_s_with_others_in_their_place() {
        let words = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let text = counts(&words("present-80 functions=128")).expect("a cipher");
        let counts_of = Counts::read(&text).expect("counts");
        let both = ["functions", "rounds"].map(|name| counts_of.get(name).to_string());
        assert_eq!(both, ["128", "31"]);
        assert!(counts(&words("rot13")).is_err());
    }

    #[test]
    fn a_question_is_answered_as_a_table_and_as_json() {
        let question =
            |json| Question { words: Vec::new(), card: String::new(), json, names: false };
        let aes = CIPHERS[0].1;
        assert!(text(aes, &question(false)).expect("a table").contains("| tables | **168** |"));
        assert!(text(aes, &question(true)).expect("JSON").starts_with('['));
        assert!(text("block=1", &question(false)).is_err());
    }
}
