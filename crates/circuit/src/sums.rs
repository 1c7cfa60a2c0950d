//! Linear layers in few sums of up to three wires, for words that add three at once.
//!
//! Every row is split into parts of one to three inputs; it is the sum of its parts, and a part that
//! rows share is summed once. So a layer costs one sum per row, and one per different part of more
//! than one input. An annealing over the splits of all rows looks for parts that many rows share. Unlike
//! [`linear::minimise`](crate::linear::minimise) it never cancels, and never sums sums of sums: its
//! programs are two sums deep.

use crate::Error;
use crate::lut::Effort;
use crate::program::{Assembly, Gate, Program, Wire};
use crate::random::SplitMix64;

/// The most inputs of a part, and the most parts of a row.
const WIDTH: usize = 3;

/// The table of a sum of three.
const SUM: u8 = 0x96;

/// A row as parts, masks of inputs whose sum it is.
type Split = Vec<u32>;

/// A program for a matrix of `inputs` columns, each row a mask of inputs that is split into at most
/// `parts` parts. With two parts what is added to a row afterwards is its third summand.
///
/// # Errors
/// [`Error::Shape`] for more than 16 inputs, no rows, or a row that cannot be split so: it is zero,
/// names an input that does not exist, or is too long.
pub fn share(
    (inputs, rows): (usize, &[u32]),
    parts: usize,
    effort: Effort,
    (name, notes): (&str, &[(&str, &str)]),
) -> Result<Program, Error> {
    let shape = || {
        let count = rows.len();
        Error::Shape(format!("{count} rows of {inputs} inputs in {parts} parts of at most {WIDTH}"))
    };
    // Before any row is split: one of more inputs has ways without number.
    if inputs > 16 || rows.is_empty() || rows.iter().any(|row| row >> inputs != 0) {
        return Err(shape());
    }
    let choices: Vec<Vec<Split>> = rows.iter().map(|&row| splits(row, parts.min(WIDTH))).collect();
    if choices.iter().any(Vec::is_empty) {
        return Err(shape());
    }
    let chosen = anneal(&choices, effort);
    let splits: Vec<&Split> = choices.iter().zip(chosen).map(|(all, index)| &all[index]).collect();
    assemble(inputs, &splits, name, notes)
}

/// All ways to split a row into at most `parts` parts; none for a row of zeros.
fn splits(row: u32, parts: usize) -> Vec<Split> {
    if row == 0 || parts == 0 {
        return Vec::new();
    }
    let lowest = row & row.wrapping_neg();
    let others = row ^ lowest;
    let mut all = Vec::new();
    // Every subset of the others, as the rest of the part that has the lowest input.
    let mut subset = others;
    loop {
        let part = lowest | subset;
        if part.count_ones() as usize <= WIDTH {
            match row ^ part {
                0 => all.push(vec![part]),
                rest => all.extend(splits(rest, parts - 1).into_iter().map(|mut split| {
                    split.push(part);
                    split
                })),
            }
        }
        if subset == 0 {
            return all;
        }
        subset = (subset - 1) & others;
    }
}

/// The split of each row that the best state had. Integers decide alone, so that every machine finds
/// the same.
fn anneal(choices: &[Vec<Split>], effort: Effort) -> Vec<usize> {
    let mut random = SplitMix64::new(effort.seed);
    let mut chosen: Vec<usize> = choices.iter().map(|all| random.below(all.len())).collect();
    let mut uses = vec![0_u32; 1 << 16];
    for (all, &index) in choices.iter().zip(&chosen) {
        add(&mut uses, &all[index]);
    }
    let mut cost = uses.iter().filter(|&&uses| uses > 0).count();
    let mut best = (cost, chosen.clone());
    for step in 0..effort.steps {
        let row = random.below(choices.len());
        let (old, new) = (chosen[row], random.below(choices[row].len()));
        let freed = remove(&mut uses, &choices[row][old]);
        let taken = add(&mut uses, &choices[row][new]);
        let changed = cost + taken - freed;
        // A cost of one more is taken one time in 2^cold, of two more in 2^2cold.
        let cold = 2 + 10 * step / effort.steps;
        let worse = changed.saturating_sub(cost);
        if random.below(1 << (cold as usize * worse)) == 0 {
            (cost, chosen[row]) = (changed, new);
        } else {
            remove(&mut uses, &choices[row][new]);
            add(&mut uses, &choices[row][old]);
        }
        if cost < best.0 {
            best = (cost, chosen.clone());
        }
    }
    best.1
}

/// The parts of a split that take a sum.
fn sums(split: &[u32]) -> impl Iterator<Item = usize> {
    split.iter().filter(|part| part.count_ones() > 1).map(|&part| part as usize)
}

/// Counts the parts of a split, and returns how many of them are new.
fn add(uses: &mut [u32], split: &[u32]) -> usize {
    sums(split)
        .filter(|&part| {
            uses[part] += 1;
            uses[part] == 1
        })
        .count()
}

/// The reverse of [`add`]: returns how many parts are gone.
fn remove(uses: &mut [u32], split: &[u32]) -> usize {
    sums(split)
        .filter(|&part| {
            uses[part] -= 1;
            uses[part] == 0
        })
        .count()
}

fn assemble(
    inputs: usize,
    splits: &[&Split],
    name: &str,
    notes: &[(&str, &str)],
) -> Result<Program, Error> {
    let mut parts: Vec<u32> = splits.iter().flat_map(|split| split.iter().copied()).collect();
    parts.retain(|part| part.count_ones() > 1);
    parts.sort_unstable_by_key(|part| part.reverse_bits());
    parts.dedup();
    parts.reverse();
    let single = |part: &u32| part.trailing_zeros() as Wire;
    let wire = |part: &u32| {
        let sum = parts.iter().position(|other| other == part);
        sum.map_or_else(|| single(part), |index| inputs + index)
    };
    let members = |part: &u32| (0..inputs).filter(|input| part >> input & 1 == 1).collect();
    let mut gates: Vec<Gate> = Vec::new();
    gates.extend(parts.iter().map(|part| sum_of(members(part))));
    gates.extend(splits.iter().map(|split| sum_of(split.iter().map(wire).collect())));
    let names = |letter, count| (0..count).map(|i| format!("{letter}{i}")).collect::<Vec<_>>();
    let first = inputs + parts.len();
    let output_wires: Vec<Wire> = (first..first + splits.len()).collect();
    let copy = |wire| Gate::And(wire, wire);
    let (inputs, outputs) = (&names('x', inputs), &names('y', splits.len()));
    let gates = &gates;
    Assembly { inputs, outputs, gates, output_wires: &output_wires, copy }.finish(name, notes)
}

/// The sum of one to three wires.
fn sum_of(mut wires: Vec<Wire>) -> Gate {
    wires.sort_unstable();
    match wires[..] {
        [a, b, c] => Gate::Lut(SUM, [a, b, c]),
        [a, b] => Gate::Xor(a, b),
        _ => Gate::And(wires[0], wires[0]),
    }
}
