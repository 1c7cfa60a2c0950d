//! The environment variables that the libraries read, all of them.

/// The number of the device that [`Device::default`](crate::Device::default) opens, counted from 0.
pub const DEVICE: &str = "LANECRYPT_DEVICE";

/// The path of the library that `cargo xtask kernels --host` builds, for
/// [`Device::on_host`](crate::Device::on_host).
#[cfg(feature = "host-kernels")]
pub const HOST_KERNELS: &str = "LANECRYPT_HOST_KERNELS";
