//! Every instruction set that there is code for: tests run a body on all that this CPU has.

#![allow(dead_code, unused_macros, reason = "every test takes what it needs of this")]

use lanecrypt_slicing::{Body, Isa};
use proptest::test_runner::Config;

/// Runs a body on an instruction set, or says why not.
pub(crate) fn run<I: Isa, B: Body<I>>(name: &str, body: B) -> Option<B::Output> {
    match I::detect() {
        Ok(isa) => Some(isa.run(body)),
        Err(missing) => {
            println!("{name} is skipped: {missing}");
            None
        }
    }
}

/// Runs a body, made anew for each, on instruction sets of the list.
macro_rules! on_each {
    ($body:expr; $($isa:ty),*) => {
        $(every_isa::run::<$isa, _>(stringify!($isa), $body);)*
    };
}

/// ... on those with instructions for S-boxes.
macro_rules! on_field_bytes {
    ($body:expr) => {
        #[cfg(target_arch = "x86_64")]
        on_each!($body; lanecrypt_slicing::AesNi, lanecrypt_slicing::Avx2Aes, lanecrypt_slicing::Avx2Vaes);
        #[cfg(target_arch = "x86_64")]
        on_each!($body; lanecrypt_slicing::Avx2Gfni, lanecrypt_slicing::Avx512);
        #[cfg(target_arch = "aarch64")]
        on_each!($body; lanecrypt_slicing::NeonAes);
    };
}

/// ... on those with rows of bits: what one has beyond these are instructions for bytes, and its bits are of one text with
/// theirs.
macro_rules! on_bit_lanes {
    ($body:expr) => {
        on_each!($body; lanecrypt_slicing::Portable<u32>, lanecrypt_slicing::Portable<u64>);
        #[cfg(target_arch = "x86_64")]
        on_each!($body; lanecrypt_slicing::Sse2, lanecrypt_slicing::Avx2, lanecrypt_slicing::Avx512);
        #[cfg(target_arch = "x86_64")]
        on_each!($body; lanecrypt_slicing::Avx512Ymm, lanecrypt_slicing::Avx512Xmm);
        #[cfg(target_arch = "aarch64")]
        on_each!($body; lanecrypt_slicing::Neon);
    };
}

/// ... on those with rows of bits and of bytes.
macro_rules! on_bit_and_byte_lanes {
    ($body:expr) => {
        on_each!($body; lanecrypt_slicing::Portable<u32>, lanecrypt_slicing::Portable<u64>);
        #[cfg(target_arch = "x86_64")]
        on_each!($body; lanecrypt_slicing::Sse2, lanecrypt_slicing::Avx2);
        #[cfg(target_arch = "aarch64")]
        on_each!($body; lanecrypt_slicing::Neon);
        on_field_bytes!($body);
    };
}

/// ... on those with rows of bytes.
macro_rules! on_byte_lanes {
    ($body:expr) => {
        on_each!($body; lanecrypt_slicing::Portable<u8>);
        on_each!($body; lanecrypt_slicing::Portable<lanecrypt_slicing::Gapped<u32>>);
        on_each!($body; lanecrypt_slicing::Portable<lanecrypt_slicing::Gapped<u64>>);
        on_bit_and_byte_lanes!($body);
    };
}

/// Of values in a row one in this many is tried: under Miri, which takes some thousand times as long, a few.
pub(crate) const STEP: usize = if cfg!(miri) { 61 } else { 1 };

/// 16 cases of a property, and one under Miri.
pub(crate) fn few_cases() -> Config {
    Config::with_cases(if cfg!(miri) { 1 } else { 16 })
}

/// Bytes without a pattern.
pub(crate) fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}
