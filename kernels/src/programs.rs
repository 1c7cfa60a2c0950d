//! Every program: which kernel does what, and what its keys are.

use crate::{
    Module,
    launch::{HEADER_WORDS, Kernel, KeyLayout, Launch, Program},
    task::Task::{
        self, CbcDecrypt, CfbDecrypt, Ctr, EcbDecrypt, EcbEncrypt, Fill, Keystream, XtsDecrypt,
        XtsEncrypt,
    },
};

/// What the programs of a cipher have in common.
struct Cipher {
    block_bytes: usize,
    keys: KeyLayout,
}

/// Words of `AesKeys`.
pub(crate) const AES_KEY_WORDS: usize = 64;
/// `AesKeys` of `aes/keys.cuh`; the word is the number of rounds.
const AES: Cipher = cipher(16, AES_KEY_WORDS, Some((60, &[10, 12, 14])));
/// `MixedKeys` of `aes/keys.cuh`: those of AES, and 13 round keys of 32 planes.
const AES_WITH_PLANES: Cipher = cipher(16, AES_KEY_WORDS + 13 * 32, Some((60, &[10, 12, 14])));
/// `AriaKeys` of `aria/keys.cuh`; the word is the number of rounds.
const ARIA: Cipher = cipher(16, 72, Some((68, &[12, 14, 16])));
/// `CamelliaKeys` of `camellia/keys.cuh`; the word is the number of groups of rounds.
const CAMELLIA: Cipher = cipher(16, 72, Some((68, &[3, 4])));
/// `DesKeys` of `des/keys.cuh`; the word is the number of passes.
const DES: Cipher = cipher(8, 100, Some((96, &[1, 3])));
/// `HightKeys` of `hight/keys.cuh`; the word says whether blocks are reversed.
const HIGHT: Cipher = cipher(8, 140, Some((136, &[0, 1])));
/// `SeedKeys` of `seed/keys.cuh`.
const SEED: Cipher = cipher(16, 32, None);
/// `LeaKeys` of `lea/keys.cuh`; the word is the number of rounds.
const LEA: Cipher = cipher(16, 196, Some((192, &[24, 28, 32])));
/// `Sm4Keys` of `sm4/keys.cuh`.
const SM4: Cipher = cipher(16, 32, None);

const fn cipher(
    block_bytes: usize,
    words: usize,
    count: Option<(usize, &'static [u32])>,
) -> Cipher {
    Cipher { block_bytes, keys: KeyLayout { words, count } }
}

impl Program {
    /// Kernels of one cipher and module by their names, launched as their sources say.
    const fn new(cipher: &Cipher, module: &'static Module, rows: &[(Task, &'static str)]) -> Self {
        let parameter_bytes = 4 * (HEADER_WORDS + cipher.keys.words);
        let mut kernels = [None; Task::COUNT];
        let mut i = 0;
        while i < rows.len() {
            let (task, name) = rows[i];
            let launch = Launch::of(name);
            kernels[task as usize] = Some(Kernel { module, name, launch, parameter_bytes });
            i += 1;
        }
        Self { block_bytes: cipher.block_bytes, keys: cipher.keys, module, kernels }
    }
}

