//! Key material in buffers on a device, which are cleared before they go.

use wgpu::{
    Buffer, BufferBinding, BufferDescriptor, BufferSize, BufferUsages, CommandEncoderDescriptor,
    MapMode,
};
use zeroize::Zeroizing;

use crate::{Device, DirectedKeys, Error, KeyPair, keys::MASKS, mapping::Mapping};

/// Bytes of the masks of a direction.
const BYTES: u64 = 4 * MASKS as u64;

/// The keys of both directions on a device, cleared there before they go.
pub(crate) struct DeviceKeys {
    buffer: SecretBuffer,
    wholes: [&'static str; 2],
}

impl DeviceKeys {
    /// Brings keys to a device. What they pass through is cleared.
    pub(crate) fn new(device: &Device, keys: &KeyPair) -> Result<Self, Error> {
        let pair = [&keys.encrypt, &keys.decrypt];
        let masks = pair.into_iter().flat_map(|keys| keys.masks().iter().copied());
        let buffer = SecretBuffer::new(device, 2 * MASKS, masks)?;
        Ok(Self { buffer, wholes: pair.map(DirectedKeys::whole) })
    }

    /// The whole that encrypts (0) or decrypts (1).
    pub(crate) fn whole(&self, number: usize) -> &'static str {
        self.wholes[number]
    }

    /// The keys of a direction, likewise, for a kernel.
    pub(crate) fn binding(&self, number: usize) -> BufferBinding<'_> {
        self.buffer.part(number, BYTES)
    }
}

/// Key material that kernels read as parts of one size, cleared before it goes.
pub(crate) struct SecretBuffer {
    device: Device,
    buffer: Buffer,
}

impl SecretBuffer {
    /// Brings `count` words to a device. What they pass through is cleared.
    pub(crate) fn new(
        device: &Device,
        count: usize,
        words: impl Iterator<Item = u32>,
    ) -> Result<Self, Error> {
        let size = 4 * count as u64;
        let usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        // Tests look whether it was cleared.
        let usage = if cfg!(test) { usage | BufferUsages::COPY_SRC } else { usage };
        let create = |usage, mapped_at_creation| {
            device.guarded("memory for keys", || {
                device.wgpu().create_buffer(&BufferDescriptor {
                    label: None,
                    size,
                    usage,
                    mapped_at_creation,
                })
            })
        };
        let made = Self { device: device.clone(), buffer: create(usage, false)? };
        let passage = create(BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC, true)?;
        fill(device, &passage, words)?;
        let mut encoder =
            device.wgpu().create_command_encoder(&CommandEncoderDescriptor::default());
        let submission = device.guarded("copying keys", || {
            encoder.copy_buffer_to_buffer(&passage, 0, &made.buffer, 0, size);
            device.queue().submit([encoder.finish()])
        })?;
        let mapping = Mapping::of(device, &passage, size, MapMode::Write)?;
        device.wait(submission)?;
        mapping.complete(device)?;
        fill(device, &passage, core::iter::repeat_n(0, count))?;
        Ok(made)
    }

    /// A part, each of which has `bytes` bytes.
    pub(crate) fn part(&self, number: usize, bytes: u64) -> BufferBinding<'_> {
        let offset = number as u64 * bytes;
        BufferBinding { buffer: &self.buffer, offset, size: BufferSize::new(bytes) }
    }

    /// Writes zeros over it, and waits until they are there.
    fn clear(&self) -> Result<(), Error> {
        let mut encoder =
            self.device.wgpu().create_command_encoder(&CommandEncoderDescriptor::default());
        let submission = self.device.guarded("clearing keys", || {
            encoder.clear_buffer(&self.buffer, 0, None);
            self.device.queue().submit([encoder.finish()])
        })?;
        self.device.wait(submission)
    }
}

impl Drop for SecretBuffer {
    fn drop(&mut self) {
        if let Err(error) = self.clear() {
            log::error!("keys on a device are not cleared: {error}");
        }
    }
}

/// Writes words over a mapped buffer, and unmaps it.
fn fill(device: &Device, buffer: &Buffer, words: impl Iterator<Item = u32>) -> Result<(), Error> {
    let view = buffer.get_mapped_range_mut(..);
    let mut view = view.map_err(|error| device.refused("writing keys", &error))?;
    // With its room from the start, no copy is left behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(view.len()));
    bytes.extend(words.flat_map(u32::to_le_bytes));
    view.copy_from_slice(&bytes);
    drop(view);
    device.guarded("writing keys", || buffer.unmap())
}
