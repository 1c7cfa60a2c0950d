//! Kernel families: the ways to compute a cipher on a device, as values.

#[cfg(feature = "host-kernels")]
use lanecrypt_core::Platform;
use lanecrypt_core::{Backend, CipherDescription, ConstantTime, Unavailable, on_cleared_stack};
use lanecrypt_kernels::{KeyLayout, Module, Program, gcm::Gcm};

use crate::{Device, Error, Keys, Properties, device::buffer::MAX_BLOCK};

/// A way to compute a cipher on a device.
///
/// Its name in the registry, after `cuda-` or `host-`, is given where [`backends!`](crate::backends)
/// lists it. The programs are sealed values of [`lanecrypt_kernels::programs`], and keys are held
/// against what a program takes, so that a family put together wrongly is refused when it is keyed.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    cipher: &'static CipherDescription,
    summary: &'static str,
    constant_time: ConstantTime,
    programs: &'static [&'static Program],
    small: Option<Other>,
    large: Option<Other>,
    gcm: Option<&'static Gcm>,
    keys: fn(&[u8]) -> KeyPair,
}

/// A program that is faster than those of its family for launches of certain sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Other {
    pub(crate) program: &'static Program,
    /// Bytes of such a launch: the first at least, and fewer than the second.
    from: u64,
    below: u64,
}

impl Other {
    /// Whether it runs what has `bytes` bytes.
    pub(crate) fn takes(&self, bytes: u64) -> bool {
        (self.from..self.below).contains(&bytes)
    }
}

/// Round keys of both directions, in the layout of the kernels.
#[derive(Debug)]
pub struct KeyPair {
    /// For encryption, and for modes that only encrypt, such as CTR.
    pub encrypt: Keys,
    /// For decryption.
    pub decrypt: Keys,
}

