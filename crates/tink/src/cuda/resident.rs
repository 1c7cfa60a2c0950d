//! Sealed files straight to memory of a device.

use std::{
    io::{self, Write},
    ops::Range,
};

use lanecrypt::{
    Error as CipherError,
    cuda::{self, DeviceBuffer, SealedMessage, Sealing, TransferError},
};

use super::Cuda;
use crate::{Error, Options, Sealed, SegmentCipher, Source, options::CPU};

impl Cuda {
    /// Opens all of sealed data into memory of this device; see
    /// [`open_range_to_device`](Self::open_range_to_device).
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use lanecrypt::cuda::Device;
    /// use lanecrypt_tink::{Cuda, Keyset, Options, Sealed};
    ///
    /// let keyset = Keyset::from_json(&std::fs::read_to_string("keyset.json")?)?;
    /// let sealed = Sealed::open(std::fs::File::open("weights.sealed")?, &keyset, b"")?;
    /// let cuda = Cuda::new(&Device::default()?)?;
    /// let weights = cuda.open_to_device(&sealed, Options::default())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As there.
    pub fn open_to_device<S: Source>(
        &self,
        sealed: &Sealed<S>,
        options: Options<'_>,
    ) -> Result<DeviceBuffer, Error> {
        self.open_range_to_device(sealed, 0..sealed.plaintext_bytes(), options)
    }

    /// Opens a range of the plaintext into memory of this device, which is given out if every segment that
    /// the range touches is authentic, and cleared otherwise.
    ///
    /// Ciphertext alone passes the host: threads read it into pinned memory, and kernels verify it and
    /// decrypt it on the device. [`Limits`](cuda::Limits) of the device bound the threads, the pinned memory
    /// and as much memory of the device, besides what is given out; they are kept for other calls.
    /// The options' runner is not used, but what is not sealed by GCM is opened by all cores and copied.
    ///
    /// # Errors
    /// [`Error::Range`] where there is less; [`Error::NotAuthentic`], [`Error::SourceChanged`],
    /// [`Error::Cancelled`], [`Error::Io`]; [`Error::Engine`] with those of the device, such as too little
    /// memory.
    pub fn open_range_to_device<S: Source>(
        &self,
        sealed: &Sealed<S>,
        range: Range<u64>,
        options: Options<'_>,
    ) -> Result<DeviceBuffer, Error> {
        sealed.check_range(&range)?;
        let bytes = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let mut buffer = DeviceBuffer::zeroed(&self.device, bytes).map_err(CipherError::from)?;
        if let Some(key) = sealed.cipher().gcm_key() {
            self.open_gcm(sealed, key, range, &mut buffer, options)?;
        } else {
            let options = Options { runner: &CPU, ..options };
            sealed.copy_range(range, &mut ToDevice { buffer: &mut buffer, at: 0 }, options)?;
        }
        sealed.check_source()?;
        Ok(buffer)
    }

    fn open_gcm<S: Source>(
        &self,
        sealed: &Sealed<S>,
        key: &[u8],
        range: Range<u64>,
        buffer: &mut DeviceBuffer,
        options: Options<'_>,
    ) -> Result<(), Error> {
        let segments = sealed.cipher().layout().segments_of(range.clone());
        let first = segments.start;
        let messages = messages(sealed.cipher(), key, segments, sealed.plaintext_bytes(), &range)?;
        let read = |bytes: &mut [u8], offset| {
            options.check_cancel()?;
            sealed.read_sealed(bytes, offset)?;
            tell_progress(sealed.cipher(), bytes.len() as u64, offset, &range, options);
            Ok(())
        };
        let mut output = buffer.slice_mut(0..buffer.len()).map_err(CipherError::from)?;
        let opened = self.family.open_to_device(messages, &mut output, read);
        opened.map_err(|error| of_transfer(error, first))
    }
}

/// Segments as messages of which the parts in `range` lie on a device, one behind the other.
pub(super) fn messages<'a>(
    cipher: &'a SegmentCipher,
    key: &'a [u8],
    segments: Range<u64>,
    plaintext_bytes: u64,
    range: &'a Range<u64>,
) -> Result<impl Iterator<Item = SealedMessage<'a>> + 'a, Error> {
    let layout = cipher.layout();
    let last = layout.segments(plaintext_bytes)? - 1;
    Ok(segments.map(move |segment| {
        let full = layout.plaintext_of(segment);
        let end = full.end.min(plaintext_bytes);
        let (from, to) = (full.start.max(range.start), end.min(range.end));
        let nonce = cipher.nonce(segment as u32, segment == last);
        let mut iv = [0; 12];
        iv.copy_from_slice(&nonce[..12]);
        SealedMessage {
            key,
            sealing: Sealing::Gcm,
            iv,
            aad: &[],
            lead: &[],
            length: (end - full.start) as usize,
            sealed_at: layout.ciphertext_of(segment).start,
            part: (from - full.start) as usize..(to - full.start) as usize,
            plain_at: (from - range.start) as usize,
        }
    }))
}

/// Tells of the bytes of `range` that whole segments have, which lie sealed from `offset` on.
pub(super) fn tell_progress(
    cipher: &SegmentCipher,
    sealed_bytes: u64,
    offset: u64,
    range: &Range<u64>,
    options: Options<'_>,
) {
    let layout = cipher.layout();
    let [first, last] = [offset, offset + sealed_bytes - 1].map(|at| at / layout.segment_bytes());
    let start = layout.plaintext_of(first).start.max(range.start);
    let end = layout.plaintext_of(last).end.min(range.end);
    (options.progress)(end.saturating_sub(start));
}

/// An error of ours; messages count from the segment `first` on.
pub(super) fn of_transfer(error: TransferError<Error>, first: u64) -> Error {
    match error {
        TransferError::Device(error) => CipherError::from(error).into(),
        TransferError::NotAuthentic { message } => Error::NotAuthentic { segment: first + message },
        TransferError::Outside(error) => error,
    }
}

/// Memory of a device that is written from its beginning on.
struct ToDevice<'a> {
    buffer: &'a mut DeviceBuffer,
    at: usize,
}

impl Write for ToDevice<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.write(self.at, bytes).map_err(of_device)?;
        self.at += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A failure of a device on its way through `std::io`.
pub(super) fn of_device(error: cuda::Error) -> io::Error {
    Error::from(CipherError::from(error)).into()
}
