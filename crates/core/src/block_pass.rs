//! A mode over one block of data: what the cipher runs over, and what is added before and after it.

#![allow(clippy::inline_always, reason = "one block is then not much more than a call")]

use core::fmt;

use cipher::{Array, InOutBuf, array::ArraySize};

use crate::{
    Direction, Operation,
    modes::{wiped, xor},
};

/// One block of data, and what is added to it.
#[repr(C)] // `ct` knows where the data is
pub struct BlockPass<'a, 'inp, 'out, N: ArraySize> {
    /// The block.
    pub data: &'a mut InOutBuf<'inp, 'out, u8>,
    /// What the cipher runs over.
    pub input: BlockInput<'a, N>,
    /// The upper half of a counter. Halves that lie side by side, or a lower one that has something behind it, would be
    /// loaded in one piece right after they were stored, for which a CPU waits as long as for three rounds of AES.
    counter_high: u64,
    /// What is added to what the cipher runs over.
    pub before: Option<&'a Array<u8, N>>,
    /// What is added afterwards.
    pub after: Option<&'a Array<u8, N>>,
    counter_low: u64,
}

/// What the cipher runs over in a [`BlockPass`]. To another than the data, the data is added afterwards.
pub enum BlockInput<'a, N: ArraySize> {
    /// The data.
    Data,
    /// A register: an IV, a block of ciphertext or of key stream.
    Register(&'a Array<u8, N>),
    /// The counter block that [`BlockPass::counter`] is.
    Counter,
}

/// Tells nothing of what it holds.
impl<N: ArraySize> fmt::Debug for BlockInput<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockInput").finish_non_exhaustive()
    }
}

/// Tells nothing of what it holds.
impl<N: ArraySize> fmt::Debug for BlockPass<'_, '_, '_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockPass").finish_non_exhaustive()
    }
}

impl<'a, 'inp, 'out, N: ArraySize> BlockPass<'a, 'inp, 'out, N> {
    /// A counter block, as a big-endian number.
    #[inline(always)]
    #[must_use]
    pub fn counter(&self) -> u128 {
        u128::from(self.counter_high) << 64 | u128::from(self.counter_low)
    }

    /// An operation over a block, and the direction of the cipher in it; `None` where that is another, or the block of
    /// the operation has another length.
    #[inline]
    pub(crate) fn of(
        operation: &Operation<'a>,
        data: &'a mut InOutBuf<'inp, 'out, u8>,
    ) -> Option<(Direction, Self)> {
        if data.len() != N::USIZE {
            return None;
        }
        let block = |bytes| Array::slice_as_array(bytes);
        let all = Self {
            data,
            input: BlockInput::Data,
            counter_high: 0,
            before: None,
            after: None,
            counter_low: 0,
        };
        Some(match *operation {
            Operation::Cbc(Direction::Encrypt, iv) => {
                (Direction::Encrypt, Self { before: Some(block(iv)?), ..all })
            }
            Operation::Cbc(Direction::Decrypt, iv) => {
                (Direction::Decrypt, Self { after: Some(block(iv)?), ..all })
            }
            Operation::Cfb(_, iv) | Operation::Ofb(iv) => {
                (Direction::Encrypt, Self { input: BlockInput::Register(block(iv)?), ..all })
            }
            Operation::Ctr(counter) | Operation::Ctr32(counter) | Operation::Ctr32Le(counter)
                if counter.block_bytes() == N::USIZE =>
            {
                let (counter_high, counter_low) =
                    ((counter.value() >> 64) as u64, counter.value() as u64);
                let input = BlockInput::Counter;
                (Direction::Encrypt, Self { input, counter_high, counter_low, ..all })
            }
            Operation::Xts(direction, mask) => {
                let mask = Some(block(mask)?);
                (direction, Self { before: mask, after: mask, ..all })
            }
            _ => return None,
        })
    }

    /// Runs it by a function for one block: without the buffers for several, which modes have.
    #[inline(never)]
    pub(crate) fn run_by(&mut self, cipher: impl FnOnce(&mut Array<u8, N>)) {
        wiped(&mut Array::<u8, N>::default(), |state| {
            let is_data = matches!(self.input, BlockInput::Data);
            match self.input {
                BlockInput::Data => state.copy_from_slice(self.data.get_in()),
                BlockInput::Register(register) => state.copy_from_slice(register),
                BlockInput::Counter => {
                    let counter = self.counter().to_be_bytes();
                    state.copy_from_slice(&counter[counter.len() - N::USIZE..]);
                }
            }
            if let Some(before) = self.before {
                xor(state, before);
            }
            cipher(state);
            if let Some(after) = self.after {
                xor(state, after);
            }
            if !is_data {
                xor(state, self.data.get_in());
            }
            self.data.get_out().copy_from_slice(state);
        });
    }
}
