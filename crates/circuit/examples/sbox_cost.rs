//! What a small S-box costs a bit-sliced cipher, before anything of the cipher is written: a short search for its circuits.
//!
//! `cargo run --release -p lanecrypt-circuit --example sbox_cost -- C56B90AD3EF84712`
//!
//! The argument is the table, a hexadecimal digit for each entry: 16 for four input bits, 64 for six. A longer search
//! may find less; `des_search` is one.

use std::{env, process};

use lanecrypt_circuit::{
    lut::Effort,
    small::{Gates, search},
};

/// Seeds that are tried, and the steps of each: some seconds in all.
const SEEDS: u64 = 8;
const STEPS: u64 = 100_000;
/// Bits of a hexadecimal digit.
const OUTPUTS: usize = 4;

fn main() {
    let digits = env::args().nth(1).unwrap_or_default();
    let table: Option<Vec<u8>> =
        digits.chars().map(|digit| digit.to_digit(16).map(|value| value as u8)).collect();
    let Some(table) = table.filter(|table| [4, 8, 16, 32, 64].contains(&table.len())) else {
        eprintln!("usage: sbox_cost TABLE, a hexadecimal digit for each of up to 64 entries");
        process::exit(2);
    };
    for (name, gates) in [("two inputs", Gates::TwoInput), ("three inputs", Gates::Lookups)] {
        let of_seed = |seed| {
            let effort = Effort { seed, steps: STEPS };
            let circuit = search(&table, OUTPUTS, gates, effort, ("sbox", &[])).ok()?;
            circuit.prove(&table).ok().map(|()| circuit.counts().total())
        };
        match (1..=SEEDS).filter_map(of_seed).min() {
            Some(count) => println!("gates of {name}: {count}"),
            None => println!("gates of {name}: none found; is an output constant?"),
        }
    }
}
