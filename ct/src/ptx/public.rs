//! What of a kernel's parameter block is public.

use anyhow::{Result, ensure};

/// Bytes before the keys: addresses, number of blocks, counter (`kernels/common/parameters.cuh`).
const HEADER_BYTES: i64 = 48;
/// Bytes of every public field among the keys.
const FIELD_BYTES: i64 = 4;

/// A field of a cipher's key structure, `kernels/<cipher>/keys.cuh`, that tells nothing of the key.
struct Field {
    cipher: &'static str,
    /// Bytes from the start of the structure.
    offset: i64,
    why: &'static str,
}

/// All there are; one that no kernel reads is an error.
const FIELDS: &[Field] = &[
    Field { cipher: "aes", offset: 240, why: "number of rounds: the length of the key" },
    Field { cipher: "aria", offset: 272, why: "number of rounds: the length of the key" },
    Field { cipher: "camellia", offset: 272, why: "groups of rounds: the length of the key" },
    Field { cipher: "des", offset: 384, why: "passes: one for DES, three for triple DES" },
    Field { cipher: "hight", offset: 544, why: "order of the bytes in a block" },
];

/// The public bytes of a module's parameter blocks: first and end of each range.
pub(crate) fn of_module(module: &str) -> Vec<(i64, i64)> {
    let fields = FIELDS.iter().filter(|field| field.is_in(module));
    let ranges = fields.map(|field| (field.start(), field.start() + FIELD_BYTES));
    std::iter::once((0, HEADER_BYTES)).chain(ranges).collect()
}

/// Checks that every field was read: `read` has modules, and the public offsets that they read.
///
/// # Errors
/// Naming one that was not, which does not belong in the list.
pub(crate) fn require_used(read: &[(&str, i64)]) -> Result<()> {
    for field in FIELDS {
        let is_read =
            |(module, offset): &(&str, i64)| field.is_in(module) && *offset == field.start();
        let Field { cipher, offset, why } = field;
        ensure!(
            read.iter().any(is_read),
            "no kernel of {cipher} reads byte {offset} of its keys ({why})"
        );
    }
    Ok(())
}

impl Field {
    fn is_in(&self, module: &str) -> bool {
        module.split('_').next() == Some(self.cipher)
    }

    fn start(&self) -> i64 {
        HEADER_BYTES + self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_belong_to_one_cipher() {
        assert_eq!(of_module("seed_bitslice"), [(0, 48)]);
        assert_eq!(of_module("des_table"), [(0, 48), (432, 436)]);
    }

    #[test]
    fn a_field_that_nobody_reads_is_an_error() {
        let mut read = vec![("aes_table", 288), ("aria_table", 320), ("camellia_table", 320)];
        read.extend([("des_table", 432)]);
        let error = require_used(&read).expect_err("hight is missing").to_string();
        assert!(error.contains("hight") && error.contains("544"), "{error}");
        read.push(("hight_table", 592));
        require_used(&read).expect("all are there");
    }
}
