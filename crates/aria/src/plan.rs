//! What the bit-sliced form is made of, for tools: its steps, recorded, and their order.

extern crate alloc;

use alloc::{vec, vec::Vec};
use core::ops::Range;

use lanecrypt_slicing::{
    BitState,
    record::{Plan, Plane, Recorder, Recording, Step, Whole, call, key_bytes, repeat},
};

use crate::{
    schedule::{Layer, Steps},
    sliced::{BitRounds, OnBits, exchange},
};

/// All planes.
const STATE: Range<usize> = 0..128;

/// The plan, with circuits of gates or, if `TERNARY`, of three-input functions.
#[must_use]
pub fn plan<const TERNARY: bool>() -> Plan {
    Plan {
        planes: 128,
        steps: vec![
            step::<TERNARY>("round", |on, state| {
                on.add(state, &key_bytes(0));
                on.substitute_and_diffuse(state, Layer::One);
            }),
            step::<TERNARY>("last", |on, state| {
                on.add(state, &key_bytes(0));
                on.substitute(state, Layer::Two);
                on.add(state, &key_bytes(128));
            }),
        ],
        wholes: vec![
            whole::<TERNARY>("of 12 rounds", 12),
            whole::<TERNARY>("of 14 rounds", 14),
            whole::<TERNARY>("of 16 rounds", 16),
        ],
    }
}

fn step<const TERNARY: bool>(
    name: &'static str,
    work: impl FnOnce(OnBits<Recorder<TERNARY>>, &mut BitState<Plane<TERNARY>, 128>),
) -> Step {
    let recording = Recording::step::<TERNARY>(128, |isa, planes| {
        let mut state = BitState(core::array::from_fn(|i| planes[i]));
        work(OnBits(isa), &mut state);
        planes.copy_from_slice(&state.0);
    });
    Step { name, recording }
}

fn whole<const TERNARY: bool>(name: &'static str, rounds: usize) -> Whole {
    // An even round that is not the last is an odd one on bytes that are exchanged, and so are the bytes of its key.
    let key = |i: usize| {
        let names = key_bytes::<16>(128 * i);
        let exchange = exchange(i, rounds);
        core::array::from_fn(|byte| names[byte ^ exchange])
    };
    let keys: Vec<_> = (0..=rounds).map(key).collect();
    let exchanged = core::array::from_fn::<_, 16, _>(|byte| {
        let from = 8 * (byte ^ 2);
        from..from + 8
    });
    let parts = vec![
        repeat(rounds / 2 - 1, [call("round", [STATE]), call("round", exchanged)]),
        call("round", [STATE]),
        call("last", [STATE]),
    ];
    Whole { name, parts, recording: Recording::ecb::<BitRounds, TERNARY>(&keys) }
}
