//! Where plaintexts lie on a device: all in one slice, or each in a region of its own.

use crate::{Device, DeviceSlice, Error, batch::words::BLOCK};

/// Bytes of a region that a thread describes in about the time in which it passes the bus, where four threads do so.
const SHORT_REGION: usize = 32 << 10;

/// The plain side of a call.
#[derive(Clone, Copy)]
pub(super) enum Plain<'a> {
    One(&'a DeviceSlice<'a>),
    /// The regions of messages, by their numbers.
    Each(&'a Device, &'a [DeviceSlice<'a>]),
}

impl<'a> Plain<'a> {
    /// Regions on a device.
    ///
    /// # Errors
    /// [`Error::OtherDevice`].
    pub(super) fn each(device: &'a Device, regions: &'a [DeviceSlice<'a>]) -> Result<Self, Error> {
        regions.iter().try_for_each(|region| region.require_device(device))?;
        Ok(Self::Each(device, regions))
    }

    pub(super) fn device(&self) -> &'a Device {
        match self {
            Self::One(slice) => slice.device(),
            Self::Each(device, _) => device,
        }
    }

    /// Bytes of all.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::One(slice) => slice.len(),
            Self::Each(_, regions) => {
                regions.iter().fold(0, |all, region| all.saturating_add(region.len()))
            }
        }
    }

    /// Whether these are regions of so few bytes that describing them takes longer than passing the bus.
    pub(super) fn is_of_short_regions(&self) -> bool {
        match self {
            Self::One(_) => false,
            Self::Each(_, regions) => self.bytes() / SHORT_REGION < regions.len(),
        }
    }

    /// The address of byte `start` of what the message of this number has, behind which there are `length` bytes.
    ///
    /// # Errors
    /// [`Error::Range`] where there are less.
    pub(super) fn address(&self, message: u64, start: usize, length: usize) -> Result<u64, Error> {
        let slice = match self {
            Self::One(slice) => slice,
            Self::Each(_, regions) => {
                let region = usize::try_from(message).ok().and_then(|number| regions.get(number));
                region.ok_or(Error::Range { start, end: start + length, length: 0 })?
            }
        };
        slice.inside(start, length)
    }
}

/// Whether kernels of batches reach what lies there: blocks at multiples of their size.
pub(super) fn is_aligned(address: u64) -> bool {
    address.is_multiple_of(BLOCK as u64)
}
