//! The writer of WGSL: what it makes of a small plan, and what it refuses. That kernels compute their ciphers,
//! devices show.

use core::ops::Range;

use cipher::consts::U8;
use lanecrypt_circuit::{emit_wgsl, identifier};
use lanecrypt_slicing::{
    BitLanes, BitState, Core, Rounds, Word,
    record::{Part, Plan, Plane, Recorder, Recording, Step, Whole, call, key, rename, repeat},
};

/// A cipher of two rounds, each of which adds four key planes to four planes.
enum Toy {}

impl Core for Toy {
    type BlockSize = U8;
    type Keys = [[u32; 4]; 2];
}

impl<I: BitLanes> Rounds<I> for Toy {
    type State = BitState<I::Word, 64>;

    fn run<const G: usize>(keys: &[[u32; 4]; 2], isa: I, states: &mut [Self::State; G]) {
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

const KEYS: [u32; 4] = [key(0), key(1), key(2), key(3)];
const ALL: Range<usize> = 0..64;

fn plan<const TERNARY: bool>(
    parts: Vec<Part>,
    work: impl FnOnce(Recorder<TERNARY>, &mut [Plane<TERNARY>]),
) -> Plan {
    let recording = Recording::step::<TERNARY>(64, work);
    let whole = Recording::ecb::<Toy, false>(&[KEYS, [key(4), key(5), key(6), key(7)]]);
    Plan {
        planes: 64,
        steps: vec![Step { name: "round", recording }],
        wholes: vec![Whole { name: "toy, of 2 rounds", parts, recording: whole }],
    }
}

fn two_rounds() -> Vec<Part> {
    vec![repeat(2, [call("round", [ALL])])]
}

#[test]
fn a_plan_is_functions_loops_and_kernels() {
    let text =
        emit_wgsl("toy", &plan::<false>(two_rounds(), |isa, planes| round(isa, planes, &KEYS)));
    let text = text.expect("the plan is right");
    for part in [
        "fn slice(p: Planes64, key: u32) -> Planes64 {",
        "fn step_round(p: Planes64, key: u32) -> Planes4 {",
        " = p.p3 ^ keys[key + 0u].w;",
        "fn whole_toy_of_2_rounds(p: Planes64) -> Planes64 {",
        "for (var i0 = 0u; i0 < 2u; i0 += 1u) {",
        "key += 1u; }",
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
    let fault = |plan: &Plan| emit_wgsl("toy", plan).expect_err("it is wrong").to_string();
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
    let with_lookup = plan::<true>(two_rounds(), |_, planes| {
        planes[0] = Word::lut3::<0x17>(planes[1], planes[2], planes[3]);
    });
    assert!(fault(&with_lookup).contains("no text in WGSL"));
    let of_32_bits = Plan { planes: 32, steps: Vec::new(), wholes: Vec::new() };
    assert!(emit_wgsl("toy", &of_32_bits).is_err());
}

#[test]
fn names_are_identifiers() {
    assert_eq!(identifier("encryption, bytes reversed"), "encryption_bytes_reversed");
    assert_eq!(identifier("of 18 rounds"), "of_18_rounds");
}
