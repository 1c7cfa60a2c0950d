//! What the bit-sliced form is made of, for tools: its steps, recorded, and their order.
//!
//! Of every pair of planes, the first is of the left half and the second of the right one.

extern crate alloc;

use alloc::{vec, vec::Vec};

use lanecrypt_slicing::{
    BitLanes,
    record::{Part, Plan, Recording, Step, Whole, key, repeat},
};

use crate::{
    schedule::ROUNDS,
    sliced::{BitRounds, HalfMasks, MAX_PASSES, Masks, PassMasks, RoundMasks, add_f},
};

/// Key planes of a half, and of a round: those of its offsets, then two of every S-box.
const HALF_KEYS: usize = 32;
const ROUND_KEYS: usize = HALF_KEYS + 16;

/// The plan, with circuits of gates or, if `TERNARY`, of three-input functions.
#[must_use]
pub fn plan<const TERNARY: bool>() -> Plan {
    let add = Recording::step::<TERNARY>(32, |isa, half| {
        for (plane, mask) in half.iter_mut().zip(half_masks(0)) {
            *plane ^= isa.splat(mask);
        }
    });
    let round = Recording::step::<TERNARY>(64, |isa, planes| {
        let halves = &mut planes.as_chunks_mut().0.as_chunks_mut().0[0];
        add_f(isa, halves, 1, &round_masks(0));
    });
    Plan {
        planes: 64,
        steps: vec![Step { name: "add", recording: add }, Step { name: "round", recording: round }],
        wholes: vec![whole::<TERNARY>("of one pass", 1), whole::<TERNARY>("of three passes", 3)],
    }
}

fn half_masks(first: usize) -> HalfMasks {
    core::array::from_fn(|i| key(first + i))
}

fn round_masks(first: usize) -> RoundMasks {
    let outer = |i: usize| key(first + HALF_KEYS + i);
    RoundMasks {
        offsets: half_masks(first),
        outer: core::array::from_fn(|sbox| [outer(2 * sbox), outer(2 * sbox + 1)]),
    }
}

/// The planes of the right half.
fn right_half() -> Vec<usize> {
    (0..32).map(|pair| 2 * pair + 1).collect()
}

/// The planes, the halves exchanged or as they are.
fn halves(are_exchanged: bool) -> Vec<usize> {
    (0..64).map(|plane| plane ^ usize::from(are_exchanged)).collect()
}

fn whole<const TERNARY: bool>(name: &'static str, passes: usize) -> Whole {
    let round = |are_exchanged| Part::Call { step: "round", on: halves(are_exchanged) };
    let add = || Part::Call { step: "add", on: right_half() };
    // The halves are exchanged after every pass, so that the next one reads the right one first again; there is an
    // odd number of passes, and before the final permutation the halves are exchanged as well.
    let pass = [
        add(),
        repeat(ROUNDS / 2, [round(false), round(true)]),
        Part::Rename { from: halves(true) },
    ];
    let parts = vec![repeat(passes, pass), add()];
    let of_pass = HALF_KEYS + ROUNDS * ROUND_KEYS;
    let masks = Masks {
        passes: core::array::from_fn::<_, MAX_PASSES, _>(|number| PassMasks {
            first: half_masks(of_pass * number),
            rounds: core::array::from_fn(|round| {
                round_masks(of_pass * number + HALF_KEYS + ROUND_KEYS * round)
            }),
        }),
        count: passes,
        last: half_masks(of_pass * passes),
    };
    Whole { name, parts, recording: Recording::ecb::<BitRounds, TERNARY>(&masks) }
}
