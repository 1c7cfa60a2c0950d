//! ARIA as RFC 5794 has it.

use lanecrypt_aria::{Bits, Key128, Key192, Key256};
use lanecrypt_circuit::{KernelRounds, Wire};
use lanecrypt_core::Direction;
use lanecrypt_reference::{
    diffusion::ARIA_A,
    sbox::{AES, AES_INVERSE, ARIA_S2, ARIA_S2_INVERSE},
};

use crate::{
    model::{Byte, Model, bytes, key_words_of_blocks, rotated_left},
    subject::{Claim, Device, Recorded, Subject, Wgsl, noun, recorded},
};

/// 128 bits, the leftmost byte first.
type Word = [Byte; 16];

pub(crate) fn subject() -> Subject {
    Subject {
        name: "aria",
        standard: "RFC 5794",
        plans: [lanecrypt_aria::plan::<false>, lanecrypt_aria::plan::<true>],
        rounds: Some(KernelRounds { functions: &[("aria_rounds", "of 16 rounds")], calls: 1 }),
        wgsl: Wgsl { has_lookups: false, calls: 1 },
        steps: &[
            ("round", |model, d, rk| flat(fo(model, bytes(d), bytes(rk)))),
            ("last", |model, d, keys| {
                let [rk, last] = [&keys[..128], &keys[128..]].map(bytes);
                flat(end(model, bytes(d), rk, last))
            }),
        ],
        deciding_keys: None,
        claims,
    }
}

fn claims() -> Vec<Claim> {
    let of_128: Recorded = recorded::<Bits<Key128>>;
    let sizes = [
        (128, "of 12 rounds", of_128),
        (192, "of 14 rounds", recorded::<Bits<Key192>>),
        (256, "of 16 rounds", recorded::<Bits<Key256>>),
    ];
    let both = |(bits, whole, recorded)| {
        Direction::BOTH.map(|direction| claim(bits, whole, recorded, direction))
    };
    sizes.into_iter().flat_map(both).collect()
}

fn claim(bits: usize, whole: &'static str, recorded: Recorded, direction: Direction) -> Claim {
    let rounds = bits / 32 + 8;
    let keys = move |model: &mut Model<'_>, wires: &[Wire]| {
        let ek: Vec<Word> = wires.chunks(128).map(bytes).collect();
        if direction == Direction::Decrypt { decryption_keys(model, &ek) } else { ek }
    };
    Claim {
        name: format!("ARIA-{bits} {}", noun(direction)),
        whole,
        key_bytes: bits / 8,
        key_bits: 128 * (rounds + 1),
        expand: Box::new(expand),
        recorded,
        direction,
        device: Some(Device {
            file: "aria_bitslice",
            width: 1,
            most_without_tables: None,
            entry: "aria_bitslice_ecb",
            // `AriaKeys` in kernels/aria/keys.cuh.
            key_words: Box::new(move |model, wires| {
                let keys = keys(model, wires);
                key_words_of_blocks(model, &keys, 16)
            }),
        }),
        vectors: Some("aria_ecb.txt"),
        key_planes: Box::new(move |model, wires| {
            // Bytes of keys of even rounds are exchanged, but for the last round.
            let mut keys = keys(model, wires);
            let last = keys.len() - 2;
            keys[..last].iter_mut().skip(1).step_by(2).for_each(|key| {
                *key = core::array::from_fn(|byte| key[byte ^ 2]);
            });
            keys.as_flattened().as_flattened().to_vec()
        }),
        cipher: Box::new(move |model, text, wires| {
            let keys = keys(model, wires);
            flat(run(model, bytes(text), &keys))
        }),
    }
}

/// C1, C2 and C3 (section 2.2).
const CONSTANTS: [u128; 3] = [
    0x517c_c1b7_2722_0a94_fe13_abe8_fa9a_6ee0,
    0x6db1_4acc_9e21_c820_ff28_b1d5_ef5d_e2b0,
    0xdb92_371d_2126_e970_0324_9775_04e8_c90e,
];

/// By how many bits W1 to W3 and W0 are rotated to the left for each four of the keys (section 2.2).
const ROTATIONS: [usize; 5] = [128 - 19, 128 - 31, 61, 31, 19];

