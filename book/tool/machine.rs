//! Pictures of the machine: a multiprocessor with its pipes, and the memories. What a cycle brings is what the
//! Programming Guide and the data sheets say; the page has the sources.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use lanecrypt_record::svg;
use maud::{Markup, html};

use crate::generated;

const WIDTH: f64 = 724.0;
const EDGE: f64 = 14.0;
const GAP: f64 = 10.0;
/// How high a box of one line is.
const LINE: f64 = 34.0;

/// Both pictures as (path, text).
pub(crate) fn pictures(source: &Path) -> BTreeMap<PathBuf, String> {
    let pictures = [("multiprocessor.svg", multiprocessor()), ("memories.svg", memories())];
    pictures.map(|(file, text)| (source.join("img").join(file), text)).into()
}

fn file((title, describe): (&str, &str), height: f64, content: &Markup) -> String {
    let text = svg::file((title, describe), 0.0, (WIDTH, height), content);
    generated("book/tool/machine.rs", &text)
}

/// A box with a text in its middle, and a smaller one below it.
fn named(class: &str, (x, y): (f64, f64), wide: f64, (name, small): (&str, &str)) -> Markup {
    let high = if small.is_empty() { LINE } else { LINE + 14.0 };
    let middle = x + wide / 2.0;
    html! {
        (svg::bar(&format!("cell {class}"), (x, y), (wide, high)))
        (svg::text("label at-middle", (middle, y + 21.0), name))
        (svg::text("label small at-middle", (middle, y + 38.0), small))
    }
}

/// What each of the four quarters has, from above.
const QUARTER: [(&str, &str, &str); 4] = [
    ("k0", "scheduler", "one instruction per cycle"),
    ("k4", "registers", "16,384 of 32 bits"),
    ("k1", "ALU: 16 lanes", "LOP3, SHF, PRMT"),
    ("k2", "multiplier: 16 lanes", "IMAD, DP4A"),
];

fn multiprocessor() -> String {
    const QUARTERS: usize = 4;
    let all = WIDTH - 2.0 * EDGE;
    let wide = (all - 3.0 * GAP) / QUARTERS as f64;
    let left = |quarter: usize| EDGE + quarter as f64 * (wide + GAP);
    let down = |row: usize| EDGE + LINE + GAP + row as f64 * 56.0;
    let shared = down(QUARTER.len()) + 4.0;
    let banks = shared + LINE + GAP + 22.0;
    let bank = all / 32.0;
    let content = html! {
        (named("k4", (EDGE, EDGE), all, ("instruction cache; constant bank: one operand for all lanes, without a load", "")))
        @for quarter in 0..QUARTERS {
            @for (row, (class, name, small)) in QUARTER.iter().enumerate() {
                (named(class, (left(quarter), down(row)), wide, (name, small)))
            }
        }
        (named("k3", (EDGE, shared), all, ("loads, stores and shuffles (LSU): 32 lanes per cycle for all four quarters", "")))
        (svg::text("label small", (EDGE, banks - 7.0), "shared memory and L1 cache, 256 KiB in 32 banks; each bank delivers one 32-bit word per cycle"))
        @for i in 0..32 {
            @let at = EDGE + f64::from(i) * bank;
            (svg::bar("cell k5", (at, banks), (bank, 30.0)))
            (svg::text("label small at-middle", (at + bank / 2.0, banks + 19.0), i))
        }
    };
    let describe = "Four quarters, each with a scheduler, registers, a pipe for logic and a pipe for products; below them \
                    one pipe for loads and 32 banks of shared memory, which all quarters share.";
    file(("A multiprocessor of an H100 or H200", describe), banks + 30.0 + EDGE, &content)
}

/// A memory: colour, name, who has it, how large it is, and what it brings.
type Memory = (&'static str, &'static str, &'static str, &'static str, &'static str);

const MEMORIES: [Memory; 6] = [
    ("k4", "registers", "of a thread", "65,536 words, 256 KiB", "operands of every instruction"),
    ("k5", "shared memory", "of a thread block", "up to 228 KiB", "128 bytes per cycle"),
    ("k4", "constant bank", "of a launch, read only", "64 KiB", "one word for all lanes, no load"),
    ("k1", "L2 cache", "of the card", "50 MB", ""),
    ("k0", "device memory", "of the card", "141 GB", "4,800 GB/s: 18 bytes per cycle"),
    ("k2", "host memory", "of the CPU, over the bus", "", "64 GB/s each way: 0.24 bytes per cycle"),
];

fn memories() -> String {
    const HIGH: f64 = 48.0;
    const STEP: f64 = HIGH + 12.0;
    let places = [EDGE + 14.0, 178.0, 340.0, 724.0 - 2.0 * EDGE];
    let row = |i: usize, &(class, name, whose, size, rate): &Memory| {
        let y = EDGE + 24.0 + i as f64 * STEP;
        html! {
            (svg::bar(&format!("cell {class}"), (EDGE, y), (WIDTH - 2.0 * EDGE, HIGH)))
            (svg::text("label", (places[0], y + 29.0), name))
            (svg::text("label small", (places[1], y + 29.0), whose))
            (svg::text("label small", (places[2], y + 29.0), size))
            (svg::text("label small at-end", (places[3], y + 29.0), rate))
        }
    };
    let heads = ["memory", "whose", "size", "rate for one multiprocessor"];
    let content = html! {
        @for (i, head) in heads.iter().enumerate() {
            (svg::text(if i == 3 { "small at-end" } else { "small" }, (places[i], EDGE + 12.0), head))
        }
        @for (i, memory) in MEMORIES.iter().enumerate() { (row(i, memory)) }
    };
    let describe = "From the registers of a thread to the memory of the host, with sizes and with the bytes that each \
                    brings to a multiprocessor in a cycle.";
    let height = EDGE + 24.0 + MEMORIES.len() as f64 * STEP;
    file(("The memories of an H200, the fastest first", describe), height, &content)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rates of the data sheets, for one of 132 multiprocessors at 1.98 GHz.
    #[test]
    fn bytes_per_cycle_are_those_of_the_data_sheets() {
        let cycles = 132.0 * 1.98;
        let stands = |bytes: String| {
            MEMORIES.iter().any(|memory| memory.4.contains(&format!(" {bytes} bytes")))
        };
        assert!(stands(format!("{:.0}", 4800.0 / cycles)));
        assert!(stands(format!("{:.2}", 64.0 / cycles)));
    }

    /// A letter of 12 pixels is 6.4 wide, one of 14 is 7.2.
    #[test]
    fn no_text_is_wider_than_its_box() {
        let quarter = (WIDTH - 2.0 * EDGE - 3.0 * GAP) / 4.0;
        for (_, name, small) in QUARTER {
            assert!(
                7.2 * name.len() as f64 <= quarter && 6.4 * small.len() as f64 <= quarter,
                "{name}: {small}"
            );
        }
        for (_, name, whose, size, rate) in MEMORIES {
            assert!(28.0 + 7.2 * name.len() as f64 <= 178.0, "{name}");
            assert!(178.0 + 6.4 * whose.len() as f64 <= 340.0, "{whose}");
            assert!(340.0 + 6.4 * (size.len() + rate.len()) as f64 <= 696.0, "{size} {rate}");
        }
    }
}
