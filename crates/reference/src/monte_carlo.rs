//! Monte Carlo chains: thousands of operations, each on the output of the last.

use crate::{
    modes::{BlockCipher, xor_into},
    vectors::{Direction, MonteCarlo},
};
use core::mem;
use std::{string::String, vec::Vec};
use thiserror::Error;

/// The last two outputs of one step of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainEnd {
    /// The last output block: `out`.
    pub output: Vec<u8>,
    /// The output block before it: `prev`.
    pub previous: Vec<u8>,
}

impl ChainEnd {
    /// Whether this is what the line says.
    #[must_use]
    pub fn matches(&self, line: &MonteCarlo) -> bool {
        self.output == line.output && self.previous == line.previous
    }
}

/// Why a chain cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MonteCarloError {
    /// A mode that has no chain here.
    #[error("the chain's mode is {given:?}; accepted are ecb and cbc")]
    Mode {
        /// The line's mode.
        given: String,
    },
    /// A step without an operation.
    #[error("the chain has 0 inner operations; 1 or more are accepted")]
    NoOperation,
    /// An IV that is missing or not as long as the input block.
    #[error("the chain's IV has {given} bytes; the {accepted} of its input block are accepted")]
    InitializationVector {
        /// The length of the IV in bytes, 0 if there is none.
        given: usize,
        /// The length of the input block in bytes.
        accepted: usize,
    },
    /// An input that is not one block of the cipher.
    #[error(
        "the chain's input has {given} bytes; the {accepted} of the cipher's block are accepted"
    )]
    InputLength {
        /// The length of the input in bytes.
        given: usize,
        /// The cipher's block length in bytes.
        accepted: usize,
    },
}

/// Runs one step of a chain (AESAVS, section 6.4.1 and 6.4.2; `vectors/README.md` in full).
///
/// `block_operation` does one block in place with the line's key: it encrypts if the line's
/// direction is [`Direction::Encrypt`] and decrypts otherwise. It sees blocks as long as the line's
/// input, so any backend can stand behind it.
///
/// # Errors
/// [`MonteCarloError`], except `InputLength`, before the first operation.
pub fn monte_carlo(
    line: &MonteCarlo,
    block_operation: impl FnMut(&mut [u8]),
) -> Result<ChainEnd, MonteCarloError> {
    if line.inner == 0 {
        return Err(MonteCarloError::NoOperation);
    }
    match &line.mode[..] {
        "ecb" => Ok(ecb_chain(line, block_operation)),
        "cbc" => {
            let (given, accepted) = (line.iv.as_ref().map_or(0, Vec::len), line.input.len());
            match &line.iv {
                Some(iv) if given == accepted => Ok(cbc_chain(line, iv, block_operation)),
                _ => Err(MonteCarloError::InitializationVector { given, accepted }),
            }
        }
        _ => Err(MonteCarloError::Mode { given: line.mode.clone() }),
    }
}

/// Runs one step of a chain on a cipher that has the line's key; see [`monte_carlo`].
///
/// # Errors
/// [`MonteCarloError`], before the first operation.
pub fn monte_carlo_with(
    line: &MonteCarlo,
    cipher: &impl BlockCipher,
) -> Result<ChainEnd, MonteCarloError> {
    let (given, accepted) = (line.input.len(), cipher.block_bytes());
    if given != accepted {
        return Err(MonteCarloError::InputLength { given, accepted });
    }
    match line.direction {
        Direction::Encrypt => monte_carlo(line, |block| cipher.encrypt_block(block)),
        Direction::Decrypt => monte_carlo(line, |block| cipher.decrypt_block(block)),
    }
}

/// ECB: x(j+1) = F(x(j)).
fn ecb_chain(line: &MonteCarlo, mut block_operation: impl FnMut(&mut [u8])) -> ChainEnd {
    let mut output = line.input.clone();
    let mut previous = Vec::new();
    for _ in 0..line.inner {
        previous.clone_from(&output);
        block_operation(&mut output);
    }
    ChainEnd { output, previous }
}

/// CBC: x(0) is the input, and x(j+1) is the output of operation j-1, or the IV if j is 0.
fn cbc_chain(line: &MonteCarlo, iv: &[u8], mut block_operation: impl FnMut(&mut [u8])) -> ChainEnd {
    let mut input = line.input.clone();
    let mut chain = iv.to_vec(); // what CBC XORs: c(j-1) or, decrypting, x(j-1)
    let mut previous = iv.to_vec(); // output j-1
    for _ in 0..line.inner {
        let mut output = input.clone();
        match line.direction {
            Direction::Encrypt => {
                xor_into(&mut output, &chain);
                block_operation(&mut output);
                chain.clone_from(&output);
            }
            Direction::Decrypt => {
                block_operation(&mut output);
                xor_into(&mut output, &chain);
                chain.clone_from(&input);
            }
        }
        // The output before this one is the next input; this one takes its place.
        input = mem::replace(&mut previous, output);
    }
    // Now `previous` is the last output, and `input` the one before.
    ChainEnd { output: previous, previous: input }
}
