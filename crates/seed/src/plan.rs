//! What the bit-sliced form is made of, for tools: its steps, recorded, and their order.
//!
//! The form turns the words of a block round first, so that planes 0 to 63 are then the left half, its first word
//! first and in each the lowest byte first, and 64 to 127 the right one.

extern crate alloc;

use alloc::vec;
use core::ops::Range;

use lanecrypt_slicing::record::{
    Part, Plan, Recording, Step, Whole, call, key_bytes, rename, repeat,
};

use crate::{
    schedule::{ROUNDS, xor_f},
    sliced::{Bits, OnBits},
};

const L: Range<usize> = 0..64;
const R: Range<usize> = 64..128;

/// The plan, with circuits of gates or, if `TERNARY`, of three-input functions.
#[must_use]
pub fn plan<const TERNARY: bool>() -> Plan {
    let recording = Recording::step::<TERNARY>(128, |isa, planes| {
        let halves = planes.as_chunks_mut().0.as_chunks_mut().0.as_chunks_mut().0;
        let [to, from] = &mut halves.as_chunks_mut::<2>().0[0];
        xor_f(&OnBits(isa), to, from, &[key_bytes(0), key_bytes(32)]);
    });
    Plan {
        planes: 128,
        steps: vec![Step { name: "round", recording }],
        wholes: vec![whole::<TERNARY>("of 16 rounds")],
    }
}

fn whole<const TERNARY: bool>(name: &'static str) -> Whole {
    let parts = vec![
        turned(),
        repeat(ROUNDS / 2, [call("round", [L, R]), call("round", [R, L])]),
        rename([R, L]),
        turned(),
    ];
    let keys = core::array::from_fn(|round| [key_bytes(64 * round), key_bytes(64 * round + 32)]);
    Whole { name, parts, recording: Recording::ecb::<Bits, TERNARY>(&keys) }
}

/// Every word with its bytes in the other order.
fn turned() -> Part {
    rename(core::array::from_fn::<_, 16, _>(|byte| {
        let from = 8 * (byte / 4 * 4 + 3 - byte % 4);
        from..from + 8
    }))
}
