//! Pictures of layouts: which bits of an index say where a bit of a block lies, and how bytes share a
//! word.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use lanecrypt_record::svg;
use maud::{Markup, html};

use crate::generated;

/// Index bits, the most significant first, in groups with a caption.
type Groups<'a> = Vec<(&'a str, Vec<&'a str>)>;

/// A row's label, and its groups.
fn parsed(row: &str) -> (&str, Groups<'_>) {
    let (label, groups) = row.split_once(" = ").expect("a row has a label");
    let parts = groups.split(" | ").map(|group| group.split_once(": ").unwrap_or(("", group)));
    (label, parts.map(|(caption, bits)| (caption, bits.split(' ').collect())).collect())
}

/// A picture of index bits, a row for each place where the same bits lie.
struct Layout {
    file: &'static str,
    title: &'static str,
    kinds: &'static [Kind],
    /// What index bits say: `label = caption: bits | caption: bits`.
    rows: &'static [&'static str],
}

/// Index bits by their letter: what they number, and the colour.
type Kind = (char, &'static str, &'static str);

const KINDS: &[Kind] = &[
    ('n', "block", "k0"),
    ('k', "block of the thread", "k0"),
    ('l', "lane", "k1"),
    ('i', "byte of the block", "k2"),
    ('b', "bit of the byte", "k3"),
];

/// Those of AES, whose state is columns and rows.
const AES: &[Kind] = &[
    ('p', "block", "k0"),
    ('k', "block / 8", "k0"),
    ('g', "block % 8", "k5"),
    ('c', "column", "k1"),
    ('r', "row", "k2"),
    ('b', "bit of the byte", "k3"),
];

