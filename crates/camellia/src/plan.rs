//! What the bit-sliced form is made of, for tools: its steps, recorded, and their order.
//!
//! Planes 0 to 63 are the left half, 64 to 127 the right one, which the ranges below name L and R.

extern crate alloc;

use alloc::{vec, vec::Vec};
use core::ops::Range;

use lanecrypt_slicing::record::{
    Part, Plan, Plane, Recorder, Recording, Step, Whole, call, key_bytes, rename, repeat,
};

use crate::{
    schedule::{GROUP, STRIDE, Steps},
    sliced::{BitRounds, Half, OnBits},
};

const L: Range<usize> = 0..64;
const R: Range<usize> = 64..128;

/// The plan, with circuits of gates or, if `TERNARY`, of three-input functions.
#[must_use]
pub fn plan<const TERNARY: bool>() -> Plan {
    Plan {
        planes: 128,
        steps: vec![
            step::<TERNARY>("add", |on, half| on.add(half, &key_bytes(0))),
            Step {
                name: "round",
                recording: Recording::step::<TERNARY>(128, |isa, planes| {
                    let (half, other) = planes.split_at_mut(64);
                    OnBits(isa).add_f(as_half(half), as_half(other), &key_bytes(0));
                }),
            },
            step::<TERNARY>("fl", |on, half| on.fl(half, &key_bytes(0))),
            step::<TERNARY>("fl_inverse", |on, half| on.fl_inverse(half, &key_bytes(0))),
        ],
        wholes: vec![whole::<TERNARY>("of 18 rounds", 18), whole::<TERNARY>("of 24 rounds", 24)],
    }
}

fn as_half<W>(planes: &mut [W]) -> &mut Half<W> {
    &mut planes.as_chunks_mut().0.as_chunks_mut().0[0]
}

/// A step on one half.
fn step<const TERNARY: bool>(
    name: &'static str,
    work: impl FnOnce(OnBits<Recorder<TERNARY>>, &mut Half<Plane<TERNARY>>),
) -> Step {
    let recording =
        Recording::step::<TERNARY>(64, |isa, planes| work(OnBits(isa), as_half(planes)));
    Step { name, recording }
}

// ANCHOR: whole
fn whole<const TERNARY: bool>(name: &'static str, rounds: usize) -> Whole {
    let groups = rounds / GROUP;
    let keys: Vec<_> = (0..groups * STRIDE + 2).map(|i| key_bytes(64 * i)).collect();
    let two_rounds = || [call("round", [R, L]), call("round", [L, R])];
    let group = || repeat(GROUP / 2, two_rounds());
    let parts: Vec<Part> = vec![
        call("add", [L]),
        call("add", [R]),
        repeat(groups - 1, [group(), call("fl", [L]), call("fl_inverse", [R])]),
        group(),
        call("add", [R]),
        call("add", [L]),
        rename([R, L]),
    ];
    Whole { name, parts, recording: Recording::ecb::<BitRounds, TERNARY>(&keys) }
}
// ANCHOR_END: whole
