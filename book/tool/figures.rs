//! The picture of README and results: every cipher in CTR, on a core and on a GPU, from the records.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use lanecrypt_record::{Axis, Figure, Place, Work, groups, svg, title};
use maud::html;

use crate::{
    generated,
    record::{Record, grouped},
};

/// The card of the picture.
pub(crate) const GPU: &str = "NVIDIA H200";
/// Data on the device, and on a core.
const BYTES: (usize, usize) = (4 << 30, 1 << 20);
/// What a bar is of, and how it looks.
const BARS: [(&str, usize); 3] = [
    ("RustCrypto's crate (SEED: kisaseed, LEA: lea), one core", svg::REPLACED),
    ("Lanecrypt, one core of the same Xeon", svg::OURS),
    ("Lanecrypt, one NVIDIA H200, data on the device", svg::GPU),
];

// In pixels of the picture.
const WIDTH: f64 = 620.0;
const LEFT: f64 = 152.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 78.0;
const BAR: f64 = 14.0;
const ROW: f64 = 54.0;
/// The axis is logarithmic: Gbit/s at its ends.
const AXIS: (f64, f64) = (0.1, 10_000.0);

/// The picture, where there are records of both.
pub(crate) fn picture(records: &[Record], source: &Path) -> BTreeMap<PathBuf, String> {
    let rows = rows(records);
    if rows.is_empty() {
        return BTreeMap::new();
    }
    BTreeMap::from([(source.join("img/figures.svg"), draw(&rows))])
}

/// A cipher with its shortest key: Gbit/s of each bar.
struct Row {
    title: String,
    rates: [Option<f64>; 3],
}

fn rows(records: &[Record]) -> Vec<Row> {
    let all = records.iter().flat_map(Record::figures);
    let ctr = all.filter(|(_, m)| m.work == Work::Ctr);
    let mut ciphers = groups(ctr, |(_, m)| m.cipher.as_str());
    ciphers.sort_unstable_by_key(|(cipher, _)| *cipher);
    ciphers.into_iter().filter_map(|(cipher, figures)| row(cipher, figures)).collect()
}

/// Of figures with the newest first.
fn row(cipher: &str, mut figures: Vec<(&Record, &Figure)>) -> Option<Row> {
    let bits = figures.iter().map(|(_, m)| m.key_bits).min()?;
    figures.retain(|(_, m)| m.key_bits == bits);
    let on_core = figures.iter().filter(|(_, m)| (m.place, m.bytes) == (Place::Cpu, BYTES.1));
    let pair = |(_, figures): (_, Vec<&(&Record, &Figure)>)| {
        let rate = |is_it: fn(&str) -> bool| {
            let found = figures.iter().find(|(_, m)| is_it(&m.backend));
            found.map(|(_, m)| m.gbit_per_second())
        };
        let theirs =
            rate(|name| name.starts_with("RustCrypto") || ["kisaseed", "lea"].contains(&name));
        (theirs, rate(|name| name == "default"))
    };
    let pairs = groups(on_core, |(record, _)| record.name.as_str()).into_iter().map(pair);
    let pairs: Vec<(Option<f64>, Option<f64>)> = pairs.filter(|pair| pair.1.is_some()).collect();
    // The newest record that has both, so that they ran on the same core.
    let both = pairs.iter().find(|pair| pair.0.is_some()).or(pairs.first());
    let (theirs, ours) = both.copied().unwrap_or_default();
    // Of each kernel what is newest, and the fastest of these.
    let resident = figures.iter().filter(|(record, m)| {
        record.gpu() == Some(GPU) && (m.place, m.bytes) == (Place::Resident, BYTES.0)
    });
    let newest = groups(resident, |(_, m)| m.backend.as_str()).into_iter();
    let gpu = newest.map(|(_, figures)| figures[0].1.gbit_per_second()).max_by(f64::total_cmp)?;
    Some(Row { title: title(cipher, bits), rates: [theirs, ours, Some(gpu)] })
}

/// Two significant digits below ten, whole above.
fn label(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.1}") } else { grouped(rate) }
}

fn draw(rows: &[Row]) -> String {
    let height = TOP + ROW * rows.len() as f64 + 34.0;
    let describe = rows.iter().map(|row| {
        let rates = row.rates.map(|rate| rate.map_or("none".to_owned(), label));
        format!("{}: {}.", row.title, rates.join(", "))
    });
    let describe = describe.collect::<Vec<_>>().join(" ");
    let title = "CTR, Gbit/s: a crate, this one on a core, and on a GPU";
    let axis = Axis::new(AXIS, (LEFT, RIGHT), true);
    let bottom = height - 28.0;
    let class = |look: usize| format!("bar c{look}");
    let content = html! {
        @for (i, (name, look)) in BARS.iter().enumerate() {
            (svg::key(&class(*look), (14.0, 14.0 + 20.0 * i as f64), name))
        }
        @for value in axis.round_values() {
            @let x = svg::px(axis.at(value));
            @let number = if value < 1.0 { format!("{value:.1}") } else { grouped(value) };
            line class="grid" x1=(x) y1=(TOP) x2=(x) y2=(bottom) {}
            (svg::text("small at-middle", (axis.at(value), bottom + 18.0), number))
        }
        (svg::text("label at-end", (LEFT - 24.0, bottom + 18.0), "Gbit/s, CTR"))
        @for (i, row) in rows.iter().enumerate() {
            @let y = TOP + 4.0 + ROW * i as f64;
            (svg::text("label at-end", (LEFT - 10.0, y + 1.5 * BAR + 5.0), &row.title))
            @for (j, (rate, (_, look))) in row.rates.iter().zip(BARS).enumerate() {
                @if let Some(rate) = *rate {
                    @let (y, end) = (y + BAR * j as f64, axis.at(rate));
                    (svg::bar(&class(look), (LEFT, y), (end - LEFT, BAR - 2.0)))
                    (svg::text("label small", (end + 4.0, y + BAR - 3.0), label(rate)))
                }
            }
        }
    };
    let text = svg::file((title, &describe), 0.0, (WIDTH, height), &content);
    generated("benches/record", &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_two_digits_or_are_whole() {
        assert_eq!((label(1.234), label(1_234.0)), ("1.2".to_owned(), "1,234".to_owned()));
    }
}
