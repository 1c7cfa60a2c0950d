//! Round keys: as masks on the host, where they are cleared at once, and in a buffer that is cleared before it goes.

use std::fmt;

use lanecrypt_core::Direction;
use wgpu::{
    Buffer, BufferBinding, BufferDescriptor, BufferSize, BufferUsages, CommandEncoderDescriptor,
    MapMode,
};
use zeroize::Zeroizing;

use crate::{Device, Error, mapping::Mapping};

/// Masks that a kernel's keys have room for.
pub(crate) const MASKS: usize = 4096;
/// Bytes of them.
const BYTES: u64 = 4 * MASKS as u64;

/// The keys of a direction: which whole of the cipher's plan runs, and a mask for each of its key planes. Cleared when
/// dropped.
pub struct DirectedKeys {
    whole: &'static str,
    masks: Zeroizing<Vec<u32>>,
}

/// Without keys.
impl fmt::Debug for DirectedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirectedKeys").field("whole", &self.whole).finish_non_exhaustive()
    }
}

impl DirectedKeys {
    /// Of a whole, as `identifier` of `lanecrypt-circuit` writes its name, and the masks in the order in which its
    /// steps take them: zero or all ones each, 4096 at most.
    pub fn new(whole: &'static str, masks: impl IntoIterator<Item = u32>) -> Self {
        // With its room from the start, no copy is left behind.
        let mut all = Zeroizing::new(Vec::with_capacity(MASKS));
        all.extend(masks.into_iter().take(MASKS));
        all.resize(MASKS, 0);
        Self { whole, masks: all }
    }
}

/// The keys of both directions.
#[derive(Debug)]
pub struct KeyPair {
    /// For encryption, and for modes that only encrypt, such as CTR.
    pub encrypt: DirectedKeys,
    /// For decryption.
    pub decrypt: DirectedKeys,
}

impl KeyPair {
    /// Those of each direction.
    pub fn new(keys: impl Fn(Direction) -> DirectedKeys) -> Self {
        Self { encrypt: keys(Direction::Encrypt), decrypt: keys(Direction::Decrypt) }
    }
}

/// The keys of both directions on a device, cleared there before they go.
pub(crate) struct DeviceKeys {
    device: Device,
    buffer: Buffer,
    wholes: [&'static str; 2],
}

impl DeviceKeys {
    /// Brings keys to a device. What they pass through is cleared.
    pub(crate) fn new(device: &Device, keys: &KeyPair) -> Result<Self, Error> {
        let pair = [&keys.encrypt, &keys.decrypt];
        let usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        // Tests look whether it was cleared.
        let usage = if cfg!(test) { usage | BufferUsages::COPY_SRC } else { usage };
        let buffer = device.guarded("memory for keys", || {
            device.wgpu().create_buffer(&BufferDescriptor {
                label: None,
                size: 2 * BYTES,
                usage,
                mapped_at_creation: false,
            })
        })?;
        let made = Self { device: device.clone(), buffer, wholes: pair.map(|keys| keys.whole) };
        let passage = device.guarded("memory for keys", || {
            device.wgpu().create_buffer(&BufferDescriptor {
                label: None,
                size: 2 * BYTES,
                usage: BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC,
                mapped_at_creation: true,
            })
        })?;
        let masks = pair.into_iter().flat_map(|keys| keys.masks.iter().copied());
        fill(device, &passage, masks)?;
        let mut encoder =
            device.wgpu().create_command_encoder(&CommandEncoderDescriptor::default());
        let submission = device.guarded("copying keys", || {
            encoder.copy_buffer_to_buffer(&passage, 0, &made.buffer, 0, 2 * BYTES);
            device.queue().submit([encoder.finish()])
        })?;
        let mapping = Mapping::of(device, &passage, 2 * BYTES, MapMode::Write)?;
        device.wait(submission)?;
        mapping.complete(device)?;
        fill(device, &passage, core::iter::repeat_n(0, 2 * MASKS))?;
        Ok(made)
    }

    /// The whole that encrypts (0) or decrypts (1).
    pub(crate) fn whole(&self, number: usize) -> &'static str {
        self.wholes[number]
    }

    /// The keys of a direction, likewise, for a kernel.
    pub(crate) fn binding(&self, number: usize) -> BufferBinding<'_> {
        let offset = number as u64 * BYTES;
        BufferBinding { buffer: &self.buffer, offset, size: BufferSize::new(BYTES) }
    }

    /// Writes zeros over the keys, and waits until they are there.
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

impl Drop for DeviceKeys {
    fn drop(&mut self) {
        if let Err(error) = self.clear() {
            log::error!("keys on a device are not cleared: {error}");
        }
    }
}

/// Writes words over a mapped buffer, and unmaps it.
fn fill(device: &Device, buffer: &Buffer, words: impl Iterator<Item = u32>) -> Result<(), Error> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(2 * BYTES as usize));
    bytes.extend(words.flat_map(u32::to_le_bytes));
    let view = buffer.get_mapped_range_mut(..);
    let mut view = view.map_err(|error| device.refused("writing keys", &error))?;
    view.copy_from_slice(&bytes);
    drop(view);
    device.guarded("writing keys", || buffer.unmap())
}
