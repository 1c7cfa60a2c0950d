//! The command line of `kat`.

use std::{
    env,
    fs::File,
    io::{self, IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::{Parser, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lanecrypt::{CIPHERS, Platform};

use super::{Limits, Names, Report, Selection, Target, print, run, sources};
use crate::size::parse_bytes;

/// The exit code of a command line that cannot be followed.
const USAGE: u8 = 2;

const DETAILS: &str = "\
Runs every backend of every cipher over vector files of the format bcv1 (vectors/README.md). Each \
vector must encrypt to its ciphertext and decrypt to its plaintext, in place and out of place; \
Monte Carlo steps must end as the file says; long messages must have the file's digest and come \
back.

A case is one line on one backend. Lines of ciphers or modes that are not known here count as \
skipped, once each; lines that cannot be read count as failed.";

const EXAMPLES: &str = "\
Examples:
  kat                                        all files under vectors/, on all backends
  kat --cipher aes --backend cuda-bitslice   one cipher on one backend
  kat --platform host --list                 names of the backends of the kernels' host build
  kat --max-bytes 8G vectors/big             the messages over 4 GiB too
  kat --json report.json ~/more-vectors      somebody else's vectors, and a report for programs

Environment:
  LANECRYPT_EXPECT=ID,ID   backends that must be able to run here: if not, their cases fail
  LANECRYPT_HOST_KERNELS   the library of the kernels compiled for this CPU (host-* backends)
  LANECRYPT_DEVICE         the number of the GPU to use

Exit codes: 0 nothing failed, 1 something failed, 2 the command line is wrong.";

/// Known-answer tests of every backend of every cipher.
#[derive(Clone, Debug, Parser)]
#[command(name = "kat", version, long_about = DETAILS, after_long_help = EXAMPLES)]
#[command(after_help = "kat --help shows examples")]
pub struct Arguments {
    /// Files, or folders of which all *.txt files are read.
    #[arg(value_name = "DIR|FILE", default_value = "vectors")]
    paths: Vec<PathBuf>,

    /// Runs only this backend (may be repeated): cuda-bitslice, or aes/cuda-bitslice.
    #[arg(long = "backend", value_name = "ID")]
    backends: Vec<String>,

    /// Runs only this cipher (may be repeated); files of others are left out.
    #[arg(long = "cipher", value_name = "NAME")]
    ciphers: Vec<String>,

    /// Runs only the backends of this platform.
    #[arg(long, value_name = "NAME")]
    platform: Option<PlatformName>,

    /// Prints the chosen backends, a CIPHER/ID a line, and runs nothing.
    #[arg(long)]
    list: bool,

    /// Leaves out long messages over N bytes; suffixes K, M and G are powers of 1024.
    ///
    /// 64M by default, and less where that would take long: 1 MiB on the reference; 1 MiB in CBC
    /// on GPUs, for CBC encrypts a block a launch; on the host build of the kernels (an emulator) 1
    /// MiB, none in CBC, and no ordinary CBC vectors over 16 blocks. N given here holds everywhere.
    #[arg(long, value_name = "N", value_parser = parse_bytes)]
    max_bytes: Option<u64>,

    /// Runs all Monte Carlo steps on GPUs and the host build of the kernels, not the first 6 of a
    /// file there and 2 here.
    #[arg(long)]
    all_mct: bool,

    /// Writes the report to FILE as JSON too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A platform on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum PlatformName {
    /// This CPU.
    Cpu,
    /// NVIDIA GPUs.
    Cuda,
    /// The kernels compiled for this CPU.
    Host,
}

impl From<PlatformName> for Platform {
    fn from(name: PlatformName) -> Self {
        match name {
            PlatformName::Cpu => Self::Cpu,
            PlatformName::Cuda => Self::Cuda,
            PlatformName::Host => Self::CudaOnHost,
        }
    }
}

impl Arguments {
    /// Does what the command line says; the exit code of the process.
    #[must_use]
    pub fn execute(&self) -> ExitCode {
        match self.execute_checked() {
            Ok(failed) => ExitCode::from(u8::from(failed > 0)),
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::from(USAGE)
            }
        }
    }

    /// The number of failed cases.
    fn execute_checked(&self) -> Result<usize, String> {
        let selection =
            Selection::new(CIPHERS, &self.names()).map_err(|error| error.to_string())?;
        if self.list {
            let line = |target: &Target| target.name() + "\n";
            print_out(&selection.targets().iter().map(line).collect::<String>());
            return Ok(0);
        }
        self.report(&selection).map(|report| report.total.failed)
    }

    fn report(&self, selection: &Selection) -> Result<Report, String> {
        // Opened first, so that a wrong path is known before a long run and not after it.
        let json = self.json.as_ref().map(|path| {
            let file = File::create(path);
            file.map_err(|error| format!("cannot write {}: {error}", path.display()))
        });
        let json = json.transpose()?;
        let limits = Limits { max_bytes: self.max_bytes, all_chains: self.all_mct };
        let report = run(&sources::read(&self.paths), selection, &limits, &progress_bar());
        print_out(&print::render(&report, io::stdout().is_terminal()));
        if let Some(mut file) = json {
            let written = serde_json::to_writer_pretty(&mut file, &report).map_err(io::Error::from);
            written
                .and_then(|()| file.write_all(b"\n"))
                .map_err(|error| format!("cannot write the JSON report: {error}"))?;
        }
        Ok(report)
    }

    fn names(&self) -> Names {
        let expected = env::var("LANECRYPT_EXPECT").unwrap_or_default();
        let ids = expected.split(',').map(str::trim).filter(|id| !id.is_empty());
        Names {
            ciphers: self.ciphers.clone(),
            backends: self.backends.clone(),
            platform: self.platform.map(Platform::from),
            expected: ids.map(str::to_owned).collect(),
        }
    }
}

/// Writes to standard output. Whoever closes the pipe has read enough; the exit code still tells.
fn print_out(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

/// A bar on standard error where that is a terminal.
fn progress_bar() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} cases, {eta}");
    let style = style.expect("the template is a good one");
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
}
