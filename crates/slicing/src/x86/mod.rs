//! Instruction sets of x86-64: what the CPU has, and a token for each set that we have code for.

mod aes;
mod avx2;
mod avx512;
mod carryless;
mod detect;
mod narrow;
mod sse2;
mod words;

pub use aes::AesNi;
pub use avx2::{Avx2, Avx2Aes, Avx2Gfni, Avx2Vaes, B256};
pub use avx512::{Avx512, B512};
pub(crate) use detect::Found;
pub use narrow::{Avx512Xmm, Avx512Ymm, Xmm, Ymm};
pub use sse2::{B128, Sse2};
