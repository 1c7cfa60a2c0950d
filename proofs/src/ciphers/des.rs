//! DES and triple DES as FIPS 46-3 has them. Bits are counted from the left, here from 0.

use lanecrypt_circuit::{KernelRounds, Wire};
use lanecrypt_core::Direction;
use lanecrypt_des::{Bits, Ede2, Ede3, Eee2, Eee3, Single};
use lanecrypt_reference::des::{E, IP, IP_INVERSE, LEFT_SHIFTS, P, PC1, PC2, SBOXES};
use lanecrypt_slicing::record::Node;

use crate::{
    examples,
    model::{Model, from_left},
    subject::{Claim, Device, Recorded, Subject, Wgsl, noun, recorded},
};

/// Rounds of a pass, and bits of a round key.
const ROUNDS: usize = 16;
const KEY: usize = 48;

/// How triple DES takes its keys: of each pass which one, and whether the pass decrypts.
type Keying = &'static [(usize, bool)];

const KEYINGS: [(&str, Keying); 5] = [
    ("DES", &[(0, false)]),
    ("TDES-EDE2", &[(0, false), (1, true), (0, false)]),
    ("TDES-EDE3", &[(0, false), (1, true), (2, false)]),
    ("TDES-EEE2", &[(0, false), (1, false), (0, false)]),
    ("TDES-EEE3", &[(0, false), (1, false), (2, false)]),
];

pub(crate) fn subject() -> Subject {
    Subject {
        name: "des",
        standard: "FIPS 46-3",
        plans: [lanecrypt_des::plan::<false>, lanecrypt_des::plan::<true>],
        rounds: Some(KernelRounds { functions: &[("des_rounds", "of three passes")], calls: 2 }),
        wgsl: Wgsl { has_lookups: true, calls: 2 },
        steps: &[("add", |model, half, key| model.xor_all(half, key)), ("round", step)],
        // Shifts, masks and sums of bits.
        deciding_keys: Some(examples::basis),
        claims,
    }
}

fn claims() -> Vec<Claim> {
    let of_single: Recorded = recorded::<Bits<Single>>;
    let forms = [
        (of_single, Some("des_ecb.txt")),
        (recorded::<Bits<Ede2>>, Some("tdes_ecb.txt")),
        (recorded::<Bits<Ede3>>, Some("tdes_ecb.txt")),
        (recorded::<Bits<Eee2>>, None),
        (recorded::<Bits<Eee3>>, None),
    ];
    let both = |((name, keying), (recorded, vectors)): ((&str, Keying), (Recorded, _))| {
        let keys = 1 + keying.iter().map(|pass| pass.0).max().unwrap_or(0);
        Direction::BOTH.map(|direction| Claim {
            name: format!("{name} {}", noun(direction)),
            whole: if keying.len() == 1 { "of one pass" } else { "of three passes" },
            key_bytes: 8 * keys,
            key_bits: keys * ROUNDS * KEY,
            expand: Box::new(|_, key| key.chunks(64).flat_map(expand).collect()),
            recorded,
            direction,
            device: Some(Device {
                file: "des_bitslice",
                width: 1,
                most_without_tables: None,
                entry: "des_bitslice_ecb",
                key_words: Box::new(move |model, wires| {
                    key_words(model, &round_keys(wires, keying, direction))
                }),
            }),
            vectors,
            key_planes: Box::new(move |model, wires| {
                key_planes(model, &round_keys(wires, keying, direction))
            }),
            cipher: Box::new(move |model, text, wires| {
                let passes = round_keys(wires, keying, direction);
                passes.iter().fold(text.to_vec(), |block, keys| des(model, &block, keys))
            }),
        })
    };
    KEYINGS.into_iter().zip(forms).flat_map(both).collect()
}

/// `DesKeys` in kernels/des/keys.cuh: the six bits of an S-box in a byte.
fn key_words(model: &mut Model<'_>, passes: &[Vec<Vec<Wire>>]) -> Vec<Vec<Wire>> {
    let zero = model.number(0, 1)[0];
    let mut words = Vec::new();
    for key in passes.iter().flatten() {
        for sboxes in [[8, 6, 4, 2], [1, 7, 5, 3]] {
            let byte = |number: usize| {
                let six = key[6 * (number - 1)..][..6].iter().rev().copied();
                six.chain([zero, zero])
            };
            words.push(sboxes.into_iter().flat_map(byte).collect());
        }
    }
    words.resize(2 * 3 * ROUNDS, model.number(0, 32));
    words.push(model.number(passes.len() as u128, 32));
    words
}

/// The round keys of eight bytes of key (appendix 1).
fn expand(key: &[Wire]) -> Vec<Wire> {
    let mut halves = permuted(&from_left(key), &PC1);
    let of_round = |by: u8| {
        halves.chunks_mut(28).for_each(|half| half.rotate_left(by.into()));
        permuted(&halves, &PC2)
    };
    LEFT_SHIFTS.into_iter().flat_map(of_round).collect()
}

