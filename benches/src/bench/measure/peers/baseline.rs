//! Other Rust libraries, measured in every run.

use std::{fmt, marker::PhantomData};

use ctr::{
    CtrCore, CtrFlavor,
    flavors::{Ctr64BE, Ctr128BE},
};
use lanecrypt::{
    CpuEngine, Engine, Error, Operation,
    aes::AES,
    aria::ARIA,
    camellia::CAMELLIA,
    cipher::{
        Block, BlockCipherDecrypt, BlockCipherEncrypt, InOutBuf, InnerIvInit, KeyInit,
        StreamCipherCore,
    },
    des::{DES, TDES, TDES_EEE},
    registry::{CipherDescription, Create},
    sm4::SM4,
};

use crate::bench::measure::peers::older;

/// Another library's implementation of a cipher.
pub(crate) struct Baseline {
    /// The cipher's name in the registry.
    pub(crate) cipher: &'static str,
    /// The name in reports.
    pub(crate) name: &'static str,
    /// Makes it under a key.
    pub(crate) create: Create,
}

impl fmt::Debug for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Baseline").field("name", &self.name).finish_non_exhaustive()
    }
}

const RUSTCRYPTO_DES: &str = "RustCrypto des + ctr";

/// Every baseline.
pub(crate) static BASELINES: &[Baseline] = &[
    Baseline {
        cipher: "aes",
        name: "RustCrypto aes + ctr",
        create: |key| match key.len() {
            16 => keyed::<aes::Aes128, Ctr128BE>(&AES, key),
            24 => keyed::<aes::Aes192, Ctr128BE>(&AES, key),
            _ => keyed::<aes::Aes256, Ctr128BE>(&AES, key),
        },
    },
    Baseline {
        cipher: "aria",
        name: "RustCrypto aria + ctr",
        create: |key| match key.len() {
            16 => keyed::<aria::Aria128, Ctr128BE>(&ARIA, key),
            24 => keyed::<aria::Aria192, Ctr128BE>(&ARIA, key),
            _ => keyed::<aria::Aria256, Ctr128BE>(&ARIA, key),
        },
    },
    Baseline {
        cipher: "camellia",
        name: "RustCrypto camellia + ctr",
        create: |key| match key.len() {
            16 => keyed::<camellia::Camellia128, Ctr128BE>(&CAMELLIA, key),
            24 => keyed::<camellia::Camellia192, Ctr128BE>(&CAMELLIA, key),
            _ => keyed::<camellia::Camellia256, Ctr128BE>(&CAMELLIA, key),
        },
    },
    Baseline {
        cipher: "des",
        name: RUSTCRYPTO_DES,
        create: |key| keyed::<des::Des, Ctr64BE>(&DES, key),
    },
    Baseline {
        cipher: "tdes",
        name: RUSTCRYPTO_DES,
        create: |key| match key.len() {
            16 => keyed::<des::TdesEde2, Ctr64BE>(&TDES, key),
            _ => keyed::<des::TdesEde3, Ctr64BE>(&TDES, key),
        },
    },
    Baseline {
        cipher: "tdes-eee",
        name: RUSTCRYPTO_DES,
        create: |key| match key.len() {
            16 => keyed::<des::TdesEee2, Ctr64BE>(&TDES_EEE, key),
            _ => keyed::<des::TdesEee3, Ctr64BE>(&TDES_EEE, key),
        },
    },
    Baseline { cipher: "lea", name: "lea", create: older::lea },
    Baseline { cipher: "seed", name: "kisaseed", create: older::seed },
    Baseline {
        cipher: "sm4",
        name: "RustCrypto sm4 + ctr",
        create: |key| keyed::<sm4::Sm4, Ctr128BE>(&SM4, key),
    },
];

/// The other library's implementation of a cipher, where there is one.
pub(crate) fn of(cipher: &CipherDescription) -> Option<&'static Baseline> {
    BASELINES.iter().find(|baseline| baseline.cipher == cipher.name)
}

/// Makes a RustCrypto cipher, with CTR of flavour `F`.
fn keyed<C, F>(cipher: &CipherDescription, key: &[u8]) -> Result<Box<dyn Engine>, Error>
where
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt,
    C: Clone + fmt::Debug + Send + Sync + 'static,
    F: CtrFlavor<C::BlockSize> + 'static,
{
    cipher.check_key(key)?;
    let cipher = C::new_from_slice(key).expect("its key lengths are ours");
    let engine = CpuEngine::new(cipher.clone());
    Ok(Box::new(RustCrypto::<C, F> { engine, cipher, flavor: PhantomData }))
}

/// A RustCrypto cipher with RustCrypto's own CTR, of flavour `F`.
struct RustCrypto<C, F> {
    engine: CpuEngine<C>,
    cipher: C,
    flavor: PhantomData<fn() -> F>,
}

impl<C: fmt::Debug, F> fmt::Debug for RustCrypto<C, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RustCrypto").field("cipher", &self.cipher).finish_non_exhaustive()
    }
}

impl<C, F> Engine for RustCrypto<C, F>
where
    C: BlockCipherEncrypt + BlockCipherDecrypt,
    C: Clone + fmt::Debug + Send + Sync + 'static,
    F: CtrFlavor<C::BlockSize> + 'static,
{
    fn block_bytes(&self) -> usize {
        self.engine.block_bytes()
    }

    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        operation.check(self.block_bytes(), data.len())?;
        let Operation::Ctr(counter) = operation else { return self.engine.run(operation, data) };
        let mut block = Block::<C>::default();
        counter.fill(&mut block);
        let core = CtrCore::<C, F>::inner_iv_init(self.cipher.clone(), &block);
        core.apply_keystream_partial(data);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt::Direction;

    use super::*;
    use crate::bench::plan::{iv, noise};

    /// Odd, so that CTR ends in part of a block; the counter carries out of 64 bits.
    const BYTES: usize = 1003;

    #[test]
    fn baselines_compute_their_cipher() {
        for baseline in BASELINES {
            let cipher = lanecrypt::find_cipher(baseline.cipher).expect("it is in the registry");
            for &key_bytes in cipher.key_bytes {
                let key = noise(key_bytes);
                let run = |create: Create| {
                    let engine = create(key).expect("the key has a good length");
                    let mut data = noise(BYTES).to_vec();
                    let whole = BYTES / cipher.block_bytes * cipher.block_bytes;
                    for direction in [Direction::Encrypt, Direction::Encrypt, Direction::Decrypt] {
                        engine.ecb(direction, data[..whole].as_mut().into()).expect("whole blocks");
                        let counter = iv(cipher.block_bytes);
                        engine.ctr(&counter, data.as_mut_slice().into()).expect("a whole counter");
                    }
                    data
                };
                let oracle = run(cipher.backends[0].create);
                assert!(run(baseline.create) == oracle, "{baseline:?}, {} bits", 8 * key_bytes);
            }
            assert!((baseline.create)(&[0; 5]).is_err());
            let engine = (baseline.create)(noise(cipher.key_bytes[0])).expect("a good length");
            assert!(engine.ecb(Direction::Encrypt, [0; 17][..].as_mut().into()).is_err());
        }
    }
}
