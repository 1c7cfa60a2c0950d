//! Controls: things made wrong in every kind of place, each of which must be refuted. What proves everything proves
//! nothing.

use anyhow::{Context, Result, ensure};
use lanecrypt_circuit::{
    Gate, Wire,
    graph::{self, Graph},
};
use lanecrypt_slicing::record::{Node, Part, Plan, Recording, Step};
use rayon::prelude::*;

use crate::{step, subject::Subject, whole};

/// Runs all controls on a cipher's plan and returns what was refuted.
pub(crate) fn run(subject: &Subject, plan: &Plan) -> Result<Vec<&'static str>> {
    let mut refuted = Vec::new();
    for (what, fault) in FAULTS {
        let is_refuted = |step: &Step| -> Result<bool> {
            let standard = subject.step(step.name).context("a step without a standard")?;
            let Some(wrong) = first_wrong(&step.recording, fault) else { return Ok(false) };
            let verdict = step::prove(&wrong, standard);
            ensure!(verdict.is_err(), "{}: {what} made wrong is not refuted", step.name);
            Ok(true)
        };
        let verdicts = plan.steps.par_iter().map(is_refuted).collect::<Result<Vec<bool>>>()?;
        ensure!(verdicts.contains(&true), "no step has {what}");
        refuted.push(what);
    }
    a_wrong_plan(plan)?;
    wrong_keys(subject, plan)?;
    a_wrong_transpose(plan)?;
    refuted.extend(["two names of the plan", "the order of key planes", "a transpose"]);
    Ok(refuted)
}

/// A recording made wrong at its `index`th place, or `None` where there is no such place.
type Fault = fn(&Recording, usize) -> Option<Recording>;

const FAULTS: [(&str, Fault); 4] = [
    ("a gate", wrong_gate),
    ("a wire of a sum", wrong_wire),
    ("a key plane", wrong_key),
    ("two outputs", wrong_outputs),
];

/// The first fault, from the middle on, that random lanes show to be one: not every gate matters for every input.
fn first_wrong(recording: &Recording, fault: Fault) -> Option<Recording> {
    let places = (0..).map_while(|index| fault(recording, index)).count();
    let from_the_middle = (places / 2..places).chain(0..places / 2);
    let mut wrong = from_the_middle.filter_map(|index| fault(recording, index));
    wrong.find(|wrong| differ(recording, wrong))
}

/// Whether random lanes tell two recordings of the same inputs apart.
fn differ(a: &Recording, b: &Recording) -> bool {
    let mut graph = Graph::new();
    let inputs = graph.sources(Node::Input, a.outputs().len());
    let keys = graph.sources(Node::Key, a.keys().max(b.keys()));
    let [a, b] = [a, b].map(|recording| graph.inline(recording, &inputs, &keys));
    let lanes = graph.evaluate_at_random(0);
    a.iter().zip(&b).any(|(&a, &b)| lanes[a] != lanes[b])
}

/// The recording with the `index`th of the nodes that `wrong` has an answer for replaced by that.
fn replace(
    recording: &Recording,
    index: usize,
    wrong: impl Fn(Wire, Node) -> Option<Node>,
) -> Option<Recording> {
    let mut nodes = recording.nodes().to_vec();
    let places =
        nodes.iter().enumerate().filter_map(|(wire, &node)| Some((wire, wrong(wire, node)?)));
    let (wire, node) = places.into_iter().nth(index)?;
    nodes[wire] = node;
    Some(Recording::new(nodes, recording.outputs().to_vec()))
}

/// An `or` for an `and`, an `and` for an `or`, or one entry of a table of three inputs; where there is none of these,
/// an `or` for a sum.
fn wrong_gate(recording: &Recording, index: usize) -> Option<Recording> {
    let is_sum = |table: u8| table == 0x96 || table == 0x69;
    let nonlinear = replace(recording, index, |_, node| match node {
        Node::Gate(Gate::And(a, b)) => Some(Node::Gate(Gate::Or(a, b))),
        Node::Gate(Gate::Or(a, b)) => Some(Node::Gate(Gate::And(a, b))),
        Node::Gate(Gate::Lut(table, operands)) if !is_sum(table) => {
            Some(Node::Gate(Gate::Lut(table ^ 0x08, operands)))
        }
        _ => None,
    });
    nonlinear.or_else(|| {
        replace(recording, index, |_, node| match node {
            Node::Gate(Gate::Xor(a, b)) => Some(Node::Gate(Gate::Or(a, b))),
            _ => None,
        })
    })
}

/// A sum that takes the wire before one of its own.
fn wrong_wire(recording: &Recording, index: usize) -> Option<Recording> {
    let before = |wire: Wire| wire.saturating_sub(1);
    replace(recording, index, |_, node| match node {
        Node::Gate(Gate::Xor(a, b)) => Some(Node::Gate(Gate::Xor(before(a), b))),
        Node::Gate(Gate::Lut(table @ 0x96, [a, b, c])) => {
            Some(Node::Gate(Gate::Lut(table, [before(a), b, c])))
        }
        _ => None,
    })
}

/// The key plane beside the right one.
fn wrong_key(recording: &Recording, index: usize) -> Option<Recording> {
    replace(recording, index, |_, node| match node {
        Node::Key(number) => Some(Node::Key(number ^ 1)),
        _ => None,
    })
}

/// Two outputs exchanged, as a rotation by too many bits would.
fn wrong_outputs(recording: &Recording, index: usize) -> Option<Recording> {
    let mut outputs = recording.outputs().to_vec();
    if index + 1 >= outputs.len() {
        return None;
    }
    outputs.swap(index, index + 1);
    Some(Recording::new(recording.nodes().to_vec(), outputs))
}

/// The first name and the last exchanged in the first step that a whole calls: the plan is then not what was recorded.
fn a_wrong_plan(plan: &Plan) -> Result<()> {
    let mut whole = plan.wholes[0].clone();
    let call = whole.parts.iter_mut().find_map(first_call).context("a whole without steps")?;
    let last = call.len() - 1;
    call.swap(0, last);
    ensure!(graph::check(plan, &whole).is_err(), "a plan with two names exchanged passes");
    Ok(())
}

fn first_call(part: &mut Part) -> Option<&mut Vec<usize>> {
    match part {
        Part::Call { on, .. } => Some(on),
        Part::Repeat { body, .. } => body.iter_mut().find_map(first_call),
        Part::Rename { .. } => None,
    }
}

/// The key planes of the first claim turned by one: the whole is then not the standard's.
fn wrong_keys(subject: &Subject, plan: &Plan) -> Result<()> {
    let mut other = (subject.claims)().remove(0);
    let right = other.key_planes;
    other.key_planes = Box::new(move |model, wires| {
        let mut planes = right(model, wires);
        planes.rotate_left(1);
        planes
    });
    ensure!(whole::prove(subject, plan, &other).is_err(), "keys in another order pass");
    Ok(())
}

/// A transpose whose last exchange is of other bits.
fn a_wrong_transpose(plan: &Plan) -> Result<()> {
    let (load, store) = (Recording::load(plan.planes), Recording::store(plan.planes));
    let mut nodes = load.nodes().to_vec();
    if let Some(Node::Exchange { distance, .. }) = nodes.last_mut() {
        *distance *= 2;
    }
    let wrong = Recording::new(nodes, load.outputs().to_vec());
    let verdict = whole::prove_transposes(plan.planes, &wrong, &store);
    ensure!(verdict.is_err(), "a wrong transpose passes");
    Ok(())
}
