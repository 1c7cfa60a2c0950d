//! Pictures of layouts: which bits of an index say where a bit of a block lies, and how bytes share a
//! word.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// Groups of index bits, the most significant first: a caption and the bits' names.
type Groups = &'static [(&'static str, &'static str)];

/// A picture of index bits, a row for each place where the same bits lie.
struct Layout {
    file: &'static str,
    title: &'static str,
    /// Label, and what index bits say.
    rows: &'static [(&'static str, Groups)],
}

/// Index bits by their letter: what of a block they number, and the colour.
const KINDS: [(char, &str, &str); 5] = [
    ('n', "block", "#cfe3f7"),
    ('k', "block of the thread", "#cfe3f7"),
    ('l', "lane", "#d9ead0"),
    ('i', "byte of the block", "#fbdcb8"),
    ('b', "bit of the byte", "#e4d7f0"),
];

const LAYOUTS: [Layout; 5] = [
    Layout {
        file: "gpu-16-bits.svg",
        title: "Where the bits of 1,024 blocks of 16 bytes lie in a warp",
        rows: &[
            (
                "in memory",
                &[
                    ("block in the warp", "k4 k3 k2 k1 k0"),
                    ("", "l4 l3 l2 l1 l0"),
                    ("byte", "i3 i2 i1 i0"),
                    ("bit", "b2 b1 b0"),
                ],
            ),
            (
                "after the loads",
                &[
                    ("register", "i3 i2 k4 k3 k2 k1 k0"),
                    ("lane", "l4 l3 l2 l1 l0"),
                    ("bit of the register", "i1 i0 b2 b1 b0"),
                ],
            ),
            (
                "planes",
                &[
                    ("register", "i3 i2 i1 i0 b2 b1 b0"),
                    ("lane", "l4 l3 l2 l1 l0"),
                    ("bit of the register", "k4 k3 k2 k1 k0"),
                ],
            ),
        ],
    },
    Layout {
        file: "gpu-8-bits.svg",
        title: "Where the bits of 1,024 blocks of 8 bytes lie in a warp",
        rows: &[
            (
                "in memory",
                &[
                    ("block in the warp", "k4 k3 k2 k1 k0"),
                    ("", "l4 l3 l2 l1 l0"),
                    ("byte", "i2 i1 i0"),
                    ("bit", "b2 b1 b0"),
                ],
            ),
            (
                "after the loads",
                &[
                    ("register", "i2 k4 k3 k2 k1 k0"),
                    ("lane", "l4 l3 l2 l1 l0"),
                    ("bit of the register", "i1 i0 b2 b1 b0"),
                ],
            ),
            (
                "planes",
                &[
                    ("register", "i2 i1 i0 b2 b1 b0"),
                    ("lane", "l4 l3 l2 l1 l0"),
                    ("bit of the register", "k4 k3 k2 k1 k0"),
                ],
            ),
        ],
    },
    Layout {
        file: "cpu-16-bits.svg",
        title: "Where the bits of a batch of blocks of 16 bytes lie, in registers of 512 bits",
        rows: &[
            (
                "in memory",
                &[
                    ("block", "n8 n7 n6 n5 n4 n3 n2 n1 n0"),
                    ("byte", "i3 i2 i1 i0"),
                    ("bit", "b2 b1 b0"),
                ],
            ),
            (
                "by bits, 512",
                &[
                    ("register", "i3 i2 i1 i0 b2 b1 b0"),
                    ("bit of the register", "n8 n7 n6 n5 n4 n3 n2 n1 n0"),
                ],
            ),
            (
                "by bytes, 64",
                &[
                    ("register", "i3 i2 i1 i0"),
                    ("byte of it, in some order", "n5 n4 n3 n2 n1 n0"),
                    ("bit", "b2 b1 b0"),
                ],
            ),
        ],
    },
    Layout {
        file: "cpu-8-bits.svg",
        title: "Where the bits of a batch of blocks of 8 bytes lie, in registers of 512 bits",
        rows: &[
            (
                "in memory",
                &[
                    ("block", "n8 n7 n6 n5 n4 n3 n2 n1 n0"),
                    ("byte", "i2 i1 i0"),
                    ("bit", "b2 b1 b0"),
                ],
            ),
            (
                "by bits, 512",
                &[
                    ("register", "i2 i1 i0 b2 b1 b0"),
                    ("bit of the register", "n8 n7 n6 n5 n4 n3 n2 n1 n0"),
                ],
            ),
            (
                "by bytes, 64",
                &[
                    ("register", "i2 i1 i0"),
                    ("byte of it, in some order", "n5 n4 n3 n2 n1 n0"),
                    ("bit", "b2 b1 b0"),
                ],
            ),
        ],
    },
    Layout {
        file: "bytewise-bits.svg",
        title: "Where the bits of two blocks lie in a warp of the 8-bit form",
        rows: &[
            ("in memory", &[("block", "n0"), ("byte", "i3 i2 i1 i0"), ("bit", "b2 b1 b0")]),
            (
                "in the warp",
                &[("lane", "n0 i3 i2 i1 i0"), ("bit of a register's lowest byte", "b2 b1 b0")],
            ),
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
const LOAD_COLOURS: [&str; LOADS as usize] = ["#cfe3f7", "#d9ead0", "#fbdcb8", "#e4d7f0"];

const LEFT: u32 = 165;
const CELL: u32 = 30;
const STYLE: &str = "<style>\ntext { font: 14px sans-serif; fill: #1a1a1a; }\n\
    .c { font-size: 12px; text-anchor: middle; }\n.b { font-family: monospace; text-anchor: middle; }\n\
    .s { font-size: 10px; }\nrect { stroke: #555555; stroke-width: 1; }\n</style>\n";

/// Every picture as (path, text).
pub(crate) fn pictures(source: &Path) -> BTreeMap<PathBuf, String> {
    let mut pictures = BTreeMap::new();
    let mut add = |file: &str, text: String| pictures.insert(source.join("img").join(file), text);
    for layout in &LAYOUTS {
        add(layout.file, draw(layout));
    }
    add(GAPS.file, draw_strips(&GAPS));
    add(ORDERS.file, draw_orders(&ORDERS));
    pictures
}

/// A picture's start: a light ground, so that it can be read on dark pages.
fn start(title: &str, describe: &str, width: u32, height: u32) -> String {
    format!(
        "<!-- Generated by `cargo xtask book` from book/tool/drawings.rs, do not edit by hand. -->\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\">\n<title>{title}</title>\n<desc>{describe}</desc>\n{STYLE}\
         <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"#fcfcfa\"/>\n",
        width - 1,
        height - 1
    )
}

fn draw(layout: &Layout) -> String {
    let width_of = |groups: &[(&str, &str)]| {
        let cells = groups.iter().map(|group| group.1.split(' ').count() as u32).sum::<u32>();
        cells * CELL + 14 * (groups.len() as u32 - 1)
    };
    let widest = layout.rows.iter().map(|row| width_of(row.1)).max().unwrap_or(0);
    let height = 68 * layout.rows.len() as u32 + 44;
    let describe = layout.rows.iter().map(|(label, groups)| {
        let groups: Vec<_> = groups.iter().map(|group| group.1).collect();
        format!("{label}: {}", groups.join(" | "))
    });
    let describe = describe.collect::<Vec<_>>();
    let mut svg = start(layout.title, &describe.join("; "), LEFT + widest + 14, height);
    let used =
        |letter: char| layout.rows.iter().any(|row| row.1.iter().any(|g| g.1.contains(letter)));
    for (i, (label, groups)) in layout.rows.iter().enumerate() {
        let y = 36 + 68 * i as u32;
        let _ = writeln!(svg, "<text x=\"14\" y=\"{}\">{label}</text>", y + 22);
        let mut x = LEFT;
        for (caption, cells) in *groups {
            let cells: Vec<_> = cells.split(' ').collect();
            let middle = x + cells.len() as u32 * CELL / 2;
            let _ =
                writeln!(svg, "<text class=\"c\" x=\"{middle}\" y=\"{}\">{caption}</text>", y - 6);
            for cell in cells {
                let (letter, number) = cell.split_at(1);
                let kind = KINDS.iter().find(|kind| letter.starts_with(kind.0));
                let colour = kind.map_or("#e6e6e6", |kind| kind.2);
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"34\" fill=\"{colour}\"/><text \
                     class=\"b\" x=\"{}\" y=\"{}\">{letter}<tspan class=\"s\" dy=\"4\">{number}</tspan></text>",
                    x + CELL / 2,
                    y + 22
                );
                x += CELL;
            }
            x += 14;
        }
    }
    let mut x = 14;
    for (_, name, colour) in KINDS.iter().filter(|kind| used(kind.0)) {
        let y = height - 27;
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"14\" height=\"14\" fill=\"{colour}\"/><text x=\"{}\" \
             y=\"{}\">{name}</text>",
            x + 20,
            y + 12
        );
        x += 46 + 7 * name.len() as u32;
    }
    svg + "</svg>\n"
}

fn draw_strips(strips: &Strips) -> String {
    const BIT: u32 = 8;
    let width = LEFT + 64 * BIT + 14;
    let height = 50 * strips.rows.len() as u32 + 44;
    let mut svg = start(strips.title, "A number says of which block a byte is.", width, height);
    for (i, (label, bits, apart, names)) in strips.rows.iter().enumerate() {
        let y = 14 + 50 * i as u32;
        let _ = writeln!(svg, "<text x=\"14\" y=\"{}\">{label}</text>", y + 22);
        // The lowest bit is on the right.
        let right = LEFT + bits * BIT;
        let _ = writeln!(
            svg,
            "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{}\" height=\"34\" fill=\"#e6e6e6\"/>",
            bits * BIT
        );
        for (j, name) in names.iter().enumerate() {
            let x = right - (j as u32 * apart + 8) * BIT;
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"34\" fill=\"#cfe3f7\"/><text class=\"b\" \
                 x=\"{}\" y=\"{}\">{name}</text>",
                8 * BIT,
                x + 4 * BIT,
                y + 22
            );
        }
    }
    let y = height - 27;
    let _ = writeln!(
        svg,
        "<rect x=\"14\" y=\"{y}\" width=\"14\" height=\"14\" fill=\"#cfe3f7\"/><text x=\"34\" y=\"{}\">a byte \
         of a block</text><rect x=\"184\" y=\"{y}\" width=\"14\" height=\"14\" fill=\"#e6e6e6\"/><text \
         x=\"204\" y=\"{}\">gap, into which a carry runs</text>",
        y + 12,
        y + 12
    );
    svg + "</svg>\n"
}

