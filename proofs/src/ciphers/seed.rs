//! SEED as RFC 4269 has it.

use lanecrypt_circuit::Wire;
use lanecrypt_core::Direction;
use lanecrypt_reference::sbox::SEED;
use lanecrypt_seed::Bits;

use crate::{
    model::{Byte, Model, bytes, rotated_left},
    subject::{Claim, Device, Subject, Wgsl, noun, recorded},
};

/// The bits of a number, the lowest first.
type Word = Vec<Wire>;

pub(crate) fn subject() -> Subject {
    Subject {
        name: "seed",
        standard: "RFC 4269",
        plans: [lanecrypt_seed::plan::<false>, lanecrypt_seed::plan::<true>],
        rounds: None,
        wgsl: Wgsl { has_lookups: true, calls: 1 },
        steps: &[("round", |model, planes, key| {
            let words: Vec<Word> = planes.chunks(32).map(<[Wire]>::to_vec).collect();
            let [k0, k1] = [&key[..32], &key[32..]].map(<[Wire]>::to_vec);
            let [c, d] = f(model, [&words[2], &words[3]], [&k0, &k1]);
            let [l0, l1] = [model.xor_all(&words[0], &c), model.xor_all(&words[1], &d)];
            [l0, l1, words[2].clone(), words[3].clone()].concat()
        })],
        deciding_keys: None,
        claims: || Direction::BOTH.map(claim).into(),
    }
}

fn claim(direction: Direction) -> Claim {
    let keys = move |wires: &[Wire]| {
        let mut keys: Vec<Word> = wires.chunks(64).map(<[Wire]>::to_vec).collect();
        if direction == Direction::Decrypt {
            keys.reverse();
        }
        keys
    };
    Claim {
        name: format!("SEED {}", noun(direction)),
        whole: "of 16 rounds",
        key_bytes: 16,
        key_bits: 64 * 16,
        expand: Box::new(expand),
        recorded: recorded::<Bits>,
        direction,
        device: Some(Device {
            file: "seed_bitslice",
            width: 1,
            most_without_tables: None,
            entry: "seed_bitslice_ecb",
            // `SeedKeys` in kernels/seed/keys.cuh.
            key_words: Box::new(move |_, wires| {
                keys(wires).concat().chunks(32).map(<[Wire]>::to_vec).collect()
            }),
        }),
        vectors: Some("seed_ecb.txt"),
        key_planes: Box::new(move |_, wires| keys(wires).concat()),
        cipher: Box::new(move |model, text, wires| run(model, text, &keys(wires))),
    }
}

/// K0 and K1 of every round (section 2.3).
fn expand(model: &mut Model<'_>, key: &[Wire]) -> Vec<Wire> {
    let mut key = key.to_vec();
    let mut round_keys = Vec::new();
    for i in 0..16u32 {
        let [key0, key1, key2, key3] = words(&key).try_into().expect("a key has four words");
        let constant = model.number(0x9e37_79b9_u32.rotate_left(i).into(), 32);
        let sum = model.add(&key0, &key2);
        let sum = model.subtract(&sum, &constant);
        round_keys.extend(g(model, &sum));
        let difference = model.subtract(&key1, &key3);
        let sum = model.add(&difference, &constant);
        round_keys.extend(g(model, &sum));
        let (left, right) = key.split_at(64);
        key = if i % 2 == 0 {
            [rotated_left(left, 64 - 8), right.to_vec()].concat()
        } else {
            [left.to_vec(), rotated_left(right, 8)].concat()
        };
    }
    round_keys
}

/// The words of a block, from the left; in each the leftmost byte is the highest.
fn words(block: &[Wire]) -> Vec<Word> {
    let word = |block: &[Wire]| block.chunks(8).rev().flatten().copied().collect();
    block.chunks(32).map(word).collect()
}

/// Sixteen rounds of a Feistel network, the last without the exchange of the halves (section 2).
fn run(model: &mut Model<'_>, text: &[Wire], keys: &[Word]) -> Vec<Wire> {
    let mut text = words(text).into_iter();
    let mut half = || [(); 2].map(|()| text.next().expect("a block has four words"));
    let (mut left, mut right) = (half(), half());
    for key in keys {
        let [c, d] = f(model, right.each_ref(), [&key[..32], &key[32..]]);
        let [l0, l1] = left;
        (left, right) = (right, [model.xor_all(&l0, &c), model.xor_all(&l1, &d)]);
    }
    let block = [right, left].concat().concat();
    words(&block).concat() // the same turn of the bytes back
}

/// The round function F (section 2.1).
fn f<W: AsRef<[Wire]>>(
    model: &mut Model<'_>,
    [r0, r1]: [&W; 2],
    [k0, k1]: [impl AsRef<[Wire]>; 2],
) -> [Word; 2] {
    let c = model.xor_all(r0.as_ref(), k0.as_ref());
    let d = model.xor_all(r1.as_ref(), k1.as_ref());
    let both = model.xor_all(&c, &d);
    let first = g(model, &both);
    let sum = model.add(&first, &c);
    let second = g(model, &sum);
    let sum = model.add(&second, &first);
    let third = g(model, &sum);
    [model.add(&third, &second), third]
}

/// The function G (section 2.2).
fn g(model: &mut Model<'_>, x: &[Wire]) -> Word {
    let [s0, s1] = &SEED;
    let x: [Byte; 4] = bytes(x);
    let y: [Byte; 4] = core::array::from_fn(|i| model.sbox([s0, s1, s0, s1][i], x[i]));
    let masks = [0xfc, 0xf3, 0xcf, 0x3f];
    let z = |j: usize, bit: usize| {
        let is_kept = |i: &usize| masks[(i + j) % 4] >> bit & 1 == 1;
        let terms = (0..4).filter(is_kept).map(|i| y[i][bit]);
        terms.reduce(|sum, term| model.xor(sum, term)).expect("a mask drops one of four")
    };
    let mut z = z;
    (0..32).map(|i| z(i / 8, i % 8)).collect()
}
