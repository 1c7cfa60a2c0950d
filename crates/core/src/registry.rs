//! A cipher's table of implementations: tests, benches and reports enumerate it.

use alloc::{boxed::Box, format};
use core::{any::Any, fmt};

use cipher::{Array, typenum::Unsigned};

use crate::{Cipher, ConstantTime, Engine, Error, Implementation, Unavailable, on_cleared_stack};

/// Something static whose type another crate knows: a device's part of a table. A function, since what it
/// gives names its cipher again.
pub type Extension = fn() -> &'static (dyn Any + Send + Sync);

/// A block cipher as the registry knows it.
#[derive(Debug)]
pub struct CipherDescription {
    /// Lower-case name, as in the vector files.
    pub name: &'static str,
    /// The standard that defines it.
    pub standard: &'static str,
    /// Bytes of a block.
    pub block_bytes: usize,
    /// Key lengths it takes, in bytes.
    pub key_bytes: &'static [usize],
    /// Every implementation of it; the first is the reference.
    pub backends: &'static [Backend],
    /// The GPU kernels that types of users take, as `lanecrypt_cuda::CipherKernels`; `None` without the
    /// feature `cuda`, and for ciphers that have no kernels.
    pub kernels: Option<Extension>,
}

impl CipherDescription {
    /// Checks a key's length.
    ///
    /// # Errors
    /// [`Error::KeyLength`] naming the accepted lengths.
    pub fn check_key(&self, key: &[u8]) -> Result<(), Error> {
        if self.key_bytes.contains(&key.len()) {
            return Ok(());
        }
        Err(self.wrong_key(key))
    }

    /// The backend of that id.
    #[must_use]
    pub fn backend(&self, id: &str) -> Option<&'static Backend> {
        self.backends.iter().find(|backend| backend.id == id)
    }

    /// An engine of its backend "default", the fastest constant-time one of this CPU, under a key.
    ///
    /// # Errors
    /// [`Error::KeyLength`]; [`Error::Unavailable`] where it has no such backend, or that cannot run here.
    pub fn default_engine(&self, key: &[u8]) -> Result<Box<dyn Engine>, Error> {
        self.check_key(key)?;
        let none = || Unavailable::because_of(format!("{} has no default backend", self.name));
        (self.backend("default").ok_or_else(none)?.create)(key)
    }

    fn wrong_key(&self, key: &[u8]) -> Error {
        Error::KeyLength { cipher: self.name, given: key.len(), accepted: self.key_bytes }
    }
}

/// Where a backend runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// This CPU.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// The CUDA kernels compiled as C++ for this CPU: for tests, never for speed.
    CudaOnHost,
    /// A GPU of any make, through Vulkan, Metal, DirectX 12 or OpenGL.
    Wgpu,
}

impl Platform {
    /// Whether it is a GPU, which tests cannot ask of every machine, and where each call is a launch.
    #[must_use]
    pub const fn is_gpu(self) -> bool {
        matches!(self, Self::Cuda | Self::Wgpu)
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "CPU",
            Self::Cuda => "CUDA",
            Self::CudaOnHost => "CUDA kernels on the CPU",
            Self::Wgpu => "wgpu",
        })
    }
}

// ANCHOR: backend
/// Makes an engine under a key.
pub type Create = fn(&[u8]) -> Result<Box<dyn Engine>, Error>;

/// One way to compute a cipher, as a value.
#[derive(Clone, Copy)]
pub struct Backend {
    /// Name on command lines and in reports.
    pub id: &'static str,
    /// Where it runs.
    pub platform: Platform,
    /// Blocks it takes at once; tests probe lengths around it.
    pub lanes: usize,
    /// Its constant-time claim, key schedule included.
    pub constant_time: ConstantTime,
    /// One line for tables.
    pub summary: &'static str,
    /// Whether this machine can run it, and if not why.
    pub available: fn() -> Result<(), Unavailable>,
    /// Makes it under a key of any length that the cipher takes.
    pub create: Create,
    /// Of a device: the kernels it runs, as `lanecrypt_cuda::Family` or `lanecrypt_wgpu::Family`.
    pub family: Option<Extension>,
}
// ANCHOR_END: backend

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A cipher's description, as a type, for the rows of its own table.
pub trait Described {
    /// The description.
    fn description() -> &'static CipherDescription;
}

