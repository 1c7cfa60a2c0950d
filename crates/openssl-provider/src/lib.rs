//! A provider for OpenSSL 3: Camellia, ARIA, SEED, SM4, DES, triple DES, LEA and HIGHT for every program that
//! uses libcrypto.
//!
//! What is built is a module; OpenSSL loads it by its configuration, and no program needs to know:
//!
//! ```sh
//! cargo build --release -p lanecrypt-openssl-provider
//! cp target/release/liblanecrypt_openssl_provider.so modules/lanecrypt.so
//! openssl enc -provider-path modules -provider default -provider lanecrypt \
//!     -propquery '?provider=lanecrypt' -camellia-256-ctr -K … -iv … -in plain -out sealed
//! ```
//!
//! The README has the configuration that makes programs take it, and what it is faster in. `ffi.rs`
//! is the shell that speaks the C interface (provider(7), provider-cipher(7)); all else is safe Rust over
//! [`Context`], [`EvpCalls`] and [`Transfer`], which can be used without OpenSSL:
//!
//! ```
//! use lanecrypt::Direction;
//! use lanecrypt_openssl_provider::{ALGORITHMS, Context, Transfer};
//!
//! let name = c"CAMELLIA-128-CTR:0.3.4401.5.3.1.9.9";
//! let algorithm = ALGORITHMS.iter().find(|a| a.names == name).expect("it is offered");
//! let mut context = Context::new(algorithm);
//! let mut data = *b"any length";
//! context.calls().init(Direction::Encrypt, Some(&[1; 16]), Some(&[2; 16]))?;
//! context.calls().update(&mut Transfer::in_place(&mut data))?;
//! assert_ne!(&data, b"any length");
//! # Ok::<(), lanecrypt_openssl_provider::Reason>(())
//! ```
#![deny(unsafe_code)]

mod algorithm;
mod any_length;
mod blocks;
mod ccm;
mod context;
mod feedback;
mod ffi;
mod gcm;
mod gcm_message;
mod gcm_tls;
mod key;
mod keystream;
mod large;
mod reason;
mod self_test;
mod shared;
mod tls;
mod xts;

pub use algorithm::{ALGORITHMS, Algorithm, EvpMode};
pub use any_length::AnyLength;
pub use blocks::Blocks;
pub use ccm::Ccm;
pub use context::{Context, EvpCalls, Value};
pub use ffi::{OSSL_provider_init, transfer::Transfer};
pub use gcm::Gcm;
pub use key::Key;
pub use large::LargeCalls;
pub use reason::Reason;
pub use xts::Xts;
