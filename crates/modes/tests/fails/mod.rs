//! An engine that fails, and what a decryption that uses it may leave.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use cipher::{Array, BlockSizeUser, InOutBuf, KeyInit, KeySizeUser, consts::U16};
use lanecrypt_aes::Aes128;
use lanecrypt_core::{Engine, Error, Operation};

/// An AES whose calls fail, all from a certain one on.
#[derive(Clone)]
pub(crate) struct Fails(Aes128);

static CALLS_LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);

impl std::fmt::Debug for Fails {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fails")
    }
}
impl KeySizeUser for Fails {
    type KeySize = U16;
}
impl BlockSizeUser for Fails {
    type BlockSize = U16;
}
impl KeyInit for Fails {
    fn new(key: &Array<u8, U16>) -> Self {
        Self(Aes128::new(key))
    }
}
impl Engine for Fails {
    fn block_bytes(&self) -> usize {
        16
    }
    fn run(&self, operation: Operation<'_>, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let one_less = |left: usize| left.checked_sub(1);
        CALLS_LEFT.fetch_update(Relaxed, Relaxed, one_less).map_err(|_| Error::EmptyIv)?;
        self.0.run(operation, data)
    }
}

/// Lets this number of calls succeed, and all others fail.
#[allow(dead_code, reason = "every test takes what it needs of this")]
pub(crate) fn fail_after(calls: usize) {
    CALLS_LEFT.store(calls, Relaxed);
}

/// Checks that no plaintext is left in the output, whichever call of the engine fails: `decrypt` decrypts
/// `sealed` in place by a key of [`Fails`], with the right tag and with a wrong one.
#[allow(dead_code, reason = "as above")]
pub(crate) fn nothing_out(
    message: &[u8],
    sealed: &[u8],
    tag: &[u8; 16],
    decrypt: impl Fn(InOutBuf<'_, '_, u8>, &[u8; 16]) -> Result<(), Error>,
) {
    for right in [true, false] {
        let mut given = *tag;
        given[3] ^= u8::from(!right);
        let mut failures = 0;
        for calls in 0.. {
            CALLS_LEFT.store(calls, Relaxed);
            let mut output = sealed.to_vec();
            match decrypt(output.as_mut_slice().into(), &given) {
                Err(Error::EmptyIv) => {
                    assert!(output.iter().all(|&byte| byte == 0), "call {calls}");
                }
                Ok(()) => {
                    assert!(right && output == message);
                    break;
                }
                Err(error) => {
                    assert!(matches!(error, Error::NotAuthentic) && !right && output == sealed);
                    break;
                }
            }
            failures += 1;
        }
        assert!(failures > 3, "it failed {failures} times");
    }
}
