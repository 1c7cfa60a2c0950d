//! Counts of ciphers: the eight that have kernels, whose ledger they are compared with, and two for exercise.

use crate::Counts;

/// Ciphers by name, with their counts. Where bits and tables are both there, both can be written. A table of which the
/// others are rotations counts once.
pub const CIPHERS: [(&str, &str); 11] = [
    (
        "AES-128",
        "block=128 rounds=10 lookups=16 table-bytes=1024 table-logic=20 \
         functions=1360 functions-once=-304 key-bits=96",
    ),
    (
        "ARIA-128",
        "block=128 rounds=12 lookups=16 table-bytes=4096 table-logic=19 \
         functions=1296 functions-once=-256 key-bits=128",
    ),
    (
        "Camellia-128",
        "block=128 rounds=18 lookups=8 table-bytes=4096 table-logic=11 \
         functions=656 functions-once=256 key-bits=64",
    ),
    ("Camellia-128, one table", "block=128 rounds=18 lookups=8 table-bytes=1024 table-logic=19"),
    (
        "DES",
        "block=64 rounds=16 lookups=8 table-bytes=2048 table-logic=10 \
         functions=222 functions-once=64 key-bits=16",
    ),
    (
        "HIGHT",
        "block=64 rounds=32 lookups=4 table-bytes=1024 table-logic=8 \
         functions=92 functions-once=60 key-bits=28 word-logic=46 word-blocks=4",
    ),
    ("LEA-128", "block=128 rounds=24 word-logic=9 word-sums=3"),
    (
        "PRESENT-80",
        "block=64 rounds=31 lookups=8 entry-words=2 table-bytes=2048 table-logic=22 functions=112 key-bits=64",
    ),
    ("SEED", "block=128 rounds=16 lookups=12 table-bytes=2048 table-logic=17 functions=1188"),
    ("SM4", "block=128 rounds=32 lookups=4 table-bytes=1024 table-logic=7 functions=388"),
    ("SPECK-128/128", "block=128 rounds=32 functions=191 key-bits=64 word-logic=8 word-sums=2"),
];

/// The counts of a cipher of the list, by its name in any case.
#[must_use]
pub fn cipher(name: &str) -> Option<Counts> {
    let found = CIPHERS.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
    found.and_then(|(_, counts)| Counts::read(counts).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_can_be_read() {
        for (name, counts) in CIPHERS {
            assert!(
                Counts::read(counts).is_ok() && cipher(&name.to_lowercase()).is_some(),
                "{name}"
            );
        }
        assert!(cipher("ROT13").is_none());
    }
}
