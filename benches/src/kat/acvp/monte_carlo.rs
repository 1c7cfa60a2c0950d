//! Monte Carlo tests: rounds of many single blocks, each made from those before, under keys that each round changes.
//!
//! AES: AESAVS, 6.4, and draft-celi-acvp-symmetric; triple DES: SP 800-20 as the draft and NIST's server have it, where
//! decryption does not mirror encryption.

use std::array;

use lanecrypt::{
    Direction, Engine, Error, Mode,
    modes::{cbc_decrypt, cbc_encrypt, cfb_decrypt, cfb_encrypt, ofb},
};
use serde_json::{Map, Value};

use super::{
    algorithm::{Context, direction, exactly, hex},
    error::AcvpError,
    fields::Fields,
};

/// Whether such tests are there for a mode.
pub(super) fn is_defined(mode: Mode) -> bool {
    matches!(mode, Mode::Ecb | Mode::Cbc | Mode::Cfb | Mode::Ofb)
}

pub(super) fn answer(
    context: Context<'_>,
    mode: Mode,
    group: Fields<'_>,
    test: Fields<'_>,
) -> Result<Map<String, Value>, AcvpError> {
    let (direction, from, to) = direction(group)?;
    let block = context.target.cipher.block_bytes;
    let chain = match mode {
        Mode::Ecb => Vec::new(),
        _ => exactly(test, "iv", block)?,
    };
    let mut key = context.algorithm.key(group, test)?;
    let schedule = Schedule::of(context, group, test, &key)?;
    let mut round = Round { mode, direction, chain, input: exactly(test, from, block)? };
    let mut results = Vec::with_capacity(schedule.rounds());
    for _ in 0..schedule.rounds() {
        let mut result = Map::new();
        context.algorithm.write_key(&key, &mut result);
        if mode != Mode::Ecb {
            result.insert("iv".to_owned(), hex(&round.chain));
        }
        result.insert(from.to_owned(), hex(&round.input));
        let run = |round: &mut Round| {
            let engine = (context.target.backend.create)(&key)?;
            round.run(&*engine, schedule)
        };
        let last =
            run(&mut round).map_err(|error| AcvpError::Engine { place: test.place, error })?;
        result.insert(to.to_owned(), hex(&last[0]));
        results.push(Value::Object(result));
        schedule.change(&mut key, &last);
    }
    Ok(Map::from_iter([("resultsArray".to_owned(), Value::Array(results))]))
}

/// How many rounds and blocks there are, and how the key changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Schedule {
    Aes,
    /// With three keys, or with two where the third is the first.
    TripleDes {
        keys: usize,
    },
}

/// The last outputs of a round, the last one first.
type LastOutputs = [Vec<u8>; 3];

impl Schedule {
    fn of(
        context: Context<'_>,
        group: Fields<'_>,
        test: Fields<'_>,
        key: &[u8],
    ) -> Result<Self, AcvpError> {
        if !context.algorithm.has_three_keys() {
            return Ok(Self::Aes);
        }
        match group.number("keyingOption")? {
            1 => Ok(Self::TripleDes { keys: 3 }),
            2 if key[..8] == key[16..] => Ok(Self::TripleDes { keys: 2 }),
            2 => Err(test.refused("key3", "key1, which keying option 2 has there")),
            _ => Err(group.refused("keyingOption", "1 or 2")),
        }
    }

    fn rounds(self) -> usize {
        match self {
            Self::Aes => 100,
            Self::TripleDes { .. } => 400,
        }
    }

    fn blocks(self) -> usize {
        match self {
            Self::Aes => 1000,
            Self::TripleDes { .. } => 10_000,
        }
    }

    /// The key of the next round.
    fn change(self, key: &mut [u8], [last, before, earlier]: &LastOutputs) {
        match self {
            Self::Aes => {
                let outputs = [&before[..], last].concat();
                let length = key.len();
                xor(key, &outputs[outputs.len() - length..]);
            }
            Self::TripleDes { keys } => {
                for (part, output) in key.chunks_exact_mut(8).zip([last, before, earlier]) {
                    xor(part, output);
                }
                if keys == 2 {
                    key.copy_within(..8, 16);
                }
                for byte in key {
                    *byte = (*byte & 0xfe) | u8::from((*byte >> 1).count_ones().is_multiple_of(2));
                }
            }
        }
    }
}

