//! Messages that lie sealed outside, such as in a file, and plain on a device: runs of them pass side by side,
//! each on a lane.
//!
//! A lane's memory is that of a batch in host memory ([`super::host_memory`]), but only ciphertext passes the
//! bus, one way. The device moves plaintext by itself between the lane, where messages start at multiples of
//! a block, and the place where it belongs:
//!
//! ```text
//! open   read | up | keys, hash, decrypt | rows to their places
//! seal   rows from their places | keys, encrypt, hash | down | write
//! ```
//!
//! A message may have a lead: bytes that come right before it where it goes to. Those of messages that are opened
//! go up with them, and where messages and leads follow each other on the device without a gap, they do so on the
//! lane, and a run is one copy. Such a lead takes the place where the tag of the message before it was read, once
//! that is described. Those of messages that are sealed are put between them when they came back.
//!
//! What costs a copy is left out where it can be:
//!
//! - Plaintexts at multiples of a block are read by the kernels, or written, where they belong.
//! - What is sealed into pinned memory of the caller's goes there from the device by itself; only tags and leads
//!   are put into it by the host.

mod call;
mod message;
mod outside;
mod regions;
mod run;
mod runs;

use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

pub use self::message::{SealedMessage, Sealing};
use self::{
    call::Call,
    outside::{InOrder, Outside},
    regions::Plain,
    runs::pass,
};
use super::BatchFamily;
use crate::{Device, DeviceSlice, DeviceSliceMut, TransferError};

