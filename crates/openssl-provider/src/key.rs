//! A keyed cipher, shared by the contexts that were copied from each other.

use std::{process, sync::Arc, sync::OnceLock};

use lanecrypt::{Engine, Error, Parallel};

use crate::{Algorithm, Reason};

/// Bytes of a call from which on all cores are worth waking.
const LARGE: usize = 2 << 20;

/// A cipher under a key. Its schedule is cleared when the last context that has it is freed.
#[derive(Debug)]
pub struct Key {
    engine: Box<dyn Engine>,
}

impl Key {
    /// The fastest constant-time implementation of this CPU under a key.
    ///
    /// # Errors
    /// [`Reason::KeyLength`].
    pub fn new(algorithm: &Algorithm, key: &[u8]) -> Result<Arc<Self>, Reason> {
        if key.len() != algorithm.key_bytes {
            return Err(Reason::KeyLength);
        }
        // A GPU for large calls would be another engine here, where the configuration asks for it.
        let backend = algorithm.cipher.backend("default").ok_or(Reason::Internal)?;
        Ok(Arc::new(Self { engine: (backend.create)(key)? }))
    }

    /// Runs so many bytes, on all cores if there are enough of them.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn run(
        &self,
        bytes: usize,
        work: impl FnOnce(&dyn Engine) -> Result<(), Error>,
    ) -> Result<(), Reason> {
        if bytes >= LARGE && has_threads() {
            work(&Parallel::new(&*self.engine))?;
        } else {
            work(&*self.engine)?;
        }
        Ok(())
    }

    /// The engine on the caller's thread.
    #[must_use]
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }
}

/// Whether this is the process that has the threads: after a fork the child has none of them, and
/// would wait for them.
fn has_threads() -> bool {
    static OWNER: OnceLock<u32> = OnceLock::new();
    *OWNER.get_or_init(process::id) == process::id()
}
