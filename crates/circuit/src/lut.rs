//! Three-input lookups: a given circuit as a network of `lop3` / `vpternlog` gates, made small by a
//! seeded random walk.

use crate::Error;
use crate::network::Network;
use crate::program::Program;
use crate::walk::{Rules, Walk};

/// How long to search, and from which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of steps; some thousands run in a second.
    pub steps: u64,
}

/// What a walk over lookups may do.
const RULES: Rules = Rules { arity: 3, vary: false, allowance: 2, chance: 40 };

/// Maps a program to three-input lookups and searches for a small network.
///
/// The result computes the same function; its header names it `name` and carries `notes`.
///
/// # Errors
/// [`Error::Shape`] for more than 8 inputs, or more than 250 wires.
pub fn map(
    program: &Program,
    name: &str,
    notes: &[(&str, &str)],
    effort: Effort,
) -> Result<Program, Error> {
    let wide = program.inputs().len() > 6;
    let map = if wide { map_columns::<4> } else { map_columns::<1> };
    map(program, name, notes, effort)
}

fn map_columns<const N: usize>(
    program: &Program,
    name: &str,
    notes: &[(&str, &str)],
    effort: Effort,
) -> Result<Program, Error> {
    let mut walk = Walk::<N>::new(Network::from_program(program)?, RULES, effort.seed);
    for _ in 0..effort.steps {
        walk.step();
    }
    walk.best.to_program([program.inputs(), program.outputs()], name, notes)
}
