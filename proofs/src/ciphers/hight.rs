//! HIGHT as the standard has it. Bytes are numbered as there, so that X0 is the last byte of a block.

use lanecrypt_circuit::{KernelRounds, Wire};
use lanecrypt_core::Direction;
use lanecrypt_hight::{Bits, Kisa, Standard};

use crate::{
    examples,
    model::{Byte, Model, bytes},
    subject::{Claim, Device, Recorded, Subject, Wgsl, noun, recorded},
};

/// X0 to X7.
type State = [Byte; 8];

const ROUNDS: usize = 32;

pub(crate) fn subject() -> Subject {
    Subject {
        name: "hight",
        standard: "ISO/IEC 18033-3",
        plans: [lanecrypt_hight::plan::<false>, lanecrypt_hight::plan::<true>],
        rounds: Some(KernelRounds {
            functions: &[("hight_encrypt", "encryption"), ("hight_decrypt", "decryption")],
            calls: 4,
        }),
        wgsl: Wgsl { has_lookups: true, calls: 8 },
        steps: &[
            ("whiten", |m, x, wk| planes(whiten(m, state(x, false), bytes(wk), false), false)),
            ("round", |m, x, sk| planes(mix(m, state(x, false), bytes(sk), false), false)),
            ("inverse_whiten", |m, x, wk| {
                planes(whiten(m, state(x, false), bytes(wk), true), false)
            }),
            ("inverse_round", |m, x, sk| planes(mix(m, state(x, false), bytes(sk), true), false)),
        ],
        // A byte of the key and a constant.
        deciding_keys: Some(examples::all_bytes),
        claims,
    }
}

fn claims() -> Vec<Claim> {
    let orders = [
        claim(
            "HIGHT",
            ["encryption", "decryption"],
            "hight_ecb.txt",
            recorded::<Bits<Standard>>,
            false,
        ),
        claim(
            "HIGHT with bytes reversed,",
            ["encryption, bytes reversed", "decryption, bytes reversed"],
            "hight-kisa_ecb.txt",
            recorded::<Bits<Kisa>>,
            true,
        ),
    ];
    orders.into_iter().flatten().collect()
}