/// A round, and then the next one.
struct Round {
    mode: Mode,
    direction: Direction,
    /// The IV; nothing in ECB.
    chain: Vec<u8>,
    input: Vec<u8>,
}

impl Round {
    fn run(&mut self, engine: &dyn Engine, schedule: Schedule) -> Result<LastOutputs, Error> {
        let (start, mut block) = (self.input.clone(), self.input.clone());
        // What comes before the first output is the IV.
        let mut last: LastOutputs = array::from_fn(|_| self.chain.clone());
        let (mut input, mut chain_before) = (block.clone(), self.chain.clone());
        for _ in 0..schedule.blocks() {
            input.clone_from(&block);
            chain_before.clone_from(&self.chain);
            step(engine, (self.mode, self.direction), &mut self.chain, &mut block)?;
            last.rotate_right(1);
            last[0].clone_from(&block);
            match Next::of(schedule, self.mode, self.direction) {
                Next::Output => {}
                Next::OutputBefore => block.clone_from(&last[1]),
                Next::Sum => xor(&mut block, &input),
                Next::ChainBefore => block.clone_from(&chain_before),
            }
        }
        // Of AES the next IV is the last output in both directions; of triple DES it is what the mode goes on with.
        if schedule == Schedule::Aes && self.mode != Mode::Ecb {
            self.chain.clone_from(&last[0]);
        }
        if Next::of(schedule, self.mode, self.direction) == Next::ChainBefore {
            xor(&mut block, &start);
        }
        self.input = block;
        Ok(last)
    }
}

/// What the next input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The output.
    Output,
    /// The output before this one, or the IV.
    OutputBefore,
    /// Input and output, added.
    Sum,
    /// What the chain was before this block.
    ChainBefore,
}

impl Next {
    fn of(schedule: Schedule, mode: Mode, direction: Direction) -> Self {
        match (schedule, mode, direction) {
            (_, Mode::Ecb, _) => Self::Output,
            (Schedule::Aes, ..) | (_, Mode::Cbc | Mode::Cfb, Direction::Encrypt) => {
                Self::OutputBefore
            }
            (_, Mode::Cfb, Direction::Decrypt) => Self::Sum,
            (_, Mode::Ofb, _) => Self::ChainBefore,
            _ => Self::Output,
        }
    }
}

/// One block of a mode under `chain`, which becomes that of the next.
fn step(
    engine: &dyn Engine,
    (mode, direction): (Mode, Direction),
    chain: &mut [u8],
    block: &mut [u8],
) -> Result<(), Error> {
    if mode == Mode::Ecb {
        return engine.ecb(direction, block.into());
    }
    let (iv, input) = (chain.to_vec(), block.to_vec());
    let data = (&mut *block).into();
    match (mode, direction) {
        (Mode::Cbc, Direction::Encrypt) => cbc_encrypt(engine, &iv, data)?,
        (Mode::Cbc, Direction::Decrypt) => cbc_decrypt(engine, &iv, data)?,
        (Mode::Cfb, Direction::Encrypt) => cfb_encrypt(engine, &iv, data)?,
        (Mode::Cfb, Direction::Decrypt) => cfb_decrypt(engine, &iv, data)?,
        _ => ofb(engine, &iv, data)?,
    }
    match (mode, direction) {
        // The key stream.
        (Mode::Ofb, _) => {
            chain.copy_from_slice(&input);
            xor(chain, block);
        }
        // The ciphertext.
        (_, Direction::Encrypt) => chain.copy_from_slice(block),
        (_, Direction::Decrypt) => chain.copy_from_slice(&input),
    }
    Ok(())
}

fn xor(bytes: &mut [u8], others: &[u8]) {
    bytes.iter_mut().zip(others).for_each(|(byte, other)| *byte ^= other);
}
