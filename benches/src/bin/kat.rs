//! `kat`: known-answer tests of every backend. See `kat --help` and `lanecrypt_benches::kat`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use lanecrypt_benches::kat::command::Arguments;

fn main() -> ExitCode {
    Arguments::parse().execute()
}
