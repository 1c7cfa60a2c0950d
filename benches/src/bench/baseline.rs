//! Other libraries, measured in the same run.

use std::{any::Any, fmt};

use lanecrypt::{
    CpuEngine, Create, Direction, Engine, Error,
    cipher::{
        BlockCipherDecrypt, BlockCipherEncrypt, InOutBuf, InnerIvInit, KeyInit, StreamCipher,
        consts::U16,
    },
};

/// Another library's implementation of a cipher.
pub(super) struct Baseline {
    /// The cipher's name in the registry.
    pub(super) cipher: &'static str,
    /// The name in reports.
    pub(super) name: &'static str,
    /// Makes it under a key.
    pub(super) create: Create,
}

impl fmt::Debug for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Baseline").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Every baseline.
pub(super) static BASELINES: &[Baseline] =
    &[Baseline { cipher: "aes", name: "RustCrypto aes + ctr", create: rustcrypto_aes }];

fn rustcrypto_aes(key: &[u8]) -> Result<Box<dyn Engine>, Error> {
    fn keyed<C>(key: &[u8]) -> Result<Box<dyn Engine>, Error>
    where
        C: KeyInit + BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt,
        C: Clone + fmt::Debug + Send + Sync + 'static,
    {
        let accepted = lanecrypt::aes::AES.key_bytes;
        let wrong = |_| Error::KeyLength { cipher: "aes", given: key.len(), accepted };
        let cipher = C::new_from_slice(key).map_err(wrong)?;
        Ok(Box::new(RustCrypto { engine: CpuEngine::new(cipher.clone()), cipher }))
    }
    match key.len() {
        16 => keyed::<aes::Aes128>(key),
        24 => keyed::<aes::Aes192>(key),
        _ => keyed::<aes::Aes256>(key),
    }
}

/// A RustCrypto cipher with RustCrypto's own CTR.
#[derive(Debug)]
struct RustCrypto<C> {
    engine: CpuEngine<C>,
    cipher: C,
}

impl<C> Engine for RustCrypto<C>
where
    C: BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt,
    C: Clone + fmt::Debug + Send + Sync + 'static,
{
    fn block_bytes(&self) -> usize {
        self.engine.block_bytes()
    }

    fn ecb(&self, direction: Direction, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        self.engine.ecb(direction, data)
    }

    fn ctr(&self, counter: &[u8], data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let core = ctr::CtrCore::inner_iv_slice_init(self.cipher.clone(), counter);
        let core = core.map_err(|_| Error::IvLength {
            mode: lanecrypt::Mode::Ctr,
            given: counter.len(),
            accepted: 16,
        })?;
        ctr::Ctr128BE::from_core(core).apply_keystream_inout(data);
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
