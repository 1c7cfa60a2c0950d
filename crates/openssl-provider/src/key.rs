//! A keyed cipher, shared by the contexts that were copied from each other.

use std::sync::Arc;

use lanecrypt::{Engine, Error};

use crate::{
    Algorithm, Reason,
    large::{LARGE, Large},
};

/// A cipher under a key. Its schedule is cleared when the last context that has it is freed.
#[derive(Debug)]
pub struct Key {
    engine: Box<dyn Engine>,
    large: Large,
}

impl Key {
    /// The fastest constant-time implementation of this CPU under a key; large calls are as the installed
    /// [`LargeCalls`](crate::LargeCalls) says.
    ///
    /// # Errors
    /// [`Reason::KeyLength`].
    pub fn new(algorithm: &Algorithm, key: &[u8]) -> Result<Arc<Self>, Reason> {
        if key.len() != algorithm.cipher_key_bytes() {
            return Err(Reason::KeyLength);
        }
        let engine = algorithm.cipher.default_engine(key)?;
        Ok(Arc::new(Self { engine, large: Large::new(algorithm, key) }))
    }

    /// Runs an operation over `bytes` bytes.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn run(
        &self,
        bytes: usize,
        work: impl FnOnce(&dyn Engine) -> Result<(), Error>,
    ) -> Result<(), Reason> {
        if bytes >= LARGE {
            return self.large.run(&*self.engine, work);
        }
        Ok(work(&*self.engine)?)
    }

    /// The engine on the caller's thread.
    #[must_use]
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }
}
