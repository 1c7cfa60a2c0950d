//! What an engine has of its key and its device: which kernel runs what, in which shape, under which keys.

use std::sync::Arc;

use lanecrypt_kernels::{Kernel, Program, Task};

use super::family::{Family, KeyPair, Other};
use crate::{
    Device, Error, Experience, Keys,
    device::{
        buffer::MAX_BLOCK,
        geometry::{Launch, Wanted},
    },
};

/// The programs of a family on a device, and a key in their layout.
pub(crate) struct Keyed {
    device: Device,
    pub(super) program: &'static Program,
    pub(super) others: [Option<Other>; 2],
    keys: KeyPair,
    key_bytes: usize,
    experience: Arc<Experience>,
    pub(super) geometry: Wanted,
}

impl Keyed {
    /// Checks the key and the family.
    pub(super) fn new(device: &Device, family: &Family, key: &[u8]) -> Result<Self, Error> {
        let (program, others, keys) = family.keyed(device.properties(), key)?;
        Ok(Self {
            device: device.clone(),
            program,
            others,
            keys,
            key_bytes: key.len(),
            experience: device.experience(),
            geometry: Wanted::default(),
        })
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The launch of a task over `blocks` blocks.
    pub(crate) fn shaped(&self, task: Task, blocks: u64) -> Result<Launch, Error> {
        let module = self.program.module().name;
        let bytes = blocks.saturating_mul(self.program.block_bytes() as u64);
        let kernel = self.kernel(task, bytes).ok_or(Error::Task { module, task })?;
        let wanted = self.geometry.get().or_else(|| {
            // The key stream alone is for measuring: its output has room for a grid of the usual size.
            let known = self.experience.geometry(kernel.name(), self.key_bytes, bytes);
            known.filter(|_| task != Task::Keystream)
        });
        self.device.shaped(kernel, blocks, wanted)
    }

    /// The kernel for `bytes` bytes: the fastest, where all that could do it were measured, else the one
    /// whose program the family names for them.
    pub(crate) fn kernel(&self, task: Task, bytes: u64) -> Option<&'static Kernel> {
        let others = || self.others.iter().flatten();
        let by_size = others().find(|other| other.takes(bytes)).map(|other| other.program);
        let by_size = by_size.and_then(|program| program.kernel(task));
        let programs = others().map(|other| other.program).chain([self.program]);
        let kernels = programs.filter_map(|program| program.kernel(task));
        let fastest = self.experience.fastest(kernels, self.key_bytes, bytes);
        fastest.or(by_size).or_else(|| self.program.kernel(task))
    }

    /// The keys that a task takes.
    pub(crate) fn keys(&self, task: Task) -> &Keys {
        match task {
            Task::EcbDecrypt | Task::CbcDecrypt | Task::XtsDecrypt => &self.keys.decrypt,
            _ => &self.keys.encrypt,
        }
    }

    /// The most bytes of a piece of `bytes` bytes of data, where fewer than all were measured to be faster.
    pub(super) fn most_of_a_piece(&self, task: Task, bytes: usize) -> usize {
        let kernel = self.program.kernel(task).map_or("", Kernel::name);
        let known = self.experience.piece(kernel, self.key_bytes, bytes as u64);
        let known = known.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        known.max(MAX_BLOCK)
    }
}
