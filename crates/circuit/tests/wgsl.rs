//! The writers of WGSL and of rounds in CUDA C++: what they make of a small plan, and what they refuse. That kernels
//! compute their ciphers, devices show.

use core::ops::Range;

use cipher::consts::U8;
use lanecrypt_circuit::{
    KernelRounds, emit_rounds, emit_wgsl, graph::Graph, identifier, in_lookups,
};
use lanecrypt_slicing::{
    BitLanes, BitState, Core, Rounds, Word,
    record::{
        Gate, Node, Part, Plan, Plane, Recorder, Recording, Step, Whole, call, key, key_bytes,
        rename, repeat,
    },
};

/// A cipher of two rounds, each of which adds eight key planes to eight planes.
enum Toy {}

impl Core for Toy {
    type BlockSize = U8;
    type Keys = [[u32; 8]; 2];
}

impl<I: BitLanes> Rounds<I> for Toy {
    type State = BitState<I::Word, 64>;

    fn run<const G: usize>(keys: &[[u32; 8]; 2], isa: I, states: &mut [Self::State; G]) {
        for state in states {
            for keys in keys {
                round(isa, &mut state.0, keys);
            }
        }
    }
}

fn round<I: BitLanes>(isa: I, planes: &mut [I::Word], keys: &[u32]) {
    for (plane, key) in planes.iter_mut().zip(keys) {
        *plane ^= isa.splat(*key);
    }
}

const KEYS: [u32; 8] = [key(0), key(1), key(2), key(3), key(4), key(5), key(6), key(7)];
const ALL: Range<usize> = 0..64;

fn plan<const TERNARY: bool>(
    parts: Vec<Part>,
    work: impl FnOnce(Recorder<TERNARY>, &mut [Plane<TERNARY>]),
) -> Plan {
    let recording = Recording::step::<TERNARY>(64, work);
    let whole = Recording::ecb::<Toy, false>(&key_bytes(0));
    Plan {
        planes: 64,
        steps: vec![Step { name: "round", recording }],
        wholes: vec![Whole { name: "toy, of 2 rounds", parts, recording: whole }],
    }
}

/// The kernels of the toy, made of these parts.
fn kernels_of(parts: Vec<Part>, calls: usize) -> String {
    let plan = plan::<false>(parts, |isa, planes| round(isa, planes, &KEYS));
    emit_wgsl("toy", &plan, calls).expect("the plan is right")
}

fn two_rounds() -> Vec<Part> {
    vec![repeat(2, [call("round", [ALL])])]
}

