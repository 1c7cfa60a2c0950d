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
//! Without a driver or a device nothing panics: [`Device::all`] returns an error that says in one
//! sentence what is missing.
//!
//! ```
//! match lanecrypt_cuda::Device::default() {
//!     Ok(device) => println!("{}", device.properties().name),
//!     Err(error) => println!("no GPU: {error}"),
//! }
//! ```

mod batch;
#[cfg(test)]
mod bounds;
mod buffer;
#[cfg(feature = "compiler")]
pub mod compiler;
#[cfg(feature = "cudarc-interop")]
mod cudarc_interop;
mod device;
mod driver;
mod engine;
mod error;
mod experience;
mod family;
#[cfg(test)]
mod faults;
mod fleet;
mod gcm;
mod ghash;
mod gpu;
#[cfg(feature = "host-kernels")]
mod host;
mod launch;
#[cfg(test)]
mod model;
mod on_device;
mod on_stream;
mod parameters;
mod pinned;
mod pipeline;
mod rows;
mod scratch;
mod stream;
pub mod variables;
mod work;
mod xts;

#[cfg(feature = "cudarc-interop")]
pub use cudarc;

#[cfg(feature = "cudarc-interop")]
pub use crate::cudarc_interop::CudarcStream;

pub use batch::{BatchFamily, BatchFleet, DeviceJob, PreparedBatch, SealedMessage};
pub use buffer::{DeviceBuffer, DeviceSlice, DeviceSliceMut};
pub use device::{Device, Properties};
pub use driver::Resources;
pub use engine::Engine;
pub use error::{Error, TransferError};
pub use experience::{Experience, Measured, Piece};
pub use family::{Family, KeyPair};
pub use fleet::{Dropped, Fleet, FleetReport, XtsFleet};
pub use gcm::GcmEngine;
pub use ghash::{GhashEngine, HashFamily};
pub use lanecrypt_core::Operation;
pub use lanecrypt_kernels as kernels;
pub use launch::Geometry;
pub use on_device::{DeviceChoices, DeviceCipher, DeviceImplementation, OnDevice};
pub use parameters::Keys;
pub use pinned::PinnedBuffer;
pub use pipeline::Limits;
pub use stream::{Pending, Stream};
pub use work::task_of;
pub use xts::{DataUnits, XtsEngine};

#[doc(hidden)]
pub use lanecrypt_core as registry; // for the macro `backends!`
