//! Recordings as one graph in which equal nodes are the same, and plans unrolled in it.

use std::collections::HashMap;

use lanecrypt_slicing::record::{Gate, Node, Part, Plan, Recording, Whole, Wire};

use crate::{Error, prove::evaluate_gate, random::SplitMix64};

/// Nodes, of which no two are equal: what is computed twice, in whatever recording, is one wire.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    wires: HashMap<Node, Wire>,
}

impl Graph {
    /// A graph without nodes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The nodes, each of earlier ones; a wire is the number of its node.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The wire of a node, which is added if it is new.
    pub fn add(&mut self, node: Node) -> Wire {
        let node = in_order(node);
        let next = self.nodes.len();
        let wire = *self.wires.entry(node).or_insert(next);
        if wire == next {
            self.nodes.push(node);
        }
        wire
    }

    /// The wire of a gate.
    pub fn gate(&mut self, gate: Gate) -> Wire {
        self.add(Node::Gate(gate))
    }

    /// The inputs from number 0 on, or the key planes.
    pub fn sources(&mut self, source: fn(usize) -> Node, count: usize) -> Vec<Wire> {
        (0..count).map(|number| self.add(source(number))).collect()
    }

    /// 64 lanes of every wire, from those that `source` gives for nodes that are neither gates nor constants.
    pub fn evaluate(&self, mut source: impl FnMut(Node) -> u64) -> Vec<u64> {
        let mut lanes: Vec<u64> = Vec::with_capacity(self.nodes.len());
        for &node in &self.nodes {
            let value = match node {
                Node::Constant(is_set) => u64::from(is_set).wrapping_neg(),
                Node::Gate(gate) => evaluate_gate(gate, |wire| lanes[wire]),
                _ => source(node),
            };
            lanes.push(value);
        }
        lanes
    }

    /// The same, from sources by lot.
    #[must_use]
    pub fn evaluate_at_random(&self, seed: u64) -> Vec<u64> {
        self.evaluate_by_lot(seed, |_, lanes| lanes)
    }

    /// The same, from sources by lot of which `change` makes others.
    pub fn evaluate_by_lot(&self, seed: u64, change: impl Fn(Node, u64) -> u64) -> Vec<u64> {
        let mut random = SplitMix64::new(seed);
        self.evaluate(|node| change(node, random.next()))
    }

    /// Whether each wire is one of these, or one that they depend on.
    #[must_use]
    pub fn cone(&self, wires: &[Wire]) -> Vec<bool> {
        let mut is_in = vec![false; self.nodes.len()];
        for &wire in wires {
            is_in[wire] = true;
        }
        for (wire, &node) in self.nodes.iter().enumerate().rev() {
            if is_in[wire] {
                for operand in operands(node) {
                    is_in[operand] = true;
                }
            }
        }
        is_in
    }

    /// What a recording makes of these inputs and key planes, of which it has no more.
    ///
    /// # Panics
    /// If it has more.
    pub fn inline(&mut self, recording: &Recording, inputs: &[Wire], keys: &[Wire]) -> Vec<Wire> {
        let mut wires = Vec::with_capacity(recording.nodes().len());
        for &node in recording.nodes() {
            let wire = match node {
                Node::Input(number) => inputs[number],
                Node::Key(number) => keys[number],
                _ => self.add(node.map(|operand| wires[operand])),
            };
            wires.push(wire);
        }
        recording.outputs().iter().map(|&output| wires[output]).collect()
    }
}

/// The node with operands in order, where their order does not matter.
fn in_order(node: Node) -> Node {
    let Node::Gate(gate) = node else {
        return node;
    };
    Node::Gate(match gate {
        Gate::Xor(a, b) => Gate::Xor(a.min(b), a.max(b)),
        Gate::And(a, b) => Gate::And(a.min(b), a.max(b)),
        Gate::Or(a, b) => Gate::Or(a.min(b), a.max(b)),
        Gate::Not(_) | Gate::Lut(..) => gate,
    })
}

/// The wires that a node reads.
#[must_use]
pub fn operands(node: Node) -> Vec<Wire> {
    match node {
        Node::Exchange { rows, .. } => rows.to_vec(),
        Node::Gate(Gate::Xor(a, b) | Gate::And(a, b) | Gate::Or(a, b)) => vec![a, b],
        Node::Gate(Gate::Not(a)) => vec![a],
        Node::Gate(Gate::Lut(_, operands)) => operands.to_vec(),
        _ => Vec::new(),
    }
}

