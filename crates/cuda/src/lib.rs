//! The device layer: the only crate that names cudarc, and the only GPU `unsafe`.
//!
//! - [`Device`] is a GPU, or the host build of the kernels that tests use.
//! - [`DeviceBuffer`] is memory of it, cleared when dropped.
//! - [`Family`] is a way to compute a cipher, [`kernels::Program`] the kernels of it that suit a
//!   device; [`Engine`] keys and runs them over host memory (it is a [`lanecrypt_core::Engine`]) or over
//!   data already on the device.
//! - [`PinnedBuffer`] is host memory that passes to the device fastest; [`Limits`] bounds what host memory
//!   takes on its way.
//! - [`Stream`] is a queue of work that runs beside that of others, [`Pending`] what was queued.
//!   With the feature `cudarc-interop` there is `CudarcStream`, for streams and memory of that crate.
//! - [`XtsEngine`] and [`GcmEngine`] are modes that need more than an engine.
//! - [`BatchFamily`] runs many messages in one call, each under a key of its own.
//! - [`Fleet`] is several devices as one engine, [`XtsFleet`] and [`BatchFleet`] the same for data units and
//!   for batches.
//! - [`Experience`] is what was measured of a device, by which kernels are launched.
//! - [`OnDevice`] is an engine with RustCrypto's block-cipher traits.
//!
//! The folders are layers, and a module uses only those of layers before its own (`cargo xtask tidy` finds
//! circles):
//!
//! | layer | what it has |
//! |---|---|
//! | `device` | devices, as the driver or the host build gives them, and their memory and streams |
//! | `launch` | operations, parameter blocks, kernels that need no key |
//! | `pipeline` | host memory on its way through a device |
//! | `engine` | keys, and what runs under them |
//! | `fleet` | several devices as one engine |
//! | `batch` | many messages in one call, on a device or a fleet |
//!
//! Without a driver or a device nothing panics: [`Device::all`] returns an error that says in one
//! sentence what is missing.
//!
//! ```
//! match lanecrypt_cuda::Device::default() {
//!     Ok(device) => println!("{}", device.properties().name),
//!     Err(error) => println!("no GPU: {error}"),
//! }
//! ```
//!
//! The README lists examples, a page each: `cargo run --example 1_devices`.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod batch;
#[cfg(feature = "compiler")]
pub mod compiler;
mod device;
mod engine;
mod error;
mod fleet;
mod launch;
#[cfg(feature = "listings")]
pub mod listing;
#[cfg(target_os = "linux")]
mod mapped_file;
#[cfg(test)]
mod model_device;
mod on_device;
mod pipeline;
#[cfg(test)]
mod tests;
pub mod variables;

#[cfg(feature = "cudarc-interop")]
pub use cudarc;
pub use lanecrypt_kernels as kernels;

#[cfg(feature = "cudarc-interop")]
pub use engine::cudarc_interop::{CudarcInOut, CudarcStream};

pub use batch::{BatchFamily, BatchFleet, DeviceJob, PreparedBatch, SealedMessage, Sealing};
pub use device::{
    Device,
    buffer::{DeviceBuffer, DeviceInOut, DeviceSlice, DeviceSliceMut},
    driver::Resources,
    experience::{Experience, Measured, Piece},
    geometry::Geometry,
    pinned::PinnedBuffer,
    properties::Properties,
    stream::{Pending, Stream},
};
pub use engine::{
    Engine,
    draws::{Draw, Place},
    family::{Family, KeyPair},
    gcm::GcmEngine,
    ghash::{GhashEngine, HashFamily},
    xts::{DataUnits, XtsEngine},
};
pub use error::{Dropped, Error, TransferError};
pub use fleet::{Fleet, FleetReport, XtsFleet};
pub use lanecrypt_core::Operation;
pub use launch::{operation::task_of, parameters::Keys};
#[cfg(target_os = "linux")]
pub use mapped_file::{MappedFile, allocate};
pub use on_device::{CipherKernels, DeviceChoices, DeviceCipher, OnDevice};
pub use pipeline::Limits;

#[doc(hidden)]
pub use lanecrypt_core as registry; // for the macro `backends!`
