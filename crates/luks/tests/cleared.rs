//! No key is left in memory that was given back, once a disk was opened, used and dropped.
#![cfg(target_os = "linux")]

mod support;

use lanecrypt_judges::memory::Inverted;
use lanecrypt_luks::Disk;
use support::{AES, Kind, LIMITS, Memory, PASSPHRASE};

/// Bytes of the keys, which are secrets of these numbers.
const BYTES: usize = 32;
const KEY: u8 = 1;
const STRIPE: u8 = 2;

/// The key that the passphrase gives.
fn derived(kind: Kind) -> [u8; BYTES] {
    let mut key = [0; BYTES];
    kind.pbkdf2(PASSPHRASE, &kind.salt, &mut key);
    key
}

/// The end of that key, where it is text, as a secret must be that is made of another.
fn end_of(derived: &[u8; BYTES]) -> Option<&str> {
    str::from_utf8(&derived[20..]).ok()
}

/// A kind of container whose keys are secrets.
fn kind() -> Kind {
    let mut kind = Kind {
        key_bytes: BYTES,
        fill_key: |key| Inverted::new(KEY, BYTES).reveal(key),
        fill_stripe: |stripe| Inverted::new(STRIPE, BYTES).reveal(stripe),
        ..AES
    };
    let mut salts = (0_u32..).map(u32::to_le_bytes);
    while end_of(&derived(kind)).is_none() {
        kind.salt[..4].copy_from_slice(&salts.next().expect("one of some thousands"));
    }
    kind
}

#[test]
fn keys_of_disks() {
    let kind = kind();
    let key = Inverted::new(KEY, BYTES);
    let end = key.text(|_| end_of(&derived(kind)).expect("it is text").to_owned());
    let secrets =
        [("volume", key), ("key slot", Inverted::new(STRIPE, BYTES)), ("passphrase", end)];
    let plain = [7; 4096];
    let essiv = Kind { mode: "cbc-essiv:sha256", ..kind };
    let containers = [essiv.luks2(&plain), kind.luks1(&plain), kind.luks2(&plain)];
    for container in containers {
        let disk = Disk::open(Memory::new(container), PASSPHRASE, &LIMITS).expect("it opens");
        let mut read = [0; 1000];
        disk.read_at(&mut read, 100).expect("it reads");
        assert_eq!(read, [7; 1000]);
        disk.write_at(&read, 500).expect("it writes");
    }
    for (of, mut key) in secrets {
        assert!(!key.is_left().expect("Linux shows memory"), "the key of the {of} is left");
    }
}
