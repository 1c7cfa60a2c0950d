//! Memory of a device, sealed into a file, into memory of the host, or for whoever takes a stream.

use std::{
    io::{self, Read, Write},
    ops::Range,
    path::Path,
    sync::{Mutex, PoisonError},
};

use lanecrypt::{
    Direction,
    cuda::{DeviceSlice, SealedMessage},
};

use super::{
    Cuda,
    resident::{messages, of_device, of_transfer, tell_progress},
};
use crate::{
    Error, Identity, Keyset, Options, SegmentCipher, Source, Target, Version,
    cuda::writing::{Writing, writer_of},
    file::seal_into,
    options::CPU,
    pipeline::seal_stream,
    streams::{WRITING, write_all},
    transfer::Transfer,
};

impl Cuda {
    /// Seals memory of a device into the file `target` with the keyset's primary key. Nothing is left at the
    /// target, and what was there stays, where this fails.
    ///
    /// As [`open_range_to_device`](Self::open_range_to_device), the other way round: kernels of the device
    /// on which `data` lies seal it, and threads write what passes pinned memory. What is not sealed by GCM is
    /// copied and sealed by all cores.
    ///
    /// On a RAM disk, writing is what takes the time, since its pages are made; the threads make them side by side
    /// there, through mapped memory ([`MappedFile`](lanecrypt::cuda::MappedFile)).
    ///
    /// # Errors
    /// [`Error::NoSuchKey`], [`Error::TooLong`], [`Error::Cancelled`], [`Error::Io`]; [`Error::Engine`] with
    /// those of the device.
    pub fn seal_from_device(
        &self,
        keyset: &Keyset,
        data: &DeviceSlice<'_>,
        target: &Path,
        options: Options<'_>,
    ) -> Result<(), Error> {
        self.seal_from_device_by(Writing::Fitting, keyset, data, target, options)
    }

    /// The same, written in a certain way; for measuring.
    ///
    /// # Errors
    /// As there.
    #[doc(hidden)]
    pub fn seal_from_device_by(
        &self,
        writing: Writing,
        keyset: &Keyset,
        data: &DeviceSlice<'_>,
        target: &Path,
        options: Options<'_>,
    ) -> Result<(), Error> {
        seal_into(keyset, target, data.len() as u64, options, |cipher, file| {
            let writer = writer_of(writing, file)?;
            let plan = Plan::new(cipher, data, options)?;
            let Some(key) = cipher.gcm_key() else { return plan.by_cores(&*writer) };
            let write = |bytes: &[u8], offset| {
                options.check_cancel()?;
                let written = writer.write_all_at(bytes, offset);
                written.map_err(Error::of_io(format!("write the output at {offset}")))?;
                plan.tell(offset..offset + bytes.len() as u64);
                Ok(())
            };
            let sealed = self.family.seal_from_device(plan.messages(key)?, data, write);
            sealed.map_err(|error| of_transfer(error, 0))
        })
    }

    /// Seals memory of a device into `output`, which has as many bytes as
    /// [`Keyset::sealed_bytes`] says. What is there is a sealed file.
    ///
    /// From pinned memory, a [`PinnedBuffer`](lanecrypt::cuda::PinnedBuffer) or what others in this process pinned or
    /// registered with the driver, the device copies by itself, and no core of the host moves a byte. Into other
    /// memory, threads copy what passes pinned memory.
    ///
    /// The header is written last: where this fails, what is in `output` does not open.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use lanecrypt::cuda::{Device, DeviceBuffer, PinnedBuffer};
    /// use lanecrypt_tink::{Cuda, Keyset, Options};
    ///
    /// let device = Device::default()?;
    /// let keyset = Keyset::from_json(&std::fs::read_to_string("keyset.json")?)?;
    /// let weights = DeviceBuffer::zeroed(&device, 1 << 30)?;
    /// let bytes = keyset.sealed_bytes(weights.len() as u64)?;
    /// let mut sealed = PinnedBuffer::zeroed(&device, bytes as usize)?; // kept for the next time
    /// let all = weights.slice(0..weights.len())?;
    /// Cuda::new(&device)?.seal_from_device_to_buffer(&keyset, &all, &mut sealed, Options::default())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::MemoryLength`]; [`Error::NoSuchKey`], [`Error::TooLong`], [`Error::Cancelled`];
    /// [`Error::Engine`] with those of the device.
    pub fn seal_from_device_to_buffer(
        &self,
        keyset: &Keyset,
        data: &DeviceSlice<'_>,
        output: &mut [u8],
        options: Options<'_>,
    ) -> Result<(), Error> {
        let (given, expected) = (output.len() as u64, keyset.sealed_bytes(data.len() as u64)?);
        if given != expected {
            return Err(Error::MemoryLength { given, expected });
        }
        let cipher = SegmentCipher::of_new(keyset, options.associated_data)?;
        let plan = Plan::new(&cipher, data, options)?;
        let header = cipher.header().as_bytes();
        output[..header.len()].fill(0);
        if let Some(key) = cipher.gcm_key() {
            let told = |complete| {
                options.check_cancel()?;
                plan.tell(complete);
                Ok(())
            };
            let messages = plan.messages(key)?;
            let sealed = self.family.seal_from_device_to_memory(messages, data, output, told);
            sealed.map_err(|error| of_transfer(error, 0))?;
        } else {
            plan.by_cores(&InBuffer(Mutex::new(output)))?;
        }
        options.check_cancel()?;
        output[..header.len()].copy_from_slice(header);
        Ok(())
    }

