//! AES as FIPS 197 has it. Byte `r + 4c` of the state is row `r` of column `c`.

use lanecrypt_aes::{Bits, Key128, Key192, Key256, RoundKeys};
use lanecrypt_circuit::Wire;
use lanecrypt_core::Direction;
use lanecrypt_reference::{
    gf256::{AES_MODULUS, multiply_by_x},
    sbox::{AES, AES_INVERSE},
};

use crate::{
    model::{Byte, Model, bytes, key_words_of_blocks},
    subject::{Claim, Device, Recorded, Subject, Wgsl, noun, recorded},
};

type State = [Byte; 16];

pub(crate) fn subject() -> Subject {
    Subject {
        name: "aes",
        standard: "FIPS 197",
        plans: [lanecrypt_aes::plan::<false>, lanecrypt_aes::plan::<true>],
        rounds: None,
        wgsl: Wgsl { has_lookups: false, calls: 1 },
        steps: &[
            ("add", |model, state, key| model.xor_all(state, key)),
            ("round", |model, state, key| {
                let state = substitute(model, bytes(state), &AES);
                let state = mix_columns(model, shift_rows(state));
                flat(add_round_key(model, state, bytes(key)))
            }),
            ("last", |model, state, key| {
                let state = substitute(model, bytes(state), &AES);
                flat(add_round_key(model, shift_rows(state), bytes(key)))
            }),
            // The equivalent inverse cipher (5.3.5).
            ("inverse_round", |model, state, key| {
                let state = substitute(model, bytes(state), &AES_INVERSE);
                let state = inv_mix_columns(model, inv_shift_rows(state));
                flat(add_round_key(model, state, bytes(key)))
            }),
            ("inverse_last", |model, state, key| {
                let state = substitute(model, bytes(state), &AES_INVERSE);
                flat(add_round_key(model, inv_shift_rows(state), bytes(key)))
            }),
        ],
        deciding_keys: None,
        claims,
    }
}

fn claims() -> Vec<Claim> {
    let of_128: Recorded = recorded::<Bits<RoundKeys<Key128>>>;
    let of_192: Recorded = recorded::<Bits<RoundKeys<Key192>>>;
    let of_256: Recorded = recorded::<Bits<RoundKeys<Key256>>>;
    vec![
        claim(128, "of 10 rounds, encryption", of_128, Direction::Encrypt),
        claim(128, "of 10 rounds, decryption", of_128, Direction::Decrypt),
        claim(192, "of 12 rounds, encryption", of_192, Direction::Encrypt),
        claim(192, "of 12 rounds, decryption", of_192, Direction::Decrypt),
        claim(256, "of 14 rounds, encryption", of_256, Direction::Encrypt),
        claim(256, "of 14 rounds, decryption", of_256, Direction::Decrypt),
    ]
}

fn claim(bits: usize, whole: &'static str, recorded: Recorded, direction: Direction) -> Claim {
    // In the order in which the form and the kernel take them.
    let keys = move |model: &mut Model<'_>, wires: &[Wire]| {
        let keys: Vec<State> = wires.chunks(128).map(bytes).collect();
        if direction == Direction::Decrypt { inverse_keys(model, keys) } else { keys }
    };
    Claim {
        name: format!("AES-{bits} {}", noun(direction)),
        whole,
        key_bytes: bits / 8,
        key_bits: 128 * (bits / 32 + 7),
        expand: Box::new(expand),
        recorded,
        direction,
        device: Some(Device {
            file: "aes_bitslice",
            width: 4,
            most_without_tables: Some(8 * 256), // `WORTH_TABLES` in kernels/aes/bitslice.cu
            entry: match direction {
                Direction::Encrypt => "aes_bitslice_ecb_encrypt",
                Direction::Decrypt => "aes_bitslice_ecb_decrypt",
            },
            // `AesKeys` in kernels/aes/keys.cuh.
            key_words: Box::new(move |model, wires| {
                let keys = keys(model, wires);
                key_words_of_blocks(model, &keys, 14)
            }),
        }),
        vectors: Some("aes_ecb.txt"),
        key_planes: Box::new(move |model, wires| {
            keys(model, wires).as_flattened().as_flattened().to_vec()
        }),
        cipher: Box::new(move |model, text, wires| {
            let keys: Vec<State> = wires.chunks(128).map(bytes).collect();
            let cipher = if direction == Direction::Decrypt { decrypt } else { encrypt };
            flat(cipher(model, bytes(text), &keys))
        }),
    }
}

