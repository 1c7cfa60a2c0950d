//! The ladder's tables and differences: `ladder-figures.md` and `ladder-diffs.md`, of which `ladder.md` includes parts.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use lanecrypt_roof::{CARDS, Card, Lanes, PIPES, binds, gbit_per_second, grouped};

use crate::{generated, record::Record};

/// Where the listings are, from the book's folder.
const LISTINGS: &str = "listings/ladder";
/// What was counted of them.
const COUNTED: &str = "counted.csv";
/// The card of the page.
const CARD: &str = "H200";
/// What stands where no record has a figure.
const NOT_MEASURED: &str = "not measured yet";

/// A rung: its name, and what a block takes.
struct Rung {
    name: String,
    lanes: Lanes,
}

impl Rung {
    /// Its number, as anchors name it.
    fn number(&self) -> &str {
        self.name.split('-').next().unwrap_or_default()
    }

    /// Its name, as text.
    fn title(&self) -> String {
        let (_, words) = self.name.split_once('-').unwrap_or(("", &self.name));
        words.replace('-', " ")
    }
}

/// Both parts as (path, text).
///
/// # Errors
/// Where a listing cannot be read.
pub(crate) fn parts(
    root: &Path,
    records: &[Record],
    source: &Path,
) -> Result<BTreeMap<PathBuf, String>> {
    let listings = root.join(LISTINGS);
    let rungs = counted(&listings.join(COUNTED))?;
    let from = format!("book/{LISTINGS}");
    let figures = generated(&format!("benches/record and {from}"), &figures(&rungs, records)?);
    let differences = generated(&from, &differences(&listings, &rungs)?);
    Ok([("ladder-figures.md", figures), ("ladder-diffs.md", differences)]
        .map(|(file, text)| (source.join(file), text))
        .into())
}

fn counted(path: &Path) -> Result<Vec<Rung>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let rung = |line: &str| {
        let (name, lanes) = line.split_once(',')?;
        let lanes: Vec<f64> = lanes.split(',').map_while(|lanes| lanes.parse().ok()).collect();
        Some(Rung { name: name.to_owned(), lanes: lanes.try_into().ok()? })
    };
    text.lines().skip(1).map(|line| rung(line).with_context(|| line.to_owned())).collect()
}

/// Gbit/s by rung, of the newest record that has the ladder on the card, and a link to that.
fn measured(records: &[Record]) -> Result<Option<(BTreeMap<String, f64>, String)>> {
    for record in records {
        let path = record.folder.join("ladder.json");
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let data: serde_json::Value =
            serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        if !data["gpu"].as_str().is_some_and(|gpu| gpu.contains(CARD)) {
            continue;
        }
        let rungs = data["rungs"].as_array().into_iter().flatten();
        let figures = rungs.filter_map(|rung| {
            Some((rung["name"].as_str()?.to_owned(), rung["gbit_per_second"].as_f64()?))
        });
        return Ok(Some((figures.collect(), record.link(""))));
    }
    Ok(None)
}

