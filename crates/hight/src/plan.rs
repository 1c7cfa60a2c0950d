//! What the bit-sliced form is made of, for tools: its steps, recorded, and their order.
//!
//! Steps are recorded as the bytes lie in round 0, `X[7]` first. In another round the bytes have turned by as many
//! places, which is a matter of names.

extern crate alloc;

use alloc::{vec, vec::Vec};
use core::ops::Range;

use lanecrypt_core::{Direction, Secret};
use lanecrypt_slicing::{
    InPlanes,
    record::{Part, Plan, Plane, Recorder, Recording, Step, Whole, call, key, rename, repeat},
};

use crate::{
    schedule::{Keys, ROUNDS},
    sliced::{BitRounds, DirectedKeys, OnLanes, State, places},
};

/// The plan; `TERNARY` says whether words have three-input functions, of which this cipher takes none but XORs.
#[must_use]
pub fn plan<const TERNARY: bool>() -> Plan {
    use Direction::{Decrypt, Encrypt};
    Plan {
        planes: 64,
        steps: vec![
            whiten::<TERNARY>("whiten", Encrypt),
            round::<TERNARY>("round", Encrypt),
            whiten::<TERNARY>("inverse_whiten", Decrypt),
            round::<TERNARY>("inverse_round", Decrypt),
        ],
        wholes: vec![
            whole::<TERNARY>("encryption", Encrypt, false),
            whole::<TERNARY>("decryption", Decrypt, false),
            whole::<TERNARY>("encryption, bytes reversed", Encrypt, true),
            whole::<TERNARY>("decryption, bytes reversed", Decrypt, true),
        ],
    }
}

/// The four bytes of keys from number `first` on.
fn four(first: usize) -> [u32; 4] {
    core::array::from_fn(|i| key(8 * (first + i)))
}

fn step<const TERNARY: bool>(
    name: &'static str,
    direction: Direction,
    work: impl FnOnce(OnLanes<InPlanes<Recorder<TERNARY>>, 1>, &mut [State<[Plane<TERNARY>; 8]>; 1]),
) -> Step {
    let recording = Recording::step::<TERNARY>(64, |isa, planes| {
        let states = planes.as_chunks_mut().0.as_chunks_mut().0.as_chunks_mut().0;
        work(OnLanes { lanes: InPlanes(isa), direction }, &mut states[0]);
    });
    Step { name, recording }
}

fn whiten<const TERNARY: bool>(name: &'static str, direction: Direction) -> Step {
    step::<TERNARY>(name, direction, |on, states| on.whiten::<0>(states, &four(0)))
}

fn round<const TERNARY: bool>(name: &'static str, direction: Direction) -> Step {
    step::<TERNARY>(name, direction, |on, states| on.round(places(0), states, &four(0)))
}

/// A step on the bytes as they lie in round `round`.
fn in_round(step: &'static str, round: usize) -> Part {
    call(step, turned(round))
}

/// The bytes from number `by` on, and then those before.
fn turned(by: usize) -> [Range<usize>; 8] {
    core::array::from_fn(|byte| {
        let from = 8 * ((byte + by) % 8);
        from..from + 8
    })
}

fn reversed() -> Part {
    rename::<8>(core::array::from_fn(|byte| 8 * (7 - byte)..8 * (8 - byte)))
}

fn whole<const TERNARY: bool>(
    name: &'static str,
    direction: Direction,
    is_reversed: bool,
) -> Whole {
    let mut parts: Vec<Part> = match direction {
        Direction::Encrypt => vec![
            in_round("whiten", 0),
            repeat(ROUNDS / 8, core::array::from_fn::<_, 8, _>(|i| in_round("round", i))),
            in_round("whiten", 7),
            rename(turned(7)),
        ],
        Direction::Decrypt => vec![
            rename(turned(1)),
            in_round("inverse_whiten", 7),
            repeat(
                ROUNDS / 8,
                core::array::from_fn::<_, 8, _>(|i| in_round("inverse_round", 7 - i)),
            ),
            in_round("inverse_whiten", 0),
        ],
    };
    if is_reversed {
        parts.insert(0, reversed());
        parts.push(reversed());
    }
    // Keys are numbered as the steps take them: four of whitening, those of the rounds, four of whitening.
    let (start, end) = (0, 4 + 4 * ROUNDS);
    let (whitening, first) = match direction {
        Direction::Encrypt => ([four(start), four(end)], 0),
        Direction::Decrypt => ([four(end), four(start)], ROUNDS - 1),
    };
    let keys = Keys {
        whitening: core::array::from_fn(|i| whitening.as_flattened()[i]),
        rounds: core::array::from_fn(|round| four(4 + 4 * round.abs_diff(first))),
    };
    let keys = DirectedKeys { keys: Secret::new(keys), direction, is_reversed };
    Whole { name, parts, recording: Recording::ecb::<BitRounds, TERNARY>(&keys) }
}
