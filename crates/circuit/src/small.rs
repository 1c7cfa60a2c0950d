//! Circuits of small tables that have no structure to build on, as those of DES: constructed by
//! Kwan's method, then made smaller by random walks.

use crate::Error;
use crate::column::Column;
use crate::construct::construct;
use crate::gates;
use crate::lut::Effort;
use crate::network::Network;
use crate::program::Program;
use crate::random::SplitMix64;
use crate::walk::{Rules, Walk};

/// What a circuit is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gates {
    /// And, or, xor and not.
    TwoInput,
    /// Any functions of three bits.
    Lookups,
}

/// Constructions of which a walk starts from the smallest.
const STARTS: usize = 20;

/// A search goes in rounds that take equally many steps. The smallest third of the walks of a round
/// go on in the next, so most steps are spent on what looks best.
const ROUNDS: u32 = 3;

/// Steps between two looks at how many nots a network of two-input gates needs, and the attempts
/// to save nots in such a look.
const LOOK: (u64, u32) = (16, 20);

impl Gates {
    fn rules(self) -> Rules {
        match self {
            Self::TwoInput => Rules { arity: 2, vary: true, allowance: 3, chance: 4 },
            Self::Lookups => Rules { arity: 3, vary: true, allowance: 2, chance: 8 },
        }
    }
}

/// A circuit of `table`, whose entries have `outputs` bits: the smallest that the search comes by.
/// The same effort gives the same circuit on every machine.
///
/// # Errors
/// [`Error::Shape`] for a table whose length is not a power of two from 2 to 64, for outputs that
/// are not 1 to 8, and where an output is a constant.
pub fn search(
    table: &[u8],
    outputs: usize,
    gates: Gates,
    effort: Effort,
    (name, notes): (&str, &[(&str, &str)]),
) -> Result<Program, Error> {
    let fits = (2..=64).contains(&table.len()) && (1..=8).contains(&outputs);
    if !fits || !table.len().is_power_of_two() {
        let shape = format!("no search for {} entries of {outputs} bits", table.len());
        return Err(Error::Shape(shape));
    }
    let inputs = table.len().trailing_zeros() as usize;
    let targets = columns_of(table, outputs);
    // Two-input gates make none, and what lookups are searched for is the same.
    if targets.iter().any(|column| [[0], [u64::MAX]].contains(column)) {
        return Err(Error::Shape(format!("{name}: an output is a constant")));
    }
    let mut random = SplitMix64::new(effort.seed);
    let count = 3usize.pow(ROUNDS - 1);
    let mut heats: Vec<Heat> =
        (0..count).map(|_| Heat::new(inputs, &targets, gates, random.next())).collect();
    loop {
        let steps = effort.steps / u64::from(ROUNDS) / heats.len() as u64;
        for heat in &mut heats {
            heat.run(steps);
        }
        heats.sort_by_key(|heat| heat.gates);
        if heats.len() == 1 {
            break;
        }
        heats.truncate(heats.len() / 3);
    }
    let names = |letter, count| (0..count).map(|index| format!("{letter}{index}")).collect();
    let (x, s): (Vec<String>, Vec<String>) = (names('x', inputs), names('s', outputs));
    let best = &heats[0].best;
    match gates {
        Gates::Lookups => best.to_program([&x, &s], name, notes),
        Gates::TwoInput => gates::to_program(best, [&x, &s], &mut random, name, notes),
    }
}

/// A walk with the smallest network that it came by, of gates as they are counted in the end.
struct Heat {
    walk: Walk<1>,
    random: SplitMix64,
    kind: Gates,
    best: Network<1>,
    /// Gates of `best`; for two-input gates with nots, so that it need not be one of the smallest
    /// networks.
    gates: usize,
}

impl Heat {
    fn new(inputs: usize, targets: &[Column<1>], kind: Gates, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut best = construct(inputs, targets, kind.rules().arity, &mut random);
        for _ in 1..STARTS {
            let next = construct(inputs, targets, kind.rules().arity, &mut random);
            if next.nodes.len() < best.nodes.len() {
                best = next;
            }
        }
        let walk = Walk::new(best.clone(), kind.rules(), random.next());
        Self { walk, random, kind, best, gates: usize::MAX }
    }

    fn run(&mut self, steps: u64) {
        let (every, attempts) = LOOK;
        for step in 0..steps {
            self.walk.step();
            let current = &self.walk.current;
            if current.nodes.len() >= self.gates {
                continue;
            }
            let gates = match self.kind {
                Gates::Lookups => Some(current.nodes.len()),
                Gates::TwoInput if step % every != 0 => None,
                Gates::TwoInput => gates::count(current, attempts, &mut self.random),
            };
            if let Some(gates) = gates.filter(|&gates| gates < self.gates) {
                (self.best, self.gates) = (current.clone(), gates);
            }
        }
    }
}

/// The columns of the output bits; a table that does not fill a word is repeated, as
/// [`Program::truth_tables`] does.
fn columns_of(table: &[u8], outputs: usize) -> Vec<Column<1>> {
    let bit = |output: usize, input: usize| u64::from(table[input % table.len()] >> output & 1);
    let column = |output| [(0..64).fold(0, |sum, input| sum | bit(output, input) << input)];
    (0..outputs).map(column).collect()
}
