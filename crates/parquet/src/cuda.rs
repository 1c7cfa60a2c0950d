//! Files straight to memory of a device, and back from there.

use std::path::Path;

use lanecrypt::{
    Error as CipherError,
    aes::AES,
    batch::on_device,
    cuda::{BatchFamily, Device, DeviceBuffer, DeviceSlice, SealedMessage, Sealing, TransferError},
};
use lanecrypt_tink::{FromDevice, Source, length_of};
use rayon::prelude::*;

use crate::{
    Algorithm, Encrypted, Error, Keys, Place, SealOptions,
    footer::PLAIN,
    lead::Page,
    module::{HEAD, TAG, sealed_bytes},
    placed::Copied,
    plan::Plan,
    seal::{seal_with, write},
    seal_plan::{PageOut, SealPlan},
};

/// Bytes of a column without encryption that pass the host at once.
const AT_ONCE: u64 = 16 << 20;

/// The kernels that AES has for batches, where they fit the device.
fn family(device: &Device) -> Result<&'static BatchFamily, Error> {
    let family = on_device(&AES)?;
    family.fits(device.properties()).map_err(CipherError::from)?;
    Ok(family)
}

impl Algorithm {
    fn sealing(self) -> Sealing {
        match self {
            Self::AesGcmV1 => Sealing::Gcm,
            Self::AesGcmCtrV1 => Sealing::Ctr,
        }
    }
}

impl<S: Source> Encrypted<S> {
    /// Opens all pages as one batch into memory of a device, which then has the plaintext file: what
    /// [`open`](Self::open) gives.
    ///
    /// Only ciphertext passes the host: threads read it into pinned memory, and kernels verify it and decrypt it on the
    /// device. Their kernels look tables up, so that they are not constant-time on it.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use lanecrypt::cuda::Device;
    /// use lanecrypt_parquet::{Encrypted, Key, Keys, OpenOptions};
    ///
    /// let file = std::fs::File::open("orders.parquet.encrypted")?;
    /// let keys = Keys::uniform(Key::new(&[7; 32])?);
    /// let plaintext = Encrypted::read(file, &keys, OpenOptions::default())?.open_to_device(&Device::default()?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open), with those of the device, such as too little memory. Nothing is given out then, and the
    /// memory is cleared.
    pub fn open_to_device(&self, device: &Device) -> Result<DeviceBuffer, Error> {
        let plan = &self.plan;
        let family = family(device)?;
        let mut buffer = DeviceBuffer::zeroed(device, length_of(plan.bytes())?)?;
        buffer.write(0, &PLAIN)?;
        buffer.write(buffer.len() - plan.tail.len(), &plan.tail)?;
        for copied in &plan.copies {
            self.copy_to_device(copied, &mut buffer)?;
        }
        let mut output = buffer.slice_mut(0..buffer.len())?;
        let messages = plan.pages.iter().map(|page| message(plan, page));
        let opened =
            family.open_to_device(messages, &mut output, |bytes, at| self.fetch(bytes, at));
        opened.map_err(|error| {
            of_transfer(error, |number| plan.pages[number].place).naming(&plan.paths)
        })?;
        self.check_source()?;
        Ok(buffer)
    }

    /// Copies a column that is not encrypted.
    fn copy_to_device(&self, copied: &Copied, buffer: &mut DeviceBuffer) -> Result<(), Error> {
        let mut piece = vec![0; copied.bytes.min(AT_ONCE) as usize];
        for start in (0..copied.bytes).step_by(AT_ONCE as usize) {
            let part = &mut piece[..(copied.bytes - start).min(AT_ONCE) as usize];
            self.fetch(part, copied.from + start)?;
            buffer.write(length_of(copied.to + start)?, part)?;
        }
        Ok(())
    }
}

/// A page that is opened, with its header before it.
fn message<'a>(plan: &'a Plan, page: &'a Page) -> SealedMessage<'a> {
    SealedMessage {
        key: plan.ring.get(page.key).key(),
        sealing: plan.algorithm.sealing(),
        iv: page.nonce,
        aad: &page.aad,
        lead: &page.lead,
        length: page.bytes,
        sealed_at: page.text_at,
        part: 0..page.bytes,
        plain_at: place_of(page.lead_at).saturating_add(page.lead.len()),
    }
}

/// Seals a plaintext Parquet file in memory of `device` into the file `target`, as [`seal`](crate::seal) does one
/// elsewhere.
///
/// Footer, page headers and indexes come to the host, which seals them; pages are sealed on the device, and only their
/// ciphertext passes the host.
///
/// # Errors
/// As [`seal`](crate::seal), with those of the device.
pub fn seal_from_device(
    device: &Device,
    image: &DeviceSlice<'_>,
    keys: &Keys,
    options: &SealOptions,
    target: &Path,
) -> Result<u64, Error> {
    let family = family(device)?;
    seal_with(&FromDevice(image), keys, options, target, |plan, file| {
        plan.pages.par_iter().try_for_each_init(Vec::new, |buffer, page| {
            buffer.clear();
            page.seal_header(plan, buffer)?;
            write(file, buffer, page.at)
        })?;
        let messages = plan.pages.iter().map(|page| message_out(plan, page));
        let sealed = family.seal_from_device(messages, image, |bytes, at| write(file, bytes, at));
        sealed.map_err(|error| of_transfer(error, |number| plan.pages[number].plain.place))
    })
}

/// A page that is sealed.
fn message_out<'a>(plan: &'a SealPlan, page: &'a PageOut) -> SealedMessage<'a> {
    let header = sealed_bytes(page.plain.header.len(), TAG);
    SealedMessage {
        key: plan.ring.get(page.key).key(),
        sealing: plan.algorithm.sealing(),
        iv: page.nonce,
        aad: &page.aad,
        lead: &[],
        length: page.plain.bytes,
        sealed_at: page.at + header + HEAD as u64,
        part: 0..page.plain.bytes,
        plain_at: place_of(page.plain.text_at),
    }
}

/// A place in memory of the device, which has none that is larger.
fn place_of(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// An error of ours; `place` is that of the message with this number.
fn of_transfer(error: TransferError<Error>, place: impl Fn(usize) -> Place) -> Error {
    match error {
        TransferError::Device(error) => error.into(),
        TransferError::NotAuthentic { message } => Error::not_authentic(place(message as usize)),
        TransferError::Outside(error) => error,
    }
}
