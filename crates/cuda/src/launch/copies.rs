//! Kernels of modes that need no engine: above all, copies of rows of bytes on the device.

use lanecrypt_core::clear_bytes;
use lanecrypt_kernels::{Kernel, modes};

use crate::{
    Device, DeviceBuffer, DeviceSlice, Error,
    device::{buffer::MAX_BLOCK, driver::StreamHandle},
    launch::{operation::words_of, parameters::Header},
};

/// Rows of bytes: how far their starts are apart where they come from and where they go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) from_pitch: u64,
    pub(crate) to_pitch: u64,
    /// Bytes of a row.
    pub(crate) width: u64,
    pub(crate) count: u64,
}

impl Rows {
    /// `width` bytes in one piece.
    pub(crate) fn one(width: u64) -> Self {
        Self { from_pitch: 0, to_pitch: 0, width, count: 1 }
    }
}

/// Bytes in one piece that are copied from one address to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// How many.
    pub(crate) width: u64,
}

/// Parts as runs of equal rows, each with where its first one starts, at both ends. Parts that follow each other without
/// a gap at both ends are one row.
pub(crate) fn rows_of(parts: &[Part]) -> Vec<(u64, u64, Rows)> {
    let mut all: Vec<(u64, u64, Rows)> = Vec::new();
    for &Part { from, to, width } in parts {
        if let Some((first, first_to, rows)) = all.last_mut()
            && rows.count == 1
            && [from, to] == [*first + rows.width, *first_to + rows.width]
        {
            rows.width += width;
            continue;
        }
        if let Some((first, first_to, rows)) = all.last_mut()
            && rows.width == width
            && from > *first
            && to > *first_to
        {
            let distance = [from - *first, to - *first_to];
            if rows.count == 1 {
                [rows.from_pitch, rows.to_pitch] = distance;
            }
            if distance == [rows.from_pitch, rows.to_pitch].map(|pitch| pitch * rows.count) {
                rows.count += 1;
                continue;
            }
        }
        all.push((from, to, Rows::one(width)));
    }
    all
}

impl DeviceSlice<'_> {
    /// Copies several parts to host memory, each from a byte on, after all launches so far: gathered on the device, so
    /// that it is one copy, however many they are. Parts of equal length at equal distances are gathered by one kernel.
    ///
    /// # Errors
    /// [`Error::Range`] where there is less; driver errors.
    pub fn read_parts(&self, parts: &mut [(usize, &mut [u8])]) -> Result<(), Error> {
        if let [(start, data)] = parts {
            return self.read(*start, data);
        }
        let bytes = parts.iter().map(|(_, data)| data.len()).sum();
        let gathered = DeviceBuffer::zeroed(self.device(), bytes)?;
        let mut to = gathered.slice(0..bytes)?.address();
        let mut copied = Vec::with_capacity(parts.len());
        for (start, data) in &*parts {
            let (from, width) = (self.inside(*start, data.len())?, data.len() as u64);
            copied.push(Part { from, to, width });
            to += width;
        }
        for (from, to, rows) in rows_of(&copied) {
            copy(self.device(), StreamHandle::DEFAULT, (from, to), rows)?;
        }
        let mut all = vec![0; bytes];
        let read = gathered.read(0, &mut all).map(|()| {
            let mut rest = &all[..];
            for (_, data) in parts {
                let (part, behind) = rest.split_at(data.len());
                data.copy_from_slice(part);
                rest = behind;
            }
        });
        clear_bytes(&mut all);
        read
    }
}

/// Queues a copy from one address to the other, both on `device`, at any multiple.
pub(crate) fn copy(
    device: &Device,
    stream: StreamHandle,
    (from, to): (u64, u64),
    rows: Rows,
) -> Result<(), Error> {
    let bytes = rows.count * rows.width;
    if bytes == 0 {
        return Ok(());
    }
    let mode = [rows.from_pitch, rows.to_pitch, rows.width];
    let header = Header { input: from, output: to, blocks: bytes, mode };
    start_mode(device, stream, &modes::COPY_ROWS, header)
}

/// Queues that key stream is added to a part of a block, of `bytes` bytes: it travels with the launch.
pub(crate) fn add_key_stream(
    device: &Device,
    stream: StreamHandle,
    key_stream: &[u8; MAX_BLOCK],
    (input, output): (u64, u64),
    bytes: u64,
) -> Result<(), Error> {
    let [low, high] = words_of(key_stream);
    let header = Header { input, output, blocks: bytes, mode: [low, high, 0] };
    start_mode(device, stream, &modes::ADD_KEY_STREAM, header)
}

/// Queues that `block` is written to an address on `device`: it travels with the launch.
pub(crate) fn send_block(
    device: &Device,
    stream: StreamHandle,
    block: &[u8; MAX_BLOCK],
    to: u64,
) -> Result<(), Error> {
    let [low, high] = words_of(block);
    let header = Header { input: to, output: to, blocks: 1, mode: [low, high, 0] };
    start_mode(device, stream, &modes::XTS_NUMBERS, header)
}

/// Queues a kernel that takes no keys.
pub(crate) fn start_mode(
    device: &Device,
    stream: StreamHandle,
    kernel: &Kernel,
    header: Header,
) -> Result<(), Error> {
    let launch = device.shaped(kernel, header.blocks, None)?;
    device.launch(stream, launch, &*header.without_keys())
}
