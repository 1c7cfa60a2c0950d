//! Linear layers with few XOR gates: the greedy method of Boyar and Peralta with exact distances.
//!
//! A layer is a matrix over GF(2), one mask of inputs a row. The distance of a row is the least
//! number of wires that sum to it; each step adds the sum of two wires that brings the rows
//! nearest, cancellation included. For few inputs the distance of *every* vector fits in a table
//! which one new wire updates exactly, so nothing is estimated. A layer with many inputs and few
//! rows is solved as its transpose, turned round gate by gate: the costs differ by a constant.

use crate::Error;
use crate::random::SplitMix64;

/// The table of distances has two to this many entries.
const MAXIMUM_WIDTH: usize = 16;

/// A straight-line program of XOR gates. Wires are the inputs, then one a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearProgram {
    /// Number of inputs.
    pub inputs: usize,
    /// The two operands of each gate.
    pub gates: Vec<(usize, usize)>,
    /// The wire of each row; `None` for a row of zeros.
    pub outputs: Vec<Option<usize>>,
}

impl LinearProgram {
    /// The matrix that the program computes, one mask of inputs a row.
    #[must_use]
    pub fn matrix(&self) -> Vec<u32> {
        let mut masks: Vec<u32> = (0..self.inputs).map(|input| 1 << input).collect();
        for &(a, b) in &self.gates {
            masks.push(masks[a] ^ masks[b]);
        }
        self.outputs.iter().map(|output| output.map_or(0, |wire| masks[wire])).collect()
    }

    /// The program of the transposed matrix: every gate turned round, every fan-out a sum.
    fn transpose(&self) -> Self {
        let inputs = self.outputs.len();
        let mut gates = Vec::new();
        // What flows backwards into each wire of `self`, as a wire of the result.
        let mut sums: Vec<Option<usize>> = vec![None; self.inputs + self.gates.len()];
        let mut add = |sums: &mut Vec<Option<usize>>, wire: usize, term: usize| {
            sums[wire] = Some(match sums[wire] {
                None => term,
                Some(sum) => {
                    gates.push((sum, term));
                    inputs + gates.len() - 1
                }
            });
        };
        for (row, output) in self.outputs.iter().enumerate() {
            if let Some(wire) = *output {
                add(&mut sums, wire, row);
            }
        }
        for (index, &(a, b)) in self.gates.iter().enumerate().rev() {
            if let Some(term) = sums[self.inputs + index] {
                add(&mut sums, a, term);
                add(&mut sums, b, term);
            }
        }
        sums.truncate(self.inputs);
        Self { inputs, gates, outputs: sums }
    }
}

/// A program with few gates for a matrix of `inputs` columns, each row a mask of inputs: the best
/// of `attempts` greedy runs whose ties are broken by `seed`.
///
/// # Errors
/// [`Error::Shape`] when both inputs and rows are more than 16, inputs are more than 32, or a row
/// names an input that does not exist.
pub fn minimise(
    inputs: usize,
    rows: &[u32],
    attempts: u32,
    seed: u64,
) -> Result<LinearProgram, Error> {
    let outside = |&row: &u32| inputs < 32 && row >> inputs != 0;
    if inputs > 32 || rows.len().min(inputs) > MAXIMUM_WIDTH || rows.iter().any(outside) {
        return Err(Error::Shape(format!(
            "a linear layer of {inputs} inputs and {} rows",
            rows.len()
        )));
    }
    if inputs <= MAXIMUM_WIDTH {
        return Ok(best_greedy(inputs, rows, attempts, seed));
    }
    let column = |input: usize| {
        rows.iter().zip(0..).fold(0, |sum, (row, bit)| sum | (row >> input & 1) << bit)
    };
    let columns: Vec<u32> = (0..inputs).map(column).collect();
    Ok(best_greedy(rows.len(), &columns, attempts, seed).transpose())
}

fn best_greedy(inputs: usize, rows: &[u32], attempts: u32, seed: u64) -> LinearProgram {
    let mut random = SplitMix64::new(seed);
    let mut best = Greedy::run(inputs, rows, &mut random);
    for _ in 1..attempts {
        let next = Greedy::run(inputs, rows, &mut random);
        if next.gates.len() < best.gates.len() {
            best = next;
        }
    }
    best
}

/// One greedy run.
struct Greedy {
    /// The mask of each wire.
    wires: Vec<u32>,
    gates: Vec<(usize, usize)>,
    /// For each vector, the least number of wires that sum to it.
    distances: Vec<u8>,
    /// The rows that no wire holds yet.
    missing: Vec<u32>,
}

impl Greedy {
    fn run(inputs: usize, rows: &[u32], random: &mut SplitMix64) -> LinearProgram {
        let distances: Vec<u8> =
            (0..1u32 << inputs).map(|vector| vector.count_ones() as u8).collect();
        let mut missing: Vec<u32> =
            rows.iter().copied().filter(|row| row.count_ones() > 1).collect();
        missing.sort_unstable();
        missing.dedup();
        let wires = (0..inputs).map(|input| 1 << input).collect();
        let mut greedy = Self { wires, gates: Vec::new(), distances, missing };
        while !greedy.missing.is_empty() {
            let (a, b) = greedy.choose(random);
            greedy.add(a, b);
        }
        let Self { wires, gates, .. } = greedy;
        let find = |row: &u32| wires.iter().position(|wire| wire == row);
        LinearProgram { inputs, outputs: rows.iter().map(find).collect(), gates }
    }

    /// The pair whose sum brings the rows nearest: least sum of distances, then the greatest sum of
    /// squares, then by lot. One time in eight the second rule is left out, to see more programs.
    fn choose(&self, random: &mut SplitMix64) -> (usize, usize) {
        let by_lot = random.below(8) == 0;
        let mut best = ((u32::MAX, 0), (0, 0));
        let mut ties = 0;
        for b in 1..self.wires.len() {
            for a in 0..b {
                let sum = self.wires[a] ^ self.wires[b];
                let (near, spread) = self.distance_after(sum);
                // A row one gate away costs that gate in any program, so it is taken at once.
                let near = if self.missing.contains(&sum) { 0 } else { near };
                let key = (near, if by_lot { 0 } else { u32::MAX - spread });
                if key < best.0 {
                    (best, ties) = ((key, (a, b)), 1);
                } else if key == best.0 {
                    ties += 1;
                    if random.below(ties) == 0 {
                        best.1 = (a, b);
                    }
                }
            }
        }
        best.1
    }

    /// Sum and sum of squares of the rows' distances, once `sum` is a wire.
    fn distance_after(&self, sum: u32) -> (u32, u32) {
        let each = self.missing.iter().map(|&row| {
            let through = self.distances[(row ^ sum) as usize] + 1;
            u32::from(self.distances[row as usize].min(through))
        });
        each.fold((0, 0), |(total, squares), distance| {
            (total + distance, squares + distance * distance)
        })
    }

    fn add(&mut self, a: usize, b: usize) {
        let sum = self.wires[a] ^ self.wires[b];
        self.wires.push(sum);
        self.gates.push((a, b));
        // A least sum uses the new wire once or not at all, so each pair of vectors settles itself.
        for vector in 0..self.distances.len() {
            let partner = vector ^ sum as usize;
            if vector < partner {
                let (one, other) = (self.distances[vector], self.distances[partner]);
                self.distances[vector] = one.min(other + 1);
                self.distances[partner] = other.min(one + 1);
            }
        }
        self.missing.retain(|&row| row != sum);
    }
}
