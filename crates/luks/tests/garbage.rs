//! Whatever a header says, nothing panics, and nothing takes more than the limits allow.

mod support;

use lanecrypt_luks::Disk;
use proptest::prelude::*;
use support::{AES, HEADER, LIMITS, Memory, PASSPHRASE, binary_header};

/// Opens it and reads, where it opens.
fn try_to_use(container: Vec<u8>) {
    if let Ok(disk) = Disk::open(Memory::new(container), PASSPHRASE, &LIMITS) {
        let mut read = vec![0; disk.bytes().min(10_000) as usize];
        let _any = disk.read_at(&mut read, 0);
        let _any = disk.write_at(&read, disk.bytes().saturating_sub(10_000));
    }
}

/// A metadata's text with a part replaced by one of the numbers or texts that break readers.
fn changed(metadata: &str, at: usize, bytes: usize, by: &str) -> Vec<u8> {
    let mut text = metadata.as_bytes().to_vec();
    let from = at % text.len();
    let to = (from + bytes).min(text.len());
    text.splice(from..to, by.bytes());
    text
}

/// The n-th number of a text replaced by another.
fn with_number(metadata: &str, n: usize, number: &str) -> String {
    let digits: Vec<_> = metadata
        .char_indices()
        .filter(|&(at, c)| {
            c.is_ascii_digit() && !metadata[..at].ends_with(|c: char| c.is_ascii_alphanumeric())
        })
        .map(|(at, _)| at)
        .collect();
    let at = digits[n % digits.len()];
    let rest = metadata[at..].trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{}{number}{rest}", &metadata[..at])
}

const NUMBERS: [&str; 10] = [
    "0",
    "1",
    "511",
    "513",
    "65536",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "-1",
    "1e9",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn bytes_of_luks1(changes in prop::collection::vec((0_usize..600, any::<u8>()), 1..8)) {
        let mut container = AES.luks1(&[5; 1024]);
        for (at, byte) in changes {
            container[at] = byte;
        }
        try_to_use(container);
    }

    #[test]
    fn bytes_of_luks2(changes in prop::collection::vec((0_usize..520, any::<u8>()), 1..8)) {
        let mut container = AES.luks2(&[5; 1024]);
        for (at, byte) in changes {
            container[at] = byte;
            container[HEADER + at] = byte;
        }
        try_to_use(container);
    }

    #[test]
    fn text_of_metadata(at in any::<usize>(), bytes in 0_usize..9, by in "[-0-9a-z\"{}:,]{0,9}") {
        let metadata = changed(&AES.metadata(), at, bytes, &by);
        let mut container = AES.luks2(&[5; 1024]);
        container[..HEADER].copy_from_slice(&binary_header(0, 99, &metadata));
        try_to_use(container);
    }

    #[test]
    fn numbers_of_metadata(n in any::<usize>(), m in any::<usize>(), i in 0..10_usize, j in 0..10_usize) {
        let metadata = with_number(&with_number(&AES.metadata(), n, NUMBERS[i]), m, NUMBERS[j]);
        let mut container = AES.luks2(&[5; 1024]);
        container[..HEADER].copy_from_slice(&binary_header(0, 99, metadata.as_bytes()));
        try_to_use(container);
    }

    #[test]
    fn cut_anywhere(version in 1..3, bytes in 0_usize..0x11000) {
        let mut container = if version == 1 { AES.luks1(&[5; 1024]) } else { AES.luks2(&[5; 1024]) };
        container.truncate(bytes);
        try_to_use(container);
    }

    #[test]
    fn anything(container in prop::collection::vec(any::<u8>(), 0..10_000)) {
        try_to_use(container);
    }
}