#[test]
fn a_plan_is_functions_loops_and_kernels() {
    let text = kernels_of(two_rounds(), 0);
    for part in [
        "fn slice(p: Planes64, key: u32) -> Planes64 {",
        "fn step_round(p: Planes64, key: u32) -> Planes8 {",
        " = p.p3 ^ keys[key + 0u].w;",
        "fn whole_toy_of_2_rounds(p: Planes64) -> Planes64 {",
        "for (var i0 = 0u; i0 < 2u; i0 += 1u) {",
        "key += 2u; }",
        "fn ecb_toy_of_2_rounds(",
        "fn ctr_toy_of_2_rounds(",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(text.lines().all(|line| line.len() <= 120), "lines are short");
    assert_eq!(text.matches('{').count(), text.matches('}').count());
}

#[test]
fn what_was_not_recorded_is_refused() {
    let fault = |plan: &Plan| emit_wgsl("toy", plan, 1).expect_err("it is wrong").to_string();
    let three = vec![repeat(3, [call("round", [ALL])])];
    assert!(
        fault(&plan::<false>(three, |isa, planes| round(isa, planes, &KEYS)))
            .contains("too few keys")
    );
    let mut turned = two_rounds();
    turned.push(rename([1..64, 0..1]));
    let turned = plan::<false>(turned, |isa, planes| round(isa, planes, &KEYS));
    assert!(fault(&turned).contains("are not those that were recorded"));
    let three_keys = plan::<false>(two_rounds(), |isa, planes| round(isa, planes, &KEYS[..3]));
    assert!(fault(&three_keys).contains("no multiple of 4"));
    let with_lane_bit = plan::<false>(two_rounds(), |isa, planes| planes[0] = isa.lane_bit(0));
    assert!(fault(&with_lane_bit).contains("no text in WGSL"));
    let of_32_bits = Plan { planes: 32, steps: Vec::new(), wholes: Vec::new() };
    assert!(emit_wgsl("toy", &of_32_bits, 1).is_err());
}

#[test]
fn three_inputs_are_covered_by_an_expression() {
    let step = Recording::step::<true>(64, |_, planes| {
        planes[0] = Word::lut3::<0xe8>(planes[1], planes[2], planes[3]) & planes[1];
    });
    let steps = vec![Step { name: "it", recording: step }];
    let text = emit_wgsl("toy", &Plan { planes: 64, steps, wholes: Vec::new() }, 1);
    let text = text.expect("it has text");
    let (_, step) = text.split_once("fn step_it(").expect("the step is there");
    let (step, _) = step.split_once('}').expect("it ends");
    assert_eq!(step.matches("let ").count(), 1, "{step}");
    assert!(step.contains(" = (p.p3 | p.p2) & p.p1;"), "{step}");
}

/// Whether a text has these parts in this order.
fn has_in_order(text: &str, parts: &[&str]) -> bool {
    let rest = parts.iter().try_fold(text, |rest, part| Some(rest.split_once(part)?.1));
    rest.is_some()
}

#[test]
fn loops_are_rolled_and_end_in_the_middle() {
    let calls = |text: &str| text.matches("step_round(Planes64(").count();
    // Names of planes that a round leaves alone are exchanged.
    let turned = || call("round", [0..8, 16..24, 8..16, 24..64]);
    let two = || repeat(1, [call("round", [ALL]), turned()]);
    let head = "for (var i0 = 0u; i0 < 1u; i0 += 1u) {";
    let written_out = kernels_of(vec![two()], 2);
    assert!(has_in_order(&written_out, &[head, "key += 2u; }", "key += 2u; }", "\n    }"]));
    assert_eq!(calls(&written_out), 2);
    let rolled = kernels_of(vec![two()], 1);
    let head = "for (var i0 = 0u; i0 < 2u; i0 += 1u) {";
    let names = ["let t8 = x16;", "let t16 = x8;", "x8 = t8;", "x16 = t16;"];
    let parts = [&[head, "key += 2u; }"][..], &names, &["\n    }"]].concat();
    assert!(has_in_order(&rolled, &parts), "{rolled}");
    assert_eq!(calls(&rolled), 1);
    // Once more behind a loop is half a pass more.
    let and_a_half = kernels_of(vec![repeat(1, [call("round", [ALL])]), call("round", [ALL])], 1);
    let head = "for (var i0 = 0u; ; i0 += 1u) {";
    let parts = [head, "key += 2u; }", "if i0 == 1u { break; }", "\n    }"];
    assert!(has_in_order(&and_a_half, &parts), "{and_a_half}");
    assert_eq!(calls(&and_a_half), 1);
}

/// The rounds of the toy, made of these parts beside a whole of other ones.
fn rounds_of(parts: Vec<Part>, other: Vec<Part>) -> String {
    let mut plan = plan::<true>(parts, |isa, planes| round(isa, planes, &KEYS));
    plan.wholes.push(Whole { name: "other", parts: other, ..plan.wholes[0].clone() });
    let functions = &[("toy_rounds", "toy, of 2 rounds")];
    let text = emit_rounds("toy", &plan, KernelRounds { functions, calls: 1 });
    text.expect("the plan is right")
}

#[test]
fn rounds_are_functions_and_loops() {
    let call = || call("round", [ALL]);
    let written_out = rounds_of(vec![repeat(1, [call(), call()])], Vec::new());
    for part in [
        "DEVICE void step_round(const u32 (&p)[64], const u32 *keys, u32 (&r)[8]) {",
        "const KeyByte k0(keys + 0); const u32 n",
        " = k0.add(p[3], 3);",
        "DEVICE void toy_rounds(u32 (&x)[64], const u32 *keys, Between between) {",
        "ROLLED for (u32 i0 = 0; i0 < 2; i0++) {",
        "x[7] = r[7]; keys += 16; between(); }",
    ] {
        assert!(written_out.contains(part), "{part} is not in {written_out}");
    }
    let of_any_number = rounds_of(two_rounds(), vec![repeat(1, [call()])]);
    assert!(of_any_number.contains("const u32 *keys, u32 times, Between"));
    assert!(of_any_number.contains("i0 < times;"));
    let and_a_half = rounds_of(vec![repeat(1, [call()]), call()], Vec::new());
    assert!(and_a_half.contains("if (i0 == 1) break;"), "{and_a_half}");
    assert_eq!(and_a_half.matches("step_round(p").count(), 1);
}

#[test]
fn lookups_take_in_what_they_have_room_for() {
    let gate = Node::Gate;
    let mut nodes: Vec<Node> = (0..7).map(Node::Input).collect();
    nodes.extend([Node::Key(0), Node::Key(1)]);
    nodes.extend([
        gate(Gate::Lut(0x96, [0, 1, 2])),
        gate(Gate::Xor(9, 7)), // its reader has room
        gate(Gate::Xor(10, 3)),
        gate(Gate::Xor(4, 8)), // its reader has none
        gate(Gate::Or(5, 6)),
        gate(Gate::And(12, 13)),
    ]);
    let recording = Recording::new(nodes, vec![11, 14, 2, 3, 4, 5, 6]);
    let lookups = in_lookups(&recording);
    let count = |is: fn(&Node) -> bool| lookups.nodes().iter().filter(|node| is(node)).count();
    assert_eq!(count(|node| matches!(node, Node::Gate(Gate::Lut(..)))), 3);
    assert_eq!(count(|node| matches!(node, Node::Gate(Gate::Xor(..)))), 1);
    assert_eq!(count(|node| matches!(node, Node::Gate(_))), 4);
    assert_eq!(lanes(&lookups), lanes(&recording));
}

/// 64 lanes of each output, from inputs and keys by lot.
fn lanes(recording: &Recording) -> Vec<u64> {
    let mut graph = Graph::new();
    let sources = [graph.sources(Node::Input, 7), graph.sources(Node::Key, 2)];
    let outputs = graph.inline(recording, &sources[0], &sources[1]);
    let lanes = graph.evaluate_at_random(3);
    outputs.into_iter().map(|output| lanes[output]).collect()
}

#[test]
fn names_are_identifiers() {
    assert_eq!(identifier("encryption, bytes reversed"), "encryption_bytes_reversed");
    assert_eq!(identifier("of 18 rounds"), "of_18_rounds");
}
