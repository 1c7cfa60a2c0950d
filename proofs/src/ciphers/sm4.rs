//! SM4 as GB/T 32907 has it.

use lanecrypt_circuit::{KernelRounds, Wire};
use lanecrypt_core::Direction;
use lanecrypt_reference::sbox::SM4;
use lanecrypt_sm4::Bits;

use crate::{
    model::{Byte, Model, bytes},
    subject::{Claim, Device, Subject, Wgsl, noun, recorded},
};

/// The bits of a number, the lowest first.
type Word = Vec<Wire>;

pub(crate) fn subject() -> Subject {
    Subject {
        name: "sm4",
        standard: "GB/T 32907",
        plans: [lanecrypt_sm4::plan::<false>, lanecrypt_sm4::plan::<true>],
        rounds: Some(KernelRounds { functions: &[("sm4_rounds", "of 32 rounds")], calls: 1 }),
        wgsl: Wgsl { has_lookups: false, calls: 1 },
        steps: &[("two_rounds", |model, planes, keys| {
            let [x0, x1, x2, x3] = words(planes);
            let [k0, k1] = words(keys);
            let x0 = round(model, &x0, [&x1, &x2, &x3], &k0);
            let x1 = round(model, &x1, [&x2, &x3, &x0], &k1);
            turned([x0, x1, x2, x3])
        })],
        deciding_keys: None,
        claims: || Direction::BOTH.map(claim).into(),
    }
}

fn claim(direction: Direction) -> Claim {
    let keys = move |wires: &[Wire]| {
        let mut keys: Vec<Word> = wires.chunks(32).map(<[Wire]>::to_vec).collect();
        if direction == Direction::Decrypt {
            keys.reverse();
        }
        keys
    };
    Claim {
        name: format!("SM4 {}", noun(direction)),
        whole: "of 32 rounds",
        key_bytes: 16,
        key_bits: 32 * 32,
        expand: Box::new(expand),
        recorded: recorded::<Bits>,
        direction,
        device: Some(Device {
            file: "sm4_bitslice",
            width: 1,
            most_without_tables: None,
            entry: "sm4_bitslice_ecb",
            // `Sm4Keys` in kernels/sm4/keys.cuh.
            key_words: Box::new(move |_, wires| keys(wires)),
        }),
        vectors: Some("sm4_ecb.txt"),
        key_planes: Box::new(move |_, wires| turned(keys(wires))),
        cipher: Box::new(move |model, text, wires| run(model, text, &keys(wires))),
    }
}

/// The key expansion (section 7.3).
fn expand(model: &mut Model<'_>, key: &[Wire]) -> Vec<Wire> {
    let parameter = [0xa3b1_bac6_u32, 0x56aa_3350, 0x677d_9197, 0xb270_22dc];
    let mut k: Vec<Word> = Vec::new();
    for (word, fk) in words::<4>(key).iter().zip(parameter) {
        let fk = model.number(fk.into(), 32);
        k.push(model.xor_all(word, &fk));
    }
    for i in 0..32 {
        let ck = (0..4).fold(0, |word: u32, j| (word << 8) | ((4 * i as u32 + j) * 7 % 256));
        let ck = model.number(ck.into(), 32);
        let image = tau(model, [&k[i + 1], &k[i + 2], &k[i + 3], &ck]);
        let image = sum_of_rotations(model, &image, &[0, 13, 23]);
        k.push(model.xor_all(&k[i], &image));
    }
    k.drain(4..).flatten().collect()
}

/// The words of a block, from the left; in each the leftmost byte is the highest.
fn words<const N: usize>(block: &[Wire]) -> [Word; N] {
    let word = |block: &[Wire]| block.chunks(8).rev().flatten().copied().collect();
    let words: Vec<Word> = block.chunks(32).map(word).collect();
    words.try_into().expect("as many words")
}

/// The inverse of [`words`].
fn turned(words: impl IntoIterator<Item = Word>) -> Vec<Wire> {
    words
        .into_iter()
        .flat_map(|word| word.chunks(8).rev().flatten().copied().collect::<Vec<_>>())
        .collect()
}

/// Thirty-two rounds, and the words in reverse order (section 7.1).
fn run(model: &mut Model<'_>, text: &[Wire], keys: &[Word]) -> Vec<Wire> {
    let [mut x0, mut x1, mut x2, mut x3] = words(text);
    for key in keys {
        let x4 = round(model, &x0, [&x1, &x2, &x3], key);
        (x0, x1, x2, x3) = (x1, x2, x3, x4);
    }
    turned([x3, x2, x1, x0])
}

/// The round function F (section 6.1).
fn round(model: &mut Model<'_>, x0: &Word, [x1, x2, x3]: [&Word; 3], key: &Word) -> Word {
    let image = tau(model, [x1, x2, x3, key]);
    let image = sum_of_rotations(model, &image, &[0, 2, 10, 18, 24]);
    model.xor_all(x0, &image)
}

/// The S-box on every byte of a sum.
fn tau(model: &mut Model<'_>, [x1, x2, x3, key]: [&Word; 4]) -> Word {
    let sum = model.xor_all(x1, x2);
    let sum = model.xor_all(&sum, x3);
    let sum = model.xor_all(&sum, key);
    let bytes: [Byte; 4] = bytes(&sum);
    bytes.map(|byte| model.sbox(&SM4, byte)).as_flattened().to_vec()
}

fn sum_of_rotations(model: &mut Model<'_>, word: &Word, by: &[usize]) -> Word {
    let rotated = by.iter().map(|&by| {
        let mut bits = word.clone();
        bits.rotate_right(by); // the lowest comes first
        bits
    });
    rotated.reduce(|sum, other| model.xor_all(&sum, &other)).expect("some rotations")
}
