//! Examples: published vectors through the models, and keys through the forms' own key schedules. This proves nothing;
//! it shows that a model is the standard, and ties round keys, of which the proofs take any, to keys.

use anyhow::{Context, Result, ensure};
use lanecrypt_circuit::{Wire, graph::Graph};
use lanecrypt_core::Direction;
use lanecrypt_reference::{
    plaintext::PlaintextStream,
    vectors::{Lines, VectorFile},
};
use lanecrypt_slicing::record::{Node, Plan};

use crate::{
    model::Model,
    subject::{Claim, Keys},
};

/// Where the vectors are.
const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/");

/// Runs the blocks of a claim's vectors through its model and key schedule, and returns how many there are.
pub(crate) fn vectors(claim: &Claim, block_bytes: usize) -> Result<usize> {
    let Some(file) = claim.vectors else { return Ok(0) };
    let Lines::Vectors(vectors) = VectorFile::read(format!("{VECTORS}{file}"))?.lines else {
        return Ok(0);
    };
    let mut blocks = Vec::new();
    for line in vectors.iter().filter(|line| line.key.len() == claim.key_bytes) {
        let plaintext = line.pt.as_ref().context("a vector in ECB without its plaintext")?;
        let pairs = plaintext.chunks(block_bytes).zip(line.ct.chunks(block_bytes));
        blocks.extend(pairs.map(|(plain, cipher)| (&line.key[..], plain, cipher)));
    }
    let mut graph = Graph::new();
    let text = graph.sources(Node::Input, 8 * block_bytes);
    let key = graph.sources(Node::Key, 8 * claim.key_bytes);
    let mut model = Model::new(&mut graph);
    let round_keys = (claim.expand)(&mut model, &key);
    let result = (claim.cipher)(&mut model, &text, &round_keys);
    for batch in blocks.chunks(64) {
        let sides = |&(key, plain, cipher)| match claim.direction {
            Direction::Encrypt => (key, plain, cipher),
            Direction::Decrypt => (key, cipher, plain),
        };
        let batch: Vec<(&[u8], &[u8], &[u8])> = batch.iter().map(sides).collect();
        let lanes = graph.evaluate(|node| match node {
            Node::Input(bit) => lanes_of(bit, batch.iter().map(|block| block.1)),
            Node::Key(bit) => lanes_of(bit, batch.iter().map(|block| block.0)),
            _ => 0,
        });
        for (bit, wire) in result.iter().enumerate() {
            let expected = lanes_of(bit, batch.iter().map(|block| block.2));
            let wrong = (lanes[*wire] ^ expected) << (64 - batch.len());
            ensure!(wrong == 0, "{}: bit {bit} of a vector of {file} is wrong", claim.name);
        }
    }
    Ok(blocks.len())
}

/// A bit of each of up to 64 strings of bytes.
fn lanes_of<'a>(bit: usize, bytes: impl Iterator<Item = &'a [u8]>) -> u64 {
    let value = |bytes: &[u8]| u64::from(bytes[bit / 8] >> (bit % 8) & 1);
    bytes.enumerate().fold(0, |lanes, (lane, bytes)| lanes | value(bytes) << lane)
}

/// Keys by lot that [`keys`] tries, beside those that a cipher names.
pub(crate) const KEYS: usize = 8;

/// No key, and each of one bit: they decide a key schedule that is linear.
pub(crate) fn basis(key_bytes: usize) -> Vec<Vec<u8>> {
    let of_one_bit = |bit: usize| {
        let mut key = vec![0; key_bytes];
        key[bit / 8] = 1 << (bit % 8);
        key
    };
    [vec![0; key_bytes]].into_iter().chain((0..8 * key_bytes).map(of_one_bit)).collect()
}

/// All values of every byte, while no two bytes are equal: they decide a key schedule each of whose bytes is made of one.
pub(crate) fn all_bytes(key_bytes: usize) -> Vec<Vec<u8>> {
    let key = |value: u8| {
        (0..key_bytes).map(|i| value.wrapping_add(37u8.wrapping_mul(i as u8))).collect()
    };
    (0..=255).map(key).collect()
}

/// Compares the key planes that a form makes of some keys with those of the standard's key schedule, and returns of how
/// many.
pub(crate) fn keys(plan: &Plan, claim: &Claim, more: Option<Keys>) -> Result<usize> {
    let mut stream = PlaintextStream::new(1);
    let mut keys = vec![vec![0; claim.key_bytes]; KEYS];
    for key in &mut keys {
        stream.fill(key);
    }
    keys.extend(more.map(|keys| keys(claim.key_bytes)).unwrap_or_default());
    keys.chunks(64).try_for_each(|keys| check_keys(plan, claim, keys))?;
    Ok(keys.len())
}

/// [`keys`] of up to 64 keys.
fn check_keys(plan: &Plan, claim: &Claim, keys: &[Vec<u8>]) -> Result<()> {
    let named = &plan.whole(claim.whole).context("a whole that the plan has not")?.recording;
    let mut graph = Graph::new();
    let key = graph.sources(Node::Key, 8 * claim.key_bytes);
    let mut model = Model::new(&mut graph);
    let round_keys = (claim.expand)(&mut model, &key);
    let planes: Vec<Wire> = (claim.key_planes)(&mut model, &round_keys);
    let lanes = graph.evaluate(|node| match node {
        Node::Key(bit) => lanes_of(bit, keys.iter().map(Vec::as_slice)),
        _ => 0,
    });
    for (lane, key) in keys.iter().enumerate() {
        let recorded = (claim.recorded)(key, claim.direction);
        let recorded = recorded.context("keys have the cipher's length")?;
        let is_expected = |(named, real): (&Node, &Node)| match *named {
            Node::Key(number) => *real == Node::Constant(lanes[planes[number]] >> lane & 1 == 1),
            _ => named == real,
        };
        let are_equal = recorded.nodes().len() == named.nodes().len()
            && recorded.outputs() == named.outputs()
            && named.nodes().iter().zip(recorded.nodes()).all(is_expected);
        ensure!(are_equal, "{}: the form has other key planes than the standard", claim.name);
    }
    Ok(())
}