/// What steps make of their planes and key planes.
pub trait Steps {
    /// The key planes that a step takes, or `None` where there is no such step.
    fn keys(&self, step: &str) -> Option<usize>;

    /// What a step of [`keys`](Self::keys) key planes makes of these.
    fn apply(&self, graph: &mut Graph, step: &str, planes: &[Wire], keys: &[Wire]) -> Vec<Wire>;
}

/// The steps as they were recorded.
impl Steps for Plan {
    fn keys(&self, step: &str) -> Option<usize> {
        self.step(step).map(|step| step.recording.keys())
    }

    fn apply(&self, graph: &mut Graph, step: &str, planes: &[Wire], keys: &[Wire]) -> Vec<Wire> {
        let recording = self.step(step).map(|step| &step.recording);
        recording.map_or_else(Vec::new, |recording| graph.inline(recording, planes, keys))
    }
}

/// A whole being unrolled.
struct Unrolling<'a, S> {
    graph: &'a mut Graph,
    steps: &'a S,
    planes: Vec<Wire>,
    /// The key planes that no step has taken yet.
    keys: &'a [Wire],
}

impl<S: Steps> Unrolling<'_, S> {
    fn run(&mut self, parts: &[Part]) -> Result<(), String> {
        for part in parts {
            match part {
                Part::Call { step, on } => self.call(step, on)?,
                Part::Repeat { times, body } => {
                    for _ in 0..*times {
                        self.run(body)?;
                    }
                }
                Part::Rename { from } => self.planes = self.of(from)?,
            }
        }
        Ok(())
    }

    /// The planes of these numbers.
    fn of(&self, numbers: &[usize]) -> Result<Vec<Wire>, String> {
        let plane = |&number: &usize| self.planes.get(number).copied();
        numbers.iter().map(plane).collect::<Option<_>>().ok_or_else(|| "too few planes".to_owned())
    }

    fn call(&mut self, step: &str, on: &[usize]) -> Result<(), String> {
        let count = self.steps.keys(step).ok_or_else(|| format!("there is no step `{step}`"))?;
        let keys = self.keys.split_off(..count).ok_or_else(|| format!("too few keys: {step}"))?;
        let planes = self.of(on)?;
        let images = self.steps.apply(self.graph, step, &planes, keys);
        if images.len() != on.len() {
            return Err(format!("`{step}` has {} planes, not {}", images.len(), on.len()));
        }
        for (&number, image) in on.iter().zip(images) {
            self.planes[number] = image;
        }
        Ok(())
    }
}

/// What a whole makes of planes under key planes, of which none must be left, by these steps.
///
/// # Errors
/// [`Error::Plan`] where parts name what is not there.
pub fn unroll(
    graph: &mut Graph,
    steps: &impl Steps,
    whole: &Whole,
    planes: &[Wire],
    keys: &[Wire],
) -> Result<Vec<Wire>, Error> {
    let error = |what| Error::Plan { whole: whole.name.to_owned(), what };
    let mut unrolling = Unrolling { graph, steps, planes: planes.to_vec(), keys };
    unrolling.run(&whole.parts).map_err(error)?;
    if !unrolling.keys.is_empty() {
        return Err(error(format!("{} key planes are left", unrolling.keys.len())));
    }
    Ok(unrolling.planes)
}

/// Checks that a whole of a plan, unrolled with the recorded steps between the recorded way in and out, is the
/// graph of the batch that was recorded. Returns how many nodes that graph has.
///
/// # Errors
/// [`Error::Plan`] where it is not.
pub fn check(plan: &Plan, whole: &Whole) -> Result<usize, Error> {
    let mut graph = Graph::new();
    let keys = graph.sources(Node::Key, whole.recording.keys());
    let recorded = graph.inline(&whole.recording, &[], &keys);
    let nodes = graph.nodes().len();
    let loaded = graph.inline(&Recording::load(plan.planes), &[], &[]);
    let planes = unroll(&mut graph, plan, whole, &loaded, &keys)?;
    let stored = graph.inline(&Recording::store(plan.planes), &planes, &[]);
    if stored == recorded {
        return Ok(nodes);
    }
    let wrong =
        stored.iter().zip(&recorded).filter(|(stored, recorded)| stored != recorded).count();
    let what = format!("{wrong} of {} words are not those that were recorded", recorded.len());
    Err(Error::Plan { whole: whole.name.to_owned(), what })
}
