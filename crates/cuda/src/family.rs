//! Kernel families: the ways to compute a cipher on a device, as values.

use lanecrypt_core::{CipherDescription, ConstantTime, Unavailable};

use crate::{Device, Engine, Error, Keys, Program, Properties};

/// A way to compute a cipher on a device.
///
/// Its name in the registry, after `cuda-` or `host-`, is given where [`backends!`](crate::backends)
/// lists it.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The cipher.
    pub cipher: &'static CipherDescription,
    /// One line for tables.
    pub summary: &'static str,
    /// Blocks that a thread block takes at once; tests probe lengths around it.
    pub lanes: usize,
    /// Its constant-time claim.
    pub constant_time: ConstantTime,
    /// The programs to choose from: the first that fits the device.
    pub programs: &'static [Program],
    /// Expands a key, whose length was checked, to the layout of the kernels.
    pub keys: fn(&[u8]) -> KeyPair,
}

/// Round keys of both directions, in the layout of the kernels.
#[derive(Debug)]
pub struct KeyPair {
    /// For ECB encryption and CTR.
    pub encrypt: Keys,
    /// For ECB decryption.
    pub decrypt: Keys,
}

impl Family {
    /// The program of this family that fits a device best.
    ///
    /// # Errors
    /// [`Unavailable`] naming the shared memory that even the smallest would need.
    pub fn program(&self, properties: &Properties) -> Result<&'static Program, Unavailable> {
        let fits = |program: &&Program| program.kernels().iter().all(|k| k.fits(properties));
        self.programs.iter().find(fits).ok_or_else(|| {
            let bytes = |program: &Program| program.kernels().map(|k| k.shared_bytes);
            let needed = self.programs.iter().flat_map(bytes).max().unwrap_or(0);
            Unavailable::because_of(format!(
                "a thread block has {} bytes of shared memory on {}, up to {needed} are needed",
                properties.shared_bytes_per_block, properties.name,
            ))
        })
    }

    /// An engine of this family under a key of a length that the cipher takes.
    ///
    /// # Errors
    /// [`Error::Data`] for other key lengths; [`Error::Unavailable`] as [`Family::program`].
    pub fn engine(&self, device: &Device, key: &[u8]) -> Result<Engine, Error> {
        self.cipher.check_key(key).map_err(Error::Data)?;
        let program = self.program(device.properties())?;
        Ok(Engine::new(device, program, self.cipher.block_bytes, (self.keys)(key)))
    }

    /// Makes the engine for the registry.
    ///
    /// # Errors
    /// As [`Family::engine`], and those of opening the device.
    pub fn create(
        &self,
        device: fn() -> Result<Device, Error>,
        key: &[u8],
    ) -> Result<Box<dyn lanecrypt_core::Engine>, lanecrypt_core::Error> {
        Ok(Box::new(self.engine(&device()?, key)?))
    }

    /// Whether the family runs on a device.
    ///
    /// # Errors
    /// Why it does not.
    pub fn available(&self, device: fn() -> Result<Device, Error>) -> Result<(), Unavailable> {
        let as_unavailable = |error: Error| match error {
            Error::Unavailable(unavailable) => unavailable,
            other => Unavailable::because_of(format!("{other}")),
        };
        let device = device().map_err(as_unavailable)?;
        self.program(device.properties()).map(drop)
    }
}

/// The registry's rows of kernel families: each on the GPU as `cuda-<name>`, then each on the host
/// build of the kernels as `host-<name>`.
///
/// ```
/// # use lanecrypt_core::{Backend, CipherDescription, ConstantTime};
/// # use lanecrypt_cuda::{Family, KeyPair};
/// # static CIPHER: CipherDescription = CipherDescription {
/// #     name: "rot13", standard: "none", block_bytes: 8, key_bytes: &[1], backends: &[] };
/// # static TABLE: Family = Family {
/// #     cipher: &CIPHER, summary: "", lanes: 1, constant_time: ConstantTime::Yes, programs: &[],
/// #     keys: |_| unreachable!() };
/// const ROWS: [Backend; 2] = lanecrypt_cuda::backends!("table" => TABLE);
/// assert_eq!(ROWS[1].id, "host-table");
/// ```
#[macro_export]
macro_rules! backends {
    ($($name:literal => $family:path),* $(,)?) => {[
        $($crate::backends!(@row $name, $family, "cuda-", Cuda, default),)*
        $($crate::backends!(@row $name, $family, "host-", CudaOnHost, on_host),)*
    ]};
    (@row $name:literal, $family:path, $prefix:literal, $platform:ident, $device:ident) => {
        $crate::registry::Backend {
            id: concat!($prefix, $name),
            platform: $crate::registry::Platform::$platform,
            lanes: $family.lanes,
            constant_time: $family.constant_time,
            summary: $family.summary,
            available: || $family.available($crate::Device::$device),
            create: |key| $family.create($crate::Device::$device, key),
        }
    };
}