/// One implementation for each key size of a cipher: a tuple of them.
pub trait KeySizes {
    /// Blocks of a full batch.
    const LANES: usize;
    /// The constant-time claim.
    const CONSTANT_TIME: ConstantTime;

    /// Whether this CPU has the instructions.
    ///
    /// # Errors
    /// Those that it lacks.
    fn available() -> Result<(), Unavailable>;

    /// An engine under a key; `None` where no implementation takes its length.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    fn engine(key: &[u8]) -> Option<Result<Box<dyn Engine>, Error>>;
}

/// An engine of an implementation that takes keys of this length.
fn keyed<I: Implementation + 'static>(key: &[u8]) -> Option<Result<Box<dyn Engine>, Error>> {
    let key = Array::slice_as_array(key)?;
    Some(match I::detect() {
        Ok(token) => Ok(on_cleared_stack(|| {
            Box::new(Cipher::<I>::with_token(token, key)) as Box<dyn Engine>
        })),
        Err(missing) => Err(missing.into()),
    })
}

macro_rules! key_sizes {
    ($first:ident $($other:ident)*) => {
        impl<$first: Implementation + 'static $(, $other: Implementation + 'static)*> KeySizes
            for ($first, $($other,)*)
        {
            const LANES: usize = $first::Lanes::USIZE;
            const CONSTANT_TIME: ConstantTime = $first::CONSTANT_TIME;

            fn available() -> Result<(), Unavailable> {
                $first::detect().map(drop)
            }

            fn engine(key: &[u8]) -> Option<Result<Box<dyn Engine>, Error>> {
                keyed::<$first>(key)$(.or_else(|| keyed::<$other>(key)))*
            }
        }
    };
}
key_sizes!(A);
key_sizes!(A B);
key_sizes!(A B C);

impl Backend {
    /// A row for an implementation on this CPU; what `S` knows is not said again.
    #[must_use]
    pub const fn on_cpu<D: Described, S: KeySizes>(
        id: &'static str,
        summary: &'static str,
    ) -> Self {
        Self {
            id,
            platform: Platform::Cpu,
            lanes: S::LANES,
            constant_time: S::CONSTANT_TIME,
            summary,
            available: S::available,
            create: |key| {
                let description = D::description();
                description.check_key(key)?;
                S::engine(key).unwrap_or_else(|| Err(description.wrong_key(key)))
            },
            family: None,
        }
    }
}

