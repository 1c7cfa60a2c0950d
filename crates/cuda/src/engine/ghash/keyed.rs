//! A key of GHASH on a device: its powers and matrices there, and how kernels are launched with it.

use lanecrypt_core::Unavailable;
use lanecrypt_kernels::{
    Kernel,
    ghash::{self as kernels, GROUP, MOST_FRONT, PARAMETER_WORDS, POWER_COUNT},
};
use zerocopy::{FromBytes, Immutable, IntoBytes, transmute_ref};
use zeroize::Zeroize;

use super::family::HashFamily;
use crate::{
    Device, DeviceBuffer, Error,
    device::{buffer::MAX_BLOCK, driver::StreamHandle, geometry::Launch},
};

/// Bytes of a block.
pub(super) const BLOCK: usize = MAX_BLOCK;
/// Blocks of a line of the device's memory: copies of a long message start with one.
pub(super) const LINE: usize = 8;

/// Where the memory of a key has what: the key, its powers, and its matrices.
const POWERS_AT: usize = BLOCK;
const MATRICES_AT: usize = POWERS_AT + POWER_COUNT * BLOCK;

/// The parameter block of every kernel: `HashParameters` of `kernels/ghash/ghash.cuh`.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Parameters {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) blocks: u64,
    pub(super) powers: u64,
    pub(super) units: u64,
    pub(super) unit_blocks: u64,
    pub(super) sums: u64,
    pub(super) step: u64,
    pub(super) tail: u64,
    pub(super) tail_bytes: u64,
    pub(super) lengths: [u64; 2],
    pub(super) flags: u64,
    pub(super) state: u64,
    pub(super) front_blocks: u64,
    pub(super) groups: u64,
    pub(super) ticket: u64,
    pub(super) front: [u64; 2 * MOST_FRONT],
    pub(super) mask: [u64; 2],
}

impl Parameters {
    pub(super) fn words(&self) -> &[u64; PARAMETER_WORDS] {
        transmute_ref!(self)
    }
}

/// For the mask.
impl Zeroize for Parameters {
    fn zeroize(&mut self) {
        self.as_mut_bytes().zeroize();
    }
}

/// Where sums lie in the memory for them, in bytes: those over warps, of a long message, and of groups.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) long_at: usize,
    pub(super) groups_at: usize,
    pub(super) bytes: usize,
}

/// The key, which is cleared when this is dropped.
pub(super) struct Keyed {
    pub(super) device: Device,
    pub(super) family: HashFamily,
    key: DeviceBuffer,
    /// The launch of the kernel for long messages with all the threads that the device holds.
    pub(super) long: Launch,
    pub(super) sums: Sums,
}

impl Keyed {
    /// Brings the key `h` to the device and expands it there.
    pub(super) fn new(device: &Device, family: HashFamily, h: &[u8; BLOCK]) -> Result<Self, Error> {
        if !family.fits(device.properties()) {
            let (major, minor) = device.properties().compute_capability;
            return Err(Error::Unavailable(Unavailable::because_of(format!(
                "{} needs a device of {}; {} has {major}.{minor}",
                family.summary(),
                family.needs(),
                device.properties().name,
            ))));
        }
        let matrices = family.matrices().map_or(0, |matrices| 4 * matrices.words);
        let mut key = DeviceBuffer::zeroed(device, MATRICES_AT + matrices)?;
        key.write(0, h)?;
        let long = device.shaped(family.kernel(), u64::from(u32::MAX), None)?;
        let sums = Sums::default();
        let mut keyed = Self { device: device.clone(), family, key, long, sums };
        keyed.sums = keyed.sums()?;
        keyed.expand_key()?;
        Ok(keyed)
    }

    fn sums(&self) -> Result<Sums, Error> {
        // One block for every warp of the largest grid, and for every group of what is not long.
        let weigh = self.device.shaped(&kernels::WEIGH, u64::from(u32::MAX), None)?;
        let groups = self.long_blocks().max(LINE).div_ceil(GROUP) + 2;
        let long_at = weigh.threads() / 32 * BLOCK;
        let groups_at = long_at + self.family.sums(self.long) as usize * BLOCK;
        Ok(Sums { long_at, groups_at, bytes: groups_at + groups * BLOCK })
    }

    /// Blocks from which on the kernel for long messages runs.
    pub(super) fn long_blocks(&self) -> usize {
        match self.family {
            HashFamily::Tables => self.long.threads(),
            HashFamily::Matrices | HashFamily::WideMatrices => {
                let multiprocessors = self.device.properties().multiprocessors;
                (multiprocessors * self.family.kernel().unit().blocks) as usize
            }
        }
    }

    /// Of this number of whole blocks, those that the kernel for long messages goes through: the others are in front of
    /// zeros that lead to whole units, so these are whole lines.
    pub(super) fn long_part(&self, blocks: usize) -> usize {
        let lines = blocks - blocks % LINE;
        if lines >= self.long_blocks() { lines } else { 0 }
    }

    /// Makes the powers of the key, and its matrices.
    fn expand_key(&self) -> Result<(), Error> {
        let key = self.key.slice(0..self.key.len())?.address();
        let parameters = Parameters {
            input: key,
            output: key + POWERS_AT as u64,
            blocks: POWER_COUNT as u64,
            units: self.long.threads() as u64, // the power that look-ups multiply by
            ..Parameters::default()
        };
        self.launch(&kernels::POWERS, parameters)?;
        let Some(matrices) = self.family.matrices() else {
            return Ok(());
        };
        let parameters = Parameters {
            output: key + MATRICES_AT as u64,
            blocks: matrices.words as u64,
            powers: key + POWERS_AT as u64,
            ..Parameters::default()
        };
        self.launch(matrices.writer, parameters)
    }

    /// Starts a kernel with threads for as many blocks as the parameters say.
    fn launch(&self, kernel: &Kernel, parameters: Parameters) -> Result<(), Error> {
        let launch = self.device.shaped(kernel, parameters.blocks.max(1), None)?;
        self.start_kernel(StreamHandle::DEFAULT, launch, &parameters)
    }

    pub(super) fn start_kernel(
        &self,
        stream: StreamHandle,
        launch: Launch,
        parameters: &Parameters,
    ) -> Result<(), Error> {
        self.device.launch(stream, launch, parameters.words())
    }

    /// Where its powers are.
    pub(super) fn powers(&self) -> Result<u64, Error> {
        Ok(self.key.slice(POWERS_AT..MATRICES_AT)?.address())
    }

    /// Where its matrices are.
    pub(super) fn matrices(&self) -> Result<u64, Error> {
        Ok(self.key.slice(MATRICES_AT..self.key.len())?.address())
    }
}