/// A table of all rungs, and one of each.
fn figures(rungs: &[Rung], records: &[Record]) -> Result<String> {
    let card = CARDS.into_iter().map(Card::from).find(|card| card.name == CARD);
    let card = card.context("no such card")?;
    let gigaclocks = card.multiprocessors * card.gigahertz;
    let measured = measured(records)?;
    let figure = |rung: &Rung| measured.as_ref().and_then(|(all, _)| all.get(&rung.name).copied());
    let row = |i: usize| {
        let rung = &rungs[i];
        let roof = gbit_per_second(128.0, &rung.lanes, gigaclocks);
        let lanes = rung.lanes.iter().zip(PIPES).map(|(lanes, (pipe, _))| {
            let mark = if binds(&rung.lanes) == pipe { "**" } else { "" };
            format!("{mark}{lanes:.0}{mark}")
        });
        let before = i.checked_sub(1).and_then(|before| figure(&rungs[before]));
        let (given, share, times) = match figure(rung) {
            None => (NOT_MEASURED.to_owned(), String::new(), String::new()),
            Some(given) => (
                grouped(given),
                format!("{:.0}%", 100.0 * given / roof),
                before.map(|before| format!("{:.2}", given / before)).unwrap_or_default(),
            ),
        };
        let lanes = lanes.collect::<Vec<_>>().join(" | ");
        format!("| {lanes} | {} | {given} | {share} | {times} |", grouped(roof))
    };
    let pipes = PIPES.map(|(name, _)| name).join(" | ");
    let columns = format!("{pipes} | roof | Gbit/s | reached | times |");
    let rule = "---|".repeat(8);
    let mut text = "\n<!-- ANCHOR: all -->\n".to_owned();
    let _ = writeln!(text, "| rung | {columns}\n|---|{rule}");
    for (i, rung) in rungs.iter().enumerate() {
        let (number, title) = (rung.number().trim_start_matches('0'), rung.title());
        let _ = writeln!(text, "| {number}: {title} {}", row(i));
    }
    if let Some((_, link)) = &measured {
        let _ = writeln!(text, "\nMeasured: record {link}.");
    }
    text.push_str("<!-- ANCHOR_END: all -->\n");
    for (i, rung) in rungs.iter().enumerate() {
        let number = rung.number();
        let _ = writeln!(
            text,
            "\n<!-- ANCHOR: r{number} -->\n| {columns}\n|{rule}\n{}\n<!-- ANCHOR_END: r{number} -->",
            row(i)
        );
    }
    Ok(text)
}

/// What changes from each rung to the next.
fn differences(listings: &Path, rungs: &[Rung]) -> Result<String> {
    let mut text = String::new();
    let read = |rung: &str| {
        let path = listings.join(format!("{rung}.cu"));
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    let pairs = rungs.windows(2).map(|pair| (&pair[0].name[..], &pair[1].name[..]));
    // The mistake is one of rung 2.
    for (before, after) in pairs.chain([("02-block-a-thread", "wrong-one-state")]) {
        let anchor = after.split('-').next().unwrap_or_default();
        // Names of kernels are no difference.
        let plain =
            |rung: &str| anyhow::Ok(read(rung)?.replace(&format!("rung_{}", &rung[..2]), "rung"));
        let (before, after) = (plain(before)?, plain(after)?);
        let after = after.replace(" wrong(", " rung(");
        let _ = write!(
            text,
            "\n<!-- ANCHOR: d{anchor} -->\n```diff\n{}```\n<!-- ANCHOR_END: d{anchor} -->\n",
            difference(&before, &after)
        );
    }
    Ok(text)
}

/// Lines that a text has and another has not, in order, with a line between changes at different places. The first two
/// lines, what a listing is and its launch, are left out.
pub(crate) fn difference(before: &str, after: &str) -> String {
    let [old, new] = [before, after].map(|text| text.lines().skip(2).collect::<Vec<_>>());
    // How many lines the ends from (i, j) on have in common.
    let mut common = vec![vec![0; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if old[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut text, mut is_same) = (0, 0, String::new(), false);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j, is_same) = (i + 1, j + 1, true);
            continue;
        }
        if is_same && !text.is_empty() {
            text.push_str("@@\n");
        }
        is_same = false;
        if j == new.len() || i < old.len() && common[i + 1][j] >= common[i][j + 1] {
            let _ = writeln!(text, "-{}", old[i]);
            i += 1;
        } else {
            let _ = writeln!(text, "+{}", new[j]);
            j += 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_what_changes_and_no_more() {
        let text = |lines: &str| format!("title\nlaunch\n{}", lines.replace(' ', "\n"));
        assert_eq!(difference(&text("a b c d"), &text("a x c d e")), "-b\n+x\n@@\n+e\n");
        assert_eq!(difference("one\ntwo\na", "three\nfour\na"), "");
    }

    #[test]
    fn what_is_not_measured_says_so() {
        let rungs = [Rung { name: "01-a-b".into(), lanes: [168.0, 92.0, 160.0, 448.0] }];
        let text = figures(&rungs, &[]).expect("the card is known");
        assert!(
            text.contains("| 1: a b | **168** | 92 | 160 | 448 | 6,372 | not measured yet |"),
            "{text}"
        );
    }
}
