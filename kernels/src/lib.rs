//! CUDA C++ kernels of the block ciphers, and what `cargo xtask kernels` builds from them.
//!
//! That is PTX, text for a baseline architecture: the driver compiles a kernel for the card at hand when
//! it is loaded. Beside it is machine code for [one architecture](MACHINE_CODE_FOR), with nothing left to
//! compile. No CUDA toolkit is needed to build or run. The sources lie beside this file:
//! `common/` (words, transposes, conflict-free tables), a folder per cipher, and `host/`, which
//! lets the same sources run on a CPU in tests.
//!
//! ```
//! let module = lanecrypt_kernels::AES_BITSLICE;
//! assert!(module.ptx.contains(".visible .entry aes_bitslice_ctr("));
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]

pub mod batch;
pub mod gcm;
pub mod ghash;
mod launch;
mod launches;
pub mod modes;
pub mod programs;
pub mod random;
mod task;

use core::{fmt, iter};

use memchr::memmem;

pub use launch::{HEADER_WORDS, Kernel, KeyLayout, Program, Unit};
pub use task::Task;

/// The architecture that most PTX is built for: Turing, the oldest that current toolkits support.
pub const BASELINE: &str = "compute_75";

/// The CUDA version that a driver must support to load the PTX, as 1000 x major + 10 x minor.
pub const REQUIRED_CUDA: i32 = 12010;

/// The compute capability that [`Module::machine_code`] is for, major and minor: an H100's, an H200's.
pub const MACHINE_CODE_FOR: (u32, u32) = (9, 0);

/// The version of what the host build of the kernels and its caller agree on: `Shape`, `Expected` and
/// `KERNEL` in `host/shim.hpp`, and the symbols beside them.
pub const HOST_INTERFACE: u32 = 2;

/// `include/lanecrypt.cuh`: AES and GF(2^128) as functions of a thread, for kernels of others. C++17 for nvcc and NVRTC,
/// without includes; its first lines say how it is used.
///
/// ```
/// let kernel = r#"
///     extern "C" __global__ void hash(uint4 *blocks, const lanecrypt::AesKeys keys) {
///         extern __shared__ __align__(16) unsigned char shared[];
///         const lanecrypt::AesTables<> tables(shared);
///         blocks[threadIdx.x] = lanecrypt::aes_mmo(tables, keys, blocks[threadIdx.x]);
///     }"#;
/// let source = [lanecrypt_kernels::DEVICE_HEADER, kernel].concat(); // for `cudarc::nvrtc::compile_ptx`
/// assert!(source.contains("Block16 aes_mmo("));
/// ```
pub const DEVICE_HEADER: &str = include_str!("../include/lanecrypt.cuh");

/// A kernel family: what one source is compiled to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Module {
    /// Cipher and family, `"aes_bitslice"`.
    pub name: &'static str,
    /// PTX text.
    pub ptx: &'static str,
    /// What the pinned assembler makes of it for [`MACHINE_CODE_FOR`], a cubin; empty until it was made. A
    /// driver that is older than that assembler may refuse it, and takes the PTX.
    pub machine_code: &'static [u8],
    /// Where its source lies under `kernels/`.
    pub source: &'static str,
    /// The architecture that the PTX is built for: [`BASELINE`], or a newer one whose instructions the
    /// module needs.
    pub architecture: &'static str,
}

/// What every kernel begins with in PTX. Nothing else follows the first one: all functions are inlined.
const ENTRY: &str = ".visible .entry ";

/// What a module's text says of one of its kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Bytes of its parameter block.
    pub parameter_bytes: usize,
    /// The most threads of a thread block.
    pub threads: u32,
}

/// Tells the name and where the source lies: the code has megabytes.
impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("name", &self.name)
            .field("source", &self.source)
            .field("architecture", &self.architecture)
            .finish_non_exhaustive()
    }
}

impl Module {
    /// What the PTX says of the kernel of this name; `None` where it has none, or one of another
    /// form than ours: one parameter block, threads in one dimension.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<Entry> {
        let [_, _, text] = self.ptx_of(name)?;
        let (parameters, rest) = text.split_once(')')?;
        let (_, size) = parameters.split_once('[')?;
        let (_, threads) = rest.split_once(".maxntid ")?;
        Some(Entry {
            parameter_bytes: size.split_once(']')?.0.parse().ok()?,
            threads: threads.split_once(',')?.0.parse().ok()?,
        })
    }

    /// The PTX of one kernel by itself, without the module's others: what all have in common, and the
    /// kernel; `None` where the module has none of this name. A driver compiles it in a fraction of the
    /// time that all of them take.
    #[must_use]
    pub fn ptx_of(&self, name: &str) -> Option<[&'static str; 3]> {
        let (common, _) = split_at_entry(self.ptx)?;
        let is_it = |text: &&str| text.strip_prefix(name).is_some_and(|rest| rest.starts_with('('));
        Some([common, ENTRY, self.entries().find(is_it)?])
    }

    /// The names of its kernels.
    pub fn entry_names(&self) -> impl Iterator<Item = &'static str> {
        self.entries().filter_map(|text| text.split_once('(')).map(|(name, _)| name)
    }

    /// The text from each kernel's name on.
    fn entries(&self) -> impl Iterator<Item = &'static str> {
        let mut rest = split_at_entry(self.ptx).map(|(_, rest)| rest);
        iter::from_fn(move || {
            let text = rest?;
            let (entry, next) = split_at_entry(text).unzip();
            rest = next;
            Some(entry.unwrap_or(text))
        })
    }
}

