//! Proofs of wholes: a plan with the standard's steps is the standard's cipher, and blocks become planes and back.

use std::collections::HashMap;

use anyhow::{Context, Result, bail, ensure};
use lanecrypt_circuit::graph::{Graph, unroll};
use lanecrypt_slicing::record::{Node, Plan, Recording};

use crate::{
    model::Model,
    normal::Normal,
    subject::{AsStandard, Claim, Subject},
};

/// Proves that a whole of a plan, with each step as the standard has it, is the cipher of the claim: the two have
/// the same normal form, for all blocks and round keys. Returns the nodes of both together.
pub(crate) fn prove(subject: &Subject, plan: &Plan, claim: &Claim) -> Result<usize> {
    let whole = plan.whole(claim.whole);
    let whole = whole.with_context(|| format!("the plan has no whole `{}`", claim.whole))?;
    let mut graph = Graph::new();
    let text = graph.sources(Node::Input, plan.planes);
    let round_keys = graph.sources(Node::Key, claim.key_bits);
    let mut model = Model::new(&mut graph);
    let key_planes = (claim.key_planes)(&mut model, &round_keys);
    let expected = (claim.cipher)(&mut model, &text, &round_keys);
    let made = unroll(&mut graph, &AsStandard { subject, plan }, whole, &text, &key_planes)?;
    let mut normal = Normal::new();
    let [made, expected] = [made, expected].map(|wires| normal.of(&graph, &HashMap::new(), &wires));
    let wrong = made.iter().zip(&expected).filter(|(made, expected)| made != expected).count();
    ensure!(made.len() == expected.len() && wrong == 0, "{wrong} of {} bits differ", made.len());
    Ok(graph.nodes().len())
}

/// Where each bit of a word came from: a bit of the blocks, or a lane of a plane.
type Origins = [Option<usize>; 32];

/// Proves that the way in brings bit `p` of block `i` to lane `i` of plane `p`, and the way out brings it back, by
/// following every bit. The blocks lie one behind the other.
pub(crate) fn prove_transposes(planes: usize, load: &Recording, store: &Recording) -> Result<()> {
    let bit_of = |plane: usize, lane: usize| Some(planes * lane + plane);
    for (plane, origins) in origins(load)?.iter().enumerate() {
        let are_right = origins.iter().enumerate().all(|(lane, bit)| *bit == bit_of(plane, lane));
        ensure!(are_right, "plane {plane} does not have bit {plane} of every block");
    }
    for (word, origins) in origins(store)?.iter().enumerate() {
        for (i, origin) in origins.iter().enumerate() {
            let bit = 32 * word + i;
            let (plane, lane) = (bit % planes, bit / planes);
            ensure!(*origin == Some(32 * plane + lane), "bit {bit} comes from elsewhere");
        }
    }
    Ok(())
}

/// The origins of the outputs' bits. Bit `i` of word `n` of the blocks, or of plane `n`, is number `32n + i`.
fn origins(recording: &Recording) -> Result<Vec<Origins>> {
    let mut words: Vec<Origins> = Vec::new();
    for node in recording.nodes() {
        words.push(match *node {
            Node::Load(number) | Node::Input(number) => {
                core::array::from_fn(|bit| Some(32 * number + bit))
            }
            Node::Exchange { distance, rows: [low, high], is_high } => {
                let (mut low, mut high) = (words[low], words[high]);
                Node::exchange(distance as usize, &mut low, &mut high);
                if is_high { high } else { low }
            }
            Node::Constant(_) => [None; 32],
            other => bail!("{other:?} moves no bits"),
        });
    }
    Ok(recording.outputs().iter().map(|&output| words[output]).collect())
}
