//! What the bit-sliced form is made of, for tools: its steps, recorded, and their order.
//!
//! Planes 0 to 63 are the first two words of the block and 64 to 127 the others, in each the highest byte first.

extern crate alloc;

use alloc::vec;
use core::ops::Range;

use lanecrypt_slicing::record::{Plan, Recording, Step, Whole, call, key_bytes, rename, repeat};

use crate::{
    schedule::{PAIRS, Steps as _},
    sliced::{Bits, OnBits},
};

const FIRST: Range<usize> = 0..64;
const SECOND: Range<usize> = 64..128;

/// The plan, with circuits of gates or, if `TERNARY`, of three-input functions.
#[must_use]
pub fn plan<const TERNARY: bool>() -> Plan {
    let recording = Recording::step::<TERNARY>(128, |isa, planes| {
        let halves = planes.as_chunks_mut().0.as_chunks_mut().0.as_chunks_mut().0;
        let [words, others] = &mut halves.as_chunks_mut::<2>().0[0];
        OnBits(isa).two_rounds(words, others, &[key_bytes(0), key_bytes(32)]);
    });
    Plan {
        planes: 128,
        steps: vec![Step { name: "two_rounds", recording }],
        wholes: vec![whole::<TERNARY>("of 32 rounds")],
    }
}

fn whole<const TERNARY: bool>(name: &'static str) -> Whole {
    let parts = vec![
        repeat(
            PAIRS / 2,
            [call("two_rounds", [FIRST, SECOND]), call("two_rounds", [SECOND, FIRST])],
        ),
        rename([96..128, 64..96, 32..64, 0..32]),
    ];
    let keys = core::array::from_fn(|pair| [key_bytes(64 * pair), key_bytes(64 * pair + 32)]);
    Whole { name, parts, recording: Recording::ecb::<Bits, TERNARY>(&keys) }
}
