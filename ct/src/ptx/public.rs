//! What of a kernel's parameter block is public: what is before the keys, and the word among them
//! that kernels count by, which tells the length of the key or the order of bytes and nothing else.
//! Those of batches have no key in it, but addresses and lengths alone; those of GHASH end with a mask, and what encrypts by
//! GCM in one launch has both parts.

use anyhow::{Result, ensure};
use lanecrypt::cuda::kernels::{
    HEADER_WORDS, batch, gcm, ghash, modes, programs::PROGRAMS, random,
};

const WORD_BYTES: i64 = 4;
/// Words of 64 bits of a header that say what a mode starts from.
const MODE_WORDS: usize = 3;

/// The public bytes of a kernel's parameter block: first and end of each range.
pub(crate) fn of_kernel(module: &str, kernel: &str) -> Vec<(i64, i64)> {
    // Its mode starts from key stream.
    if kernel == modes::ADD_KEY_STREAM.name() {
        return vec![(0, offset(HEADER_WORDS - 2 * MODE_WORDS))];
    }
    of_module(module)
}

/// The same of all kernels of a module but for that one.
fn of_module(module: &str) -> Vec<(i64, i64)> {
    if ghash::kernels().any(|kernel| kernel.module().name == module) {
        return vec![(0, offset(2 * ghash::PUBLIC_WORDS))];
    }
    if batch::kernels().any(|kernel| kernel.module().name == module) {
        return vec![(0, offset(2 * batch::PARAMETER_WORDS))];
    }
    let count = count(module).map(|start| (start, start + WORD_BYTES));
    let of_hash = of_gcm(module).map(|gcm| {
        let first = offset(gcm.text_bytes() / 4);
        (first, first + offset(2 * ghash::PUBLIC_WORDS))
    });
    [(0, offset(HEADER_WORDS))].into_iter().chain(count).chain(of_hash).collect()
}

/// What encrypts by GCM in one launch, if that is what a module is for.
fn of_gcm(module: &str) -> Option<&'static gcm::Gcm> {
    gcm::ALL.into_iter().find(|gcm| gcm.kernel().module().name == module)
}

/// Where a word of a parameter block starts, counted from the start of the block.
fn offset(word: usize) -> i64 {
    WORD_BYTES * i64::try_from(word).expect("parameter blocks are small")
}

/// Where the word that the kernels of a module count by starts; `None` where they have none.
fn count(module: &str) -> Option<i64> {
    let program = PROGRAMS.iter().find(|program| program.module().name == module);
    let draws = random::KERNELS.iter().any(|kernel| kernel.module().name == module);
    let keys = program.map(|program| program.keys()).or(draws.then_some(random::KEYS));
    let keys = keys.or(of_gcm(module).map(gcm::Gcm::keys))?;
    keys.count_word().map(|word| offset(HEADER_WORDS + word))
}

/// Checks that a word which is taken for public is one: `read` has modules, and the starts of the
/// public ranges that their kernels read.
///
/// # Errors
/// Naming a module whose kernels do not read it, so that it must be something else.
pub(crate) fn require_used(read: &[(&str, i64)]) -> Result<()> {
    for module in PROGRAMS.iter().map(|program| program.module().name) {
        let Some(start) = count(module) else {
            continue;
        };
        ensure!(
            read.contains(&(module, start)),
            "no kernel of {module} reads byte {start} of its parameters, where its count should be"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_a_word_among_the_keys() {
        assert_eq!(of_module("seed_bitslice"), [(0, 48)]);
        assert_eq!(of_kernel("seed_bitslice", "seed_bitslice_ctr"), [(0, 48)]);
        assert_eq!(of_kernel("modes", "modes_copy_rows"), [(0, 48)]);
        assert_eq!(of_kernel("modes", "modes_add_key_stream"), [(0, 24)]);
        assert_eq!(of_module("des_table"), [(0, 48), (432, 436)]);
        assert_eq!(of_module("aes_random"), of_module("aes_table"));
        assert_eq!(of_module("ghash_tables"), [(0, 200)]);
        assert_eq!(of_module("aes_gcm"), [(0, 48), (288, 292), (304, 504)]);
        for module in ["aes_batch", "aria_batch", "camellia_batch", "seed_batch"] {
            assert_eq!(of_module(module), [(0, 112)]);
        }
    }

    #[test]
    fn a_count_that_nobody_reads_is_an_error() {
        let modules = PROGRAMS.iter().map(|program| program.module().name);
        let mut read: Vec<_> = modules.filter_map(|name| Some((name, count(name)?))).collect();
        require_used(&read).expect("all are there");
        read.retain(|(name, _)| *name != "hight_table");
        let error = require_used(&read).expect_err("hight_table is missing").to_string();
        assert!(error.contains("hight_table") && error.contains("592"), "{error}");
    }
}
