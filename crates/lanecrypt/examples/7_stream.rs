//! A stream of bytes through a cipher: files and sockets, whose length is not known. Runs without a GPU.
//!
//! `cargo run --package lanecrypt --example 7_stream`

use std::{
    error::Error,
    io::{self, Read, Write},
};

use lanecrypt::{
    Ctr, engine,
    io::{Reader, Writer},
};

fn main() -> Result<(), Box<dyn Error>> {
    let (key, iv) = ([7; 32], [1; 16]);

    // Any writer: lines are gathered, and pass the cipher in pieces that are worth all cores.
    let mut writer = Writer::new(Vec::new(), Ctr::new(engine("aes", "default", &key)?, &iv)?);
    for number in 0..100_000 {
        writeln!(writer, "line {number}")?;
    }
    let sealed = writer.finish()?; // without it the last piece is not written

    // Any reader, which may give as little at a time as it likes.
    let inner = sealed
        .chunks(1000)
        .fold(Box::new(io::empty()) as Box<dyn Read>, |all, next| Box::new(all.chain(next)));
    let mut reader = Reader::new(inner, Ctr::new(engine("aes", "default", &key)?, &iv)?);
    let mut opened = String::new();
    reader.read_to_string(&mut opened)?;
    println!("{} bytes, {} lines", sealed.len(), opened.lines().count());
    assert_eq!(opened.lines().last(), Some("line 99999"));

    // Nothing here notices a change: files that must be what they were are sealed by `lanecrypt-tink`.
    Ok(())
}