fn draw_orders(orders: &Orders) -> String {
    const WIDE: u32 = 34;
    let blocks = LANES * LOADS;
    let height = 70 * orders.rows.len() as u32 + 44;
    let describe =
        "Blocks in memory, each with the lane that reads it; a colour is one load of all lanes.";
    let mut svg = start(orders.title, describe, LEFT + blocks * WIDE + 14, height);
    for (i, (label, number)) in orders.rows.iter().enumerate() {
        let y = 34 + 70 * i as u32;
        let _ = writeln!(svg, "<text x=\"14\" y=\"{}\">{label}</text>", y + 22);
        for load in 0..LOADS {
            for lane in 0..LANES {
                let x = LEFT + number(lane, load) * WIDE;
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDE}\" height=\"34\" fill=\"{}\"/><text class=\"b\" \
                     x=\"{}\" y=\"{}\">l{lane}</text><text class=\"c\" x=\"{}\" y=\"{}\">{}</text>",
                    LOAD_COLOURS[load as usize],
                    x + WIDE / 2,
                    y + 22,
                    x + WIDE / 2,
                    y - 6,
                    number(lane, load)
                );
            }
        }
    }
    for (load, (name, colour)) in
        ["first load", "second", "third", "fourth"].iter().zip(LOAD_COLOURS).enumerate()
    {
        let (x, y) = (14 + 130 * load, height - 27);
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"14\" height=\"14\" fill=\"{colour}\"/><text x=\"{}\" \
             y=\"{}\">{name}</text>",
            x + 20,
            y + 12
        );
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_row_loses_an_index_bit() {
        for layout in &LAYOUTS {
            let bits = |row: &(&str, Groups)| -> BTreeSet<&'static str> {
                row.1.iter().flat_map(|group| group.1.split(' ')).collect()
            };
            let all = bits(&layout.rows[0]);
            for row in layout.rows {
                // A batch by bytes has fewer blocks.
                let missing: Vec<_> = all.difference(&bits(row)).copied().collect();
                let is_smaller = row.0.contains("64") && missing == ["n6", "n7", "n8"];
                assert!(missing.is_empty() || is_smaller, "{}: {missing:?}", row.0);
                assert!(bits(row).is_subset(&all), "{}", row.0);
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
