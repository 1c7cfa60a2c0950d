//! Streams of bytes through a cipher: readers and writers for files, sockets and whatever else has no
//! slice to give, in pieces that are worth several threads, or a way to a GPU.
//!
//! ```
//! use std::io::{Read, Write};
//!
//! use lanecrypt::{Ctr, engine, io::{Reader, Writer}};
//!
//! let mode = || Ctr::new(engine("aes", "default", &[7; 32]).unwrap(), &[0; 16]);
//! let mut writer = Writer::new(Vec::new(), mode()?);
//! writer.write_all(b"a file, a line at a time")?;
//! let sealed = writer.finish()?;
//!
//! let mut opened = String::new();
//! Reader::new(&sealed[..], mode()?).read_to_string(&mut opened)?;
//! assert_eq!(opened, "a file, a line at a time");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The engine may be any [`Engine`](crate::Engine). On a GPU, pieces of [`PIECE_BYTES`] pass it nearly as fast
//! as one long message.
//!
//! What is streamed is used before its end is known: so there is no GCM here, and whoever needs to know that
//! the bytes were not changed seals pieces of their own.

mod buffer;
mod modes;
mod reader;
mod stages;
mod writer;

use std::io;

pub use self::{
    modes::{ChainedStream, Ecb, RunsUnits, StreamMode, XtsUnits},
    reader::Reader,
    stages::{Lookahead, in_stages},
    writer::Writer,
};
use crate::Error;

/// Bytes of a piece, where no other number is set.
pub const PIECE_BYTES: usize = 64 << 20;

/// An error of a mode as one of a stream: of data that a mode does not take, or of the engine.
fn io_error(error: Error) -> io::Error {
    let kind = match error {
        Error::NotWholeBlocks { .. }
        | Error::DataUnitLength { .. }
        | Error::KeystreamEnd { .. }
        | Error::BlockLength { .. } => io::ErrorKind::InvalidData,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

/// The error of a stream after one of its mode: what was transformed then is nobody's to use.
fn broken() -> io::Error {
    io::Error::other("this stream ended with an error of its cipher")
}