const LAYOUTS: [Layout; 8] = [
    Layout {
        file: "gpu-16-bits.svg",
        title: "Where the bits of 1,024 blocks of 16 bytes lie in a warp",
        kinds: KINDS,
        rows: &[
            "in memory = block in the warp: k4 k3 k2 k1 k0 | : l4 l3 l2 l1 l0 | byte: i3 i2 i1 i0 | bit: b2 b1 b0",
            "after the loads = register: i3 i2 k4 k3 k2 k1 k0 | lane: l4 l3 l2 l1 l0 | bit of the register: i1 i0 b2 b1 b0",
            "planes = register: i3 i2 i1 i0 b2 b1 b0 | lane: l4 l3 l2 l1 l0 | bit of the register: k4 k3 k2 k1 k0",
        ],
    },
    Layout {
        file: "gpu-8-bits.svg",
        title: "Where the bits of 1,024 blocks of 8 bytes lie in a warp",
        kinds: KINDS,
        rows: &[
            "in memory = block in the warp: k4 k3 k2 k1 k0 | : l4 l3 l2 l1 l0 | byte: i2 i1 i0 | bit: b2 b1 b0",
            "after the loads = register: i2 k4 k3 k2 k1 k0 | lane: l4 l3 l2 l1 l0 | bit of the register: i1 i0 b2 b1 b0",
            "planes = register: i2 i1 i0 b2 b1 b0 | lane: l4 l3 l2 l1 l0 | bit of the register: k4 k3 k2 k1 k0",
        ],
    },
    Layout {
        file: "cpu-16-bits.svg",
        title: "Where the bits of a batch of blocks of 16 bytes lie, in registers of 512 bits",
        kinds: KINDS,
        rows: &[
            "in memory = block: n8 n7 n6 n5 n4 n3 n2 n1 n0 | byte: i3 i2 i1 i0 | bit: b2 b1 b0",
            "by bits, 512 = register: i3 i2 i1 i0 b2 b1 b0 | bit of the register: n8 n7 n6 n5 n4 n3 n2 n1 n0",
            "by bytes, 64 = register: i3 i2 i1 i0 | byte of it, in some order: n5 n4 n3 n2 n1 n0 | bit: b2 b1 b0",
        ],
    },
    Layout {
        file: "cpu-8-bits.svg",
        title: "Where the bits of a batch of blocks of 8 bytes lie, in registers of 512 bits",
        kinds: KINDS,
        rows: &[
            "in memory = block: n8 n7 n6 n5 n4 n3 n2 n1 n0 | byte: i2 i1 i0 | bit: b2 b1 b0",
            "by bits, 512 = register: i2 i1 i0 b2 b1 b0 | bit of the register: n8 n7 n6 n5 n4 n3 n2 n1 n0",
            "by bytes, 64 = register: i2 i1 i0 | byte of it, in some order: n5 n4 n3 n2 n1 n0 | bit: b2 b1 b0",
        ],
    },
    Layout {
        file: "bytewise-bits.svg",
        title: "Where the bits of two blocks lie in a warp of the 8-bit form",
        kinds: KINDS,
        rows: &[
            "in memory = block: n0 | byte: i3 i2 i1 i0 | bit: b2 b1 b0",
            "in the warp = lane: n0 i3 i2 i1 i0 | bit of a register's lowest byte: b2 b1 b0",
        ],
    },
    Layout {
        file: "aes-compact-bits.svg",
        title: "Where the bits of four blocks lie in eight 64-bit words",
        kinds: AES,
        rows: &[
            "in memory = block: p1 p0 | byte of the block: c1 c0 r1 r0 | bit of the byte: b2 b1 b0",
            "compact state = word: b2 b1 b0 | bit of the word: p1 p0 c1 c0 r1 r0",
        ],
    },
    Layout {
        file: "aes-bitslice-bits.svg",
        title: "Where the bits of 256 blocks lie in a warp",
        kinds: AES,
        rows: &[
            "in memory = block in the warp: k4 k3 k2 k1 k0 g2 g1 g0 | byte of the block: c1 c0 r1 r0 | bit of the byte: b2 b1 b0",
            "after the loads = register: k4 k3 k2 k1 k0 | lane: g2 g1 g0 c1 c0 | bit of the register: r1 r0 b2 b1 b0",
            "after the transpose = register (plane): r1 r0 b2 b1 b0 | lane: g2 g1 g0 c1 c0 | bit of the register: k4 k3 k2 k1 k0",
        ],
    },
    Layout {
        file: "aes-table-banks.svg",
        title: "Address bits of a replicated T-table",
        kinds: &[('e', "the byte that is looked up", "k0"), ('l', "number of the lane", "k1")],
        rows: &[
            "one table = entry: e7 e6 e5 e4 e3 e2 e1 e0 | lane = bank: l4 l3 l2 l1 l0 | in a word: 0 0",
        ],
    },
];

/// Strips of a word: what its bits hold, from the lowest on the right.
struct Strips {
    file: &'static str,
    title: &'static str,
    /// Label, bits of the word, bits from one byte to the next, and the names of the bytes.
    rows: &'static [(&'static str, u32, u32, &'static [&'static str])],
}

const GAPS: Strips = Strips {
    file: "byte-gaps.svg",
    title: "Bytes of several blocks in one word",
    rows: &[
        ("u32, side by side", 32, 8, &["0", "1", "2", "3"]),
        ("u32, gaps of 4 bits", 32, 12, &["0", "1", "2"]),
        ("u64, side by side", 64, 8, &["0", "1", "2", "3", "4", "5", "6", "7"]),
        ("u64, gaps of 1 bit", 64, 9, &["0", "1", "2", "3", "4", "5", "6"]),
    ],
};

/// The number of the block that a lane loads first, second and so on.
type Order = fn(lane: u32, load: u32) -> u32;

/// Who reads what in P3's two orders.
struct Orders {
    file: &'static str,
    title: &'static str,
    rows: &'static [(&'static str, Order)],
}

const LANES: u32 = 4;
const LOADS: u32 = 4;
const ORDERS: Orders = Orders {
    file: "coalescing.svg",
    title: "Four lanes that read four blocks each, in P3's two orders",
    rows: &[
        ("uncoalesced", |lane, load| LOADS * lane + load),
        ("coalesced", |lane, load| LANES * load + lane),
    ],
};
/// Of the loads, first to last.
const LOAD_COLOURS: [&str; LOADS as usize] = ["k0", "k1", "k2", "k3"];