/// What is before the next kernel, and the text from its name on. Texts have megabytes, and one is searched when a kernel is
/// used for the first time.
fn split_at_entry(text: &'static str) -> Option<(&'static str, &'static str)> {
    let at = memmem::find(text.as_bytes(), ENTRY.as_bytes())?;
    Some((&text[..at], &text[at + ENTRY.len()..]))
}

/// The kernels that belong to no [`Program`]: those of modes, hashes, batches, GCM in one launch and random numbers.
pub fn kernels_of_no_program() -> impl Iterator<Item = &'static Kernel> {
    let of_messages = batch::kernels().chain(gcm::kernels());
    let lists = [modes::KERNELS, random::KERNELS].into_iter().flatten().copied();
    lists.chain(ghash::kernels()).chain(of_messages)
}

/// That of a module, where it needs a newer one than the others.
const fn architecture(newer: &[&'static str]) -> &'static str {
    if let [newer] = newer { newer } else { BASELINE }
}

/// A number that changes with the text of any module: what was measured of kernels is of these kernels
/// as long as it is the same. It takes a few milliseconds.
#[must_use]
pub fn fingerprint() -> u64 {
    // FNV-1a, by words of eight bytes.
    let add = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    MODULES.iter().fold(0xcbf2_9ce4_8422_2325, |hash, module| {
        let (words, rest) = module.ptx.as_bytes().as_chunks::<8>();
        let hash = words.iter().fold(hash, |hash, word| add(hash, u64::from_le_bytes(*word)));
        rest.iter().fold(add(hash, rest.len() as u64), |hash, &byte| add(hash, u64::from(byte)))
    })
}

/// Declares the modules and the list of them.
macro_rules! modules {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, $source:literal $(, $newer:expr)?;)*) => {
        $(
            $(#[$doc])*
            pub const $constant: Module = Module {
                name: $name,
                ptx: include_str!(concat!("../ptx/", $name, ".ptx")),
                machine_code: include_bytes!(concat!("../sm_90/", $name, ".cubin")),
                source: $source,
                architecture: architecture(&[$($newer)?]),
            };
        )*

        /// Every module there is.
        pub const MODULES: &[Module] = &[$($constant),*];
    };
}

modules! {
    /// AES in P1's 8-bit form: sixteen threads a block.
    AES_BYTEWISE = "aes_bytewise", "aes/bytewise.cu";
    /// AES by T-tables in global memory, or one copy of them in shared memory.
    AES_TABLE = "aes_table", "aes/table.cu";
    /// AES by one T-table replicated over the banks of shared memory.
    AES_CONFLICT_FREE_1 = "aes_conflict_free_1", "aes/conflict_free_1.cu";
    /// AES by two replicated T-tables.
    AES_CONFLICT_FREE_2 = "aes_conflict_free_2", "aes/conflict_free_2.cu";
    /// AES by four replicated T-tables.
    AES_CONFLICT_FREE_4 = "aes_conflict_free_4", "aes/conflict_free_4.cu";
    /// Bit-sliced AES, 32 blocks a thread.
    AES_BITSLICE = "aes_bitslice", "aes/bitslice.cu";
    /// AES by four replicated T-tables and bit-sliced, in one kernel.
    AES_MIXED = "aes_mixed", "aes/mixed.cu";
    /// GCM encryption by AES in one launch.
    AES_GCM = "aes_gcm", "aes/gcm.cu";
    /// AES's key stream as random numbers.
    AES_RANDOM = "aes_random", "aes/random.cu";
    /// ARIA in P1's 8-bit form: sixteen threads a block.
    ARIA_BYTEWISE = "aria_bytewise", "aria/bytewise.cu";
    /// ARIA by one copy of four tables in shared memory, P1's 32-bit form.
    ARIA_TABLE = "aria_table", "aria/table.cu";
    /// ARIA by four tables replicated over the banks of shared memory.
    ARIA_CONFLICT_FREE = "aria_conflict_free", "aria/conflict_free.cu";
    /// Bit-sliced ARIA, 32 blocks a thread.
    ARIA_BITSLICE = "aria_bitslice", "aria/bitslice.cu";
    /// Camellia by P2's merged table in global memory, or one copy of it in shared memory.
    CAMELLIA_TABLE = "camellia_table", "camellia/table.cu";
    /// Camellia by the merged table or four tables, replicated over the banks of shared memory.
    CAMELLIA_CONFLICT_FREE = "camellia_conflict_free", "camellia/conflict_free.cu";
    /// Bit-sliced Camellia, 32 blocks a thread.
    CAMELLIA_BITSLICE = "camellia_bitslice", "camellia/bitslice.cu";
    /// DES and triple DES by one copy of eight tables in shared memory.
    DES_TABLE = "des_table", "des/table.cu";
    /// DES and triple DES by tables replicated over the banks of shared memory.
    DES_CONFLICT_FREE = "des_conflict_free", "des/conflict_free.cu";
    /// Bit-sliced DES and triple DES, 32 blocks a thread.
    DES_BITSLICE = "des_bitslice", "des/bitslice.cu";
    /// SEED by four tables in shared memory, once or in every bank.
    SEED_TABLE = "seed_table", "seed/table.cu";
    /// Bit-sliced SEED, 32 blocks a thread.
    SEED_BITSLICE = "seed_bitslice", "seed/bitslice.cu";
    /// LEA in 32-bit words, a block a thread.
    LEA_WORDS = "lea_words", "lea/words.cu";
    /// SM4 by four tables in shared memory, once or in every bank.
    SM4_TABLE = "sm4_table", "sm4/table.cu";
    /// Bit-sliced SM4, 32 blocks a thread.
    SM4_BITSLICE = "sm4_bitslice", "sm4/bitslice.cu";
    /// HIGHT by look-ups of its auxiliary functions.
    HIGHT_TABLE = "hight_table", "hight/table.cu";
    /// Byte-sliced HIGHT, four blocks a thread.
    HIGHT_BYTESLICE = "hight_byteslice", "hight/byteslice.cu";
    /// Bit-sliced HIGHT, 32 blocks a thread.
    HIGHT_BITSLICE = "hight_bitslice", "hight/bitslice.cu";
    /// What modes need beside a cipher.
    MODES = "modes", "modes/modes.cu";
    /// GHASH, but for what goes through long messages.
    GHASH = "ghash", "ghash/ghash.cu";
    /// GHASH of long messages by look-ups.
    GHASH_TABLES = "ghash_tables", "ghash/tables.cu";
    /// GHASH of long messages by matrices of bits, on tensor cores.
    GHASH_MATRICES = "ghash_matrices", "ghash/matrices.cu", "compute_80";
    /// The same by products and copies that compute capability 9.0 alone has.
    GHASH_WIDE_MATRICES = "ghash_wide_matrices", "ghash/wide_matrices.cu", "compute_90a";
    /// Batches: hashes under many keys, by look-ups of four bits, and the ends of all hashes.
    BATCH_HASH = "batch_hash", "batch/hash.cu";
    /// Batches: hashes under many keys, by matrices of bits on tensor cores.
    BATCH_MATRICES = "batch_matrices", "batch/matrices.cu", "compute_80";
    /// Batches: messages between host memory and the device.
    BATCH_MOVES = "batch_moves", "batch/moves.cu";
    /// Batches of messages by AES, each under a key of its own.
    AES_BATCH = "aes_batch", "aes/batch.cu";
    /// Batches of messages by ARIA, each under a key of its own.
    ARIA_BATCH = "aria_batch", "aria/batch.cu";
    /// Batches of messages by Camellia, each under a key of its own.
    CAMELLIA_BATCH = "camellia_batch", "camellia/batch.cu";
    /// Batches of messages by SEED, each under a key of its own.
    SEED_BATCH = "seed_batch", "seed/batch.cu";
    /// Batches of messages by LEA, each under a key of its own.
    LEA_BATCH = "lea_batch", "lea/batch.cu";
    /// Batches of messages by SM4, each under a key of its own.
    SM4_BATCH = "sm4_batch", "sm4/batch.cu";
}

/// What each kernel takes of several architectures, as the compiler reports it: CSV with a header
/// line, written by `cargo xtask kernels`.
pub const RESOURCES: &str = include_str!("../resources.csv");

/// What each kernel of a program takes of a multiprocessor for a block, counted from its PTX: CSV with a header
/// line, written by `cargo xtask codegen`. `count` is the word that the kernel [counts
/// by](KeyLayout::count_word), `warp` the first or the second, whose work may differ; then lanes of each pipe, of all
/// instructions, and bytes of the data.
pub const OPERATIONS: &str = include_str!("../operations.csv");

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_not_in_debug_texts() {
        extern crate std;
        for program in batch::PROGRAMS {
            let text = std::format!("{program:?}");
            assert!(text.len() < 2000 && text.contains(program.module().name), "{text}");
        }
    }

    #[test]
    fn a_kernel_by_itself_is_a_whole_module() {
        for module in MODULES {
            for name in module.entry_names() {
                let text = module.ptx_of(name).expect("it is in it").concat();
                assert!(text.starts_with("//") && text.contains(".target"), "{name}");
                assert_eq!(text.matches(".entry").count(), 1, "{name}");
                let braces = |brace| text.matches(brace).count();
                assert_eq!(braces('{'), braces('}'), "{name}");
                assert!(module.entry(name).is_some(), "{name}");
            }
            assert!(module.ptx_of("no such kernel").is_none());
        }
    }
}
