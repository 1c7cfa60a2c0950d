//! Every program: which kernels, and what only their sources know of how they are launched.

use crate::{
    Module,
    launch::{HEADER_WORDS, Kernel, KeyLayout, Program, Unit},
};

/// What the programs of a cipher have in common.
struct Cipher {
    block_bytes: usize,
    keys: KeyLayout,
}

/// `AesKeys` of `aes/keys.cuh`; the word is the number of rounds.
const AES: Cipher = cipher(16, 64, Some((60, &[10, 12, 14])));
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

const fn cipher(
    block_bytes: usize,
    words: usize,
    count: Option<(usize, &'static [u32])>,
) -> Cipher {
    Cipher { block_bytes, keys: KeyLayout { words, count } }
}

/// A table of 256 words; the same in every bank; and what lies before a pair of these: see
/// `common/conflict_free.cuh`.
const TABLE_BYTES: u32 = 1024;
const REPLICATED_BYTES: u32 = 32 * TABLE_BYTES;
const PAIR_ORIGIN: u32 = 1024;

/// A warp takes 32 blocks a thread, or a column of each.
const WARP_OF_COLUMNS: Unit = Unit::new(32, 256);
const WARP_OF_BLOCKS: Unit = Unit::new(32, 1024);
/// A thread block takes the counters that a thread each of it has, from a multiple of them on.
const ALIGNED_THOUSAND: Unit = Unit { threads: 1024, blocks: 1024, aligned: true };
/// Which four blocks a thread takes depends on its number in a thread block, which is therefore
/// full.
const QUADS: Unit = Unit::new(1, 4);

impl Program {
    /// Kernels that are launched alike, of one cipher and module: ECB encryption, ECB decryption
    /// and CTR, which starts groups of more than one block at aligned counters.
    const fn new(
        cipher: &Cipher,
        module: &'static Module,
        names: [&'static str; 3],
        (threads, shared_bytes, unit): (u32, u32, Unit),
    ) -> Self {
        let parameter_bytes = 4 * (HEADER_WORDS + cipher.keys.words);
        let [encrypt, decrypt, ctr] = names;
        let kernel = Kernel { module, name: encrypt, threads, shared_bytes, unit, parameter_bytes };
        let aligned = unit.blocks > 1;
        Self {
            block_bytes: cipher.block_bytes,
            keys: cipher.keys,
            ecb_encrypt: kernel,
            ecb_decrypt: Kernel { name: decrypt, ..kernel },
            ctr: Kernel { name: ctr, unit: Unit { aligned, ..unit }, ..kernel },
            keystream: None,
        }
    }

    const fn with_ctr_unit(self, unit: Unit) -> Self {
        Self { ctr: Kernel { unit, ..self.ctr }, ..self }
    }

    const fn with_ecb_decrypt_bytes(self, shared_bytes: u32) -> Self {
        Self { ecb_decrypt: Kernel { shared_bytes, ..self.ecb_decrypt }, ..self }
    }

    const fn with_keystream(self, name: &'static str) -> Self {
        Self { keystream: Some(Kernel { name, ..self.ecb_encrypt }), ..self }
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
        ["aes_bytewise_ecb_encrypt", "aes_bytewise_ecb_decrypt", "aes_bytewise_ctr"],
        (256, 256 + 256, Unit::new(16, 1)),
    );
    /// AES by T-tables in global memory.
    AES_TABLE_GLOBAL = Program::new(
        &AES,
        &crate::AES_TABLE,
        ["aes_table_global_ecb_encrypt", "aes_table_global_ecb_decrypt", "aes_table_global_ctr"],
        (256, 0, Unit::THREAD),
    );
    /// AES by one copy of the T-tables, and of a table of bytes, in shared memory.
    AES_TABLE_SHARED = Program::new(
        &AES,
        &crate::AES_TABLE,
        ["aes_table_shared_ecb_encrypt", "aes_table_shared_ecb_decrypt", "aes_table_shared_ctr"],
        (1024, 4 * TABLE_BYTES + 256, Unit::THREAD),
    );
    /// AES by four replicated T-tables; decryption has the inverse S-box beside them.
    AES_CONFLICT_FREE_4 = Program::new(
        &AES,
        &crate::AES_CONFLICT_FREE_4,
        [
            "aes_conflict_free_4_ecb_encrypt",
            "aes_conflict_free_4_ecb_decrypt",
            "aes_conflict_free_4_ctr",
        ],
        (1024, PAIR_ORIGIN + 4 * REPLICATED_BYTES, Unit::THREAD),
    )
    .with_ecb_decrypt_bytes(PAIR_ORIGIN + 5 * REPLICATED_BYTES)
    .with_ctr_unit(ALIGNED_THOUSAND);
    /// AES by two replicated T-tables.
    AES_CONFLICT_FREE_2 = Program::new(
        &AES,
        &crate::AES_CONFLICT_FREE_2,
        [
            "aes_conflict_free_2_ecb_encrypt",
            "aes_conflict_free_2_ecb_decrypt",
            "aes_conflict_free_2_ctr",
        ],
        (1024, PAIR_ORIGIN + 2 * REPLICATED_BYTES, Unit::THREAD),
    )
    .with_ecb_decrypt_bytes(PAIR_ORIGIN + 3 * REPLICATED_BYTES)
    .with_ctr_unit(ALIGNED_THOUSAND);
    /// AES by one replicated T-table.
    AES_CONFLICT_FREE_1 = Program::new(
        &AES,
        &crate::AES_CONFLICT_FREE_1,
        [
            "aes_conflict_free_1_ecb_encrypt",
            "aes_conflict_free_1_ecb_decrypt",
            "aes_conflict_free_1_ctr",
        ],
        (1024, REPLICATED_BYTES, Unit::THREAD),
    )
    .with_ecb_decrypt_bytes(2 * REPLICATED_BYTES)
    .with_ctr_unit(ALIGNED_THOUSAND);
    /// Bit-sliced AES; 15 round keys, a word for every bit of them.
    AES_BITSLICE = Program::new(
        &AES,
        &crate::AES_BITSLICE,
        ["aes_bitslice_ecb_encrypt", "aes_bitslice_ecb_decrypt", "aes_bitslice_ctr"],
        (512, 15 * 128 * 4, WARP_OF_COLUMNS),
    );

    /// ARIA in P1's 8-bit form: the S-boxes side by side, and a byte a thread.
    ARIA_BYTEWISE = Program::new(
        &ARIA,
        &crate::ARIA_BYTEWISE,
        ["aria_bytewise_ecb", "aria_bytewise_ecb", "aria_bytewise_ctr"],
        (256, 1024 + 256, Unit::new(16, 1)),
    );
    /// ARIA by one copy of four tables in shared memory, P1's 32-bit form.
    ARIA_TABLE_SHARED = Program::new(
        &ARIA,
        &crate::ARIA_TABLE,
        ["aria_table_shared_ecb", "aria_table_shared_ecb", "aria_table_shared_ctr"],
        (1024, 4 * TABLE_BYTES, Unit::THREAD),
    );
    /// ARIA by four replicated tables.
    ARIA_CONFLICT_FREE = Program::new(
        &ARIA,
        &crate::ARIA_CONFLICT_FREE,
        ["aria_conflict_free_ecb", "aria_conflict_free_ecb", "aria_conflict_free_ctr"],
        (1024, 4 * REPLICATED_BYTES + PAIR_ORIGIN, Unit::THREAD),
    )
    .with_ctr_unit(ALIGNED_THOUSAND);
    /// Bit-sliced ARIA; 17 round keys of 16 bytes, 16 words each.
    ARIA_BITSLICE = Program::new(
        &ARIA,
        &crate::ARIA_BITSLICE,
        ["aria_bitslice_ecb", "aria_bitslice_ecb", "aria_bitslice_ctr"],
        (256, 17 * 16 * 16 * 4, WARP_OF_BLOCKS),
    );

    /// Camellia by P2's merged table in global memory.
    CAMELLIA_TABLE_GLOBAL = Program::new(
        &CAMELLIA,
        &crate::CAMELLIA_TABLE,
        ["camellia_table_global_ecb", "camellia_table_global_ecb", "camellia_table_global_ctr"],
        (256, 0, Unit::THREAD),
    )
    .with_keystream("camellia_table_global_keystream");
    /// Camellia by one copy of the merged table in shared memory.
    CAMELLIA_TABLE_SHARED = Program::new(
        &CAMELLIA,
        &crate::CAMELLIA_TABLE,
        ["camellia_table_shared_ecb", "camellia_table_shared_ecb", "camellia_table_shared_ctr"],
        (1024, TABLE_BYTES, Unit::THREAD),
    )
    .with_keystream("camellia_table_shared_keystream");
    /// Camellia by the merged table, replicated.
    CAMELLIA_CONFLICT_FREE_MERGED = Program::new(
        &CAMELLIA,
        &crate::CAMELLIA_CONFLICT_FREE,
        [
            "camellia_conflict_free_merged_ecb",
            "camellia_conflict_free_merged_ecb",
            "camellia_conflict_free_merged_ctr",
        ],
        (1024, REPLICATED_BYTES, Unit::THREAD),
    )
    .with_keystream("camellia_conflict_free_merged_keystream");
    /// Camellia by four replicated tables.
    CAMELLIA_CONFLICT_FREE_FOUR = Program::new(
        &CAMELLIA,
        &crate::CAMELLIA_CONFLICT_FREE,
        [
            "camellia_conflict_free_four_ecb",
            "camellia_conflict_free_four_ecb",
            "camellia_conflict_free_four_ctr",
        ],
        (1024, PAIR_ORIGIN + 4 * REPLICATED_BYTES, Unit::THREAD),
    )
    .with_ctr_unit(ALIGNED_THOUSAND);
    /// Bit-sliced Camellia; whitening at both ends and 24 round keys of 8 bytes, 16 words each, and
    /// 128 words for each of three FL layers.
    CAMELLIA_BITSLICE = Program::new(
        &CAMELLIA,
        &crate::CAMELLIA_BITSLICE,
        ["camellia_bitslice_ecb", "camellia_bitslice_ecb", "camellia_bitslice_ctr"],
        (256, ((16 + 8 * 24 + 16) * 16 + 3 * 128) * 4, WARP_OF_BLOCKS),
    );

    /// DES and triple DES by one copy of eight tables of 64 words.
    DES_TABLE_SHARED = Program::new(
        &DES,
        &crate::DES_TABLE,
        ["des_table_shared_ecb", "des_table_shared_ecb", "des_table_shared_ctr"],
        (1024, 2 * TABLE_BYTES, Unit::THREAD),
    );
    /// DES and triple DES by replicated tables.
    DES_CONFLICT_FREE = Program::new(
        &DES,
        &crate::DES_CONFLICT_FREE,
        ["des_conflict_free_ecb", "des_conflict_free_ecb", "des_conflict_free_ctr"],
        (1024, 2 * REPLICATED_BYTES + PAIR_ORIGIN, Unit::THREAD),
    );
    /// Bit-sliced DES and triple DES; 64 words for each round of three passes, and 32 for each of
    /// the four exchanges round them.
    DES_BITSLICE = Program::new(
        &DES,
        &crate::DES_BITSLICE,
        ["des_bitslice_ecb", "des_bitslice_ecb", "des_bitslice_ctr"],
        (384, (3 * 16 * 64 + 4 * 32) * 4, WARP_OF_BLOCKS),
    );

    /// HIGHT by look-ups of F0 and F1, a byte each, coalesced.
    HIGHT_TABLE = Program::new(
        &HIGHT,
        &crate::HIGHT_TABLE,
        ["hight_table_ecb_encrypt", "hight_table_ecb_decrypt", "hight_table_ctr"],
        (1024, 2 * 256, QUADS),
    );
    /// The same, a thread's blocks side by side.
    HIGHT_TABLE_UNCOALESCED = Program::new(
        &HIGHT,
        &crate::HIGHT_TABLE,
        [
            "hight_table_uncoalesced_ecb_encrypt",
            "hight_table_uncoalesced_ecb_decrypt",
            "hight_table_uncoalesced_ctr",
        ],
        (1024, 2 * 256, QUADS),
    );
    /// Byte-sliced HIGHT, coalesced.
    HIGHT_BYTESLICE = Program::new(
        &HIGHT,
        &crate::HIGHT_BYTESLICE,
        ["hight_byteslice_ecb_encrypt", "hight_byteslice_ecb_decrypt", "hight_byteslice_ctr"],
        (768, 0, QUADS),
    );
    /// The same, a thread's blocks side by side.
    HIGHT_BYTESLICE_UNCOALESCED = Program::new(
        &HIGHT,
        &crate::HIGHT_BYTESLICE,
        [
            "hight_byteslice_uncoalesced_ecb_encrypt",
            "hight_byteslice_uncoalesced_ecb_decrypt",
            "hight_byteslice_uncoalesced_ctr",
        ],
        (768, 0, QUADS),
    );
    /// Bit-sliced HIGHT; 32 rounds of four subkeys and 8 whitening keys, two words for every bit.
    HIGHT_BITSLICE = Program::new(
        &HIGHT,
        &crate::HIGHT_BITSLICE,
        ["hight_bitslice_ecb_encrypt", "hight_bitslice_ecb_decrypt", "hight_bitslice_ctr"],
        (384, (4 * 32 + 8) * 16 * 4, WARP_OF_BLOCKS),
    );

    /// SEED by one copy of four tables in shared memory.
    SEED_TABLE_SHARED = Program::new(
        &SEED,
        &crate::SEED_TABLE,
        ["seed_table_shared_ecb", "seed_table_shared_ecb", "seed_table_shared_ctr"],
        (1024, 4 * TABLE_BYTES, Unit::THREAD),
    );
    /// SEED by four replicated tables.
    SEED_CONFLICT_FREE = Program::new(
        &SEED,
        &crate::SEED_TABLE,
        ["seed_conflict_free_ecb", "seed_conflict_free_ecb", "seed_conflict_free_ctr"],
        (1024, 4 * REPLICATED_BYTES + PAIR_ORIGIN, Unit::THREAD),
    );
    /// Bit-sliced SEED; 16 rounds of 64 key bits, and half of 32 blocks for each of 256 threads.
    SEED_BITSLICE = Program::new(
        &SEED,
        &crate::SEED_BITSLICE,
        ["seed_bitslice_ecb", "seed_bitslice_ecb", "seed_bitslice_ctr"],
        (256, (16 * 64 + 64 * 256) * 4, WARP_OF_BLOCKS),
    );
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::collections::BTreeSet;

    use super::*;
    use crate::MODULES;

    fn all_kernels(program: &Program) -> impl Iterator<Item = &Kernel> {
        program.kernels().into_iter().chain(program.keystream())
    }

    #[test]
    fn launches_are_what_the_ptx_says() {
        for kernel in PROGRAMS.iter().flat_map(|program| all_kernels(program)) {
            let name = kernel.name();
            let entry = kernel.module().entry(name).expect(name);
            assert_eq!(entry.parameter_bytes, kernel.parameter_bytes(), "{name}");
            assert_eq!(entry.threads, kernel.threads(), "{name}");
            let unit = kernel.unit().threads;
            assert!(kernel.threads().is_multiple_of(unit.max(32)), "{name}");
        }
    }

    #[test]
    fn every_entry_of_every_module_is_launched_by_a_program() {
        let launched: BTreeSet<&str> =
            PROGRAMS.iter().flat_map(|program| all_kernels(program)).map(Kernel::name).collect();
        let entries: BTreeSet<&str> = MODULES.iter().flat_map(Module::entry_names).collect();
        assert_eq!(launched, entries);
    }

    #[test]
    fn no_module_is_taken_for_another() {
        assert!(crate::AES_BITSLICE.entry("aes_bitslice_ct").is_none(), "a part of a name");
        assert!(crate::AES_BITSLICE.entry("aes_table_shared_ctr").is_none());
    }

    #[test]
    fn keys_of_other_lengths_and_counts_are_refused() {
        for program in PROGRAMS {
            let layout = program.keys();
            let mut words = std::vec![0; layout.words()];
            if let Some((word, values)) = layout.count {
                for refused in [2, 5, 11, 17, u32::MAX] {
                    words[word] = refused;
                    assert!(!layout.accepts(&words), "{refused} rounds");
                }
                words[word] = values[0];
            }
            assert!(layout.accepts(&words));
            assert!(!layout.accepts(&words[1..]));
            words.push(0);
            assert!(!layout.accepts(&words));
        }
    }
}
