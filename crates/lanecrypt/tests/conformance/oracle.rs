//! What backends are compared with: the reference under the modes' definitions, over buffers between
//! canaries.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use lanecrypt::{Direction, Error, cipher::InOutBuf, registry::CipherDescription};
use lanecrypt_reference::modes::{self as by_definition, ModeError};
use libtest_mimic::Failed;

use crate::common::{EngineBlocks, Outcome, noise};

/// Bytes around every buffer that nothing may touch.
const CANARY: [u8; 32] = [0xc5; 32];

/// ECB results by key length and direction.
type Answers = HashMap<(usize, Direction), Arc<Vec<u8>>>;

/// The reference backend under the modes' definitions. Its ECB answers over one long random input
/// are kept.
pub(crate) struct Oracle {
    cipher: &'static CipherDescription,
    answers: Mutex<Answers>,
}

impl Oracle {
    pub(crate) fn new(cipher: &'static CipherDescription) -> Self {
        Self { cipher, answers: Mutex::default() }
    }

    /// Blocks of the longest input that any backend is asked for.
    pub(crate) fn input(&self) -> Vec<u8> {
        let lanes = self.cipher.backends.iter().map(|backend| backend.lanes).max().unwrap_or(1);
        noise(31 * lanes * self.cipher.block_bytes, 99)
    }

    pub(crate) fn reference(&self, key: &[u8]) -> Result<EngineBlocks, Failed> {
        let reference = self.cipher.backend("reference");
        let create = reference.ok_or("no backend has the id `reference`")?.create;
        create(key)
            .map(EngineBlocks)
            .map_err(|error| format!("the reference failed: {error}").into())
    }

    /// What a mode makes of `input` under the reference and `key`.
    pub(crate) fn expected(
        &self,
        key: &[u8],
        input: &[u8],
        mode: impl FnOnce(&EngineBlocks, &mut [u8]) -> Result<(), ModeError>,
    ) -> Result<Vec<u8>, Failed> {
        let mut data = input.to_vec();
        mode(&self.reference(key)?, &mut data).map_err(|error| format!("the oracle: {error}"))?;
        Ok(data)
    }

    /// The ECB result over `input()` under the key of this length.
    pub(crate) fn answer(&self, key: &[u8], direction: Direction) -> Result<Arc<Vec<u8>>, Failed> {
        let mut answers = self.answers.lock().expect("no trial panics while it asks");
        if let Some(answer) = answers.get(&(key.len(), direction)) {
            return Ok(answer.clone());
        }
        let ecb = match direction {
            Direction::Encrypt => by_definition::ecb_encrypt,
            Direction::Decrypt => by_definition::ecb_decrypt,
        };
        let answer = Arc::new(self.expected(key, &self.input(), ecb)?);
        answers.insert((key.len(), direction), answer.clone());
        Ok(answer)
    }
}

/// A buffer at a chosen distance from its allocation's alignment, with canaries on both sides.
pub(crate) struct Guarded {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Guarded {
    pub(crate) fn new(data: &[u8], misalignment: usize) -> Self {
        let start = CANARY.len() + misalignment;
        let mut bytes = vec![CANARY[0]; start];
        bytes.extend_from_slice(data);
        bytes.extend_from_slice(&CANARY);
        Self { bytes, start, length: data.len() }
    }

    pub(crate) fn data(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..][..self.length]
    }

    pub(crate) fn check(&mut self, expected: &[u8], what: &str) -> Outcome {
        if let Some(at) = self.data().iter().zip(expected).position(|(a, b)| a != b) {
            return Err(format!("{what}: byte {at} of {} is wrong", expected.len()).into());
        }
        let around = self.bytes[..self.start].iter().chain(&self.bytes[self.start + self.length..]);
        if around.into_iter().any(|&byte| byte != CANARY[0]) {
            return Err(format!("{what}: wrote outside its buffer").into());
        }
        Ok(())
    }
}

/// Runs `work` in place and out of place over a buffer and checks both.
pub(crate) fn both_ways(
    input: &[u8],
    expected: &[u8],
    misalignment: usize,
    what: &str,
    work: impl Fn(InOutBuf<'_, '_, u8>) -> Result<(), Error>,
) -> Outcome {
    let mut buffer = Guarded::new(input, misalignment);
    work(buffer.data().into()).map_err(|error| format!("{what}: {error}"))?;
    buffer.check(expected, &format!("{what}, in place"))?;

    let mut source = Guarded::new(input, misalignment);
    let mut target = Guarded::new(&vec![0x5a; input.len()], (misalignment * 3) % 8);
    let pair = InOutBuf::new(source.data(), target.data()).map_err(|_| "unequal lengths")?;
    work(pair).map_err(|error| format!("{what}: {error}"))?;
    target.check(expected, &format!("{what}, out of place"))?;
    source.check(input, &format!("{what}, the input of out of place"))
}

/// Fails unless `result` is an error whose text contains every one of `parts`.
pub(crate) fn names(result: Result<(), Error>, parts: &[&str]) -> Outcome {
    let Err(error) = result else {
        return Err("bad input was accepted".into());
    };
    let text = error.to_string();
    match parts.iter().find(|part| !text.contains(**part)) {
        None => Ok(()),
        Some(part) => Err(format!("{text:?} does not name {part:?}").into()),
    }
}
