//! S-box sources for Rust and CUDA, from circuits that are proved first.

use anyhow::Result;
use lanecrypt_circuit::GeneratedFile;
use lanecrypt_reference::sbox;

use crate::generated::{self, Mode};

/// The S-box that each circuit has to compute, from its definition.
const TABLES: &[(&str, &[u8; 256])] =
    &[("aes_sbox", &sbox::AES), ("aes_inv_sbox", &sbox::AES_INVERSE)];

pub(crate) fn run(check: bool, derive: bool) -> Result<()> {
    if derive {
        println!("deriving the circuits takes some minutes");
        let files = pairs(lanecrypt_circuit::derive_files(TABLES)?);
        generated::ensure(&files, Mode::Write, "cargo xtask codegen --derive")?;
        println!("build once more and run `cargo xtask codegen` to use them");
        return Ok(());
    }
    let files = pairs(lanecrypt_circuit::generated_files(TABLES)?);
    generated::ensure(&files, Mode::from_check(check), "cargo xtask codegen")
}

fn pairs(files: Vec<GeneratedFile>) -> Vec<(String, String)> {
    files.into_iter().map(|file| (file.path, file.contents)).collect()
}
