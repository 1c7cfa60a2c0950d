//! Proofs of steps: a recording against the model of its standard, for all planes and key planes.
//!
//! Points of the model that a recording has as well (outputs of S-boxes, carries) show in random lanes. Each is put
//! to the solver, from the inputs on, and once it is proved, the recording's wire is the model's. Outputs are then
//! equal by their normal forms, or the solver decides.

use core::{cmp::Ordering, fmt, ops::Range};
use std::{collections::HashMap, iter::Sum};

use anyhow::{Result, anyhow, bail};
use lanecrypt_circuit::{Gate, Wire, graph::Graph};
use lanecrypt_slicing::record::{Node, Recording};

use crate::{
    model::{Model, Points},
    normal::{Normal, Replaced},
    solver::{Example, Known},
};

/// What a standard says that a step is: the new planes, of these planes and key planes.
pub(crate) type Standard = fn(&mut Model<'_>, &[Wire], &[Wire]) -> Vec<Wire>;

/// How a step was proved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Proof {
    /// Wires of the recording that the solver proved equal to points of the model.
    pub(crate) points: usize,
    /// Outputs.
    pub(crate) outputs: usize,
    /// Outputs among them that the solver proved, as normal forms did not show it.
    pub(crate) by_solver: usize,
}

/// Of all together.
impl Sum for Proof {
    fn sum<I: Iterator<Item = Self>>(proofs: I) -> Self {
        proofs.fold(Self::default(), |sum, proof| Self {
            points: sum.points + proof.points,
            outputs: sum.outputs + proof.outputs,
            by_solver: sum.by_solver + proof.by_solver,
        })
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { points, outputs, by_solver } = self;
        write!(
            f,
            "{points} points by the solver, {by_solver} of {outputs} outputs too, else normal forms"
        )
    }
}

/// An output that is wrong for the values of an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refutation {
    pub(crate) output: usize,
    pub(crate) example: Example,
}

/// Words of 64 random lanes: equal by chance in all is what the solver refutes.
const WORDS: u64 = 16;

/// What was recorded and its model in one graph.
pub(crate) struct Comparison {
    graph: Graph,
    recorded: Vec<Wire>,
    expected: Vec<Wire>,
    points: Points,
    /// The numbers of inputs that are a counter's bits, the lowest first.
    counter: Range<usize>,
}

