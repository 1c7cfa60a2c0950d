//! `bench-all`: measures every backend and writes a report. `bench-all --help` says how.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    lanecrypt_benches::bench::run()
}
