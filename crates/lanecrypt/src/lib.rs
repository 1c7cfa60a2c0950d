//! Block ciphers across lanes: the lanes of a machine word, of a SIMD register, of a GPU warp.
//!
//! This is the crate to depend on: it has all ciphers, their modes, and what feeds a GPU.
//!
//! | you want to | take |
//! |---|---|
//! | replace `aes`, `aria`, `camellia`, `des` | [`aes::Aes256`], [`aria::Aria128`], [`camellia::Camellia256`], [`des::TdesEde3`] and their kin |
//! | encrypt with authentication | [`Gcm`], or [`aes_gcm`] in place of the crate `aes-gcm` |
//! | the same where a nonce may be used twice | [`GcmSiv`], or [`aes_gcm_siv`] in place of the crate `aes-gcm-siv` |
//! | speak a protocol that has CCM | [`Ccm`], or [`ccm`] in place of the crate of that name |
//! | use CTR, CBC, CFB, OFB, XTS | [`Ctr`], [`cbc`], [`cfb`], [`Ofb`], [`Xts`] |
//! | draw random bytes as SP 800-90A says | [`ctr_drbg::CtrDrbg`] |
//! | choose a cipher and its implementation by name | [`engine`], which gives an [`Engine`] |
//! | let the library choose CPU or GPU | `Auto`, or `auto()` by name (feature `tune`) |
//! | use all cores | [`Parallel`] |
//! | encrypt on a GPU, or data that is there | [`aes::cuda::Aes256`], [`cuda::Engine`] |
//! | use several GPUs | [`cuda::Family::fleet`] |
//! | encrypt thousands of messages at once | [`batch`] |
//! | encrypt a stream or a file | [`io`]; sealed files are in `lanecrypt-tink` |
//! | draw random numbers, on a CPU or a GPU | [`random`] |
//! | run known answers before the first use | [`self_test`] |
//! | list what there is | [`CIPHERS`], [`registry`] |
//!
//! ```
//! use lanecrypt::aes::{Aes256, cipher::{BlockCipherEncrypt, KeyInit}};
//!
//! // Drop-in for the `aes` crate: the fastest constant-time implementation of this CPU.
//! let cipher = Aes256::new(&[0; 32].into());
//! let mut blocks = vec![[0; 16].into(); 1000];
//! cipher.encrypt_blocks(&mut blocks);
//!
//! // Any implementation by name, over any number of bytes; long calls run on all cores.
//! let engine = lanecrypt::engine("aes", "bitslice-u64", &[0; 32])?;
//! let mut data = vec![0; 16_000];
//! engine.ecb(lanecrypt::Direction::Encrypt, data.as_mut_slice().into())?;
//! assert_eq!(data[..16], blocks[0][..]);
//! # Ok::<(), lanecrypt::LookupError>(())
//! ```
//!
//! Authenticated encryption:
//!
//! ```
//! use lanecrypt::{aead::{AeadInOut, KeyInit}, aes_gcm::Aes256Gcm};
//!
//! let cipher = Aes256Gcm::new(&[7; 32].into());
//! let (nonce, mut data) = ([1; 12].into(), *b"any length");
//! let tag = cipher.encrypt_inout_detached(&nonce, b"header", data.as_mut_slice().into())?;
//! cipher.decrypt_inout_detached(&nonce, b"header", data.as_mut_slice().into(), &tag)?; // all or nothing
//! assert_eq!(&data, b"any length");
//! # Ok::<(), lanecrypt::aead::Error>(())
//! ```
//!
//! On a GPU, data in host memory and data that is there:
//!
#![cfg_attr(feature = "cuda", doc = "```no_run")]
#![cfg_attr(not(feature = "cuda"), doc = "```ignore")]
//! use lanecrypt::{Ctr, aes::cuda::Aes256, cuda::{Device, DeviceBuffer, Operation}};
//!
//! let device = Device::default()?; // a typed error where there is no GPU
//! let cipher = Aes256::new(&device, &[7; 32].into())?;
//! let mut data = vec![0; 3 << 30];
//! Ctr::new(cipher.engine(), &[0; 16])?.try_apply(data.as_mut_slice().into())?;
//!
//! let mut resident = DeviceBuffer::from_host(&device, &data)?;
//! let whole = 0..resident.len();
//! cipher.engine().run(Operation::Ctr([0; 16].into()), &mut resident.slice_mut(whole)?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The README lists ten examples, a page each, which run without a GPU: `cargo run --example 1_block`.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "tune")]
mod auto;
#[cfg(feature = "tune")]
mod backend_choice;
pub mod batch;
#[cfg(feature = "tune")]
mod by_name;
mod cipher_name;
pub mod io;
#[cfg(feature = "parallel")]
mod parallel;
pub mod random;
pub mod registry;
mod selection;
pub mod self_test;
pub mod size;
#[cfg(feature = "tune")]
pub mod tuning;

use std::fmt;

