//! A cipher under a key: the labels of its figures, and whether what it made of the noise is right.

use std::{fmt::Display, ops::Range};

use lanecrypt::{
    Direction, Engine, Error, modes,
    registry::{Backend, CipherDescription, Platform},
};
use lanecrypt_record::{Figure, Place, Work};

use crate::bench::{
    options::Options,
    plan::{self, RunWork as _, UNIT, counter, iv, noise_at},
};

/// Bytes compared at the start, in the middle and at the end of long data.
const WINDOW: usize = 1 << 20;

/// A cipher under the key that everything is measured with.
#[derive(Clone, Debug)]
pub(crate) struct Keyed {
    pub(crate) cipher: &'static CipherDescription,
    pub(crate) key: Vec<u8>,
}

impl Keyed {
    /// Under a key of this length.
    pub(crate) fn new(cipher: &'static CipherDescription, key_bytes: usize) -> Self {
        Self { cipher, key: plan::key(key_bytes) }
    }

    /// Every chosen cipher under every chosen length of key.
    pub(crate) fn chosen(options: &Options) -> impl Iterator<Item = Self> {
        options.ciphers().flat_map(move |cipher| {
            options.key_bytes(cipher).iter().map(move |&bytes| Self::new(cipher, bytes))
        })
    }

    /// The IV, counter or tweak that everything is measured with.
    pub(crate) fn iv(&self) -> Vec<u8> {
        iv(self.cipher.block_bytes)
    }

    /// A figure but for its times.
    pub(crate) fn figure(&self, work: Work, place: Place, bytes: usize) -> Figure {
        let (cipher, key_bits) = (self.cipher.name.to_owned(), 8 * self.key.len());
        Figure { cipher, key_bits, work, place, bytes, ..Figure::default() }
    }

    /// What failed, and how.
    pub(crate) fn failed(&self, what: impl Display) -> String {
        format!("{}-{}: {what}", self.cipher.name, 8 * self.key.len())
    }

    /// An engine of the fastest CPU backend that runs here.
    ///
    /// # Errors
    /// Those of the backend.
    pub(crate) fn on_cpu(&self) -> Result<Box<dyn Engine>, Error> {
        let backend = last_on_cpu(self.cipher, |_| true).unwrap_or(&self.cipher.backends[0]);
        (backend.create)(&self.key)
    }

    /// Compares the start, the middle and the end of what `work` made of noise, which `read` gives from a
    /// place on, with a CPU's. The data starts `before` bytes after the first counter; `is_resident` is as
    /// in [`Self::verify_piece`].
    ///
    /// # Errors
    /// A sentence where they differ, and those of reading.
    pub(crate) fn verify(
        &self,
        work: Work,
        (before, bytes): (usize, usize),
        is_resident: bool,
        mut read: impl FnMut(usize, &mut [u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        for window in windows(bytes) {
            let mut output = vec![0; window.len()];
            read(window.start, &mut output)?;
            let input = noise_at(window.start, window.len());
            self.verify_piece(work, before + window.start, &input, &output, is_resident)?;
        }
        Ok(())
    }

    /// Checks a piece of a device's output against a CPU: `output` is what `work` made of `input`,
    /// which starts `offset` bytes into the data. Where `is_resident`, XTS ran over data units of [`UNIT`]
    /// bytes, the first of them with number 0, and GCM on the device.
    ///
    /// # Errors
    /// A sentence where they differ.
    pub(crate) fn verify_piece(
        &self,
        work: Work,
        offset: usize,
        input: &[u8],
        output: &[u8],
        is_resident: bool,
    ) -> Result<(), String> {
        let mut expected = input.to_vec();
        // Without the block before it, the first one of CBC is unknown.
        let from = if work == Work::CbcDecrypt && offset > 0 { self.cipher.block_bytes } else { 0 };
        let ran = self.expect(work, offset, &mut expected, is_resident);
        ran.map_err(|error| self.failed(error))?;
        if expected[from..] == output[from..] {
            return Ok(());
        }
        Err(self.failed(format!("{work} gives wrong output near byte {offset}; nothing is timed")))
    }

    /// What a CPU makes of such a piece.
    fn expect(
        &self,
        work: Work,
        offset: usize,
        data: &mut [u8],
        is_resident: bool,
    ) -> Result<(), Error> {
        let (engine, block) = (self.on_cpu()?, self.cipher.block_bytes);
        match work {
            Work::XtsEncrypt | Work::XtsDecrypt if is_resident => {
                let keys = plan::key(2 * self.key.len());
                let tweak = Self { cipher: self.cipher, key: keys[self.key.len()..].to_vec() };
                let direction = match work {
                    Work::XtsEncrypt => Direction::Encrypt,
                    _ => Direction::Decrypt,
                };
                let first = (offset / UNIT) as u128;
                modes::xts_units(&engine, &tweak.on_cpu()?, first, UNIT, direction, data.into())
            }
            // The tag is the business of tests, and of decryption itself.
            Work::GcmEncrypt | Work::GcmDecrypt if is_resident => {
                plan::gcm_bytes(&engine, &self.iv(), (offset / block) as u32, data)
            }
            Work::CbcDecrypt if offset > 0 => {
                let (before, data) = data.split_at_mut(block);
                modes::cbc_decrypt(&engine, before, data.into())
            }
            _ => {
                let mut first = vec![0; block];
                counter(block).plus((offset / block) as u128).fill(&mut first);
                work.run(&*engine, &*engine, &first, data)
            }
        }
    }
}

/// The pieces that are compared of this many bytes.
pub(super) fn windows(bytes: usize) -> [Range<usize>; 3] {
    let length = WINDOW.min(bytes);
    let last = bytes - length;
    [0, last / 2 / UNIT * UNIT, last].map(|start| start..start + length)
}

/// The last CPU backend of the table that runs here, the fastest by custom, among those chosen.
pub(super) fn last_on_cpu(
    cipher: &'static CipherDescription,
    chosen: impl Fn(&Backend) -> bool,
) -> Option<&'static Backend> {
    let runs = |backend: &&Backend| {
        backend.platform == Platform::Cpu && chosen(backend) && (backend.available)().is_ok()
    };
    cipher.backends.iter().rev().find(runs)
}