    /// Seals memory of a device for `writer`, which gets the sealed file from its beginning to its end, some MiB at a
    /// time, while the device seals what comes next: a socket, a pipe, an upload. Returns its bytes.
    ///
    /// One thread at a time calls the writer, and not always the same one. Where this fails, the writer has got the
    /// beginning of a file, which whoever reads it finds cut off.
    ///
    /// # Errors
    /// [`Error::Io`] with those of the writer; [`Error::NoSuchKey`], [`Error::TooLong`], [`Error::Cancelled`];
    /// [`Error::Engine`] with those of the device.
    pub fn seal_from_device_to_stream(
        &self,
        keyset: &Keyset,
        data: &DeviceSlice<'_>,
        mut writer: impl Write + Send,
        options: Options<'_>,
    ) -> Result<u64, Error> {
        let bytes = keyset.sealed_bytes(data.len() as u64)?;
        let cipher = SegmentCipher::of_new(keyset, options.associated_data)?;
        let Some(key) = cipher.gcm_key() else {
            let options = Options { runner: &CPU, ..options };
            seal_stream(keyset, Reading { data, at: 0 }, writer, options)?;
            return Ok(bytes);
        };
        let plan = Plan::new(&cipher, data, options)?;
        write_all(&mut writer, cipher.header().as_bytes())?;
        let mut at = cipher.header().as_bytes().len() as u64;
        let append = |piece: &[u8]| {
            options.check_cancel()?;
            write_all(&mut writer, piece)?;
            let end = at + piece.len() as u64;
            plan.tell(at..end);
            at = end;
            Ok(())
        };
        let sealed = self.family.seal_from_device_in_order(plan.messages(key)?, data, append);
        sealed.map_err(|error| of_transfer(error, 0))?;
        writer.flush().map_err(Error::of_io(WRITING))?;
        Ok(bytes)
    }
}

/// What is sealed, all of it.
struct Plan<'a> {
    cipher: &'a SegmentCipher,
    data: &'a DeviceSlice<'a>,
    all: Range<u64>,
    segments: Range<u64>,
    options: Options<'a>,
}

impl<'a> Plan<'a> {
    fn new(
        cipher: &'a SegmentCipher,
        data: &'a DeviceSlice<'a>,
        options: Options<'a>,
    ) -> Result<Self, Error> {
        let all = 0..data.len() as u64;
        let segments = 0..cipher.layout().segments(all.end)?;
        Ok(Self { cipher, data, all, segments, options })
    }

    /// All segments, under the key that seals them.
    fn messages<'s>(
        &'s self,
        key: &'s [u8],
    ) -> Result<impl Iterator<Item = SealedMessage<'s>> + 's, Error> {
        messages(self.cipher, key, self.segments.clone(), self.all.end, &self.all)
    }

    /// Tells of the plaintext of whole segments, sealed.
    fn tell(&self, sealed: Range<u64>) {
        let bytes = sealed.end - sealed.start;
        tell_progress(self.cipher, bytes, sealed.start, &self.all, self.options);
    }

    /// Copies it from the device, and seals it on all cores.
    fn by_cores(&self, target: &dyn Target) -> Result<(), Error> {
        Transfer {
            direction: Direction::Encrypt,
            cipher: self.cipher,
            segments: self.segments.clone(),
            plaintext_bytes: self.all.end,
            source: &FromDevice(self.data),
            target,
            before: None,
            options: Options { runner: &CPU, ..self.options },
        }
        .run()
    }
}

/// Memory as what is written by several threads.
struct InBuffer<'a>(Mutex<&'a mut [u8]>);

impl Target for InBuffer<'_> {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let from = usize::try_from(offset).ok().and_then(|offset| memory.get_mut(offset..));
        let to = from.and_then(|from| from.get_mut(..bytes.len()));
        to.ok_or(io::ErrorKind::InvalidInput)?.copy_from_slice(bytes);
        Ok(())
    }
}

/// Memory of a device as what is read from its beginning on.
struct Reading<'a> {
    data: &'a DeviceSlice<'a>,
    at: usize,
}

impl Read for Reading<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = buffer.len().min(self.data.len() - self.at);
        self.data.read(self.at, &mut buffer[..bytes]).map_err(of_device)?;
        self.at += bytes;
        Ok(bytes)
    }
}

/// Memory of a device as what is sealed.
#[derive(Debug)]
pub struct FromDevice<'a>(pub &'a DeviceSlice<'a>);

impl Source for FromDevice<'_> {
    fn identity(&self) -> io::Result<Identity> {
        let version = Version::Object("memory of a device".into());
        Ok(Identity { size: self.0.len() as u64, version })
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        self.0.read(start, buffer).map_err(of_device)
    }

    fn read_all_exact_at(&self, parts: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        let start = |offset| usize::try_from(offset).unwrap_or(usize::MAX);
        let parts = parts.iter_mut().map(|(offset, buffer)| (start(*offset), &mut **buffer));
        self.0.read_parts(&mut parts.collect::<Vec<_>>()).map_err(of_device)
    }
}
