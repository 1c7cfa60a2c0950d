//! S-box sources for Rust and CUDA, from circuits that are proved first, and the ledger of what kernels take.

use anyhow::Result;
use lanecrypt_circuit::{GeneratedFile, NamedTable, TARGETS};
use lanecrypt_reference::{des, sbox};

use crate::{
    kernels::{operations, tables},
    sources::{
        claims,
        generated::{self, Mode},
        header, known_answers,
    },
};

/// The S-box that each circuit has to compute, from its definition or as the standard prints it.
fn tables() -> Vec<NamedTable<'static>> {
    let images_of_inversion = [
        ("aes_sbox", &sbox::AES),
        ("aes_inv_sbox", &sbox::AES_INVERSE),
        ("aria_sbox1", &sbox::AES),
        ("aria_inv_sbox1", &sbox::AES_INVERSE),
        ("aria_sbox2", &sbox::ARIA_S2),
        ("aria_inv_sbox2", &sbox::ARIA_S2_INVERSE),
        ("camellia_sbox", &sbox::CAMELLIA[0]),
        ("seed_sbox0", &sbox::SEED[0]),
        ("seed_sbox1", &sbox::SEED[1]),
        ("sm4_sbox", &sbox::SM4),
    ];
    let images = images_of_inversion.iter().map(|(name, table)| (*name, table.as_slice()));
    let of_des = TARGETS.iter().filter(|target| target.cipher == "des");
    let des = of_des.zip(&des::SBOXES).map(|(target, table)| (target.name, table.as_slice()));
    images.chain(des).collect()
}

/// Derives the circuits anew, or those of one cipher.
pub(crate) fn derive(cipher: Option<&str>) -> Result<()> {
    println!("deriving the circuits takes some minutes");
    let files = pairs(lanecrypt_circuit::derive_files(&tables(), cipher)?);
    generated::ensure(&files, Mode::Write, "cargo xtask codegen --derive")?;
    println!("build once more and run `cargo xtask codegen` to use them");
    Ok(())
}

/// Writes the sources, or checks them.
pub(crate) fn run(check: bool) -> Result<()> {
    let mut files = pairs(lanecrypt_circuit::generated_files(&tables())?);
    files.extend(tables::files());
    files.push((operations::OPERATIONS.to_owned(), operations::csv()?));
    files.extend(claims::files()?);
    files.push(known_answers::file()?);
    files.push(header::file()?);
    generated::ensure(&files, Mode::from_check(check), "cargo xtask codegen")
}

fn pairs(files: Vec<GeneratedFile>) -> Vec<(String, String)> {
    files.into_iter().map(|file| (file.path, file.contents)).collect()
}
