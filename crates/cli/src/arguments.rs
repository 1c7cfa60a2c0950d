//! The command line: every command with its options, as `lanecrypt --help` shows them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use lanecrypt::{BackendChoice, gpu};

use crate::{failure::Failure, job, keysets, mount, random, raw, seal, self_test, speed, tune};

const EXAMPLES: &str = "\
Examples:
  lanecrypt keyset new my.keys                            a new key, in a file that only you may read
  lanecrypt seal --keyset my.keys disk.img disk.sealed    encrypted, and no byte of it can be changed unseen
  lanecrypt open --keyset my.keys disk.sealed disk.img
  lanecrypt open --keyset my.keys --range 4G..5G disk.sealed -   part of the file, to standard output
  lanecrypt raw ctr --cipher aria-256 --key-file k --iv 00..00 in out   a cipher in a mode, no file format
  lanecrypt random 1G --seed 7 data.bin                   random bytes, here the same on every machine
  lanecrypt speed --cipher aes-256                        how fast this machine is
  lanecrypt self-test                                     whether every cipher gives known answers here

Exit codes: 0 done, 1 reading or writing failed, 2 wrong usage, 3 not authentic, 4 no such device,
5 self-test failed, 130 interrupted. An existing file is replaced only when the new one is complete.";

/// Encrypts files and streams on all cores and on a GPU.
#[derive(Debug, Parser)]
#[command(name = "lanecrypt", version, after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

/// What of the machine is used, and what is said meanwhile.
#[derive(Clone, Debug, Args)]
pub(crate) struct Machine {
    /// Where ciphers run: `auto` (CPU or GPU, whichever is faster for each piece), `cpu`, `cuda` (the first
    /// GPU), `cuda:1` (the second) [default: auto]. For `seal`, `open`, `mount`, `raw`, `speed`, `tune` and
    /// `self-test`.
    #[arg(long, global = true, value_name = "WHERE")]
    backend: Option<BackendChoice>,
    /// Number of CPU threads [default: one per hardware thread].
    #[arg(long, global = true, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Shows no progress bar.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Seal(seal::Seal),
    Open(seal::Open),
    Keyset(keysets::Arguments),
    Job(job::Arguments),
    Mount(mount::Arguments),
    Raw(raw::Arguments),
    Random(random::Arguments),
    Speed(speed::Arguments),
    Tune(tune::Arguments),
    SelfTest(self_test::Arguments),
    /// Lists the CPU and GPUs of this machine and what each can run.
    Devices(Printed),
    /// Lists the ciphers with their key and block sizes and implementations.
    Ciphers(Printed),
    /// Writes shell completions to standard output.
    #[command(
        after_help = "Example: lanecrypt completions bash > ~/.local/share/bash-completion/completions/lanecrypt"
    )]
    Completions {
        shell: Shell,
    },
    /// Writes man pages to a folder: `lanecrypt.1` and one per command.
    Man {
        folder: PathBuf,
    },
}

/// How a list is printed.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Printed {
    /// Prints JSON, for programs.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where a key comes from.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct KeySource {
    /// File that holds the key in hexadecimal; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// File whose bytes are the key.
    #[arg(long, value_name = "FILE")]
    pub(crate) raw_key_file: Option<PathBuf>,
    /// Derives key and IV from a passphrase as `openssl enc -pbkdf2` does. The passphrase is the first line
    /// of FILE, with a carriage return where it ends with one: at most 1023 bytes and no NUL. Without FILE it
    /// is prompted for.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[allow(clippy::option_option, reason = "so clap has an option whose value may be left out")]
    pub(crate) passphrase: Option<Option<PathBuf>>,
}

impl Command {
    /// Whether `--backend` says where it runs.
    fn has_backend(&self) -> bool {
        match self {
            Self::Seal(_)
            | Self::Open(_)
            | Self::Mount(_)
            | Self::Raw(_)
            | Self::Speed(_)
            | Self::Tune(_)
            | Self::SelfTest(_) => true,
            Self::Keyset(_)
            | Self::Job(_)
            | Self::Random(_)
            | Self::Devices(_)
            | Self::Ciphers(_)
            | Self::Completions { .. }
            | Self::Man { .. } => false,
        }
    }
}

impl Arguments {
    /// Fails where `--backend` is given to a command that does not run there.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.machine.backend.is_some() && !self.command.has_backend() {
            let text = "--backend: this command runs no cipher on what it names; leave it out";
            return Err(Failure::Usage(text.to_owned()));
        }
        Ok(())
    }
}

impl Machine {
    /// Where ciphers run.
    pub(crate) fn backend(&self) -> BackendChoice {
        self.backend.unwrap_or(BackendChoice::Auto)
    }

    /// The backend that seals and opens files.
    ///
    /// # Errors
    /// [`Failure::NoDevice`] if the requested GPU does not exist.
    pub(crate) fn sealing(&self) -> Result<Box<dyn lanecrypt_tink::SegmentRunner>, Failure> {
        match self.backend() {
            BackendChoice::Auto | BackendChoice::Cpu => {
                Ok(Box::new(lanecrypt_tink::Cpu::new(self.threads.unwrap_or(0))))
            }
            BackendChoice::Cuda(number) => Ok(Box::new(lanecrypt_tink::Cuda::new(&gpu(number)?)?)),
        }
    }
}
