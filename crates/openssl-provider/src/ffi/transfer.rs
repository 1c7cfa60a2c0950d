//! The memory of one call: raw pointers inside, safe outside.

use std::{fmt, marker::PhantomData, ptr, slice};

use lanecrypt::cipher::InOutBuf;
use zeroize::Zeroizing;

use crate::Reason;

/// The input and output of one call, as they are used up: in place, apart, or overlapping in any way.
///
/// Output is written as if the input had been read before, and never past `room` bytes.
pub struct Transfer<'a> {
    input: *const u8,
    unread: usize,
    /// The length of the input as its caller counts it.
    count: usize,
    output: *mut u8,
    room: usize,
    /// Input that output would have overwritten.
    copy: Zeroizing<Vec<u8>>,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Transfer<'a> {
    /// From one place to another.
    pub fn out_of_place(input: &'a [u8], output: &'a mut [u8]) -> Self {
        // SAFETY: they are borrowed.
        unsafe { Self::new(input.as_ptr(), input.len(), output.as_mut_ptr(), output.len()) }
    }

    /// In place.
    pub fn in_place(data: &'a mut [u8]) -> Self {
        let start = data.as_mut_ptr();
        // SAFETY: it is borrowed.
        unsafe { Self::new(start, data.len(), start, data.len()) }
    }

    /// Of pointers.
    ///
    /// # Safety
    /// For as long as it lives, `input` is good for reading `unread` bytes and `output` for writing
    /// `room`, as far as its user goes.
    pub(crate) unsafe fn new(
        input: *const u8,
        unread: usize,
        output: *mut u8,
        room: usize,
    ) -> Self {
        let copy = Zeroizing::default();
        Self { input, unread, count: unread, output, room, copy, memory: PhantomData }
    }

    /// The same input where its caller counts bits: how many, from the highest of the first byte on.
    #[must_use]
    pub fn of_bits(self, count: usize) -> Self {
        Self { count, ..self }
    }

    /// The length of the whole input as its caller counts it: in bytes, or in bits where
    /// [`of_bits`](Self::of_bits) said so.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Bytes of input that were not used.
    #[must_use]
    pub fn unread(&self) -> usize {
        self.unread
    }

    /// Bytes of output that may be written.
    #[must_use]
    pub fn room(&self) -> usize {
        self.room
    }

    /// Reads the next bytes of input, as many as there are at most.
    pub fn read(&mut self, to: &mut [u8]) {
        let length = to.len().min(self.unread);
        if length > 0 {
            // SAFETY: the input has `unread` bytes, and `to` is another memory than the caller's.
            to[..length].copy_from_slice(unsafe { slice::from_raw_parts(self.input, length) });
            self.skip_input(length);
        }
    }

    /// Writes the next bytes of output.
    ///
    /// # Errors
    /// [`Reason::OutputTooSmall`], [`Reason::Memory`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Reason> {
        if bytes.len() > self.room {
            return Err(Reason::OutputTooSmall);
        }
        if self.overlaps(bytes.len(), self.unread) {
            self.detach()?;
        }
        if !bytes.is_empty() {
            // SAFETY: there is room; `bytes` are the library's own.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.output, bytes.len()) };
            self.skip_output(bytes.len());
        }
        Ok(())
    }

    /// The next bytes of input, and as many of output.
    ///
    /// # Errors
    /// [`Reason::Argument`] where there is less input, [`Reason::OutputTooSmall`], [`Reason::Memory`].
    pub fn in_out(&mut self, length: usize) -> Result<InOutBuf<'_, '_, u8>, Reason> {
        if length > self.unread || isize::try_from(length).is_err() {
            return Err(Reason::Argument);
        }
        if length > self.room {
            return Err(Reason::OutputTooSmall);
        }
        if length == 0 {
            return Ok((&mut [][..]).into());
        }
        let in_place = self.input == self.output.cast_const();
        // What follows in the input may be read once this output is written.
        if !in_place && self.overlaps(length, self.unread) {
            self.detach()?;
        }
        let (input, output) = (self.input, self.output);
        self.skip_input(length);
        self.skip_output(length);
        // SAFETY: both are good for `length` bytes, and the same memory or disjoint.
        Ok(unsafe { InOutBuf::from_raw(input, output, length) })
    }

    /// All input in place, with this number of zero bytes after it.
    ///
    /// # Errors
    /// [`Reason::Argument`] where it is not in place, or there is no room.
    pub fn record(&mut self, zeros: usize) -> Result<&mut [u8], Reason> {
        let (start, read) = (self.output, self.unread);
        let length = read.checked_add(zeros).filter(|&length| length <= self.room);
        let length = length.filter(|&length| isize::try_from(length).is_ok());
        let (Some(length), true) = (length, self.input == start.cast_const() && !start.is_null())
        else {
            return Err(Reason::Argument);
        };
        self.skip_input(read);
        self.skip_output(length);
        // SAFETY: there is room for `length` bytes, of which the first are the input.
        unsafe {
            ptr::write_bytes(start.add(read), 0, zeros);
            Ok(slice::from_raw_parts_mut(start, length))
        }
    }

    /// Whether the next bytes of output have any of the next bytes of input among them.
    fn overlaps(&self, output: usize, input: usize) -> bool {
        let (to, from) = (self.output.addr(), self.input.addr());
        to < from.saturating_add(input) && from < to.saturating_add(output)
    }

    /// Copies what was not read.
    fn detach(&mut self) -> Result<(), Reason> {
        let mut copy = Zeroizing::new(Vec::new());
        copy.try_reserve_exact(self.unread).map_err(|_| Reason::Memory)?;
        // SAFETY: the input has `unread` bytes.
        copy.extend_from_slice(unsafe { slice::from_raw_parts(self.input, self.unread) });
        self.copy = copy;
        self.input = self.copy.as_ptr();
        Ok(())
    }

    fn skip_input(&mut self, bytes: usize) {
        self.input = self.input.wrapping_add(bytes);
        self.unread -= bytes;
    }

    fn skip_output(&mut self, bytes: usize) {
        self.output = self.output.wrapping_add(bytes);
        self.room -= bytes;
    }
}