impl Family {
    /// What a row of a cipher's table runs; `None` of rows for CPUs.
    #[must_use]
    pub fn of(backend: &Backend) -> Option<&'static Self> {
        backend.family?().downcast_ref()
    }

    /// As [`of`](Self::of), with the device that the row is for.
    ///
    /// # Errors
    /// Those of opening the device.
    pub fn on_device(backend: &Backend) -> Result<Option<(&'static Self, Device)>, Error> {
        let Some(family) = Self::of(backend) else { return Ok(None) };
        let device = match backend.platform {
            #[cfg(feature = "host-kernels")]
            Platform::CudaOnHost => Device::on_host(),
            _ => Device::default(),
        };
        Ok(Some((family, device?)))
    }

    /// A family of `cipher`: a line for tables, its constant-time claim, the programs to choose
    /// from (the first that fits a device), and how a key of an accepted length becomes the words
    /// that these take.
    #[must_use]
    pub const fn new(
        cipher: &'static CipherDescription,
        summary: &'static str,
        constant_time: ConstantTime,
        programs: &'static [&'static Program],
        keys: fn(&[u8]) -> KeyPair,
    ) -> Self {
        Self { cipher, summary, constant_time, programs, small: None, large: None, gcm: None, keys }
    }

    /// The same family, with another program for what is `bytes` bytes or more in one launch, on devices
    /// that it fits. Each program takes as many of the key words as it knows, from the first on.
    #[must_use]
    pub const fn with_large(self, program: &'static Program, bytes: u64) -> Self {
        Self { large: Some(Other { program, from: bytes, below: u64::MAX }), ..self }
    }

    /// The same for what is less than `bytes` bytes in one launch.
    #[must_use]
    pub const fn with_small(self, program: &'static Program, bytes: u64) -> Self {
        Self { small: Some(Other { program, from: 0, below: bytes }), ..self }
    }

    /// The same family, with a kernel that encrypts messages by GCM in one launch where they are not long, on devices that
    /// it fits. It takes as many of the key words as it knows, from the first on, and looks tables up.
    #[must_use]
    pub const fn with_gcm(self, kernel: &'static Gcm) -> Self {
        Self { gcm: Some(kernel), ..self }
    }

    /// The cipher.
    #[must_use]
    pub const fn cipher(&self) -> &'static CipherDescription {
        self.cipher
    }

    /// One line for tables.
    #[must_use]
    pub const fn summary(&self) -> &'static str {
        self.summary
    }

    /// Its constant-time claim.
    #[must_use]
    pub const fn constant_time(&self) -> ConstantTime {
        self.constant_time
    }

    /// The programs to choose from: the first that fits the device.
    #[must_use]
    pub const fn programs(&self) -> &'static [&'static Program] {
        self.programs
    }

    /// Blocks that the first program's threads work on together; tests probe lengths around it.
    ///
    /// # Panics
    /// For a family without programs.
    #[must_use]
    pub const fn lanes(&self) -> usize {
        self.programs[0].lanes()
    }

    /// The program of this family that fits a device best.
    ///
    /// # Errors
    /// [`Unavailable`] naming the shared memory that even the smallest would need.
    pub fn program(&self, properties: &Properties) -> Result<&'static Program, Unavailable> {
        let fits = |program: &&Program| shared_bytes(program) <= properties.shared_bytes_per_block;
        self.programs.iter().copied().find(fits).ok_or_else(|| {
            let all = self.programs.iter().map(|program| shared_bytes(program));
            let needed = all.min().unwrap_or(0);
            Unavailable::because_of(format!(
                "a thread block has {} bytes of shared memory on {}, {needed} are needed",
                properties.shared_bytes_per_block, properties.name,
            ))
        })
    }

    /// What takes over from the program for small and for large data, as far as it fits a device.
    fn others(&self, properties: &Properties) -> [Option<Other>; 2] {
        let fits = |other: &Other| shared_bytes(other.program) <= properties.shared_bytes_per_block;
        [self.small, self.large].map(|other| other.filter(fits))
    }

    /// The kernel that encrypts by GCM in one launch, if there is one and it fits a device.
    pub(super) fn gcm(&self, properties: &Properties) -> Option<&'static Gcm> {
        let fits = |gcm: &&Gcm| gcm.kernel().shared_bytes() <= properties.shared_bytes_per_block;
        self.gcm.filter(fits)
    }

    /// Every program that its engines may run, on whatever device.
    pub fn all_programs(&self) -> impl Iterator<Item = &'static Program> {
        let others = [self.small, self.large].into_iter().flatten().map(|other| other.program);
        self.programs.iter().copied().chain(others)
    }

    /// The word that a program's kernels [count by](lanecrypt_kernels::KeyLayout::count_word), under an encryption key
    /// of this number of bytes; `None` where they have none.
    #[must_use]
    pub fn count(&self, program: &Program, key_bytes: usize) -> Option<u32> {
        let keys = (self.keys)(&vec![0; key_bytes]);
        keys.encrypt.words().get(program.keys().count_word()?).copied()
    }

    /// Words that its keys have: as many as its programs take at most.
    fn key_words(&self) -> usize {
        self.all_programs().map(|program| program.keys().words()).max().unwrap_or(0)
    }

    /// What runs on a device, as [`program`](Self::program) and [`others`](Self::others), and a key of a length
    /// that the cipher takes in their layout.
    ///
    /// # Errors
    /// As [`engine`](Self::engine).
    pub(super) fn keyed(
        &self,
        properties: &Properties,
        key: &[u8],
    ) -> Result<(&'static Program, [Option<Other>; 2], KeyPair), Error> {
        self.cipher.check_key(key).map_err(Error::Data)?;
        let program = self.program(properties)?;
        let others = self.others(properties);
        let keys = on_cleared_stack(|| (self.keys)(key));
        for program in others.iter().flatten().map(|other| other.program).chain([program]) {
            self.check(program.module(), program.block_bytes(), program.keys(), &keys)?;
        }
        if let Some(gcm) = self.gcm {
            self.check(gcm.kernel().module(), MAX_BLOCK, gcm.keys(), &keys)?;
        }
        Ok((program, others, keys))
    }

    /// Holds kernels of a module, which take blocks of `taken` bytes, against the cipher and its keys.
    fn check(
        &self,
        module: &Module,
        taken: usize,
        layout: &KeyLayout,
        keys: &KeyPair,
    ) -> Result<(), Error> {
        let mismatch = |reason: String| Error::Mismatch {
            cipher: self.cipher.name,
            module: module.name,
            reason,
        };
        let given = self.cipher.block_bytes;
        if given != taken {
            return Err(mismatch(format!("blocks of {given} bytes where it takes {taken}")));
        }
        for (name, keys) in [("encryption", &keys.encrypt), ("decryption", &keys.decrypt)] {
            let (words, expected) = (keys.words(), self.key_words());
            let taken = words.get(..layout.words()).filter(|_| words.len() == expected);
            if !taken.is_some_and(|words| layout.accepts(words)) {
                let (given, taken) = (words.len(), layout.words());
                return Err(mismatch(format!(
                    "{given} key words for {name}, where its family has {expected}; it takes \
                     {taken}, among them a count that it knows"
                )));
            }
        }
        Ok(())
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

/// Bytes of shared memory that the kernels of a program take at most.
fn shared_bytes(program: &Program) -> u32 {
    program.kernels().map(|(_, kernel)| kernel.shared_bytes()).max().unwrap_or(0)
}

/// The registry's rows of kernel families: each on the GPU as `cuda-<name>`, then each on the host
/// build of the kernels as `host-<name>`.
#[cfg(feature = "host-kernels")]
#[macro_export]
macro_rules! backends {
    ($($name:literal => $family:path),* $(,)?) => {[
        $($crate::backend_row!($name, $family, "cuda-", Cuda, default),)*
        $($crate::backend_row!($name, $family, "host-", CudaOnHost, on_host),)*
    ]};
}

/// The registry's rows of kernel families: each on the GPU as `cuda-<name>`. With the feature
/// `host-kernels`, each on the host build of the kernels as `host-<name>` comes after these.
///
/// ```
/// # use lanecrypt_core::{Backend, CipherDescription, ConstantTime};
/// # use lanecrypt_cuda::{Family, kernels::programs};
/// # static CIPHER: CipherDescription = CipherDescription {
/// #     name: "rot13", standard: "none", block_bytes: 8, key_bytes: &[1], backends: &[], kernels: None };
/// static TABLE: Family = Family::new(
///     &CIPHER, "look-ups", ConstantTime::Yes, &[&programs::HIGHT_TABLE], |_| unreachable!());
/// const ROWS: &[Backend] = &lanecrypt_cuda::backends!("table" => TABLE);
/// assert_eq!((ROWS[0].id, ROWS[0].summary, ROWS[0].lanes), ("cuda-table", "look-ups", 4096));
/// ```
#[cfg(not(feature = "host-kernels"))]
#[macro_export]
macro_rules! backends {
    ($($name:literal => $family:path),* $(,)?) => {[
        $($crate::backend_row!($name, $family, "cuda-", Cuda, default),)*
    ]};
}

/// A row of [`backends!`](crate::backends).
#[doc(hidden)]
#[macro_export]
macro_rules! backend_row {
    ($name:literal, $family:path, $prefix:literal, $platform:ident, $device:ident) => {
        $crate::registry::Backend {
            id: concat!($prefix, $name),
            platform: $crate::registry::Platform::$platform,
            lanes: $family.lanes(),
            constant_time: $family.constant_time(),
            summary: $family.summary(),
            available: || $family.available($crate::Device::$device),
            create: |key| $family.create($crate::Device::$device, key),
            family: Some(|| &$family),
        }
    };
}
