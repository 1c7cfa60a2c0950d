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

/// A source that gives a little at a time, as a socket does.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let few = to.len().min(1000);
        self.0.read(&mut to[..few])
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (key, iv) = ([7; 32], [1; 16]);

    // Any writer: lines are gathered, and pass the cipher in pieces that are worth all cores.
    let mut writer = Writer::new(Vec::new(), Ctr::new(engine("aes", "default", &key)?, &iv)?);
    for number in 0..100_000 {
        writeln!(writer, "line {number}")?;
    }
    let sealed = writer.finish()?; // without it the last piece is not written

    let mode = Ctr::new(engine("aes", "default", &key)?, &iv)?;
    let mut reader = Reader::new(Trickle(&sealed), mode);
    let mut opened = String::new();
    reader.read_to_string(&mut opened)?;
    println!("{} bytes, {} lines", sealed.len(), opened.lines().count());
    assert_eq!(opened.lines().last(), Some("line 99999"));

    // Nothing here notices a change: files that must be what they were are sealed by `lanecrypt-tink`.
    Ok(())
}
