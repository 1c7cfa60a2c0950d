//! Frames of regions of a device's memory: sealed where they lie, and opened back into them, in one call.

use std::{
    collections::{HashMap, hash_map::Entry},
    convert::Infallible,
};

use lanecrypt::{
    Error as CipherError,
    cuda::{DeviceSlice, DeviceSliceMut, SealedMessage, Sealing, TransferError},
};

use super::Cuda;
use crate::{
    Error,
    frames::{
        DerivedKey, FrameHeader, FrameKey, HEADER, Nonces, OVERHEAD, PREFIX, TAG, parse,
        sealed_bytes,
    },
};

/// Frames as they are read: each from a multiple of this on, since no frame is longer.
const STRIDE: u64 = 1 << 33;

impl Cuda {
    /// Seals regions of this device's memory into [frames](crate::frames), one behind the other in `output`, which has
    /// as many bytes as [`sealed_bytes`](crate::frames::sealed_bytes) says. `associated_data` has that of each frame,
    /// or nothing where none has any.
    ///
    /// Kernels read regions at multiples of 16 bytes where they lie. Into pinned memory the device copies by itself, as
    /// with [`seal_from_device_to_buffer`](Self::seal_from_device_to_buffer).
    ///
    /// # Errors
    /// [`Error::Count`] for another number of associated data; [`Error::MemoryLength`]; [`Error::TooLong`] for a region
    /// of 4 GiB and more; [`Error::Random`]; [`Error::Engine`] with those of the device. Nothing of `output` is to be
    /// used then.
    pub fn seal_frames(
        &self,
        key: &FrameKey,
        regions: &[DeviceSlice<'_>],
        associated_data: &[&[u8]],
        output: &mut [u8],
    ) -> Result<(), Error> {
        check_count("associated data of frames", associated_data, regions.len())?;
        let bytes = sealed_bytes(regions.iter().map(DeviceSlice::len));
        let (given, expected) = (output.len() as u64, bytes as u64);
        if given != expected {
            return Err(Error::MemoryLength { given, expected });
        }
        let nonces = Nonces::random()?;
        let headers = headers(&nonces, regions)?;
        let Some(first) = headers.first() else { return Ok(()) };
        let key = key.derived(&first.prefix())?;
        let mut end = 0;
        let messages = headers.iter().zip(regions).enumerate().map(|(number, (header, region))| {
            let sealed_at = end + HEADER as u64;
            end += (region.len() + OVERHEAD) as u64;
            SealedMessage {
                lead: &header.0,
                sealed_at,
                ..message(&key, header, aad_of(associated_data, number), region.len())
            }
        });
        let told = |_| Ok::<_, Infallible>(());
        let sealed =
            self.family.seal_regions_to_memory(&self.device, messages, regions, output, told);
        sealed.map_err(of_transfer)
    }

    /// Opens [frames](crate::frames), each into a region of this device's memory that has as many bytes as its
    /// plaintext.
    ///
    /// # Errors
    /// [`Error::FramesNotAuthentic`] with the numbers of those that were changed, swapped, of another key, of other
    /// associated data or of another length than their region: these regions are set to zero, and all others are
    /// complete. [`Error::Count`] for another number of frames or of associated data than of regions;
    /// [`Error::Engine`] with those of the device: nothing of the regions is to be used then.
    pub fn open_frames(
        &self,
        key: &FrameKey,
        frames: &[&[u8]],
        associated_data: &[&[u8]],
        regions: &mut [DeviceSliceMut<'_>],
    ) -> Result<(), Error> {
        let (given, expected) = (frames.len(), regions.len());
        if given != expected {
            return Err(Error::Count { what: "frames", given, expected });
        }
        check_count("associated data of frames", associated_data, regions.len())?;
        let lengths: Vec<_> = regions.iter().map(|region| region.as_slice().len()).collect();
        let sealed: Vec<_> =
            frames.iter().zip(&lengths).map(|(frame, &length)| sealed(frame, length)).collect();
        let keys = keys(key, &sealed)?;
        // What is no frame is read as zeros, which is authentic as little as anything else that was changed.
        let nothing = FrameHeader([0; HEADER]);
        let messages =
            sealed.iter().zip(&lengths).enumerate().map(|(number, (sealed, &length))| {
                let header = sealed.as_ref().map_or(&nothing, |(header, _)| header);
                let key = &keys[&header.prefix()];
                SealedMessage {
                    sealed_at: number as u64 * STRIDE,
                    ..message(key, header, aad_of(associated_data, number), length)
                }
            });
        let read = |to: &mut [u8], at: u64| {
            match &sealed[(at / STRIDE) as usize] {
                Some((_, from)) => to.copy_from_slice(from),
                None => to.fill(0),
            }
            Ok::<_, Infallible>(())
        };
        let opened = self.family.open_regions(&self.device, messages, regions, read);
        match opened.map_err(of_transfer)? {
            wrong if wrong.is_empty() => Ok(()),
            frames => Err(Error::FramesNotAuthentic { frames }),
        }
    }
}

/// The headers of all frames of a call.
fn headers(nonces: &Nonces, regions: &[DeviceSlice<'_>]) -> Result<Vec<FrameHeader>, Error> {
    let most = u32::MAX.into();
    let header = |(number, region): (usize, &DeviceSlice<'_>)| {
        let number = u32::try_from(number);
        let too_many = |_| Error::TooLong { given: regions.len() as u64, most };
        nonces.header(number.map_err(too_many)?, region.len())
    };
    regions.iter().enumerate().map(header).collect()
}

/// A frame whose plaintext has `length` bytes: its header, and its ciphertext with its tag.
fn sealed(frame: &[u8], length: usize) -> Option<(FrameHeader, &[u8])> {
    let found = parse(frame).filter(|_| frame.len() == length + OVERHEAD);
    found.filter(|(_, text)| text.len() == length + TAG)
}

/// The keys of frames, by the beginnings of their nonces; that of no frame among them.
fn keys(
    key: &FrameKey,
    sealed: &[Option<(FrameHeader, &[u8])>],
) -> Result<HashMap<[u8; PREFIX], DerivedKey>, Error> {
    let mut keys = HashMap::from([([0; PREFIX], key.derived(&[0; PREFIX])?)]);
    for (header, _) in sealed.iter().flatten() {
        let prefix = header.prefix();
        if let Entry::Vacant(empty) = keys.entry(prefix) {
            empty.insert(key.derived(&prefix)?);
        }
    }
    Ok(keys)
}

/// A frame's message, without its place.
fn message<'a>(
    key: &'a DerivedKey,
    header: &FrameHeader,
    aad: &'a [u8],
    length: usize,
) -> SealedMessage<'a> {
    let (sealing, iv, lead) = (Sealing::Gcm, header.iv(), &[][..]);
    let (key, part) = (&key[..], 0..length);
    SealedMessage { key, sealing, iv, aad, lead, length, sealed_at: 0, part, plain_at: 0 }
}

fn aad_of<'a>(all: &[&'a [u8]], number: usize) -> &'a [u8] {
    all.get(number).copied().unwrap_or_default()
}

/// Checks that there is one for each of `expected`, or none at all.
fn check_count(what: &'static str, given: &[&[u8]], expected: usize) -> Result<(), Error> {
    let given = given.len();
    if given == 0 || given == expected {
        return Ok(());
    }
    Err(Error::Count { what, given, expected })
}

fn of_transfer(error: TransferError<Infallible>) -> Error {
    match error {
        TransferError::Device(error) => CipherError::from(error).into(),
        TransferError::NotAuthentic { message } => {
            Error::FramesNotAuthentic { frames: vec![message] }
        }
        TransferError::Outside(never) => match never {},
    }
}
