//! Every other GPU: ciphers bit-sliced in WGSL, over Vulkan, Metal, DirectX 12 and OpenGL.
//!
//! [`Device::default`] opens the best GPU that a driver offers. A [`Family`], which each cipher's crate has in its
//! module `wgpu`, makes an [`Engine`] of a key there: ECB, CTR and GCM over host memory of any size, and through
//! `lanecrypt_core::modes` all other modes. The ciphers' kernels are [`programs`], written by `cargo xtask codegen`;
//! each is compiled on a device when it is first wanted, and kept as long as the device.
//!
//! No call panics where the device fails: it returns an [`Error`].
//!
//! For WebAssembly in a browser there are kernels and keys, and no device: a browser's GPU answers when nothing runs,
//! and an engine waits. There a page launches the kernels ([`Family::program`], [`Family::keys`]), as the book's does.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(not(target_arch = "wasm32"))]
mod device;
#[cfg(not(target_arch = "wasm32"))]
mod device_keys;
#[cfg(not(target_arch = "wasm32"))]
mod engine;
mod error;
mod family;
#[cfg(not(target_arch = "wasm32"))]
mod gcm;
#[cfg(not(target_arch = "wasm32"))]
mod ghash;
mod keys;
#[cfg(not(target_arch = "wasm32"))]
mod mapping;
pub mod programs;
#[cfg(not(target_arch = "wasm32"))]
mod slot;
#[cfg(test)]
mod tests;

#[cfg(not(target_arch = "wasm32"))]
pub use device::{Device, Limits};
#[cfg(not(target_arch = "wasm32"))]
pub use engine::Engine;
pub use error::Error;
pub use family::{Family, LANES};
pub use keys::{DirectedKeys, KeyPair};

/// What [`backend!`] names.
#[doc(hidden)]
pub mod registry {
    pub use lanecrypt_core::{Backend, Platform};
}