impl BatchFamily {
    /// Opens messages into `output`. `read` fills a buffer with what lies outside from a place
    /// on, ciphertext and tags of one message or of several; several threads call it.
    /// [`Limits`](crate::Limits) bounds them and the memory that is taken, beside `output`.
    ///
    /// Nothing is decrypted before it was found authentic. But other messages may have been when one is
    /// not: then, and after every error, nothing of `output` is to be used.
    ///
    /// # Errors
    /// [`TransferError::NotAuthentic`] naming the first such message of those that were tried;
    /// [`TransferError::Outside`] with an error of `read`; [`TransferError::Device`], as
    /// [`fits`](Self::fits), with [`Error::Mismatch`](crate::Error::Mismatch) as [`prepare`](Self::prepare), with [`Error::Range`](crate::Error::Range)
    /// for a message that ends behind the slice, and with those of the driver.
    pub fn open_to_device<'m, E: Send>(
        &self,
        messages: impl Iterator<Item = SealedMessage<'m>> + Send,
        output: &mut DeviceSliceMut<'_>,
        read: impl Fn(&mut [u8], u64) -> Result<(), E> + Sync,
    ) -> Result<(), TransferError<E>> {
        let output = output.as_slice();
        pass(Call::new(self, Plain::One(&output), Outside::Read(&read))?, messages, &mut [])
    }

    /// Opens messages into regions of a device's memory, each into its own, and returns the numbers of those that
    /// are not authentic. Their regions are set to zero, and all others are complete.
    ///
    /// As [`open_to_device`](Self::open_to_device) otherwise.
    ///
    /// # Errors
    /// As there, but for what is not authentic; [`Error::OtherDevice`](crate::Error::OtherDevice). Nothing of the regions is to be used
    /// then.
    pub fn open_regions<'m, E: Send>(
        &self,
        device: &Device,
        messages: impl Iterator<Item = SealedMessage<'m>> + Send,
        regions: &mut [DeviceSliceMut<'_>],
        read: impl Fn(&mut [u8], u64) -> Result<(), E> + Sync,
    ) -> Result<Vec<u64>, TransferError<E>> {
        let all: Vec<_> = regions.iter().map(DeviceSliceMut::as_slice).collect();
        let mut call = Call::new(self, Plain::each(device, &all)?, Outside::Read(&read))?;
        let wrong = Mutex::default();
        call.wrong = Some(&wrong);
        pass(call, messages, &mut [])?;
        let mut wrong: Vec<u64> = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
        wrong.sort_unstable();
        wrong.iter().try_for_each(|&number| regions[number as usize].clear())?;
        Ok(wrong)
    }

    /// Seals messages of `input`. `write` writes bytes outside from a place on, ciphertext and
    /// tags of one message or of several; several threads call it.
    /// [`Limits`](crate::Limits) bounds them and the memory that is taken, beside `input`.
    ///
    /// An IV must never be used twice under one key.
    ///
    /// # Errors
    /// As [`open_to_device`](Self::open_to_device), but that every message is authentic: nothing of what was
    /// written is to be used then.
    pub fn seal_from_device<'m, E: Send>(
        &self,
        messages: impl Iterator<Item = SealedMessage<'m>> + Send,
        input: &DeviceSlice<'_>,
        write: impl Fn(&[u8], u64) -> Result<(), E> + Sync,
    ) -> Result<(), TransferError<E>> {
        pass(Call::new(self, Plain::One(input), Outside::Write(&write))?, messages, &mut [])
    }

    /// The same, but that one thread at a time calls `append`, with what follows what it had before: messages lie
    /// outside one behind the other, wherever they say.
    ///
    /// # Errors
    /// As there. What was appended until then is whole messages and the beginning of one.
    pub fn seal_from_device_in_order<'m, E: Send>(
        &self,
        messages: impl Iterator<Item = SealedMessage<'m>> + Send,
        input: &DeviceSlice<'_>,
        append: impl FnMut(&[u8]) -> Result<(), E> + Send,
    ) -> Result<(), TransferError<E>> {
        let append = Mutex::new(append);
        let append = |piece: &[u8]| append.lock().unwrap_or_else(PoisonError::into_inner)(piece);
        let outside = Outside::InOrder(InOrder::new(&append));
        pass(Call::new(self, Plain::One(input), outside)?, messages, &mut [])
    }

    /// The same into memory, from whose beginning on the messages' places count, each behind the one before. `told`
    /// is told of bytes that are complete; several threads call it. Where
    /// [the device copies there by itself](Device::copies_by_itself), no thread of the host copies anything.
    ///
    /// # Errors
    /// As [`seal_from_device`](Self::seal_from_device), with [`Error::Range`](crate::Error::Range) for places outside the memory, and
    /// those that are not in order; [`TransferError::Outside`] with an error of `told`.
    pub fn seal_from_device_to_memory<'m, E: Send>(
        &self,
        messages: impl Iterator<Item = SealedMessage<'m>> + Send,
        input: &DeviceSlice<'_>,
        output: &mut [u8],
        told: impl Fn(Range<u64>) -> Result<(), E> + Sync,
    ) -> Result<(), TransferError<E>> {
        self.seal_to_memory(Plain::One(input), messages, output, &told)
    }

    /// The same of regions of a device's memory, each with a message of its own.
    ///
    /// # Errors
    /// As there; [`Error::OtherDevice`](crate::Error::OtherDevice).
    pub fn seal_regions_to_memory<'m, E: Send>(
        &self,
        device: &Device,
        messages: impl Iterator<Item = SealedMessage<'m>> + Send,
        regions: &[DeviceSlice<'_>],
        output: &mut [u8],
        told: impl Fn(Range<u64>) -> Result<(), E> + Sync,
    ) -> Result<(), TransferError<E>> {
        self.seal_to_memory(Plain::each(device, regions)?, messages, output, &told)
    }

    fn seal_to_memory<'m, E: Send>(
        &self,
        plain: Plain<'_>,
        messages: impl Iterator<Item = SealedMessage<'m>> + Send,
        output: &mut [u8],
        told: &(dyn Fn(Range<u64>) -> Result<(), E> + Sync),
    ) -> Result<(), TransferError<E>> {
        let is_pinned = plain.device().copies_by_itself(output);
        pass(Call::new(self, plain, Outside::Memory { is_pinned, told })?, messages, output)
    }
}
