//! The picture of README and results: every cipher in CTR, on a core and on a GPU, from the records.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use lanecrypt_record::{Axis, Figure, Place, Work, distinct, svg, title};
use maud::html;

use crate::{
    generated,
    record::{PORT, Record, grouped},
};

/// The card of the picture.
const GPU: &str = "NVIDIA H200";
/// Data on the device, and on a core.
const BYTES: (usize, usize) = (4 << 30, 1 << 20);
/// What a bar is of, and how it looks.
const BARS: [(&str, usize); 3] = [
    ("RustCrypto's crate (SEED: kisaseed), one core", svg::REPLACED),
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
    if rows.iter().all(|row| row.rates[2].is_none()) {
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
    let all = || records.iter().flat_map(Record::figures);
    let ctr = || all().filter(|(_, m)| m.work == Work::Ctr && m.cipher != PORT);
    let mut ciphers = distinct(ctr().map(|(_, m)| m.cipher.as_str()));
    ciphers.sort_unstable();
    let row = |cipher: &str| {
        let of = || ctr().filter(move |(_, m)| m.cipher == cipher);
        let bits = of().map(|(_, m)| m.key_bits).min()?;
        let same = |m: &Figure, place: Place, bytes: usize| {
            m.key_bits == bits && m.place == place && m.bytes == bytes
        };
        // The newest record that has both, so that they ran on the same core.
        let cores = |record: &Record| -> (Option<f64>, Option<f64>) {
            let members =
                || of().filter(|(r, m)| r.name == record.name && same(m, Place::Cpu, BYTES.1));
            let crates =
                |m: &&Figure| m.backend.starts_with("RustCrypto") || m.backend == "kisaseed";
            let theirs = members().map(|(_, m)| m).find(crates);
            let ours = members().map(|(_, m)| m).find(|m| m.backend == "default");
            (theirs.map(Figure::gbit_per_second), ours.map(Figure::gbit_per_second))
        };
        let pairs: Vec<_> = records.iter().map(cores).collect();
        let whole = pairs.iter().find(|(theirs, ours)| theirs.is_some() && ours.is_some());
        let (theirs, ours) =
            *whole.or(pairs.iter().find(|pair| pair.1.is_some())).unwrap_or(&(None, None));
        // Of each kernel what is newest, and the fastest of these.
        let on_gpu = |record: &Record| record.gpu() == Some(GPU);
        let resident = || of().filter(|(r, m)| on_gpu(r) && same(m, Place::Resident, BYTES.0));
        let newest = |backend: &str| {
            resident().find(|(_, m)| m.backend == backend).map(|(_, m)| m.gbit_per_second())
        };
        let backends = distinct(resident().map(|(_, m)| m.backend.as_str()));
        let gpu = backends.into_iter().filter_map(newest).max_by(f64::total_cmp);
        Some(Row { title: title(cipher, bits), rates: [theirs, ours, gpu] })
    };
    ciphers.into_iter().filter_map(row).filter(|row| row.rates[2].is_some()).collect()
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