/// Declares the programs and the list of them.
macro_rules! programs {
    ($($(#[$doc:meta])* $name:ident = $program:expr;)*) => {
        $($(#[$doc])* pub static $name: Program = $program;)*

        /// Every program there is.
        pub static PROGRAMS: &[&Program] = &[$(&$name),*];
    };
}

programs! {
    /// AES in P1's 8-bit form: the S-box, and a byte a thread.
    AES_BYTEWISE = Program::new(
        &AES,
        &crate::AES_BYTEWISE,
        &[
            (EcbEncrypt, "aes_bytewise_ecb_encrypt"),
            (EcbDecrypt, "aes_bytewise_ecb_decrypt"),
            (Ctr, "aes_bytewise_ctr"),
            (CbcDecrypt, "aes_bytewise_cbc_decrypt"),
            (CfbDecrypt, "aes_bytewise_cfb_decrypt"),
            (XtsEncrypt, "aes_bytewise_xts_encrypt"),
            (XtsDecrypt, "aes_bytewise_xts_decrypt"),
        ],
    );
    /// AES by T-tables in global memory.
    AES_TABLE_GLOBAL = Program::new(
        &AES,
        &crate::AES_TABLE,
        &[
            (EcbEncrypt, "aes_table_global_ecb_encrypt"),
            (EcbDecrypt, "aes_table_global_ecb_decrypt"),
            (Ctr, "aes_table_global_ctr"),
            (CbcDecrypt, "aes_table_global_cbc_decrypt"),
            (CfbDecrypt, "aes_table_global_cfb_decrypt"),
            (XtsEncrypt, "aes_table_global_xts_encrypt"),
            (XtsDecrypt, "aes_table_global_xts_decrypt"),
        ],
    );
    /// AES by one copy of the T-tables, and of a table of bytes, in shared memory.
    AES_TABLE_SHARED = Program::new(
        &AES,
        &crate::AES_TABLE,
        &[
            (EcbEncrypt, "aes_table_shared_ecb_encrypt"),
            (EcbDecrypt, "aes_table_shared_ecb_decrypt"),
            (Ctr, "aes_table_shared_ctr"),
            (CbcDecrypt, "aes_table_shared_cbc_decrypt"),
            (CfbDecrypt, "aes_table_shared_cfb_decrypt"),
            (XtsEncrypt, "aes_table_shared_xts_encrypt"),
            (XtsDecrypt, "aes_table_shared_xts_decrypt"),
        ],
    );
    /// AES by four replicated T-tables; decryption has the inverse S-box beside them.
    AES_CONFLICT_FREE_4 = Program::new(
        &AES,
        &crate::AES_CONFLICT_FREE_4,
        &[
            (EcbEncrypt, "aes_conflict_free_4_ecb_encrypt"),
            (EcbDecrypt, "aes_conflict_free_4_ecb_decrypt"),
            (Ctr, "aes_conflict_free_4_ctr"),
            (CbcDecrypt, "aes_conflict_free_4_cbc_decrypt"),
            (CfbDecrypt, "aes_conflict_free_4_cfb_decrypt"),
            (XtsEncrypt, "aes_conflict_free_4_xts_encrypt"),
            (XtsDecrypt, "aes_conflict_free_4_xts_decrypt"),
        ],
    );
    /// AES by two replicated T-tables.
    AES_CONFLICT_FREE_2 = Program::new(
        &AES,
        &crate::AES_CONFLICT_FREE_2,
        &[
            (EcbEncrypt, "aes_conflict_free_2_ecb_encrypt"),
            (EcbDecrypt, "aes_conflict_free_2_ecb_decrypt"),
            (Ctr, "aes_conflict_free_2_ctr"),
            (CbcDecrypt, "aes_conflict_free_2_cbc_decrypt"),
            (CfbDecrypt, "aes_conflict_free_2_cfb_decrypt"),
            (XtsEncrypt, "aes_conflict_free_2_xts_encrypt"),
            (XtsDecrypt, "aes_conflict_free_2_xts_decrypt"),
        ],
    );
    /// AES by one replicated T-table.
    AES_CONFLICT_FREE_1 = Program::new(
        &AES,
        &crate::AES_CONFLICT_FREE_1,
        &[
            (EcbEncrypt, "aes_conflict_free_1_ecb_encrypt"),
            (EcbDecrypt, "aes_conflict_free_1_ecb_decrypt"),
            (Ctr, "aes_conflict_free_1_ctr"),
            (CbcDecrypt, "aes_conflict_free_1_cbc_decrypt"),
            (CfbDecrypt, "aes_conflict_free_1_cfb_decrypt"),
            (XtsEncrypt, "aes_conflict_free_1_xts_encrypt"),
            (XtsDecrypt, "aes_conflict_free_1_xts_decrypt"),
        ],
    );
    /// Bit-sliced AES; 15 round keys, a word for every bit of them.
    AES_BITSLICE = Program::new(
        &AES,
        &crate::AES_BITSLICE,
        &[
            (EcbEncrypt, "aes_bitslice_ecb_encrypt"),
            (EcbDecrypt, "aes_bitslice_ecb_decrypt"),
            (Ctr, "aes_bitslice_ctr"),
            (CbcDecrypt, "aes_bitslice_cbc_decrypt"),
            (CfbDecrypt, "aes_bitslice_cfb_decrypt"),
            (XtsEncrypt, "aes_bitslice_xts_encrypt"),
            (XtsDecrypt, "aes_bitslice_xts_decrypt"),
        ],
    );
    /// AES by look-ups and bit-sliced, in one kernel.
    AES_MIXED = Program::new(
        &AES_WITH_PLANES,
        &crate::AES_MIXED,
        &[
            (EcbEncrypt, "aes_mixed_ecb_encrypt"),
            (EcbDecrypt, "aes_mixed_ecb_decrypt"),
            (Ctr, "aes_mixed_ctr"),
            (Fill, "aes_mixed_fill"),
            (CbcDecrypt, "aes_mixed_cbc_decrypt"),
            (CfbDecrypt, "aes_mixed_cfb_decrypt"),
            (XtsEncrypt, "aes_mixed_xts_encrypt"),
            (XtsDecrypt, "aes_mixed_xts_decrypt"),
        ],
    );

    /// ARIA in P1's 8-bit form: the S-boxes side by side, and a byte a thread.
    ARIA_BYTEWISE = Program::new(
        &ARIA,
        &crate::ARIA_BYTEWISE,
        &[
            (EcbEncrypt, "aria_bytewise_ecb"),
            (EcbDecrypt, "aria_bytewise_ecb"),
            (Ctr, "aria_bytewise_ctr"),
            (CbcDecrypt, "aria_bytewise_cbc_decrypt"),
            (CfbDecrypt, "aria_bytewise_cfb_decrypt"),
            (XtsEncrypt, "aria_bytewise_xts"),
            (XtsDecrypt, "aria_bytewise_xts"),
        ],
    );
    /// ARIA by one copy of four tables in shared memory, P1's 32-bit form.
    ARIA_TABLE_SHARED = Program::new(
        &ARIA,
        &crate::ARIA_TABLE,
        &[
            (EcbEncrypt, "aria_table_shared_ecb"),
            (EcbDecrypt, "aria_table_shared_ecb"),
            (Ctr, "aria_table_shared_ctr"),
            (CbcDecrypt, "aria_table_shared_cbc_decrypt"),
            (CfbDecrypt, "aria_table_shared_cfb_decrypt"),
            (XtsEncrypt, "aria_table_shared_xts"),
            (XtsDecrypt, "aria_table_shared_xts"),
        ],
    );
    /// ARIA by four replicated tables.
    ARIA_CONFLICT_FREE = Program::new(
        &ARIA,
        &crate::ARIA_CONFLICT_FREE,
        &[
            (EcbEncrypt, "aria_conflict_free_ecb"),
            (EcbDecrypt, "aria_conflict_free_ecb"),
            (Ctr, "aria_conflict_free_ctr"),
            (CbcDecrypt, "aria_conflict_free_cbc_decrypt"),
            (CfbDecrypt, "aria_conflict_free_cfb_decrypt"),
            (XtsEncrypt, "aria_conflict_free_xts"),
            (XtsDecrypt, "aria_conflict_free_xts"),
        ],
    );
    /// Bit-sliced ARIA; 17 round keys of 16 bytes, 16 words each.
    ARIA_BITSLICE = Program::new(
        &ARIA,
        &crate::ARIA_BITSLICE,
        &[
            (EcbEncrypt, "aria_bitslice_ecb"),
            (EcbDecrypt, "aria_bitslice_ecb"),
            (Ctr, "aria_bitslice_ctr"),
            (CbcDecrypt, "aria_bitslice_cbc_decrypt"),
            (CfbDecrypt, "aria_bitslice_cfb_decrypt"),
            (XtsEncrypt, "aria_bitslice_xts"),
            (XtsDecrypt, "aria_bitslice_xts"),
        ],
    );

    /// Camellia by P2's merged table in global memory.
    CAMELLIA_TABLE_GLOBAL = Program::new(
        &CAMELLIA,
        &crate::CAMELLIA_TABLE,
        &[
            (EcbEncrypt, "camellia_table_global_ecb"),
            (EcbDecrypt, "camellia_table_global_ecb"),
            (Ctr, "camellia_table_global_ctr"),
            (CbcDecrypt, "camellia_table_global_cbc_decrypt"),
            (CfbDecrypt, "camellia_table_global_cfb_decrypt"),
            (XtsEncrypt, "camellia_table_global_xts"),
            (XtsDecrypt, "camellia_table_global_xts"),
            (Keystream, "camellia_table_global_keystream"),
        ],
    );
    /// Camellia by one copy of the merged table in shared memory.
    CAMELLIA_TABLE_SHARED = Program::new(
        &CAMELLIA,
        &crate::CAMELLIA_TABLE,
        &[
            (EcbEncrypt, "camellia_table_shared_ecb"),
            (EcbDecrypt, "camellia_table_shared_ecb"),
            (Ctr, "camellia_table_shared_ctr"),
            (CbcDecrypt, "camellia_table_shared_cbc_decrypt"),
            (CfbDecrypt, "camellia_table_shared_cfb_decrypt"),
            (XtsEncrypt, "camellia_table_shared_xts"),
            (XtsDecrypt, "camellia_table_shared_xts"),
            (Keystream, "camellia_table_shared_keystream"),
        ],
    );
    /// Camellia by the merged table, replicated.
    CAMELLIA_CONFLICT_FREE_MERGED = Program::new(
        &CAMELLIA,
        &crate::CAMELLIA_CONFLICT_FREE,
        &[
            (EcbEncrypt, "camellia_conflict_free_merged_ecb"),
            (EcbDecrypt, "camellia_conflict_free_merged_ecb"),
            (Ctr, "camellia_conflict_free_merged_ctr"),
            (CbcDecrypt, "camellia_conflict_free_merged_cbc_decrypt"),
            (CfbDecrypt, "camellia_conflict_free_merged_cfb_decrypt"),
            (XtsEncrypt, "camellia_conflict_free_merged_xts"),
            (XtsDecrypt, "camellia_conflict_free_merged_xts"),
            (Keystream, "camellia_conflict_free_merged_keystream"),
        ],
    );
    /// Camellia by four replicated tables.
    CAMELLIA_CONFLICT_FREE_FOUR = Program::new(
        &CAMELLIA,
        &crate::CAMELLIA_CONFLICT_FREE,
        &[
            (EcbEncrypt, "camellia_conflict_free_four_ecb"),
            (EcbDecrypt, "camellia_conflict_free_four_ecb"),
            (Ctr, "camellia_conflict_free_four_ctr"),
            (CbcDecrypt, "camellia_conflict_free_four_cbc_decrypt"),
            (CfbDecrypt, "camellia_conflict_free_four_cfb_decrypt"),
            (XtsEncrypt, "camellia_conflict_free_four_xts"),
            (XtsDecrypt, "camellia_conflict_free_four_xts"),
        ],
    );
    /// Bit-sliced Camellia; whitening at both ends and 24 round keys of 8 bytes, 16 words each, and
    /// 128 words for each of three FL layers.
    CAMELLIA_BITSLICE = Program::new(
        &CAMELLIA,
        &crate::CAMELLIA_BITSLICE,
        &[
            (EcbEncrypt, "camellia_bitslice_ecb"),
            (EcbDecrypt, "camellia_bitslice_ecb"),
            (Ctr, "camellia_bitslice_ctr"),
            (CbcDecrypt, "camellia_bitslice_cbc_decrypt"),
            (CfbDecrypt, "camellia_bitslice_cfb_decrypt"),
            (XtsEncrypt, "camellia_bitslice_xts"),
            (XtsDecrypt, "camellia_bitslice_xts"),
        ],
    );

    /// DES and triple DES by one copy of eight tables of 64 words.
    DES_TABLE_SHARED = Program::new(
        &DES,
        &crate::DES_TABLE,
        &[
            (EcbEncrypt, "des_table_shared_ecb"),
            (EcbDecrypt, "des_table_shared_ecb"),
            (Ctr, "des_table_shared_ctr"),
            (CbcDecrypt, "des_table_shared_cbc_decrypt"),
            (CfbDecrypt, "des_table_shared_cfb_decrypt"),
        ],
    );
    /// DES and triple DES by replicated tables.
    DES_CONFLICT_FREE = Program::new(
        &DES,
        &crate::DES_CONFLICT_FREE,
        &[
            (EcbEncrypt, "des_conflict_free_ecb"),
            (EcbDecrypt, "des_conflict_free_ecb"),
            (Ctr, "des_conflict_free_ctr"),
            (CbcDecrypt, "des_conflict_free_cbc_decrypt"),
            (CfbDecrypt, "des_conflict_free_cfb_decrypt"),
        ],
    );
    /// Bit-sliced DES and triple DES; 64 words for each round of three passes, and 32 for each of
    /// the four exchanges round them.
    DES_BITSLICE = Program::new(
        &DES,
        &crate::DES_BITSLICE,
        &[
            (EcbEncrypt, "des_bitslice_ecb"),
            (EcbDecrypt, "des_bitslice_ecb"),
            (Ctr, "des_bitslice_ctr"),
            (CbcDecrypt, "des_bitslice_cbc_decrypt"),
            (CfbDecrypt, "des_bitslice_cfb_decrypt"),
        ],
    );

    /// HIGHT by look-ups of F0 and F1, a byte each, coalesced.
    HIGHT_TABLE = Program::new(
        &HIGHT,
        &crate::HIGHT_TABLE,
        &[
            (EcbEncrypt, "hight_table_ecb_encrypt"),
            (EcbDecrypt, "hight_table_ecb_decrypt"),
            (Ctr, "hight_table_ctr"),
            (CbcDecrypt, "hight_table_cbc_decrypt"),
            (CfbDecrypt, "hight_table_cfb_decrypt"),
        ],
    );
    /// The same, a thread's blocks side by side.
    HIGHT_TABLE_UNCOALESCED = Program::new(
        &HIGHT,
        &crate::HIGHT_TABLE,
        &[
            (EcbEncrypt, "hight_table_uncoalesced_ecb_encrypt"),
            (EcbDecrypt, "hight_table_uncoalesced_ecb_decrypt"),
            (Ctr, "hight_table_uncoalesced_ctr"),
            (CbcDecrypt, "hight_table_uncoalesced_cbc_decrypt"),
            (CfbDecrypt, "hight_table_uncoalesced_cfb_decrypt"),
        ],
    );
    /// Byte-sliced HIGHT, coalesced.
    HIGHT_BYTESLICE = Program::new(
        &HIGHT,
        &crate::HIGHT_BYTESLICE,
        &[
            (EcbEncrypt, "hight_byteslice_ecb_encrypt"),
            (EcbDecrypt, "hight_byteslice_ecb_decrypt"),
            (Ctr, "hight_byteslice_ctr"),
            (CbcDecrypt, "hight_byteslice_cbc_decrypt"),
            (CfbDecrypt, "hight_byteslice_cfb_decrypt"),
        ],
    );
    /// The same, a thread's blocks side by side.
    HIGHT_BYTESLICE_UNCOALESCED = Program::new(
        &HIGHT,
        &crate::HIGHT_BYTESLICE,
        &[
            (EcbEncrypt, "hight_byteslice_uncoalesced_ecb_encrypt"),
            (EcbDecrypt, "hight_byteslice_uncoalesced_ecb_decrypt"),
            (Ctr, "hight_byteslice_uncoalesced_ctr"),
            (CbcDecrypt, "hight_byteslice_uncoalesced_cbc_decrypt"),
            (CfbDecrypt, "hight_byteslice_uncoalesced_cfb_decrypt"),
        ],
    );
    /// Bit-sliced HIGHT; 32 rounds of four subkeys and 8 whitening keys, two words for every bit.
    HIGHT_BITSLICE = Program::new(
        &HIGHT,
        &crate::HIGHT_BITSLICE,
        &[
            (EcbEncrypt, "hight_bitslice_ecb_encrypt"),
            (EcbDecrypt, "hight_bitslice_ecb_decrypt"),
            (Ctr, "hight_bitslice_ctr"),
            (CbcDecrypt, "hight_bitslice_cbc_decrypt"),
            (CfbDecrypt, "hight_bitslice_cfb_decrypt"),
        ],
    );

    /// SEED by one copy of four tables in shared memory.
    SEED_TABLE_SHARED = Program::new(
        &SEED,
        &crate::SEED_TABLE,
        &[
            (EcbEncrypt, "seed_table_shared_ecb"),
            (EcbDecrypt, "seed_table_shared_ecb"),
            (Ctr, "seed_table_shared_ctr"),
            (CbcDecrypt, "seed_table_shared_cbc_decrypt"),
            (CfbDecrypt, "seed_table_shared_cfb_decrypt"),
            (XtsEncrypt, "seed_table_shared_xts"),
            (XtsDecrypt, "seed_table_shared_xts"),
        ],
    );
    /// SEED by four replicated tables.
    SEED_CONFLICT_FREE = Program::new(
        &SEED,
        &crate::SEED_TABLE,
        &[
            (EcbEncrypt, "seed_conflict_free_ecb"),
            (EcbDecrypt, "seed_conflict_free_ecb"),
            (Ctr, "seed_conflict_free_ctr"),
            (CbcDecrypt, "seed_conflict_free_cbc_decrypt"),
            (CfbDecrypt, "seed_conflict_free_cfb_decrypt"),
            (XtsEncrypt, "seed_conflict_free_xts"),
            (XtsDecrypt, "seed_conflict_free_xts"),
        ],
    );
    /// Bit-sliced SEED; 16 rounds of 64 key bits, and half of 32 blocks for each of 256 threads.
    SEED_BITSLICE = Program::new(
        &SEED,
        &crate::SEED_BITSLICE,
        &[
            (EcbEncrypt, "seed_bitslice_ecb"),
            (EcbDecrypt, "seed_bitslice_ecb"),
            (Ctr, "seed_bitslice_ctr"),
            (CbcDecrypt, "seed_bitslice_cbc_decrypt"),
            (CfbDecrypt, "seed_bitslice_cfb_decrypt"),
            (XtsEncrypt, "seed_bitslice_xts"),
            (XtsDecrypt, "seed_bitslice_xts"),
        ],
    );
    // ANCHOR: lea
    /// LEA in 32-bit words, a block a thread.
    LEA_WORDS = Program::new(
        &LEA,
        &crate::LEA_WORDS,
        &[
            (EcbEncrypt, "lea_words_ecb_encrypt"),
            (EcbDecrypt, "lea_words_ecb_decrypt"),
            (Ctr, "lea_words_ctr"),
            (CbcDecrypt, "lea_words_cbc_decrypt"),
            (CfbDecrypt, "lea_words_cfb_decrypt"),
            (XtsEncrypt, "lea_words_xts_encrypt"),
            (XtsDecrypt, "lea_words_xts_decrypt"),
        ],
    );
    // ANCHOR_END: lea
    /// SM4 by one copy of four tables in shared memory.
    SM4_TABLE_SHARED = Program::new(
        &SM4,
        &crate::SM4_TABLE,
        &[
            (EcbEncrypt, "sm4_table_shared_ecb"),
            (EcbDecrypt, "sm4_table_shared_ecb"),
            (Ctr, "sm4_table_shared_ctr"),
            (CbcDecrypt, "sm4_table_shared_cbc_decrypt"),
            (CfbDecrypt, "sm4_table_shared_cfb_decrypt"),
            (XtsEncrypt, "sm4_table_shared_xts"),
            (XtsDecrypt, "sm4_table_shared_xts"),
        ],
    );
    /// SM4 by four replicated tables.
    SM4_CONFLICT_FREE = Program::new(
        &SM4,
        &crate::SM4_TABLE,
        &[
            (EcbEncrypt, "sm4_conflict_free_ecb"),
            (EcbDecrypt, "sm4_conflict_free_ecb"),
            (Ctr, "sm4_conflict_free_ctr"),
            (CbcDecrypt, "sm4_conflict_free_cbc_decrypt"),
            (CfbDecrypt, "sm4_conflict_free_cfb_decrypt"),
            (XtsEncrypt, "sm4_conflict_free_xts"),
            (XtsDecrypt, "sm4_conflict_free_xts"),
        ],
    );
    /// Bit-sliced SM4.
    SM4_BITSLICE = Program::new(
        &SM4,
        &crate::SM4_BITSLICE,
        &[
            (EcbEncrypt, "sm4_bitslice_ecb"),
            (EcbDecrypt, "sm4_bitslice_ecb"),
            (Ctr, "sm4_bitslice_ctr"),
            (CbcDecrypt, "sm4_bitslice_cbc_decrypt"),
            (CfbDecrypt, "sm4_bitslice_cfb_decrypt"),
            (XtsEncrypt, "sm4_bitslice_xts"),
            (XtsDecrypt, "sm4_bitslice_xts"),
        ],
    );
}

#[cfg(test)]
mod tests;
