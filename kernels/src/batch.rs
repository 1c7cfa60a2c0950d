//! Kernels of batches: many messages in one call, each under a key of its own.

use crate::{
    AES_BATCH, ARIA_BATCH, BATCH_HASH, BATCH_MATRICES, BATCH_MOVES, CAMELLIA_BATCH, LEA_BATCH,
    Module, SEED_BATCH, SM4_BATCH,
    launch::{Kernel, Launch},
};

/// Words of the parameter block of every one of these kernels, of 64 bits: `BatchParameters` of
/// `batch/batch.cuh`. None of them is secret.
pub const PARAMETER_WORDS: usize = 14;

/// Bytes of a job: `BatchJob` of `batch/batch.cuh`.
pub const JOB_BYTES: usize = 128;

/// Bytes of where a message is in host memory: `BatchEnds` of `batch/batch.cuh`.
pub const ENDS_BYTES: usize = 16;

/// Bytes of a session: 21 rows of blocks, as `Session` of `batch/batch.cuh` has them.
pub const SESSION_BYTES: usize = 336;

/// Bytes of the sequences that are kept for a message which is hashed by matrices: `SEQUENCE_WORDS` of
/// `batch/rows.cuh`.
pub const SEQUENCE_BYTES: usize = 160;

/// Blocks that a message has fewer of, where a few lanes take it ([`BatchProgram::narrow`]) and not a warp
/// ([`BatchProgram::crypt`]): in a batch of more messages than there are warps. In a large one it is twice as many.
pub const NARROW_BLOCKS: usize = 64;

/// The kernels of a cipher that batches need.
#[derive(Clone, Copy, Debug)]
pub struct BatchProgram {
    /// Bytes of a block.
    pub(crate) block_bytes: usize,
    /// Bytes of the keys that the kernels take. They trust a job's length of its key.
    pub(crate) key_bytes: &'static [usize],
    /// Makes what every message needs of its key and IV.
    pub(crate) keys: Kernel,
    /// ECB encryption, CTR and GCM without its hash.
    pub(crate) crypt: Kernel,
    /// The same of short messages.
    pub(crate) narrow: Kernel,
    /// ECB and CBC decryption.
    pub(crate) decrypt: Kernel,
    /// CBC encryption.
    pub(crate) chain: Kernel,
    /// Whether `crypt` and `narrow` make what they need themselves.
    pub(crate) opens_sessions: bool,
}

impl BatchProgram {
    /// Bytes of a block.
    #[must_use]
    pub const fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Bytes of the keys that the kernels take.
    #[must_use]
    pub const fn key_bytes(&self) -> &'static [usize] {
        self.key_bytes
    }

    /// The module of the cipher's kernels.
    #[must_use]
    pub const fn module(&self) -> &'static Module {
        self.keys.module()
    }

    /// Whether [`crypt`](Self::crypt) and [`narrow`](Self::narrow) make what they need of keys themselves, and, by a flag,
    /// all that [`keys`](Self::keys) makes for the kernels behind them.
    #[must_use]
    pub const fn opens_sessions(&self) -> bool {
        self.opens_sessions
    }

    /// Makes what every message needs of its key and IV.
    #[must_use]
    pub const fn keys(&self) -> &Kernel {
        &self.keys
    }

    /// ECB encryption, CTR and GCM without its hash.
    #[must_use]
    pub const fn crypt(&self) -> &Kernel {
        &self.crypt
    }

    /// As [`crypt`](Self::crypt), of short messages, a few lanes each.
    #[must_use]
    pub const fn narrow(&self) -> &Kernel {
        &self.narrow
    }

    /// ECB and CBC decryption.
    #[must_use]
    pub const fn decrypt(&self) -> &Kernel {
        &self.decrypt
    }

    /// CBC encryption.
    #[must_use]
    pub const fn chain(&self) -> &Kernel {
        &self.chain
    }

    /// All of them.
    #[must_use]
    pub const fn kernels(&self) -> [&Kernel; 5] {
        [&self.keys, &self.crypt, &self.narrow, &self.decrypt, &self.chain]
    }

    /// Bytes of dynamic shared memory that a thread block must be able to have.
    #[must_use]
    pub fn shared_bytes(&self) -> u32 {
        self.kernels().map(Kernel::shared_bytes).into_iter().max().unwrap_or(0)
    }
}

/// AES, by four T-tables in every bank of shared memory.
pub static AES: BatchProgram = BatchProgram {
    block_bytes: 16,
    key_bytes: &[16, 24, 32],
    keys: kernel(&AES_BATCH, "aes_batch_keys"),
    crypt: kernel(&AES_BATCH, "aes_batch_crypt"),
    narrow: kernel(&AES_BATCH, "aes_batch_narrow"),
    decrypt: kernel(&AES_BATCH, "aes_batch_decrypt"),
    chain: kernel(&AES_BATCH, "aes_batch_chain"),
    opens_sessions: true,
};