/// ek1 and so on (section 2.2).
fn expand(model: &mut Model<'_>, key: &[Wire]) -> Vec<Wire> {
    let (kl, kr) = key.split_at(128);
    let mut kr = kr.to_vec();
    kr.extend(model.number(0, 128 - kr.len()));
    let first = key.len() / 64 - 2;
    let ck: [Word; 3] = core::array::from_fn(|i| {
        bytes(&model.number(CONSTANTS[(first + i) % 3].swap_bytes(), 128))
    });
    let w0: Word = bytes(kl);
    let image = fo(model, w0, ck[0]);
    let w1 = add(model, image, bytes(&kr));
    let image = fe(model, w1, ck[1]);
    let w2 = add(model, image, w0);
    let image = fo(model, w2, ck[2]);
    let w3 = add(model, image, w1);
    let w = [w0, w1, w2, w3].map(flat);
    let rounds = key.len() / 32 + 8;
    let ek = |i: usize| {
        let rotated = rotated_left(&w[(i + 1) % 4], ROTATIONS[i / 4]);
        model.xor_all(&w[i % 4], &rotated)
    };
    (0..=rounds).flat_map(ek).collect()
}

fn flat(word: Word) -> Vec<Wire> {
    word.as_flattened().to_vec()
}

/// dk1 = ek{n+1}, dk2 = A(ek{n}), ..., dk{n} = A(ek2), dk{n+1} = ek1 (section 2.2).
fn decryption_keys(model: &mut Model<'_>, ek: &[Word]) -> Vec<Word> {
    let last = ek.len() - 1;
    let key = |i: usize| {
        let key = ek[last - i];
        if i == 0 || i == last { key } else { a(model, key) }
    };
    (0..ek.len()).map(key).collect()
}

/// The data randomizing part (section 2.3): FO and FE by turns, the last round without A.
fn run(model: &mut Model<'_>, text: Word, keys: &[Word]) -> Word {
    let rounds = keys.len() - 1;
    let mut p = text;
    for i in 1..rounds {
        p = if i % 2 == 1 { fo(model, p, keys[i - 1]) } else { fe(model, p, keys[i - 1]) };
    }
    end(model, p, keys[rounds - 1], keys[rounds])
}

/// The last round.
fn end(model: &mut Model<'_>, d: Word, rk: Word, last: Word) -> Word {
    let x = add(model, d, rk);
    let image = sl2(model, x);
    add(model, image, last)
}

/// The odd round function (section 2.4.1).
fn fo(model: &mut Model<'_>, d: Word, rk: Word) -> Word {
    let x = add(model, d, rk);
    let image = sl1(model, x);
    a(model, image)
}

/// The even round function (section 2.4.1).
fn fe(model: &mut Model<'_>, d: Word, rk: Word) -> Word {
    let x = add(model, d, rk);
    let image = sl2(model, x);
    a(model, image)
}

fn add(model: &mut Model<'_>, a: Word, b: Word) -> Word {
    core::array::from_fn(|i| model.xor_bytes(a[i], b[i]))
}

/// The substitution layer of odd rounds (section 2.4.2): SB1 to SB4 by turns.
fn sl1(model: &mut Model<'_>, x: Word) -> Word {
    substitute(model, x, [&AES, &ARIA_S2, &AES_INVERSE, &ARIA_S2_INVERSE])
}

/// The substitution layer of even rounds (section 2.4.2): SB3, SB4, SB1 and SB2 by turns.
fn sl2(model: &mut Model<'_>, x: Word) -> Word {
    substitute(model, x, [&AES_INVERSE, &ARIA_S2_INVERSE, &AES, &ARIA_S2])
}

fn substitute(model: &mut Model<'_>, x: Word, sboxes: [&[u8; 256]; 4]) -> Word {
    core::array::from_fn(|i| model.sbox(sboxes[i % 4], x[i]))
}

/// The diffusion layer A (section 2.4.3).
fn a(model: &mut Model<'_>, x: Word) -> Word {
    ARIA_A.map(|row| {
        let terms = row.map(|i| x[usize::from(i)]);
        model.sum(&terms)
    })
}
