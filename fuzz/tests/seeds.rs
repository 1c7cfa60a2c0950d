//! Every target over its seeds, cut and changed, and over random bytes: quick, and the same each
//! time. A crash that libFuzzer found becomes a seed.

use std::{fs, path::Path};

use lanecrypt_reference::vectors::PlaintextStream;

/// Random inputs of a target.
const RANDOM: u64 = 500;

fn run(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut seeds = 0;
    for entry in entries {
        let seed = fs::read(entry.expect("an entry").path()).expect("a seed can be read");
        target(&seed);
        for cut in (0..seed.len()).step_by(seed.len().div_ceil(100)) {
            target(&seed[..cut]);
            let mut changed = seed.clone();
            changed[cut] ^= 1 << (cut % 8);
            target(&changed);
        }
        seeds += 1;
    }
    assert!(seeds > 0, "{} has no seeds", folder.display());
    for seed in 0..RANDOM {
        let mut input = vec![0; 16 + (seed as usize * 7) % 600];
        PlaintextStream::new(seed).fill(&mut input);
        target(&input);
    }
}

#[test]
fn vectors() {
    run("vectors", lanecrypt_fuzz::vectors);
}

#[test]
fn modes() {
    run("modes", lanecrypt_fuzz::modes);
}

#[test]
fn seeks() {
    run("seeks", lanecrypt_fuzz::seeks);
}

#[test]
fn keysets() {
    run("keysets", lanecrypt_fuzz::keysets);
}

#[test]
fn experience() {
    run("experience", lanecrypt_fuzz::experience);
}

#[test]
fn luks() {
    run("luks", lanecrypt_fuzz::luks);
}

#[test]
fn sealed() {
    run("sealed", lanecrypt_fuzz::sealed);
}

#[test]
fn parquet() {
    run("parquet", lanecrypt_fuzz::parquet);
}

#[test]
fn texts() {
    run("texts", lanecrypt_fuzz::texts);
}
