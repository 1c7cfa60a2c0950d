//! Who runs large calls, as the configuration says: all cores, or the GPU where that is first.

use std::{fmt, process, sync::OnceLock};

use lanecrypt::{Engine, Error, Parallel};
#[cfg(feature = "cuda")]
use zeroize::Zeroizing;

use crate::{Algorithm, Reason};

/// Bytes of a call from which on all cores are worth waking.
pub(crate) const LARGE: usize = 2 << 20;

/// Who runs calls of 2 MiB and more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LargeCalls {
    /// All cores.
    #[default]
    Cpu,
    /// All cores, or the GPU for sizes with which it is first.
    #[cfg(feature = "cuda")]
    Auto,
}

static LARGE_CALLS: OnceLock<LargeCalls> = OnceLock::new();

impl LargeCalls {
    /// The one with this name: `cpu`, or `auto` where the module was built with the feature `cuda`.
    ///
    /// # Errors
    /// [`Reason::Argument`] for other names.
    pub fn parse(name: &[u8]) -> Result<Self, Reason> {
        match name {
            b"cpu" => Ok(Self::Cpu),
            #[cfg(feature = "cuda")]
            b"auto" => Ok(Self::Auto),
            _ => Err(Reason::Argument),
        }
    }

    /// Has all keys that come later run by this one. A process has one: the first that is said stays.
    pub fn install(self) {
        LARGE_CALLS.get_or_init(|| self);
    }
}

/// What a key has for large calls.
#[derive(Default)]
pub(crate) struct Large {
    #[cfg(feature = "cuda")]
    auto: Option<Auto>,
}

/// An engine that is made when the first large call comes: most keys never see one.
#[cfg(feature = "cuda")]
struct Auto {
    cipher: &'static str,
    key: Zeroizing<Vec<u8>>,
    engine: OnceLock<Box<dyn Engine>>,
}

impl Large {
    #[cfg_attr(
        not(feature = "cuda"),
        expect(unused_variables, reason = "the CPU needs no second key")
    )]
    pub(crate) fn new(algorithm: &Algorithm, key: &[u8]) -> Self {
        match LARGE_CALLS.get().copied().unwrap_or_default() {
            LargeCalls::Cpu => Self::default(),
            #[cfg(feature = "cuda")]
            LargeCalls::Auto => {
                let (cipher, key) = (algorithm.cipher.name, Zeroizing::new(key.to_vec()));
                Self { auto: Some(Auto { cipher, key, engine: OnceLock::new() }) }
            }
        }
    }

    /// Runs a large call; `engine` is the key's on the caller's thread.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(clippy::unused_self, reason = "the CPU has no second engine")
    )]
    pub(crate) fn run(
        &self,
        engine: &dyn Engine,
        work: impl FnOnce(&dyn Engine) -> Result<(), Error>,
    ) -> Result<(), Reason> {
        if !is_first_process() {
            return Ok(work(engine)?);
        }
        #[cfg(feature = "cuda")]
        if let Some(auto) = &self.auto {
            return Ok(work(auto.engine()?)?);
        }
        Ok(work(&Parallel::new(engine))?)
    }
}

#[cfg(feature = "cuda")]
impl Auto {
    fn engine(&self) -> Result<&dyn Engine, Reason> {
        if self.engine.get().is_none() {
            let made = lanecrypt::auto(self.cipher, &self.key).map_err(|_| Reason::Internal)?;
            let _ = self.engine.set(made); // another thread may have been first
        }
        self.engine.get().map(|engine| &**engine).ok_or(Reason::Internal)
    }
}

impl fmt::Debug for Large {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Large").finish_non_exhaustive()
    }
}

/// Whether this is the process that has the threads and the GPU: after a fork the child has neither, and
/// would wait for them.
fn is_first_process() -> bool {
    static FIRST: OnceLock<u32> = OnceLock::new();
    *FIRST.get_or_init(process::id) == process::id()
}