impl fmt::Debug for Transfer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { unread, room, .. } = self;
        write!(f, "Transfer {{ unread: {unread}, room: {room}, .. }}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a fault here would allow: accesses past the caller's memory.
    #[test]
    fn no_more_is_read_or_written_than_there_is() {
        let mut output = [0; 8];
        let mut data = Transfer::out_of_place(&[1, 2, 3, 4], &mut output);
        assert_eq!(data.in_out(5).err(), Some(Reason::Argument), "more than the input");
        assert_eq!(data.record(0).err(), Some(Reason::Argument), "not in place");
        assert_eq!(format!("{data:?}"), "Transfer { unread: 4, room: 8, .. }");
        data.write(&[5; 6]).expect("there is room");
        assert_eq!(data.room(), 2);
        assert_eq!(data.write(&[5; 3]), Err(Reason::OutputTooSmall));
        assert_eq!(data.in_out(3).err(), Some(Reason::OutputTooSmall));
        data.write(&[6; 2]).expect("there is room");
        assert_eq!(output, [5, 5, 5, 5, 5, 5, 6, 6]);
        let mut record = [1; 4];
        assert_eq!(Transfer::in_place(&mut record).record(1).err(), Some(Reason::Argument));
    }

    /// The end of a call's input is held back, and read after the output of its start was written.
    #[test]
    fn output_leaves_the_input_that_follows() {
        let mut memory: [u8; 32] = std::array::from_fn(|i| i as u8);
        let start = memory.as_mut_ptr();
        // SAFETY: input and output are within the memory, which is used by nothing else meanwhile.
        let mut data = unsafe { Transfer::new(start, 24, start.add(16), 16) };
        data.in_out(16).expect("there is room").get_out().fill(0xff);
        let mut end = [0; 8];
        data.read(&mut end);
        assert_eq!(end, [16, 17, 18, 19, 20, 21, 22, 23]);
    }
}
