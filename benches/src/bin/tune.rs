//! `tune`: measures how this machine runs kernels fastest. See `tune --help` and `lanecrypt::tuning`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use lanecrypt_benches::tune::Arguments;

fn main() -> ExitCode {
    Arguments::parse().execute()
}