/// ARIA, by four tables in every bank of shared memory.
pub static ARIA: BatchProgram = BatchProgram {
    block_bytes: 16,
    key_bytes: &[16, 24, 32],
    keys: kernel(&ARIA_BATCH, "aria_batch_keys"),
    crypt: kernel(&ARIA_BATCH, "aria_batch_crypt"),
    narrow: kernel(&ARIA_BATCH, "aria_batch_narrow"),
    decrypt: kernel(&ARIA_BATCH, "aria_batch_decrypt"),
    chain: kernel(&ARIA_BATCH, "aria_batch_chain"),
    opens_sessions: false,
};

/// Camellia, by four tables in every bank of shared memory.
pub static CAMELLIA: BatchProgram = BatchProgram {
    block_bytes: 16,
    key_bytes: &[16, 24, 32],
    keys: kernel(&CAMELLIA_BATCH, "camellia_batch_keys"),
    crypt: kernel(&CAMELLIA_BATCH, "camellia_batch_crypt"),
    narrow: kernel(&CAMELLIA_BATCH, "camellia_batch_narrow"),
    decrypt: kernel(&CAMELLIA_BATCH, "camellia_batch_decrypt"),
    chain: kernel(&CAMELLIA_BATCH, "camellia_batch_chain"),
    opens_sessions: false,
};

/// LEA, of which the round keys are made beside the rounds.
pub static LEA: BatchProgram = BatchProgram {
    block_bytes: 16,
    key_bytes: &[16, 24, 32],
    keys: kernel(&LEA_BATCH, "lea_batch_keys"),
    crypt: kernel(&LEA_BATCH, "lea_batch_crypt"),
    narrow: kernel(&LEA_BATCH, "lea_batch_narrow"),
    decrypt: kernel(&LEA_BATCH, "lea_batch_decrypt"),
    chain: kernel(&LEA_BATCH, "lea_batch_chain"),
    opens_sessions: false,
};

/// SEED, by four tables in every bank of shared memory.
pub static SEED: BatchProgram = BatchProgram {
    block_bytes: 16,
    key_bytes: &[16],
    keys: kernel(&SEED_BATCH, "seed_batch_keys"),
    crypt: kernel(&SEED_BATCH, "seed_batch_crypt"),
    narrow: kernel(&SEED_BATCH, "seed_batch_narrow"),
    decrypt: kernel(&SEED_BATCH, "seed_batch_decrypt"),
    chain: kernel(&SEED_BATCH, "seed_batch_chain"),
    opens_sessions: false,
};

/// SM4, by four tables in every bank of shared memory.
pub static SM4: BatchProgram = BatchProgram {
    block_bytes: 16,
    key_bytes: &[16],
    keys: kernel(&SM4_BATCH, "sm4_batch_keys"),
    crypt: kernel(&SM4_BATCH, "sm4_batch_crypt"),
    narrow: kernel(&SM4_BATCH, "sm4_batch_narrow"),
    decrypt: kernel(&SM4_BATCH, "sm4_batch_decrypt"),
    chain: kernel(&SM4_BATCH, "sm4_batch_chain"),
    opens_sessions: false,
};

/// All programs.
pub static PROGRAMS: &[&BatchProgram] = &[&AES, &ARIA, &CAMELLIA, &LEA, &SEED, &SM4];

/// Hashes short messages, or pieces, a thread each.
pub static HASH: Kernel = kernel(&BATCH_HASH, "batch_hash");

/// Ends the hashes of messages that were hashed in pieces.
pub static FINISH: Kernel = kernel(&BATCH_HASH, "batch_finish");

/// Saves the block before every item that is decrypted by CBC.
pub static SAVE: Kernel = kernel(&BATCH_HASH, "batch_save");

/// Hashes long messages, or pieces, a warp each.
pub static MATRICES: Kernel = kernel(&BATCH_MATRICES, "batch_matrices");

/// Brings messages from host memory to the device, a warp each.
pub static GATHER: Kernel = kernel(&BATCH_MOVES, "batch_gather");

/// Takes results from the device to host memory, a warp each.
pub static SCATTER: Kernel = kernel(&BATCH_MOVES, "batch_scatter");

/// Those that every cipher needs.
pub static COMMON_KERNELS: &[&Kernel] = &[&HASH, &FINISH, &SAVE, &MATRICES, &GATHER, &SCATTER];

/// All of them.
pub fn kernels() -> impl Iterator<Item = &'static Kernel> {
    COMMON_KERNELS.iter().copied().chain(PROGRAMS.iter().flat_map(|program| program.kernels()))
}

const fn kernel(module: &'static Module, name: &'static str) -> Kernel {
    let parameter_bytes = 8 * PARAMETER_WORDS;
    Kernel { module, name, launch: Launch::of(name), parameter_bytes }
}