use self::registry::CipherDescription;
#[cfg(feature = "parallel")]
use self::registry::Platform;
pub use cipher;
pub use cipher_name::CipherName;
pub use lanecrypt_aes as aes;
pub use lanecrypt_aria as aria;
pub use lanecrypt_camellia as camellia;
#[doc(hidden)]
pub use lanecrypt_core::Brief;
pub use lanecrypt_core::{
    ChainedMode, Chains, ConstantTime, Counter, CpuEngine, Ctr, Direction, Engine, Error,
    MessagesError, Mode, Operation, SerialMode, modes,
};
#[cfg(feature = "cuda")]
pub use lanecrypt_cuda as cuda;
pub use lanecrypt_des as des;
pub use lanecrypt_hight as hight;
pub use lanecrypt_lea as lea;
pub use lanecrypt_modes::{
    Ccm, ChainedMessage, Gcm, GcmMessage, GcmSiv, Ghash, GhashKey, Ofb, Xts, aead, cbc, ccm, cfb,
    cmac, ctr_drbg, gcm as aes_gcm, gcm_siv as aes_gcm_siv, ofb, padding, xts_halves_are_equal,
};
pub use lanecrypt_seed as seed;
pub use lanecrypt_sm4 as sm4;
#[cfg(feature = "wgpu")]
pub use lanecrypt_wgpu as wgpu;
#[cfg(feature = "parallel")]
pub use parallel::{Parallel, THREAD_PIECE_BYTES};
#[cfg(feature = "tune")]
pub use {
    auto::{Auto, AutoEngine},
    backend_choice::{BackendChoice, gpu},
    by_name::{auto, constant_time_family, fastest_family},
    tuning::tune,
};

/// Every cipher, each with every way to compute it.
pub static CIPHERS: &[&CipherDescription] = &[
    &aes::AES,
    &aria::ARIA,
    &camellia::CAMELLIA,
    &des::DES,
    &des::TDES,
    &des::TDES_EEE,
    &hight::HIGHT,
    &hight::HIGHT_KISA,
    &lea::LEA,
    &seed::SEED,
    &sm4::SM4,
];

/// Why there is no such engine.
#[derive(Debug)]
#[non_exhaustive]
pub enum LookupError {
    /// No cipher has this name.
    NoSuchCipher(String),
    /// The cipher has no backend with this id.
    NoSuchBackend {
        /// The cipher.
        cipher: &'static str,
        /// The id asked for.
        id: String,
    },
    /// A GPU was asked for that is not there, or has no kernels of the cipher; why.
    NoDevice(String),
    /// The backend could not be made, or failed.
    Engine(Error),
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchCipher(name) => {
                let known = CIPHERS.iter().map(|cipher| cipher.name).collect::<Vec<_>>();
                write!(f, "there is no cipher {name:?}; known are {}", known.join(", "))
            }
            Self::NoSuchBackend { cipher, id } => {
                let backends = CIPHERS.iter().filter(|known| known.name == *cipher);
                let ids = backends.flat_map(|known| known.backends).map(|backend| backend.id);
                let ids = ids.collect::<Vec<_>>().join(", ");
                write!(f, "{cipher} has no backend {id:?}; it has {ids}")
            }
            Self::NoDevice(reason) => f.write_str(reason),
            Self::Engine(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LookupError {}

impl From<Error> for LookupError {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

/// The cipher with this lower-case name.
///
/// # Errors
/// [`LookupError::NoSuchCipher`], which names all ciphers.
pub fn find_cipher(name: &str) -> Result<&'static CipherDescription, LookupError> {
    let mut ciphers = CIPHERS.iter().copied();
    ciphers
        .find(|cipher| cipher.name == name)
        .ok_or_else(|| LookupError::NoSuchCipher(name.to_owned()))
}

/// An engine by the names of its cipher and backend, keyed. On the CPU its long calls run on all
/// cores (feature `parallel`); a row's own [`create`](registry::Backend::create) gives one that stays on the
/// caller's thread.
///
/// # Errors
/// [`LookupError`] for unknown names, key lengths that the cipher does not take, and backends that
/// cannot run here.
pub fn engine(cipher: &str, backend: &str, key: &[u8]) -> Result<Box<dyn Engine>, LookupError> {
    let cipher = find_cipher(cipher)?;
    let backend = cipher.backend(backend).ok_or_else(|| LookupError::NoSuchBackend {
        cipher: cipher.name,
        id: backend.to_owned(),
    })?;
    cipher.check_key(key)?;
    (backend.available)().map_err(Error::from)?;
    let engine = (backend.create)(key)?;
    #[cfg(feature = "parallel")]
    if backend.platform == Platform::Cpu {
        return Ok(Box::new(Parallel::new(engine)));
    }
    Ok(engine)
}

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The workspace's README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct WorkspaceReadme;

/// Those of the crate of devices, which are of ciphers too.
#[cfg(all(doctest, feature = "cuda"))]
#[doc = include_str!("../../cuda/README.md")]
struct CudaReadme;

/// Those of the crate of other GPUs.
#[cfg(all(doctest, feature = "wgpu"))]
#[doc = include_str!("../../wgpu/README.md")]
struct WgpuReadme;