/// `KeyExpansion()` (5.2, figure 11).
fn expand(model: &mut Model<'_>, key: &[Wire]) -> Vec<Wire> {
    let nk = key.len() / 32;
    let mut w: Vec<[Byte; 4]> = key.chunks(32).map(bytes).collect();
    let sub_word = |model: &mut Model<'_>, word: [Byte; 4]| word.map(|byte| model.sbox(&AES, byte));
    let mut round_constant = 1;
    for i in nk..4 * (nk + 7) {
        let mut temp = w[i - 1];
        if i % nk == 0 {
            temp.rotate_left(1);
            temp = sub_word(model, temp);
            let [constant] = bytes(&model.number(round_constant.into(), 8));
            temp[0] = model.xor_bytes(temp[0], constant);
            round_constant = multiply_by_x(round_constant, AES_MODULUS);
        } else if nk > 6 && i % nk == 4 {
            temp = sub_word(model, temp);
        }
        w.push(core::array::from_fn(|byte| model.xor_bytes(w[i - nk][byte], temp[byte])));
    }
    w.as_flattened().as_flattened().to_vec()
}

fn flat(state: State) -> Vec<Wire> {
    state.as_flattened().to_vec()
}

/// The keys of the equivalent inverse cipher in the order of their use (5.3.5): `InvMixColumns()` of all but the
/// first and the last.
fn inverse_keys(model: &mut Model<'_>, mut keys: Vec<State>) -> Vec<State> {
    keys.reverse();
    let last = keys.len() - 1;
    for key in &mut keys[1..last] {
        *key = inv_mix_columns(model, *key);
    }
    keys
}

/// `Cipher()` (5.1, figure 5).
fn encrypt(model: &mut Model<'_>, text: State, keys: &[State]) -> State {
    let rounds = keys.len() - 1;
    let mut state = add_round_key(model, text, keys[0]);
    for key in &keys[1..rounds] {
        state = substitute(model, state, &AES);
        state = shift_rows(state);
        state = mix_columns(model, state);
        state = add_round_key(model, state, *key);
    }
    state = substitute(model, state, &AES);
    state = shift_rows(state);
    add_round_key(model, state, keys[rounds])
}

/// `InvCipher()` (5.3, figure 12).
fn decrypt(model: &mut Model<'_>, text: State, keys: &[State]) -> State {
    let rounds = keys.len() - 1;
    let mut state = add_round_key(model, text, keys[rounds]);
    for key in keys[1..rounds].iter().rev() {
        state = inv_shift_rows(state);
        state = substitute(model, state, &AES_INVERSE);
        state = add_round_key(model, state, *key);
        state = inv_mix_columns(model, state);
    }
    state = inv_shift_rows(state);
    state = substitute(model, state, &AES_INVERSE);
    add_round_key(model, state, keys[0])
}

/// `AddRoundKey()` (5.1.4).
fn add_round_key(model: &mut Model<'_>, state: State, key: State) -> State {
    core::array::from_fn(|i| model.xor_bytes(state[i], key[i]))
}

/// `SubBytes()` (5.1.1), or `InvSubBytes()` with the inverse S-box (5.3.2).
fn substitute(model: &mut Model<'_>, state: State, sbox: &[u8; 256]) -> State {
    state.map(|byte| model.sbox(sbox, byte))
}

/// `ShiftRows()` (5.1.2): row r moves r columns to the left.
fn shift_rows(state: State) -> State {
    core::array::from_fn(|i| state[i % 4 + 4 * ((i / 4 + i % 4) % 4)])
}

/// `InvShiftRows()` (5.3.1): to the right.
fn inv_shift_rows(state: State) -> State {
    core::array::from_fn(|i| state[i % 4 + 4 * ((i / 4 + 4 - i % 4) % 4)])
}

/// `MixColumns()` (5.1.3).
fn mix_columns(model: &mut Model<'_>, state: State) -> State {
    multiply_columns(model, state, [2, 3, 1, 1])
}

/// `InvMixColumns()` (5.3.3).
fn inv_mix_columns(model: &mut Model<'_>, state: State) -> State {
    multiply_columns(model, state, [14, 11, 13, 9])
}

/// Multiplies every column by a circulant matrix whose first row is `factors`.
fn multiply_columns(model: &mut Model<'_>, state: State, factors: [u8; 4]) -> State {
    core::array::from_fn(|i| {
        let (row, column) = (i % 4, i / 4);
        let terms: [Byte; 4] = core::array::from_fn(|j| {
            model.times(state[4 * column + j], factors[(j + 4 - row) % 4], AES_MODULUS)
        });
        model.sum(&terms)
    })
}
