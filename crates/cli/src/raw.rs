//! `lanecrypt raw`: a cipher and a mode over a stream of bytes, as other programs write them.

mod key;
mod message;
mod stream;

use std::{ops::RangeInclusive, path::PathBuf};

use clap::{Args, ValueEnum};
use lanecrypt::{CipherName, size::parse_bytes};

use crate::{
    arguments::{KeySource, Machine},
    failure::Failure,
    file::{Input, Output},
    progress::Progress,
};

const ADVICE: &str = "\
The output is that of `openssl enc`, or of the same mode in any other program. Only three things are added: the padding
of ECB and CBC (--no-padding leaves it out), the salt at the start if a passphrase is used, and GCM's tag of 16 bytes
at the end.

Changes to such bytes go undetected, except in GCM. To protect files against changes, use `lanecrypt seal`.
Using the same key and IV for two messages in CTR, OFB or GCM reveals both.

Examples:
  lanecrypt raw ctr --cipher aria-256 --key-file k --iv 000102030405060708090a0b0c0d0e0f plain secret
  lanecrypt raw cbc -d --cipher camellia-128 --passphrase=pw.txt secret plain
  lanecrypt raw xts --cipher aes-256 --key-file k --unit 512 --first-unit 0 disk.img disk.xts
  openssl enc -aria-256-ctr -pbkdf2 -in plain | lanecrypt raw ctr -d --cipher aria-256 --passphrase";

/// Bytes that a data unit of XTS may have.
const UNITS: RangeInclusive<u64> = 16..=16 << 20;
/// Those that it has where none are given.
const UNIT: u64 = 512;

/// Runs a cipher in a mode over a file or stream, without a file format or (except in GCM) authentication.
#[derive(Debug, Args)]
#[command(after_help = ADVICE)]
pub(crate) struct Arguments {
    /// Mode of operation.
    mode: RawMode,
    /// Cipher and key size, as listed by `lanecrypt ciphers`.
    #[arg(long, short, value_name = "NAME")]
    cipher: CipherName,
    /// Decrypts instead of encrypting.
    #[arg(long, short)]
    decrypt: bool,
    #[command(flatten)]
    key: KeySource,
    /// IV, counter or nonce in hexadecimal: one block; in GCM any length, usually 12 bytes.
    #[arg(long, value_name = "HEX")]
    iv: Option<String>,
    /// PBKDF2 iterations, with --passphrase [default: 10000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    iterations: Option<u32>,
    /// ECB and CBC: no padding; the input must be whole blocks.
    #[arg(long)]
    no_padding: bool,
    /// XTS: bytes per data unit (disk sector) [default: 512].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    unit: Option<u64>,
    /// XTS: number of the first data unit [default: 0].
    #[arg(long, value_name = "N")]
    first_unit: Option<u128>,
    /// GCM: file that is authenticated with the message.
    #[arg(long, value_name = "FILE")]
    ad: Option<PathBuf>,
    /// File to read; `-` is standard input.
    #[arg(default_value = "-")]
    input: PathBuf,
    /// File to write; `-`, or no file, is standard output.
    output: Option<PathBuf>,
}

/// The modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RawMode {
    Ecb,
    Cbc,
    Cfb,
    Ofb,
    Ctr,
    Xts,
    Gcm,
}

impl Arguments {
    pub(crate) fn run(&self, machine: &Machine) -> Result<(), Failure> {
        self.check()?;
        let mut input = Input::open(&self.input)?;
        let mut output = Output::create(self.output.as_deref())?;
        let keyed = key::of(self, &mut input, &mut output)?;
        let progress = Progress::over(machine, input.length());
        match self.mode {
            RawMode::Gcm => message::run(self, machine, &keyed, &mut input, &mut output)?,
            _ => stream::run(self, machine, &keyed, &mut input, &mut output, &progress)?,
        }
        output.commit()
    }

    /// Options that belong to other modes are mistakes.
    fn check(&self) -> Result<(), Failure> {
        use RawMode::{Cbc, Ecb, Gcm, Xts};
        let is = |modes: &[RawMode]| modes.contains(&self.mode);
        let has_passphrase = self.key.passphrase.is_some();
        let of_openssl = "--passphrase is for the modes that `openssl enc` has; name a --key-file";
        let mistakes = [
            (self.iv.is_some() && is(&[Ecb, Xts]), "this mode has no --iv"),
            (self.no_padding && !is(&[Ecb, Cbc]), "--no-padding is for ecb and cbc"),
            (self.unit.is_some() && !is(&[Xts]), "--unit is for xts"),
            (self.first_unit.is_some() && !is(&[Xts]), "--first-unit is for xts"),
            (
                self.unit.is_some_and(|unit| !UNITS.contains(&unit)),
                "--unit: a data unit of XTS has 16 bytes to 16 MiB (IEEE 1619)",
            ),
            (self.ad.is_some() && !is(&[Gcm]), "--ad is for gcm"),
            (has_passphrase && is(&[Xts, Gcm]), of_openssl),
            (self.iterations.is_some() && !has_passphrase, "--iterations is for --passphrase"),
            (
                self.iv.is_some() && has_passphrase,
                "with --passphrase the IV is derived, too: leave --iv out",
            ),
        ];
        if let Some((_, text)) = mistakes.into_iter().find(|(is_mistake, _)| *is_mistake) {
            return Err(Failure::Usage(text.to_owned()));
        }
        if is(&[Xts, Gcm]) && self.cipher.cipher.block_bytes != 16 {
            let cipher = self.cipher;
            let text = format!("{cipher} has blocks of 8 bytes; this mode takes blocks of 16");
            return Err(Failure::Usage(text));
        }
        Ok(())
    }
}