// In pixels. Labels stand above their rows, so that pictures are as narrow as they can be, for phones.
const CELL: f64 = 30.0;
/// From one row to the next, and in it from the top to the label, the captions and the boxes.
const ROW: f64 = 90.0;
const LABEL: f64 = 20.0;
const CAPTION: f64 = 40.0;
const BOXES: f64 = 46.0;
/// How high a box is.
const HIGH: f64 = 34.0;
/// How wide a letter of a caption is.
const SMALL_LETTER: f64 = 6.4;
/// Between groups, and at the edge.
const GAP: f64 = 14.0;

/// Every picture as (path, text).
pub(crate) fn pictures(source: &Path) -> BTreeMap<PathBuf, String> {
    let layouts = LAYOUTS.iter().map(|layout| (layout.file, draw(layout)));
    let others = [(GAPS.file, draw_strips(&GAPS)), (ORDERS.file, draw_orders(&ORDERS))];
    let path = |file: &str| source.join("img").join(file);
    layouts.chain(others).map(|(file, text)| (path(file), text)).collect()
}

fn file(title: &str, describe: &str, size: (f64, f64), content: &Markup) -> String {
    generated("book/tool/drawings.rs", &svg::file((title, describe), 0.0, size, content))
}

fn draw(layout: &Layout) -> String {
    let rows: Vec<_> = layout.rows.iter().map(|row| parsed(row)).collect();
    // A caption may be wider than its boxes.
    let ends = rows.iter().flat_map(|(_, groups)| {
        (0..groups.len()).map(|i| {
            let (caption, bits) = &groups[i];
            let (start, boxes) = (start_of(groups, i), bits.len() as f64 * CELL);
            (start + boxes).max(start + boxes / 2.0 + SMALL_LETTER * caption.len() as f64 / 2.0)
        })
    });
    let widest = ends.fold(0.0, f64::max);
    let height = ROW * rows.len() as f64 + 36.0;
    let describe = rows.iter().map(|(label, groups)| {
        let groups: Vec<_> = groups.iter().map(|group| group.1.join(" ")).collect();
        format!("{label}: {}", groups.join(" | "))
    });
    let describe = describe.collect::<Vec<_>>().join("; ");
    let bits = || rows.iter().flat_map(|row| &row.1).flat_map(|group| &group.1);
    let mut x = GAP;
    let keys = layout.kinds.iter().filter(|kind| bits().any(|bit| bit.starts_with(kind.0)));
    let keys = keys.map(|(_, name, colour)| {
        let at = x;
        x += 46.0 + 7.0 * name.len() as f64;
        svg::key(colour, (at, height - 27.0), name)
    });
    let keys: Vec<Markup> = keys.collect();
    let content = html! {
        @for (i, row) in rows.iter().enumerate() { (draw_row(ROW * i as f64, layout.kinds, row)) }
        @for key in keys { (key) }
    };
    file(layout.title, &describe, (widest.max(x) + GAP, height), &content)
}

/// Where a group begins.
fn start_of(groups: &Groups<'_>, i: usize) -> f64 {
    GAP + groups[..i].iter().map(|group| group.1.len() as f64 * CELL + GAP).sum::<f64>()
}

