//! What the bit-sliced form is made of, for tools: its steps, recorded, and their order.

extern crate alloc;

use alloc::vec;
use core::ops::Range;

use lanecrypt_core::Direction;
use lanecrypt_slicing::record::{
    Plan, Plane, Recorder, Recording, Step, Whole, call, key_bytes, repeat,
};

use crate::sliced::{
    BitRounds, MaskKeys, State, add_round_key, inv_mix_columns, inv_sub_bytes, mix_columns,
    shift_rows, sub_bytes,
};

/// All planes.
const STATE: Range<usize> = 0..128;

/// The plan, with circuits of gates or, if `TERNARY`, of three-input functions.
#[must_use]
pub fn plan<const TERNARY: bool>() -> Plan {
    use Direction::{Decrypt, Encrypt};
    Plan {
        planes: 128,
        steps: vec![
            step::<TERNARY>("add", |_| {}),
            step::<TERNARY>("round", |state| {
                sub_bytes(state);
                shift_rows(state, 1);
                mix_columns(state);
            }),
            step::<TERNARY>("last", |state| {
                sub_bytes(state);
                shift_rows(state, 1);
            }),
            step::<TERNARY>("inverse_round", |state| {
                inv_sub_bytes(state);
                shift_rows(state, 3);
                inv_mix_columns(state);
            }),
            step::<TERNARY>("inverse_last", |state| {
                inv_sub_bytes(state);
                shift_rows(state, 3);
            }),
        ],
        wholes: vec![
            whole::<TERNARY>("of 10 rounds, encryption", 10, Encrypt),
            whole::<TERNARY>("of 10 rounds, decryption", 10, Decrypt),
            whole::<TERNARY>("of 12 rounds, encryption", 12, Encrypt),
            whole::<TERNARY>("of 12 rounds, decryption", 12, Decrypt),
            whole::<TERNARY>("of 14 rounds, encryption", 14, Encrypt),
            whole::<TERNARY>("of 14 rounds, decryption", 14, Decrypt),
        ],
    }
}

/// A step that ends with a round key.
fn step<const TERNARY: bool>(
    name: &'static str,
    work: impl FnOnce(&mut State<Plane<TERNARY>>),
) -> Step {
    let recording = Recording::step::<TERNARY>(128, |isa: Recorder<TERNARY>, planes| {
        let state = &mut planes.as_chunks_mut().0.as_chunks_mut().0[0];
        work(state);
        add_round_key(isa, state, &key_bytes(0));
    });
    Step { name, recording }
}

fn whole<const TERNARY: bool>(name: &'static str, rounds: usize, direction: Direction) -> Whole {
    let (round, last) = match direction {
        Direction::Encrypt => ("round", "last"),
        Direction::Decrypt => ("inverse_round", "inverse_last"),
    };
    let parts =
        vec![call("add", [STATE]), repeat(rounds - 1, [call(round, [STATE])]), call(last, [STATE])];
    let keys = core::array::from_fn(|i| key_bytes(128 * i));
    let keys = MaskKeys { keys, count: rounds + 1, direction };
    Whole { name, parts, recording: Recording::ecb::<BitRounds, TERNARY>(&keys) }
}
