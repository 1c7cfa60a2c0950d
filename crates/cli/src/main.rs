//! The command `lanecrypt`. See `lanecrypt --help`, and README.md beside this crate's Cargo.toml.
#![forbid(unsafe_code)]

mod arguments;
mod documents;
mod failure;
mod file;
mod job;
mod keysets;
mod lists;
mod mount;
mod progress;
mod pump;
mod random;
mod raw;
mod seal;
mod secret;
mod self_test;
mod signals;
mod speed;
mod threads;
mod tune;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use failure::{Failure, complain};

fn main() -> ExitCode {
    let arguments = Arguments::parse(); // wrong usage ends here, with exit code 2
    signals::end_when_interrupted();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        // The same Ctrl-C may have cut off the input.
        Err(Failure::NotAuthentic(_)) if signals::check().is_err() => {
            complain(Failure::Interrupted);
            Failure::Interrupted.exit_code()
        }
        Err(failure) => {
            complain(&failure);
            failure.exit_code()
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.check()?;
    let Arguments { command, machine } = arguments;
    threads::set_threads(machine.threads)?;
    match command {
        Command::Seal(arguments) => arguments.run(machine),
        Command::Open(arguments) => arguments.run(machine),
        Command::Keyset(arguments) => arguments.run(),
        Command::Job(arguments) => arguments.run(),
        Command::Mount(arguments) => arguments.run(machine),
        Command::Raw(arguments) => arguments.run(machine),
        Command::Random(arguments) => arguments.run(machine),
        Command::Speed(arguments) => arguments.run(machine),
        Command::Tune(arguments) => arguments.run(machine),
        Command::SelfTest(arguments) => arguments.run(machine),
        Command::Devices(printed) => lists::devices(*printed),
        Command::Ciphers(printed) => lists::ciphers(*printed),
        Command::Completions { shell } => documents::completions(*shell),
        Command::Man { folder } => documents::man_pages(folder),
    }
}
