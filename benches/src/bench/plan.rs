//! What is measured: modes, with their keys and data, and the sizes that the papers ask for.

use std::sync::OnceLock;

use lanecrypt::{Direction, Engine, Error, Gcm, modes};
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
pub(crate) const MESSAGES: [usize; 10] = {
    let mut sizes = [64; 10];
    let mut i = 1;
    while i < sizes.len() {
        sizes[i] = 4 * sizes[i - 1];
        i += 1;
    }
    sizes
};

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
            Self::Keystream => {
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

/// XTS and GCM are defined for 16-byte blocks only.
pub(crate) fn fits(work: Work, block: usize) -> bool {
    use Work::{GcmDecrypt, GcmEncrypt, XtsDecrypt, XtsEncrypt};
    !matches!(work, XtsEncrypt | XtsDecrypt | GcmEncrypt | GcmDecrypt) || block == 16
}

/// Reproducible random data, never zeros: up to the largest CPU size.
///
/// # Panics
/// Where more is asked for than there is.
pub(crate) fn noise(bytes: usize) -> &'static [u8] {
    static NOISE: OnceLock<Vec<u8>> = OnceLock::new();
    let noise = NOISE.get_or_init(|| {
        let mut data = vec![0; 64 << 20];
        lanecrypt_reference::vectors::PlaintextStream::new(1).fill(&mut data);
        data
    });
    &noise[..bytes]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_those_of_the_paper() {
        assert_eq!((MESSAGES[0], MESSAGES[9]), (64, 16 << 20));
    }
}
