//! The tables, differences and pictures of the ladder on a CPU: `ladder-cpu-figures.md` and `ladder-cpu-diffs.md`, of which
//! `ladder-cpu.md` includes parts.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use lanecrypt_record::{Axis, svg};
use maud::{Markup, html};
use serde::Deserialize;

use crate::{generated, ladder::difference, record::Record};

/// Where the listings are, from the book's folder.
const LISTINGS: &str = "listings/ladder-cpu";
/// What a record has of it.
const FILE: &str = "ladder-cpu.json";

#[derive(Deserialize)]
struct Figures {
    rungs: Vec<Rung>,
}

#[derive(Deserialize)]
struct Rung {
    name: String,
    operations_per_byte: f64,
    bound: f64,
    binds: String,
    #[serde(default)]
    lengths: Vec<OfLength>,
}

#[derive(Deserialize)]
struct OfLength {
    bytes: usize,
    seconds: f64,
    cycles_per_byte: f64,
}

impl Rung {
    /// Its number, as anchors name it.
    fn number(&self) -> &str {
        self.name.split('-').next().unwrap_or_default()
    }

    /// Number and name, as text.
    fn title(&self) -> String {
        let (number, words) = self.name.split_once('-').unwrap_or(("", &self.name));
        format!(
            "{}: {}",
            number.trim_start_matches('0'),
            words.replace('-', " ").replace("gfni", "GFNI")
        )
    }

    /// Cycles per byte of the longest messages.
    fn cycles(&self) -> Option<f64> {
        self.lengths.last().map(|of| of.cycles_per_byte)
    }
}

/// All parts as (path, text).
///
/// # Errors
/// Where no record has the figures, or a listing cannot be read.
pub(crate) fn parts(
    root: &Path,
    records: &[Record],
    source: &Path,
) -> Result<BTreeMap<PathBuf, String>> {
    let found = records.iter().find(|record| record.folder.join(FILE).exists());
    let record = found.context("no record of the ladder on a CPU")?;
    let text = fs::read_to_string(record.folder.join(FILE))?;
    let Figures { rungs } = serde_json::from_str(&text).with_context(|| record.name.clone())?;
    let figures = tables(&rungs, &record.link(""));
    let differences = differences(&root.join(LISTINGS), &rungs)?;
    let files = [
        ("ladder-cpu-figures.md", "benches/record", figures),
        ("ladder-cpu-diffs.md", "book/listings/ladder-cpu", differences),
        ("img/ladder-cpu.svg", "benches/record", bars(&rungs)),
        ("img/ladder-cpu-lengths.svg", "benches/record", curves(&rungs)),
    ];
    Ok(files.map(|(file, from, text)| (source.join(file), generated(from, &text))).into())
}

/// The columns behind a rung's name.
const COLUMNS: &str = "operations per byte | bound | cycles per byte | reached | GB/s | times |";

/// A table of all rungs, one of each, and one by length.
fn tables(rungs: &[Rung], link: &str) -> String {
    let rule = "---|".repeat(6);
    let mut text = format!("\n<!-- ANCHOR: all -->\n| rung | {COLUMNS} binds |\n|---|{rule}---|\n");
    let rows: Vec<String> = (0..rungs.len()).map(|i| row(rungs, i)).collect();
    for (rung, row) in rungs.iter().zip(&rows) {
        let _ = writeln!(text, "| {} | {row} {} |", rung.title(), rung.binds);
    }
    let _ = writeln!(text, "\nMeasured: record {link}.\n<!-- ANCHOR_END: all -->");
    for (rung, row) in rungs.iter().zip(&rows) {
        let number = rung.number();
        let _ = writeln!(
            text,
            "\n<!-- ANCHOR: r{number} -->\n| {COLUMNS} binds |\n|{rule}---|\n| {row} {} |\n<!-- ANCHOR_END: r{number} -->",
            rung.binds
        );
    }
    text + &by_length(rungs)
}

/// The cells of a rung, up to what binds.
fn row(rungs: &[Rung], i: usize) -> String {
    let rung = &rungs[i];
    let (operations, bound) = (rung.operations_per_byte, rung.bound);
    let Some(long) = rung.lengths.last() else {
        return format!("{operations:.1} | {bound:.2} | not measured | | | |");
    };
    let cycles = long.cycles_per_byte;
    let before = i.checked_sub(1).and_then(|before| rungs[before].cycles());
    let times = before.map(|before| format!("{:.2}", before / cycles)).unwrap_or_default();
    format!(
        "{operations:.1} | {bound:.2} | {cycles:.2} | {:.0}% | {:.2} | {times} |",
        100.0 * bound / cycles,
        long.bytes as f64 / long.seconds / 1e9,
    )
}

