//! LUKS1 and LUKS2 containers as disks that nbdkit serves: a plugin with the name `lanecrypt-luks`.
//!
//! ```sh
//! cargo build --release -p lanecrypt-nbdkit-plugin
//! nbdkit -U disk.sock target/release/liblanecrypt_nbdkit_plugin.so file=disk.img passphrase=+secret
//! nbdcopy 'nbd+unix:///?socket=disk.sock' plain.img
//! ```
//!
//! The disk is opened once, before nbdkit forks, and served to all connections. Who serves what is in
//! `config.rs`, what nbdkit calls in `ffi.rs`; all else is in the crate `lanecrypt-luks`.
#![deny(unsafe_code)]

mod config;
mod error;
mod ffi;

use error::Error;
