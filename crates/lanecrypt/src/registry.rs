//! Ciphers and the ways to compute them, as values: for tests, benches and tools that enumerate them.
//!
//! ```
//! use lanecrypt::{CIPHERS, registry::Platform};
//!
//! for cipher in CIPHERS {
//!     let on_cpu = cipher.backends.iter().filter(|backend| backend.platform == Platform::Cpu);
//!     println!("{}: {} ways on the CPU", cipher.name, on_cpu.count());
//! }
//! ```

pub use lanecrypt_core::{
    Backend, CipherDescription, Create, Dispatch, Extension, Platform, Unavailable,
};

pub use crate::selection::{EXPECT, Selection, SelectionError};
