//! What is measured: modes, with their keys and data, and the sizes that the papers ask for.

use std::sync::OnceLock;

use lanecrypt::{
    Counter, Direction, Engine, Error, Gcm,
    cuda::{self, Device, DeviceBuffer},
    modes,
};
use lanecrypt_record::Work;

/// Bytes of a data unit of XTS on devices: a sector of a disk, and a page.
pub(crate) const UNIT: usize = 4096;

/// Bytes of an IV of GCM.
pub(crate) const GCM_IV_BYTES: usize = 12;

/// What is measured on CPUs.
pub(crate) const ON_CPU: [Work; 6] = [
    Work::EcbEncrypt,
    Work::EcbDecrypt,
    Work::Ctr,
    Work::CbcDecrypt,
    Work::XtsEncrypt,
    Work::GcmEncrypt,
];
/// What kernels do themselves.
pub(crate) const ON_DEVICE: [Work; 8] = [
    Work::EcbEncrypt,
    Work::EcbDecrypt,
    Work::Ctr,
    Work::CbcDecrypt,
    Work::XtsEncrypt,
    Work::XtsDecrypt,
    Work::GcmEncrypt,
    Work::GcmDecrypt,
];

/// Threads of a thread block that are tried: P3's, and those around them.
pub(crate) const THREAD_BLOCKS: [u32; 6] = [128, 256, 384, 512, 768, 1024];
/// P4's sizes of thread blocks.
pub(crate) const SIZES: [u32; 11] = [64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384];

/// P4's messages, in bytes.
#[rustfmt::skip]
pub(crate) const MESSAGES: [usize; 10] =
    [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20];

/// Running a mode by an engine.
pub(crate) trait RunWork {
    /// Runs it in place. The counter, IV or tweak is `iv`; `tweak_engine` serves XTS alone.
    ///
    /// # Errors
    /// The engine's and the mode's.
    fn run(
        self,
        engine: &dyn Engine,
        tweak_engine: &dyn Engine,
        iv: &[u8],
        data: &mut [u8],
    ) -> Result<(), Error>;
}

impl RunWork for Work {
    fn run(
        self,
        engine: &dyn Engine,
        tweak_engine: &dyn Engine,
        iv: &[u8],
        data: &mut [u8],
    ) -> Result<(), Error> {
        match self {
            Self::EcbEncrypt => engine.ecb(Direction::Encrypt, data.into()),
            Self::EcbDecrypt => engine.ecb(Direction::Decrypt, data.into()),
            Self::Ctr => engine.ctr(iv, data.into()),
            Self::CbcDecrypt => modes::cbc_decrypt(engine, iv, data.into()),
            Self::XtsEncrypt => {
                modes::xts(engine, tweak_engine, iv, Direction::Encrypt, data.into())
            }
            Self::XtsDecrypt => {
                modes::xts(engine, tweak_engine, iv, Direction::Decrypt, data.into())
            }
            Self::GcmEncrypt => seal(&Gcm::of(engine)?, iv, data),
            Self::GcmDecrypt => gcm_bytes(engine, iv, 0, data),
            Self::Keystream
            | Self::RandomBytes
            | Self::RandomIntegers
            | Self::RandomUnits
            | Self::RandomNormals => {
                data.fill(0);
                engine.ctr(iv, data.into())
            }
        }
    }
}

/// Encrypts in GCM with the first bytes of `iv` as it is usually long.
///
/// # Errors
/// The engine's.
pub(crate) fn seal<E: Engine>(gcm: &Gcm<E>, iv: &[u8], data: &mut [u8]) -> Result<(), Error> {
    gcm.encrypt(&iv[..GCM_IV_BYTES], &[], data.into(), &mut std::hint::black_box([0; 16]))
}

/// What GCM makes of data of a message from the block with this number on, without the tag: the same in
/// both directions.
///
/// # Errors
/// The engine's.
pub(crate) fn gcm_bytes(
    engine: &dyn Engine,
    iv: &[u8],
    first: u32,
    data: &mut [u8],
) -> Result<(), Error> {
    let mut counter = [0; 16];
    counter[..GCM_IV_BYTES].copy_from_slice(&iv[..GCM_IV_BYTES]);
    counter[15] = 1; // the tag's
    modes::ctr32(engine, &modes::gcm::counter(&counter, first), data.into())
}

/// The key that everything is measured with: any will do, none is special.
#[must_use]
pub(crate) fn key(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 37 + 11) as u8).collect()
}

/// The IV, counter or tweak that everything is measured with. As a counter it begins as GCM's and TLS's do;
/// where the low 32 bits wrap, which is once in 64 GiB, a device needs another launch.
#[must_use]
pub(crate) fn iv(block: usize) -> Vec<u8> {
    let mut iv = vec![0xff; block];
    iv[0] = 0;
    iv[block - 4..].copy_from_slice(&2_u32.to_be_bytes());
    iv
}

/// The same as a counter.
pub(crate) fn counter(block: usize) -> Counter {
    Counter::from_block(&iv(block)).expect("ciphers have blocks of 8 or 16 bytes")
}

/// XTS and GCM are defined for 16-byte blocks only.
pub(crate) fn fits(work: Work, block: usize) -> bool {
    use Work::{GcmDecrypt, GcmEncrypt, XtsDecrypt, XtsEncrypt};
    !matches!(work, XtsEncrypt | XtsDecrypt | GcmEncrypt | GcmDecrypt) || block == 16
}

/// Bytes of [`noise`]; where more is wanted, it comes again.
const NOISE_BYTES: usize = 64 << 20;

/// Fills data with noise.
pub(crate) fn fill(data: &mut [u8]) {
    for piece in data.chunks_mut(NOISE_BYTES) {
        piece.copy_from_slice(noise(piece.len()));
    }
}

/// A piece of data that is filled with noise.
pub(crate) fn noise_at(start: usize, length: usize) -> Vec<u8> {
    let noise = noise(NOISE_BYTES);
    (start..start + length).map(|i| noise[i % NOISE_BYTES]).collect()
}

/// A buffer on a device that is filled with noise.
///
/// # Errors
/// The device's.
pub(crate) fn noise_on(device: &Device, bytes: usize) -> Result<DeviceBuffer, cuda::Error> {
    let mut buffer = DeviceBuffer::zeroed(device, bytes)?;
    for start in (0..bytes).step_by(NOISE_BYTES) {
        buffer.write(start, noise(NOISE_BYTES.min(bytes - start)))?;
    }
    Ok(buffer)
}

/// Reproducible random data, never zeros: up to the largest CPU size.
///
/// # Panics
/// Where more is asked for than there is.
pub(crate) fn noise(bytes: usize) -> &'static [u8] {
    static NOISE: OnceLock<Vec<u8>> = OnceLock::new();
    let noise = NOISE.get_or_init(|| {
        let mut data = vec![0; NOISE_BYTES];
        lanecrypt_reference::vectors::PlaintextStream::new(1).fill(&mut data);
        data
    });
    &noise[..bytes]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_comes_again() {
        let mut data = vec![0; NOISE_BYTES + 100];
        fill(&mut data);
        assert!(data[NOISE_BYTES..] == data[..100]);
        let across = NOISE_BYTES - 10;
        assert!(noise_at(across, 50) == data[across..across + 50]);
        assert!(noise_at(NOISE_BYTES + 20, 30) == data[20..50]);
    }
}