/// The rows of a cipher's table for this CPU: for each key type, or for a cipher of one key size,
/// `"id", "summary" => type;`. Rows may stand under `#[cfg]`.
///
/// ```
/// # use lanecrypt_core::{Backend, CipherDescription, ConstantTime, Direction, OneBlock};
/// # use cipher::{Array, consts::{U1, U8}};
/// # #[derive(Clone)]
/// # struct Inverted;
/// # impl OneBlock for Inverted {
/// #     type BlockSize = U8;
/// #     type KeySize = U1;
/// #     const NAME: &'static str = "Inverted";
/// #     const CONSTANT_TIME: ConstantTime = ConstantTime::Yes;
/// #     fn new(_: &Array<u8, U1>) -> Self { Self }
/// #     fn run(&self, _: Direction, block: &mut Array<u8, U8>) {
/// #         block.iter_mut().for_each(|byte| *byte = !*byte);
/// #     }
/// # }
/// static TOY: CipherDescription = CipherDescription {
///     name: "toy",
///     standard: "none",
///     block_bytes: 8,
///     key_bytes: &[1],
///     backends: BACKENDS,
///     kernels: None,
/// };
/// const BACKENDS: &[Backend] = lanecrypt_core::cpu_backends!(TOY;
///     "reference", "every bit inverted" => Inverted;
/// );
/// assert_eq!(TOY.backends[0].id, "reference");
/// ```
#[macro_export]
macro_rules! cpu_backends {
    ($cipher:path; $($(#[$cfg:meta])* $id:literal, $summary:literal => $type:ty;)+) => {
        $crate::cpu_backends!(@ $cipher; $($(#[$cfg])* $id, $summary => ($type,);)+)
    };
    ($cipher:path, [$($key:ty),+]; $($(#[$cfg:meta])* $id:literal, $summary:literal => |$k:ident| $type:ty;)+) => {
        $crate::cpu_backends!(@keyed $cipher, ($($key,)+); $($(#[$cfg])* $id, $summary => |$k| $type;)+)
    };
    (@keyed $cipher:path, $keys:tt; $($(#[$cfg:meta])* $id:literal, $summary:literal => |$k:ident| $type:ty;)+) => {
        $crate::cpu_backends!(@rows $cipher; $($(#[$cfg])* {
            type Of<$k> = $type;
            $crate::cpu_backends!(@row $id, $summary, Of, $keys)
        })+)
    };
    (@row $id:literal, $summary:literal, $of:ident, ($($key:ty,)+)) => {
        $crate::Backend::on_cpu::<Here, ($($of<$key>,)+)>($id, $summary)
    };
    (@ $cipher:path; $($(#[$cfg:meta])* $id:literal, $summary:literal => $types:ty;)+) => {
        $crate::cpu_backends!(@rows $cipher; $($(#[$cfg])* {
            $crate::Backend::on_cpu::<Here, $types>($id, $summary)
        })+)
    };
    (@rows $cipher:path; $($(#[$cfg:meta])* $row:block)+) => {{
        enum Here {}
        impl $crate::Described for Here {
            fn description() -> &'static $crate::CipherDescription {
                &$cipher
            }
        }
        &[$($(#[$cfg])* $row),+]
    }};
}

/// Lists of backends as one, in a constant.
///
/// ```
/// # use lanecrypt_core::Backend;
/// const FIRST: &[Backend] = &[];
/// const SECOND: &[Backend] = &[];
/// const ALL: &[Backend] = lanecrypt_core::all_backends!(FIRST, SECOND);
/// assert!(ALL.is_empty());
/// ```
#[macro_export]
macro_rules! all_backends {
    ($($list:expr),+ $(,)?) => {{
        const LISTS: &[&[$crate::Backend]] = &[$($list),+];
        &$crate::joined_backends::<{ $crate::backend_count(LISTS) }>(LISTS)
    }};
}

/// Whether a table has a backend. For WebAssembly these are the reference, the default and kernels: a page is sent its
/// module whole, and all the others would make its code three times as large, and as long to compile.
const fn is_kept(backend: &Backend) -> bool {
    !cfg!(target_arch = "wasm32")
        || !matches!(backend.platform, Platform::Cpu)
        || matches!(backend.id.as_bytes(), b"reference" | b"default")
}

/// How many backends a table of these lists has.
#[doc(hidden)]
#[must_use]
pub const fn backend_count(lists: &[&[Backend]]) -> usize {
    let (mut sum, mut i) = (0, 0);
    while i < lists.len() {
        let mut j = 0;
        while j < lists[i].len() {
            sum += is_kept(&lists[i][j]) as usize;
            j += 1;
        }
        i += 1;
    }
    sum
}

/// The lists as one table; `N` is what [`backend_count`] says.
#[doc(hidden)]
#[must_use]
pub const fn joined_backends<const N: usize>(lists: &[&[Backend]]) -> [Backend; N] {
    let none = Backend {
        id: "",
        platform: Platform::Cpu,
        lanes: 0,
        constant_time: ConstantTime::Yes,
        summary: "",
        available: || Ok(()),
        create: |_| Err(Error::Unavailable(Unavailable::because("no backend"))),
        family: None,
    };
    let mut all = [none; N];
    let (mut at, mut i) = (0, 0);
    while i < lists.len() {
        let mut j = 0;
        while j < lists[i].len() {
            if is_kept(&lists[i][j]) {
                all[at] = lists[i][j];
                at += 1;
            }
            j += 1;
        }
        i += 1;
    }
    all
}