impl Comparison {
    /// Of wires of a graph, and what a model makes of its sources.
    pub(crate) fn new(
        mut graph: Graph,
        recorded: Vec<Wire>,
        standard: impl FnOnce(&mut Model<'_>) -> Vec<Wire>,
    ) -> Self {
        let mut model = Model::new(&mut graph);
        let expected = standard(&mut model);
        let points = model.into_points();
        assert_eq!(recorded.len(), expected.len(), "the model has as many planes");
        Self { graph, recorded, expected, points, counter: 0..0 }
    }

    /// The same with a counter among the inputs, in which numbers are to carry as far as they can.
    pub(crate) fn with_counter(self, counter: Range<usize>) -> Self {
        Self { counter, ..self }
    }

    /// 64 random lanes of every wire. Every other time the lower bits of a counter are set, up to another bit in each
    /// lane, so that carries go as far as they can, which by chance they do not.
    fn lanes(&self, seed: u64) -> Vec<u64> {
        self.graph.evaluate_by_lot(seed, |node, lanes| {
            let Node::Input(number) = node else { return lanes };
            if seed % 2 == 1 || !self.counter.contains(&number) {
                return lanes;
            }
            let bit = (number - self.counter.start) as u64;
            (0..64).fold(lanes, |lanes, lane| {
                let clear = (32 * seed + lane) % (self.counter.len() as u64 + 1);
                let mask = 1 << lane;
                match bit.cmp(&clear) {
                    Ordering::Less => lanes | mask,
                    Ordering::Equal => lanes & !mask,
                    Ordering::Greater => lanes,
                }
            })
        })
    }

    /// The recording's wires that are points of the model, or their complements, for all that normal forms show or the
    /// solver knows; and for how many that took the solver.
    fn proved_points(&self, normal: &mut Normal) -> (Replaced, usize) {
        let samples: Vec<_> = (0..WORDS).map(|seed| self.lanes(seed)).collect();
        // Complements have the same signature: that of the one whose first lane is clear.
        let signature = |wire: Wire| -> (Vec<u64>, bool) {
            let is_turned = samples[0][wire] & 1 == 1;
            let mask = u64::from(is_turned).wrapping_neg();
            (samples.iter().map(|lanes| lanes[wire] ^ mask).collect(), is_turned)
        };
        let mut candidates = HashMap::new();
        for &point in &self.points.all {
            let (signature, is_turned) = signature(point);
            candidates.entry(signature).or_insert((point, is_turned));
        }
        let [in_recording, in_model] =
            [&self.recorded, &self.expected].map(|wires| self.graph.cone(wires));
        let (mut replaced, mut by_solver) = (Replaced::new(), 0);
        for wire in (0..in_recording.len()).filter(|&wire| in_recording[wire] && !in_model[wire]) {
            let (signature, is_turned) = signature(wire);
            let Some(&(point, is_point_turned)) = candidates.get(&signature) else { continue };
            let literal = (point, is_turned != is_point_turned);
            // Sums are equal by their normal forms at once, which of what is no sum grow from S-box to S-box.
            let is_sum = matches!(self.graph.nodes()[point], Node::Gate(Gate::Xor(..)));
            if !(is_sum && normal.are_equal(&self.graph, &replaced, wire, literal)) {
                let known =
                    Known { graph: &self.graph, replaced: &replaced, cuts: &self.points.cuts };
                if known.difference(wire, literal).is_some() {
                    continue;
                }
                by_solver += 1;
            }
            replaced.insert(wire, literal);
            normal.replace(&self.graph, &replaced, wire, literal);
        }
        (replaced, by_solver)
    }

    /// An output that differs from the model's in random lanes.
    fn differs_at_random(&self) -> Option<usize> {
        let lanes = self.lanes(0);
        let mut pairs = self.recorded.iter().zip(&self.expected);
        pairs.position(|(&recorded, &expected)| lanes[recorded] != lanes[expected])
    }

    /// Checks random lanes: the solver could take its time to find where something is wrong.
    pub(crate) fn check_at_random(&self) -> Result<()> {
        match self.differs_at_random() {
            Some(output) => bail!("bit {output} is wrong for random blocks and keys"),
            None => Ok(()),
        }
    }

    /// Random lanes, and then the proof.
    pub(crate) fn check(&self) -> Result<Proof> {
        self.check_at_random()?;
        self.prove().map_err(|refutation| anyhow!("bit {} is wrong", refutation.output))
    }

    /// Proves that what was recorded is what the model says, or finds values for which it is not.
    fn prove(&self) -> Result<Proof, Refutation> {
        let Self { graph, recorded, expected, points, counter: _ } = self;
        let mut normal = Normal::new();
        let (replaced, proved) = self.proved_points(&mut normal);
        let sums = normal.of(graph, &replaced, recorded);
        let expected_sums = normal.of(graph, &replaced, expected);
        let known = Known { graph, replaced: &replaced, cuts: &points.cuts };
        let mut by_solver = 0;
        for output in (0..recorded.len()).filter(|&output| sums[output] != expected_sums[output]) {
            if let Some(example) = known.difference(recorded[output], (expected[output], false)) {
                let lanes = graph.evaluate(|node| u64::from(example.get(&node) == Some(&true)));
                let differs = (lanes[recorded[output]] ^ lanes[expected[output]]) & 1 == 1;
                assert!(differs, "an example shows the difference");
                return Err(Refutation { output, example });
            }
            by_solver += 1;
        }
        Ok(Proof { points: proved, outputs: recorded.len(), by_solver })
    }
}

/// Proves that a recorded step is what the standard says, or finds values for which it is not.
pub(crate) fn prove(recording: &Recording, standard: Standard) -> Result<Proof, Refutation> {
    let mut graph = Graph::new();
    let inputs = graph.sources(Node::Input, recording.outputs().len());
    let keys = graph.sources(Node::Key, recording.keys());
    let recorded = graph.inline(recording, &inputs, &keys);
    Comparison::new(graph, recorded, |model| standard(model, &inputs, &keys)).prove()
}