/// The round keys of every pass in the order of their use.
fn round_keys(wires: &[Wire], keying: Keying, direction: Direction) -> Vec<Vec<Vec<Wire>>> {
    let of_pass = |&(part, decrypts): &(usize, bool)| {
        let part = &wires[ROUNDS * KEY * part..][..ROUNDS * KEY];
        let mut keys: Vec<_> = part.chunks(KEY).map(<[Wire]>::to_vec).collect();
        if decrypts != (direction == Direction::Decrypt) {
            keys.reverse();
        }
        keys
    };
    let mut passes: Vec<_> = keying.iter().map(of_pass).collect();
    if direction == Direction::Decrypt {
        passes.reverse();
    }
    passes
}

/// One pass (the standard's figure 1).
fn des(model: &mut Model<'_>, block: &[Wire], keys: &[Vec<Wire>]) -> Vec<Wire> {
    let bits = permuted(&from_left(block), &IP);
    let (mut left, mut right) = (bits[..32].to_vec(), bits[32..].to_vec());
    for key in keys {
        let expanded = permuted(&right, &E);
        let x = model.xor_all(&expanded, key);
        let image = substitute(model, &x);
        (left, right) = (right, model.xor_all(&left, &image));
    }
    from_left(&permuted(&[right, left].concat(), &IP_INVERSE))
}

/// The primitive functions S1 to S8, and the permutation P.
fn substitute(model: &mut Model<'_>, x: &[Wire]) -> Vec<Wire> {
    let mut image = Vec::new();
    for (six, table) in x.chunks(6).zip(&SBOXES) {
        let lowest_first: Vec<Wire> = six.iter().rev().copied().collect();
        image.extend(model.look_up(table, &lowest_first, 4).into_iter().rev());
    }
    permuted(&image, &P)
}

/// What a table of the standard, which counts from 1, makes of bits.
fn permuted(bits: &[Wire], table: &[u8]) -> Vec<Wire> {
    table.iter().map(|&from| bits[usize::from(from) - 1]).collect()
}

// The form: its planes are pairs, in the order of the block's bits, of a bit of the left half and the same of the
// right one. Its halves have the key bits of the inner inputs of S-boxes added to them, as an offset.

/// The pair that has bit `bit` of the halves: where IP takes it from.
fn pair_of(bit: usize) -> usize {
    let from = usize::from(IP[bit]) - 1;
    (from / 8 * 8 + 7 - from % 8) / 2
}

/// A round on halves with offsets: of the right half, to which the key bits of the inner inputs have been added, and
/// with keys for the outer inputs, and offsets for what is written.
fn step(model: &mut Model<'_>, planes: &[Wire], keys: &[Wire]) -> Vec<Wire> {
    let (offsets, outer) = keys.split_at(32);
    let right: Vec<Wire> = (0..32).map(|bit| planes[2 * pair_of(bit) + 1]).collect();
    let mut x = permuted(&right, &E);
    for (six, outer) in x.chunks_mut(6).zip(outer.chunks(2)) {
        six[0] = model.xor(six[0], outer[0]);
        six[5] = model.xor(six[5], outer[1]);
    }
    let image = substitute(model, &x);
    let mut planes = planes.to_vec();
    for (bit, image) in image.into_iter().enumerate() {
        let pair = pair_of(bit);
        let sum = model.xor(planes[2 * pair], image);
        planes[2 * pair] = model.xor(sum, offsets[pair]);
    }
    planes
}

/// The key planes: what every half must have added to it before and after every round.
fn key_planes(model: &mut Model<'_>, passes: &[Vec<Vec<Wire>>]) -> Vec<Wire> {
    let zero = model.graph.add(Node::Constant(false));
    let mut planes = Vec::new();
    // The offset that the half has which the next round reads.
    let mut offset = vec![zero; 32];
    for keys in passes {
        let inner: Vec<Vec<Wire>> = keys.iter().map(|key| inner(key)).collect();
        planes.extend(model.xor_all(&offset, &inner[0]));
        for (round, key) in keys.iter().enumerate() {
            let had = if round == 0 { vec![zero; 32] } else { inner[round - 1].clone() };
            let next = inner.get(round + 1).cloned().unwrap_or_else(|| vec![zero; 32]);
            planes.extend(model.xor_all(&had, &next));
            // An outer input is an inner one of the S-box beside it, and has that one's offset.
            for (sbox, six) in key.chunks(6).enumerate() {
                let of = |bit: usize| inner[round][pair_of(usize::from(E[6 * sbox + bit]) - 1)];
                planes.push(model.xor(six[0], of(0)));
                planes.push(model.xor(six[5], of(5)));
            }
        }
        offset.clone_from(&inner[ROUNDS - 1]);
    }
    planes.extend(offset);
    planes
}

/// The key bits of the four inner inputs of every S-box, by the pair of the bit that they are added to.
fn inner(key: &[Wire]) -> Vec<Wire> {
    let mut by_pair = vec![0; 32];
    for (sbox, six) in key.chunks(6).enumerate() {
        for i in 1..5 {
            by_pair[pair_of(usize::from(E[6 * sbox + i]) - 1)] = six[i];
        }
    }
    by_pair
}
