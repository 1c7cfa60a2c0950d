//! The oracle of Lanecrypt: slow, obvious code that reads as the standards read.
//!
//! Everything fast in the workspace is compared with what is here: arithmetic in GF(2^8)
//! ([`gf256`]) and GF(2^128) ([`gf128`]), S-boxes derived from their definitions ([`sbox`]), linear layers ([`diffusion`]), the
//! modes of operation one block at a time ([`modes`]), the tables of DES ([`des`]), the functions of
//! HIGHT ([`hight`]) and the plaintext generator of long messages ([`plaintext`]). With the feature `std` (on by default) it also reads the vector files
//! ([`vectors`]) and runs Monte Carlo chains ([`monte_carlo`](mod@monte_carlo)).
//!
//! Nothing here is constant-time, and nothing here is meant to protect data.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "std")]
extern crate std;

pub mod des;
pub mod diffusion;
pub mod gf128;
pub mod gf256;
pub mod hight;
pub mod modes;
#[cfg(feature = "std")]
pub mod monte_carlo;
pub mod plaintext;
pub mod sbox;
#[cfg(feature = "std")]
pub mod vectors;