fn draw_row(y: f64, kinds: &[Kind], (label, groups): &(&str, Groups<'_>)) -> Markup {
    html! {
        (svg::text("label", (GAP, y + LABEL), label))
        @for (i, (caption, bits)) in groups.iter().enumerate() {
            @let x = start_of(groups, i);
            (svg::text("label small at-middle", (x + bits.len() as f64 * CELL / 2.0, y + CAPTION), caption))
            @for (j, bit) in bits.iter().enumerate() {
                @let (letter, number) = bit.split_at(1);
                @let kind = kinds.iter().find(|kind| letter.starts_with(kind.0));
                @let text = html! { (letter) tspan class="index" dy="4" { (number) } };
                (svg::cell(kind.map_or("k4", |kind| kind.2), (x + j as f64 * CELL, y + BOXES), (CELL, HIGH), text))
            }
        }
    }
}

fn draw_strips(strips: &Strips) -> String {
    const BIT: f64 = 8.0;
    /// No captions here.
    const PITCH: f64 = ROW - 16.0;
    let height = PITCH * strips.rows.len() as f64 + 40.0;
    let content = html! {
        @for (i, &(label, bits, apart, names)) in strips.rows.iter().enumerate() {
            @let (y, wide) = (PITCH * i as f64, f64::from(bits) * BIT);
            (svg::text("label", (GAP, y + LABEL), label))
            @let y = y + LABEL + 8.0;
            (svg::cell("k4", (GAP, y), (wide, HIGH), ""))
            // The lowest bit is on the right.
            @for (j, name) in names.iter().enumerate() {
                @let x = GAP + wide - f64::from(j as u32 * apart + 8) * BIT;
                (svg::cell("k0", (x, y), (8.0 * BIT, HIGH), name))
            }
        }
        (svg::key("k0", (GAP, height - 27.0), "a byte of a block"))
        (svg::key("k4", (184.0, height - 27.0), "gap, into which a carry runs"))
    };
    let describe = "A number says of which block a byte is.";
    file(strips.title, describe, (GAP + 64.0 * BIT + GAP, height), &content)
}

fn draw_orders(orders: &Orders) -> String {
    let height = ROW * orders.rows.len() as f64 + 36.0;
    let names = ["first load", "second", "third", "fourth"];
    let content = html! {
        @for (i, (label, number)) in orders.rows.iter().enumerate() {
            @let y = ROW * i as f64;
            (svg::text("label", (GAP, y + LABEL), label))
            @for (load, colour) in (0..LOADS).zip(LOAD_COLOURS) {
                @for lane in 0..LANES {
                    @let x = GAP + f64::from(number(lane, load)) * HIGH;
                    (svg::cell(colour, (x, y + BOXES), (HIGH, HIGH), format!("l{lane}")))
                    (svg::text("label small at-middle", (x + HIGH / 2.0, y + CAPTION), number(lane, load)))
                }
            }
        }
        @for (load, (name, colour)) in names.iter().zip(LOAD_COLOURS).enumerate() {
            (svg::key(colour, (GAP + 130.0 * load as f64, height - 27.0), name))
        }
    };
    let describe =
        "Blocks in memory, each with the lane that reads it; a colour is one load of all lanes.";
    let width = GAP + f64::from(LANES * LOADS) * HIGH + GAP;
    file(orders.title, describe, (width, height), &content)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_row_loses_an_index_bit() {
        for layout in &LAYOUTS {
            let bits = |row: &&'static str| -> BTreeSet<&str> {
                parsed(row).1.into_iter().flat_map(|group| group.1).collect()
            };
            let all = bits(&layout.rows[0]);
            for row in layout.rows {
                // A batch by bytes has fewer blocks.
                let missing: Vec<_> = all.difference(&bits(row)).copied().collect();
                let is_smaller = parsed(row).0.contains("64") && missing == ["n6", "n7", "n8"];
                assert!(missing.is_empty() || is_smaller, "{row}: {missing:?}");
                assert!(bits(row).is_subset(&all), "{row}");
            }
        }
    }

    #[test]
    fn bytes_fit_their_word_and_both_orders_read_every_block() {
        for (label, bits, apart, names) in GAPS.rows {
            assert!((names.len() as u32 - 1) * apart + 8 <= *bits, "{label}");
        }
        for (label, number) in ORDERS.rows {
            let read = (0..LANES).flat_map(|lane| (0..LOADS).map(move |load| number(lane, load)));
            assert_eq!(read.collect::<BTreeSet<_>>().len() as u32, LANES * LOADS, "{label}");
        }
    }
}