/// Both directions.
fn claim(
    name: &str,
    [encryption, decryption]: [&'static str; 2],
    vectors: &'static str,
    recorded: Recorded,
    is_reversed: bool,
) -> [Claim; 2] {
    Direction::BOTH.map(|direction| Claim {
        name: format!("{name} {}", noun(direction)),
        whole: match direction {
            Direction::Encrypt => encryption,
            Direction::Decrypt => decryption,
        },
        key_bytes: 16,
        key_bits: 8 * (8 + 4 * ROUNDS),
        expand: Box::new(move |model, key| expand(model, bytes(key), is_reversed)),
        recorded,
        direction,
        device: Some(Device {
            file: "hight_bitslice",
            width: 1,
            most_without_tables: None,
            entry: match direction {
                Direction::Encrypt => "hight_bitslice_ecb_encrypt",
                Direction::Decrypt => "hight_bitslice_ecb_decrypt",
            },
            key_words: Box::new(move |model, wires| key_words(model, wires, is_reversed)),
        }),
        vectors: Some(vectors),
        key_planes: Box::new(move |_, wires| key_planes(wires, direction)),
        cipher: Box::new(move |model, text, wires| {
            let cipher = if direction == Direction::Decrypt { decrypt } else { encrypt };
            let state = cipher(model, state(text, is_reversed), &Keys::new(wires));
            planes(state, is_reversed)
        }),
    })
}

/// `HightKeys` in kernels/hight/keys.cuh: every byte four times.
fn key_words(model: &mut Model<'_>, wires: &[Wire], is_reversed: bool) -> Vec<Vec<Wire>> {
    let keys = Keys::new(wires);
    let bytes = keys.sk.as_flattened().iter().chain(&keys.wk);
    let mut words: Vec<_> = bytes.map(|byte| byte.repeat(4)).collect();
    words.push(model.number(is_reversed.into(), 32));
    words
}

/// `KeySchedule` of MK15 to MK0, or MK0 to MK15 if the bytes are reversed.
fn expand(model: &mut Model<'_>, mut mk: [Byte; 16], is_reversed: bool) -> Vec<Wire> {
    if !is_reversed {
        mk.reverse();
    }
    let wk = core::array::from_fn::<_, 8, _>(|i| mk[(i + 12) % 16]);
    let mut planes = wk.as_flattened().to_vec();
    // delta i is the bits s(i) to s(i + 6) of an LFSR with connection polynomial x^7 + x^3 + 1.
    let mut s = vec![0, 1, 0, 1, 1, 0, 1];
    for n in 0..4 * ROUNDS {
        let delta = (0..7).fold(0, |delta, bit| delta | s[n + bit] << bit);
        let constant = model.number(delta, 8);
        let (i, half, j) = (n / 16, n / 8 % 2, n % 8);
        planes.extend(model.add(&mk[(j + 8 - i) % 8 + 8 * half], &constant));
        s.push(s[n + 3] ^ s[n]);
    }
    planes
}

/// The bytes of a block, of which X7 comes first, or X0 if they are reversed.
fn state(planes: &[Wire], is_reversed: bool) -> State {
    let mut state = bytes(planes);
    if !is_reversed {
        state.reverse();
    }
    state
}

/// The inverse of [`state`].
fn planes(mut state: State, is_reversed: bool) -> Vec<Wire> {
    if !is_reversed {
        state.reverse();
    }
    state.as_flattened().to_vec()
}

/// WK0 to WK7 and SK0 to SK127.
struct Keys {
    wk: [Byte; 8],
    sk: Vec<[Byte; 4]>,
}

impl Keys {
    fn new(wires: &[Wire]) -> Self {
        let (wk, sk) = wires.split_at(64);
        Self { wk: bytes(wk), sk: sk.chunks(32).map(bytes).collect() }
    }

    fn whitening(&self) -> [[Byte; 4]; 2] {
        let halves = self.wk.as_chunks::<4>().0;
        [halves[0], halves[1]]
    }
}

/// The keys in the order of their use.
fn key_planes(wires: &[Wire], direction: Direction) -> Vec<Wire> {
    let keys = Keys::new(wires);
    let [first, last] = keys.whitening();
    let mut order = [vec![first], keys.sk.clone(), vec![last]].concat();
    if direction == Direction::Decrypt {
        order.reverse();
    }
    order.as_flattened().as_flattened().to_vec()
}

fn encrypt(model: &mut Model<'_>, text: State, keys: &Keys) -> State {
    let [first, last] = keys.whitening();
    let mut x = whiten(model, text, first, false);
    for sk in &keys.sk[..ROUNDS - 1] {
        x = permute(mix(model, x, *sk, false));
    }
    x = mix(model, x, keys.sk[ROUNDS - 1], false);
    whiten(model, x, last, false)
}

fn decrypt(model: &mut Model<'_>, text: State, keys: &Keys) -> State {
    let [first, last] = keys.whitening();
    let mut x = whiten(model, text, last, true);
    x = mix(model, x, keys.sk[ROUNDS - 1], true);
    for sk in keys.sk[..ROUNDS - 1].iter().rev() {
        x = mix(model, inv_permute(x), *sk, true);
    }
    whiten(model, x, first, true)
}

/// A sum, or the difference to undo it.
fn plus(model: &mut Model<'_>, a: Byte, b: Byte, is_inverse: bool) -> Byte {
    let digits = if is_inverse { model.subtract(&a, &b) } else { model.add(&a, &b) };
    core::array::from_fn(|bit| digits[bit])
}

/// `InitialTransformation` and `FinalTransformation`, with their four whitening keys.
fn whiten(model: &mut Model<'_>, mut x: State, wk: [Byte; 4], is_inverse: bool) -> State {
    x[0] = plus(model, x[0], wk[0], is_inverse);
    x[2] = model.xor_bytes(x[2], wk[1]);
    x[4] = plus(model, x[4], wk[2], is_inverse);
    x[6] = model.xor_bytes(x[6], wk[3]);
    x
}

/// A round without its permutation of bytes, which the last round does not have.
fn mix(model: &mut Model<'_>, mut x: State, sk: [Byte; 4], is_inverse: bool) -> State {
    for (i, key) in [(0, sk[0]), (4, sk[2])] {
        let image = xor_rotations(model, x[i], [3, 4, 6]); // F1
        let keyed = model.xor_bytes(image, key);
        x[i + 1] = plus(model, x[i + 1], keyed, is_inverse);
    }
    for (i, key) in [(2, sk[1]), (6, sk[3])] {
        let image = xor_rotations(model, x[i], [1, 2, 7]); // F0
        let keyed = plus(model, image, key, false);
        x[i + 1] = model.xor_bytes(x[i + 1], keyed);
    }
    x
}

/// The sum of three rotations to the left.
fn xor_rotations(model: &mut Model<'_>, x: Byte, by: [usize; 3]) -> Byte {
    let rotated = by.map(|by| core::array::from_fn(|bit| x[(bit + 8 - by) % 8]));
    model.sum(&rotated)
}

/// Byte `i` becomes byte `i + 1`, the last one byte 0.
fn permute(x: State) -> State {
    core::array::from_fn(|i| x[(i + 7) % 8])
}

fn inv_permute(x: State) -> State {
    core::array::from_fn(|i| x[(i + 1) % 8])
}
