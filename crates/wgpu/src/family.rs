//! How a cipher is computed on a device, as a value, and its row of the cipher's table.

use lanecrypt_core::{Backend, CipherDescription, ConstantTime, Unavailable, on_cleared_stack};

#[cfg(not(target_arch = "wasm32"))]
use crate::{Device, Engine};
use crate::{Error, KeyPair, programs::Program};

/// Blocks that threads take together: 32 threads with 32 each, side by side.
pub const LANES: usize = 1024;

/// A way to compute a cipher on a device: the kernels, and how a key becomes what they take.
#[derive(Debug)]
pub struct Family {
    cipher: &'static CipherDescription,
    program: &'static Program,
    keys: fn(&[u8]) -> KeyPair,
}

impl Family {
    /// Of a cipher: its kernels, and how a key of a length that the cipher takes becomes theirs.
    #[must_use]
    pub const fn new(
        cipher: &'static CipherDescription,
        program: &'static Program,
        keys: fn(&[u8]) -> KeyPair,
    ) -> Self {
        Self { cipher, program, keys }
    }

    /// What a row of a cipher's table runs; `None` of rows for CPUs and CUDA.
    #[must_use]
    pub fn of(backend: &Backend) -> Option<&'static Self> {
        backend.family?().downcast_ref()
    }

    /// Its constant-time claim. It holds by form: kernels have no address and no branch that depends on data or keys,
    /// and key schedules are those of the bit-sliced forms.
    #[must_use]
    pub const fn constant_time(&self) -> ConstantTime {
        ConstantTime::Yes
    }

    /// One line for tables.
    #[must_use]
    pub const fn summary(&self) -> &'static str {
        "32 blocks a thread, a bit of each in a word; in WGSL"
    }

    /// The kernels.
    #[must_use]
    pub const fn program(&self) -> &'static Program {
        self.program
    }

    /// What its kernels take of a key of a length that the cipher takes.
    ///
    /// # Errors
    /// [`Error::Data`] for other lengths.
    pub fn keys(&self, key: &[u8]) -> Result<KeyPair, Error> {
        self.cipher.check_key(key).map_err(Error::Data)?;
        Ok(on_cleared_stack(|| (self.keys)(key)))
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Family {
    /// An engine under a key of a length that the cipher takes.
    ///
    /// # Errors
    /// [`Error::Data`] for other lengths; those of the device.
    pub fn engine(&self, device: &Device, key: &[u8]) -> Result<Engine, Error> {
        Engine::new(device, self.program, &self.keys(key)?)
    }

    /// The same for the registry, on the device that is there by default.
    ///
    /// # Errors
    /// As [`engine`](Self::engine), and those of opening the device.
    pub fn create(
        &self,
        key: &[u8],
    ) -> Result<Box<dyn lanecrypt_core::Engine>, lanecrypt_core::Error> {
        self.cipher.check_key(key)?;
        Ok(Box::new(self.engine(&Device::default()?, key)?))
    }

    /// Whether there is a device that it runs on.
    ///
    /// # Errors
    /// Why there is none.
    pub fn available(&self) -> Result<(), Unavailable> {
        Device::default().map(drop).map_err(|error| match error {
            Error::Unavailable(unavailable) => unavailable,
            other => Unavailable::because_of(other.to_string()),
        })
    }
}

#[cfg(target_arch = "wasm32")]
impl Family {
    /// For the registry: there is no engine.
    ///
    /// # Errors
    /// Always, as [`available`](Self::available).
    pub fn create(
        &self,
        _key: &[u8],
    ) -> Result<Box<dyn lanecrypt_core::Engine>, lanecrypt_core::Error> {
        Err(lanecrypt_core::Error::Unavailable(no_device()))
    }

    /// Whether there is a device that engines run on.
    ///
    /// # Errors
    /// Always.
    pub fn available(&self) -> Result<(), Unavailable> {
        Err(no_device())
    }
}

#[cfg(target_arch = "wasm32")]
fn no_device() -> Unavailable {
    Unavailable::because("a browser's GPU does not answer a module that waits for it")
}

/// The registry's row of a family: `wgpu-<name>`.
///
/// ```
/// # use lanecrypt_core::{Backend, CipherDescription};
/// # use lanecrypt_wgpu::{Family, programs};
/// # static CIPHER: CipherDescription = CipherDescription {
/// #     name: "rot13", standard: "none", block_bytes: 8, key_bytes: &[1], backends: &[], kernels: None };
/// static BITSLICE: Family = Family::new(&CIPHER, &programs::HIGHT, |_| unreachable!());
/// const ROW: Backend = lanecrypt_wgpu::backend!("bitslice" => BITSLICE);
/// assert_eq!((ROW.id, ROW.lanes), ("wgpu-bitslice", 1024));
/// ```
#[macro_export]
macro_rules! backend {
    ($name:literal => $family:path) => {
        $crate::registry::Backend {
            id: concat!("wgpu-", $name),
            platform: $crate::registry::Platform::Wgpu,
            lanes: $crate::LANES,
            constant_time: $family.constant_time(),
            summary: $family.summary(),
            available: || $family.available(),
            create: |key| $family.create(key),
            family: Some(|| &$family),
        }
    };
}
