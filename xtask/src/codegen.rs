//! S-box sources for Rust and CUDA, from circuits that are proved first.

use anyhow::Result;
use lanecrypt_circuit::{GeneratedFile, NamedTable, TARGETS};
use lanecrypt_reference::{des, sbox};

use crate::{
    generated::{self, Mode},
    kernel_tables,
};

/// The S-box that each circuit has to compute, from its definition or as the standard prints it.
fn tables() -> Vec<NamedTable<'static>> {
    let aes: [NamedTable<'_>; 2] = [("aes_sbox", &sbox::AES), ("aes_inv_sbox", &sbox::AES_INVERSE)];
    let of_des = TARGETS.iter().filter(|target| target.cipher == "des");
    let des = of_des.zip(&des::SBOXES).map(|(target, table)| (target.name, table.as_slice()));
    aes.into_iter().chain(des).collect()
}

pub(crate) fn run(check: bool, derive: bool) -> Result<()> {
    if derive {
        println!("deriving the circuits takes some minutes");
        let files = pairs(lanecrypt_circuit::derive_files(&tables())?);
        generated::ensure(&files, Mode::Write, "cargo xtask codegen --derive")?;
        println!("build once more and run `cargo xtask codegen` to use them");
        return Ok(());
    }
    let mut files = pairs(lanecrypt_circuit::generated_files(&tables())?);
    files.extend(kernel_tables::files());
    generated::ensure(&files, Mode::from_check(check), "cargo xtask codegen")
}

fn pairs(files: Vec<GeneratedFile>) -> Vec<(String, String)> {
    files.into_iter().map(|file| (file.path, file.contents)).collect()
}
