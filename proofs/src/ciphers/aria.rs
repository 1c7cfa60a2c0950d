//! ARIA as RFC 5794 has it.

use lanecrypt_circuit::Wire;
use lanecrypt_reference::{
    diffusion::ARIA_A,
    sbox::{AES, AES_INVERSE, ARIA_S2, ARIA_S2_INVERSE},
};

use super::DIRECTIONS;
use crate::{
    model::{Byte, Model, bytes},
    subject::{Claim, Subject},
};

/// 128 bits, the leftmost byte first.
type Word = [Byte; 16];

pub(crate) fn subject() -> Subject {
    Subject {
        name: "aria",
        standard: "RFC 5794",
        plans: [lanecrypt_aria::plan::<false>, lanecrypt_aria::plan::<true>],
        steps: &[
            ("odd", |model, d, rk| flat(fo(model, bytes(d), bytes(rk)))),
            ("even", |model, d, rk| flat(fe(model, bytes(d), bytes(rk)))),
            ("last", |model, d, keys| {
                let [rk, last] = [&keys[..128], &keys[128..]].map(bytes);
                flat(end(model, bytes(d), rk, last))
            }),
        ],
        claims,
    }
}

fn claims() -> Vec<Claim> {
    [(128, 12, "of 12 rounds"), (192, 14, "of 14 rounds"), (256, 16, "of 16 rounds")]
        .into_iter()
        .flat_map(|(size, rounds, whole)| {
            DIRECTIONS.map(|(direction, is_decryption)| {
                claim(size, rounds, whole, direction, is_decryption)
            })
        })
        .collect()
}

fn claim(
    size: usize,
    rounds: usize,
    whole: &'static str,
    direction: &str,
    is_decryption: bool,
) -> Claim {
    let keys = move |model: &mut Model<'_>, wires: &[Wire]| {
        let ek: Vec<Word> = wires.chunks(128).map(bytes).collect();
        if is_decryption { decryption_keys(model, &ek) } else { ek }
    };
    Claim {
        name: format!("ARIA-{size} {direction}"),
        whole,
        key_bits: 128 * (rounds + 1),
        key_planes: Box::new(move |model, wires| {
            keys(model, wires).as_flattened().as_flattened().to_vec()
        }),
        cipher: Box::new(move |model, text, wires| {
            let keys = keys(model, wires);
            flat(run(model, bytes(text), &keys))
        }),
    }
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