/// Cycles per byte by length, the least of each length in bold.
fn by_length(rungs: &[Rung]) -> String {
    let measured: Vec<&Rung> = rungs.iter().filter(|rung| !rung.lengths.is_empty()).collect();
    let lengths = measured.first().map_or(&[][..], |rung| &rung.lengths);
    let mut text = "\n<!-- ANCHOR: lengths -->\n| rung |".to_owned();
    for of in lengths {
        let _ = write!(text, " {} B |", crate::record::grouped(of.bytes as f64));
    }
    let _ = writeln!(text, "\n|---|{}", "---|".repeat(lengths.len()));
    for rung in &measured {
        let _ = write!(text, "| {} |", rung.title());
        for (i, of) in rung.lengths.iter().enumerate() {
            let all = measured.iter().map(|rung| rung.lengths[i].cycles_per_byte);
            let is_least = all.fold(f64::MAX, f64::min) >= of.cycles_per_byte;
            let mark = if is_least { "**" } else { "" };
            let _ = write!(text, " {mark}{:.2}{mark} |", of.cycles_per_byte);
        }
        text.push('\n');
    }
    text + "<!-- ANCHOR_END: lengths -->\n"
}

/// What changes from each rung to the next.
fn differences(listings: &Path, rungs: &[Rung]) -> Result<String> {
    let mut text = String::new();
    let read = |rung: &Rung| {
        let path = listings.join(format!("{}.rs", rung.name));
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    for pair in rungs.windows(2) {
        let (before, after) = (read(&pair[0])?, read(&pair[1])?);
        let anchor = pair[1].number();
        let _ = write!(
            text,
            "\n<!-- ANCHOR: d{anchor} -->\n```diff\n{}```\n<!-- ANCHOR_END: d{anchor} -->\n",
            difference(&before, &after)
        );
    }
    Ok(text)
}

// In pixels of the pictures.
const WIDTH: f64 = 640.0;
const LEFT: f64 = 170.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 62.0;
const ROW: f64 = 26.0;
const BAR: f64 = 16.0;

/// The number of a value, with as many digits as say something.
fn label(value: f64) -> String {
    match value {
        10.0.. => format!("{value:.0}"),
        1.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Lines across a picture at round values, and what they are.
fn grid(axis: &Axis, (top, bottom): (f64, f64)) -> Markup {
    html! {
        @for value in axis.round_values() {
            @let x = svg::px(axis.at(value));
            line class="grid" x1=(x) y1=(svg::px(top)) x2=(x) y2=(svg::px(bottom)) {}
            (svg::text("small at-middle", (axis.at(value), bottom + 18.0), value))
        }
    }
}

/// Every rung: cycles per byte as a bar, and what its count gives as a line across it.
fn bars(rungs: &[Rung]) -> String {
    let height = TOP + ROW * rungs.len() as f64 + 34.0;
    let axis = Axis::new((0.5, 50.0), (LEFT, RIGHT), true);
    let bottom = height - 30.0;
    let content = html! {
        (svg::key("bar c0", (14.0, 12.0), "measured, cycles per byte in messages of 16 KiB"))
        line class="mark" x1="21" y1="32" x2="21" y2="50" {}
        (svg::text("label", (34.0, 46.0), "bound: counted instructions over ports"))
        (grid(&axis, (TOP, bottom)))
        @for (i, rung) in rungs.iter().enumerate() {
            @let y = TOP + 4.0 + ROW * i as f64;
            (svg::text("label small at-end", (LEFT - 10.0, y + 12.5), rung.title()))
            @if let Some(cycles) = rung.cycles() {
                (svg::bar("bar c0", (LEFT, y), (axis.at(cycles) - LEFT, BAR)))
                (svg::text("label small", (axis.at(cycles) + 6.0, y + 12.5), label(cycles)))
            }
            @let x = svg::px(axis.at(rung.bound));
            line class="mark" x1=(x) y1=(svg::px(y - 2.0)) x2=(x) y2=(svg::px(y + BAR + 2.0)) {}
        }
    };
    let describe = rungs.iter().map(|rung| {
        let cycles = rung.cycles().map_or("not measured".to_owned(), label);
        format!("{}: {cycles}, bound {}.", rung.title(), label(rung.bound))
    });
    let describe = describe.collect::<Vec<_>>().join(" ");
    let title = "Cycles per byte of every rung, and what its count gives";
    svg::file((title, &describe), 0.0, (WIDTH, height), &content)
}

/// The rungs of the picture by length, and their colours: a form each.
const FORMS: [(&str, usize); 5] = [("03", 1), ("04", 4), ("06", 3), ("08", 2), ("12", 0)];

/// Cycles per byte by the length of a message, on axes of equal ratios.
fn curves(rungs: &[Rung]) -> String {
    let (top, bottom, left) = (24.0, 330.0, 56.0);
    let height = bottom + 52.0 + 22.0 * FORMS.len() as f64;
    let (across, up) = (
        Axis::new((16.0, 16384.0), (left, RIGHT), true),
        Axis::new((0.5, 1000.0), (bottom, top), true),
    );
    let forms = FORMS.iter().filter_map(|(number, colour)| {
        Some((rungs.iter().find(|rung| rung.number() == *number)?, colour))
    });
    let forms: Vec<(&Rung, &usize)> = forms.collect();
    let lengths = forms.first().map_or(&[][..], |(rung, _)| &rung.lengths);
    let points = |rung: &Rung| {
        let point = |of: &OfLength| {
            let (x, y) = (across.at(of.bytes as f64), up.at(of.cycles_per_byte));
            format!("{},{}", svg::px(x), svg::px(y))
        };
        rung.lengths.iter().map(point).collect::<Vec<_>>().join(" ")
    };
    let content = html! {
        @for value in up.round_values() {
            @let y = up.at(value);
            line class="grid" x1=(svg::px(left)) y1=(svg::px(y)) x2=(svg::px(RIGHT)) y2=(svg::px(y)) {}
            (svg::text("small at-end", (left - 8.0, y + 4.0), value))
        }
        @for of in lengths {
            @let x = across.at(of.bytes as f64);
            line class="grid" x1=(svg::px(x)) y1=(svg::px(top)) x2=(svg::px(x)) y2=(svg::px(bottom)) {}
            (svg::text("small at-middle", (x, bottom + 18.0), of.bytes))
        }
        (svg::text("label at-end", (RIGHT, bottom + 38.0), "bytes of a message; upwards: cycles per byte"))
        @for (i, (rung, colour)) in forms.iter().enumerate() {
            polyline class=(format!("c{colour} d{i}")) points=(points(rung)) {}
            g class=(format!("key c{colour} d{i}")) {
                @let y = svg::px(bottom + 56.0 + 22.0 * i as f64);
                line x1=(svg::px(left)) y1=(y) x2=(svg::px(left + 44.0)) y2=(y) {}
            }
            (svg::text("label", (left + 54.0, bottom + 61.0 + 22.0 * i as f64), rung.title()))
        }
    };
    let describe = forms.iter().map(|(rung, _)| {
        let figures = rung.lengths.iter().map(|of| label(of.cycles_per_byte));
        format!("{}: {}.", rung.title(), figures.collect::<Vec<_>>().join(", "))
    });
    let describe = describe.collect::<Vec<_>>().join(" ");
    let title = "Cycles per byte by the length of a message, 16 to 16,384 bytes";
    svg::file((title, &describe), 0.0, (WIDTH, height), &content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rung(name: &str, cycles: &[f64]) -> Rung {
        let of = |cycles: &f64| OfLength { bytes: 16, seconds: 1e-9, cycles_per_byte: *cycles };
        Rung {
            name: name.to_owned(),
            operations_per_byte: 24.0,
            bound: 4.0,
            binds: "loads".to_owned(),
            lengths: cycles.iter().map(of).collect(),
        }
    }

    #[test]
    fn a_table_compares_with_the_rung_before_and_says_what_is_not_measured() {
        let rungs = [rung("01-a-b", &[9.0, 16.0]), rung("02-c", &[10.0, 8.0]), rung("03-d", &[])];
        let text = tables(&rungs, "r");
        assert!(
            text.contains("| 1: a b | 24.0 | 4.00 | 16.00 | 25% | 16.00 |  | loads |"),
            "{text}"
        );
        assert!(
            text.contains("| 2: c | 24.0 | 4.00 | 8.00 | 50% | 16.00 | 2.00 | loads |"),
            "{text}"
        );
        assert!(text.contains("| 3: d | 24.0 | 4.00 | not measured |"), "{text}");
        assert!(text.contains("| 1: a b | **9.00** | 16.00 |"), "{text}");
        assert!(text.contains("| 2: c | 10.00 | **8.00** |"), "{text}");
    }

    #[test]
    fn pictures_name_every_rung() {
        let rungs = [rung("03-a", &[9.0, 16.0]), rung("12-b", &[10.0, 8.0])];
        for text in [bars(&rungs), curves(&rungs)] {
            assert!(text.contains("3: a") && text.contains("12: b"), "{text}");
        }
    }
}
