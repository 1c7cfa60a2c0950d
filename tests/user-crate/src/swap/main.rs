//! What a user sees who replaces a cipher of RustCrypto by ours: prints a line of JSON for each cell of the
//! table that `cargo xtask bench-all --swap` makes.
//!
//! A cell is one call of one cipher over so many bytes, and is measured three ways: their cipher under their
//! mode crate, ours under their mode crate, and, where there is such a mode, ours under ours.
//!
//! ```text
//! swap [--milliseconds 40] [--bytes 1504]... [aes-128]...
//! ```
#![forbid(unsafe_code)]

mod cells;
mod timing;
mod ways;

use std::{process::ExitCode, time::Duration};

use timing::Table;

/// Time for a cell that is not slow, in milliseconds.
const MILLISECONDS: u64 = 40;

/// Every type that replaces one, under the name that bench-all knows it by: the cipher's and the bits of its
/// key.
macro_rules! ciphers {
    ($($name:literal $bits:literal: $group:ident $theirs:ty, $ours:ty;)*) => {
        /// Names of the types.
        const NAMES: &[&str] = &[$(concat!($name, "-", $bits)),*];

        /// Measures the types whose names are in `chosen`.
        fn measure(chosen: &[String], table: &mut Table) {
            $(
                if chosen.iter().any(|name| name == concat!($name, "-", $bits)) {
                    table.cipher = ($name, $bits);
                    cells::$group::<$theirs, $ours>(table);
                }
            )*
        }
    };
}
ciphers! {
    "aes" 128: siv aes::Aes128, lanecrypt_aes::Aes128;
    "aes" 192: wide aes::Aes192, lanecrypt_aes::Aes192;
    "aes" 256: siv aes::Aes256, lanecrypt_aes::Aes256;
    "aria" 128: siv aria::Aria128, lanecrypt_aria::Aria128;
    "aria" 192: wide aria::Aria192, lanecrypt_aria::Aria192;
    "aria" 256: siv aria::Aria256, lanecrypt_aria::Aria256;
    "camellia" 128: siv camellia::Camellia128, lanecrypt_camellia::Camellia128;
    "camellia" 192: wide camellia::Camellia192, lanecrypt_camellia::Camellia192;
    "camellia" 256: siv camellia::Camellia256, lanecrypt_camellia::Camellia256;
    "des" 64: narrow des::Des, lanecrypt_des::Des;
    "tdes" 128: narrow des::TdesEde2, lanecrypt_des::TdesEde2;
    "tdes" 192: narrow des::TdesEde3, lanecrypt_des::TdesEde3;
    "tdes-eee" 128: narrow des::TdesEee2, lanecrypt_des::TdesEee2;
    "tdes-eee" 192: narrow des::TdesEee3, lanecrypt_des::TdesEee3;
    "sm4" 128: wide sm4::Sm4, lanecrypt_sm4::Sm4;
}

/// Sizes where none are asked for.
const BYTES: [usize; 8] = [16, 64, 256, 576, 1504, 4096, 16 << 10, 1 << 20];

fn main() -> ExitCode {
    match arguments(std::env::args().skip(1)) {
        Ok((chosen, mut table)) => {
            measure(&chosen, &mut table);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("swap: {error}");
            ExitCode::from(2)
        }
    }
}

/// The types to measure, and an empty table with the rest of what the arguments say.
fn arguments(mut arguments: impl Iterator<Item = String>) -> Result<(Vec<String>, Table), String> {
    let (mut chosen, mut bytes, mut milliseconds) = (Vec::new(), Vec::new(), MILLISECONDS);
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let value = arguments.next().unwrap_or_default();
            value.parse::<u64>().map_err(|_| format!("{argument} wants a number, not {value:?}"))
        };
        match argument.as_str() {
            "--milliseconds" => milliseconds = number()?,
            "--bytes" => bytes.push(number()? as usize),
            name if NAMES.contains(&name) => chosen.push(argument),
            _ => return Err(format!("{argument} is none of {}", NAMES.join(", "))),
        }
    }
    if chosen.is_empty() {
        chosen = NAMES.iter().copied().map(str::to_owned).collect();
    }
    if bytes.is_empty() {
        bytes = BYTES.to_vec();
    }
    if let Some(wrong) = bytes.iter().find(|&&bytes| bytes == 0 || bytes % 16 != 0) {
        return Err(format!("{wrong} bytes are no whole blocks of 16"));
    }
    Ok((chosen, Table::new(bytes, Duration::from_millis(milliseconds))))
}
