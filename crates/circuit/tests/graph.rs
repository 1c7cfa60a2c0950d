//! Graphs and plans: equal nodes are one, and a plan that is not what was recorded is refused.

use core::ops::Range;

use cipher::consts::U8;
use lanecrypt_circuit::graph::{Graph, check};
use lanecrypt_slicing::{
    BitLanes, BitState, Core, Rounds,
    record::{Gate, Node, Part, Plan, Recording, Step, Whole, call, key, repeat},
};

/// A cipher of two rounds, each of which adds a key plane to all planes but the first.
enum Toy {}

impl Core for Toy {
    type BlockSize = U8;
    type Keys = [u32; 2];
}

impl<I: BitLanes> Rounds<I> for Toy {
    type State = BitState<I::Word, 64>;

    fn run<const G: usize>(keys: &[u32; 2], isa: I, states: &mut [Self::State; G]) {
        for state in states {
            for key in keys {
                round(isa, &mut state.0, *key);
            }
        }
    }
}

fn round<I: BitLanes>(isa: I, planes: &mut [I::Word], key: u32) {
    for plane in &mut planes[1..] {
        *plane ^= isa.splat(key);
    }
}

fn plan(parts: Vec<Part>) -> Plan {
    let recording = Recording::step::<false>(64, |isa, planes| round(isa, planes, key(0)));
    let whole = Recording::ecb::<Toy, false>(&[key(0), key(1)]);
    Plan {
        planes: 64,
        steps: vec![Step { name: "round", recording }],
        wholes: vec![Whole { name: "toy", parts, recording: whole }],
    }
}

const ALL: Range<usize> = 0..64;
const TOO_MANY: Range<usize> = 1..65;

/// What is wrong with a plan of these parts.
fn fault(parts: Vec<Part>) -> String {
    let plan = plan(parts);
    check(&plan, &plan.wholes[0]).expect_err("the plan is wrong").to_string()
}

#[test]
fn a_plan_is_what_was_recorded_or_is_refused() {
    let right = plan(vec![repeat(2, [call("round", [ALL])])]);
    assert!(check(&right, &right.wholes[0]).is_ok_and(|nodes| nodes > 64));
    let turned = || call("round", [1..64, 0..1]);
    assert!(fault(vec![turned(), turned()]).contains("are not those that were recorded"));
    assert!(fault(vec![call("round", [ALL])]).contains("1 key planes are left"));
    assert!(fault(vec![repeat(3, [call("round", [ALL])])]).contains("too few keys"));
    assert!(fault(vec![call("other", [ALL])]).contains("no step `other`"));
    assert!(fault(vec![call("round", [TOO_MANY])]).contains("too few planes"));
}

#[test]
fn equal_nodes_are_one() {
    let mut graph = Graph::new();
    let [a, b] = graph.sources(Node::Input, 2)[..] else { unreachable!() };
    let sum = graph.gate(Gate::Xor(a, b));
    assert_eq!(graph.gate(Gate::Xor(b, a)), sum);
    let lut = graph.gate(Gate::Lut(0x3c, [a, b, b]));
    assert_ne!(lut, sum, "what differs in its text is not compared");
    let lanes = graph.evaluate_at_random(7);
    assert_eq!((lanes[sum], lanes[lut]), (lanes[a] ^ lanes[b], lanes[a] ^ lanes[b]));
}

#[test]
fn every_table_is_evaluated_as_a_word_computes_it() {
    let mut graph = Graph::new();
    let inputs = [0, 1, 2].map(|number| graph.add(Node::Input(number)));
    let luts = [0x96, 0xca, 0xe8, 0x17].map(|table| graph.gate(Gate::Lut(table, inputs)));
    let lanes = graph.evaluate_at_random(1);
    let [a, b, c] = inputs.map(|input| lanes[input]);
    let two_of_three = a & b | c & (a | b);
    let expected = [a ^ b ^ c, a & b | !a & c, two_of_three, !two_of_three];
    assert_eq!(luts.map(|lut| lanes[lut]), expected);
}
