//! The command line of `kat`.

use std::{
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    process::{self, ExitCode},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use clap::{Parser, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lanecrypt::{
    CIPHERS,
    registry::{Platform, Selection},
};
use lanecrypt_record::{Unfinished, replace};

use super::{Limits, Names, Report, Tally, Targets, acvp, print, run, sources};
use crate::size::parse_bytes;

/// The exit code of a command line that cannot be followed.
const USAGE: u8 = 2;
/// The exit code of a run that was ended by Ctrl-C or a signal, as shells have it.
const INTERRUPTION: u8 = 130;

/// Set by Ctrl-C or a signal: cases that run end, and no others begin.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Between two lines that say how far a run is, where there is no terminal for a bar.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

const DETAILS: &str = "\
Runs every backend of every cipher over vector files of the format bcv1 (vectors/README.md). Each \
vector must encrypt to its ciphertext and decrypt to its plaintext, in place and out of place; \
Monte Carlo steps must end as the file says; long messages must have the file's digest and come \
back.

A case is one line on one backend. Lines of unknown ciphers or modes count as skipped, once each; \
lines that cannot be read count as failed. If a folder has a SHA256SUMS, files that do not match it \
count as failed, too.";

const EXAMPLES: &str = "\
Examples:
  kat                                        all files under vectors/, on all backends
  kat --cipher aes --backend cuda-bitslice   one cipher on one backend
  kat --platform host --list                 names of the backends of the kernels' host build
  kat --max-bytes 8G vectors/big             the messages over 4 GiB too
  kat --json report.json ~/more-vectors      other vectors, and a report for programs
  kat --acvp prompt.json > response.json     answers what NIST's ACVP asks
  kat --backend table32 --acvp prompt.json   the same, with another backend

Environment:
  LANECRYPT_EXPECT=LIST    backends that must be able to run here, as ID,CIPHER/ID: if one is not,
                           its cases fail
  LANECRYPT_HOST_KERNELS   the library of the kernels compiled for this CPU (host-* backends)
  LANECRYPT_DEVICE         the number of the GPU to use

Ctrl-C ends the run and prints what ran until then; twice, it ends at once.

Exit codes: 0 all that ran passed, 1 something failed or nothing ran, 2 the command line,
LANECRYPT_EXPECT or a prompt is wrong, 130 the run was interrupted.";

/// Known-answer tests of every backend of every cipher.
#[derive(Clone, Debug, Parser)]
#[command(name = "kat", version, long_about = DETAILS, after_long_help = EXAMPLES)]
#[command(after_help = "kat --help shows examples")]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct Arguments {
    /// Files, or folders whose *.txt files are read.
    #[arg(value_name = "DIR|FILE", default_value = "vectors")]
    paths: Vec<PathBuf>,

    /// Runs only these backends (may be repeated): cuda-bitslice, or aes/cuda-bitslice,aes/table32.
    #[arg(long = "backend", value_name = "LIST")]
    backends: Vec<String>,

    /// Runs only this cipher (may be repeated); files of others are left out.
    #[arg(long = "cipher", value_name = "NAME")]
    ciphers: Vec<String>,

    /// Runs only the backends of this platform.
    #[arg(long, value_name = "NAME")]
    platform: Option<PlatformName>,

    /// Prints the chosen backends, one CIPHER/ID per line, and runs nothing.
    #[arg(long)]
    list: bool,

    /// Prints the chosen backends that must run without a GPU: neither GPU backends nor those whose
    /// instructions this CPU lacks.
    #[arg(long, conflicts_with = "list")]
    list_required: bool,

    /// Leaves out long messages over N bytes; suffixes K, M and G are powers of 1024.
    ///
    /// The default is 64M, but less where 64M would take long: 1 MiB on the reference; 1 MiB in CBC, which
    /// encrypts one block at a time, on backends with long batches and on GPUs, where each block takes a
    /// launch; on the host build of the kernels (an emulator) 1 MiB, none in CBC, and no ordinary vectors of CBC
    /// and CCM over 8 blocks. N applies to every backend.
    #[arg(long, value_name = "N", value_parser = parse_bytes)]
    max_bytes: Option<u64>,

    /// Runs every line on every backend.
    ///
    /// By default, on the host build, each line runs on one of a cipher's families, chosen by a hash of its
    /// name; each family runs at least one line of every mode, key size, length and source in a file. GPU
    /// families share Monte Carlo steps and CBC messages in the same manner, since these take one launch
    /// per block. On the CPU, each backend runs one of the messages over 1 MiB in each mode.
    #[arg(long)]
    all_vectors: bool,

    /// Runs all Monte Carlo steps on the host build of the kernels, not only the first 2 of each file.
    #[arg(long)]
    all_mct: bool,

    /// Also writes the report to FILE as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Answers prompts of NIST's ACVP instead: prints the response to one prompt.
    ///
    /// AES in ECB, CBC, CFB128, OFB, CTR, XTS, GCM, CCM, GCM-SIV, GMAC, CMAC and ctrDRBG, triple DES in ECB, CBC, CFB64,
    /// OFB, CTR and CMAC; functional and Monte Carlo tests. Others are refused, such as CFB1, CFB8, CBC-CS and KW: the
    /// library does not have these modes. Each backend that --backend names computes the answer, and all must agree;
    /// without it, the fastest of this CPU does. GCM-SIV and ctrDRBG run with aes/default alone.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["json", "list", "list_required"])]
    acvp: Vec<PathBuf>,

    /// Writes each response beside its prompt, the word `prompt` in its name being `response` there.
    #[arg(long, requires = "acvp")]
    beside: bool,
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
    /// Any GPU through Vulkan, Metal, DirectX 12 or OpenGL.
    Wgpu,
}

impl From<PlatformName> for Platform {
    fn from(name: PlatformName) -> Self {
        match name {
            PlatformName::Cpu => Self::Cpu,
            PlatformName::Cuda => Self::Cuda,
            PlatformName::Host => Self::CudaOnHost,
            PlatformName::Wgpu => Self::Wgpu,
        }
    }
}

impl Arguments {
    /// Does what the command line says; the exit code of the process.
    #[must_use]
    pub fn execute(&self) -> ExitCode {
        self.execute_checked().unwrap_or_else(|error| {
            eprintln!("error: {error}");
            ExitCode::from(USAGE)
        })
    }

    fn execute_checked(&self) -> Result<ExitCode, String> {
        let targets = Targets::new(CIPHERS, &self.names()?).map_err(|error| error.to_string())?;
        if self.list || self.list_required {
            let listed = targets.all().iter().filter(|target| self.list || target.is_required());
            print_out(&listed.map(|target| target.name() + "\n").collect::<String>());
            return Ok(ExitCode::SUCCESS);
        }
        if !self.acvp.is_empty() {
            return self.answer_prompts(&targets);
        }
        let Tally { passed, failed, skipped } = self.report(&targets)?.total;
        if INTERRUPTED.load(Ordering::Relaxed) {
            eprintln!("error: interrupted: what is above ran until then");
            return Ok(ExitCode::from(INTERRUPTION));
        }
        if passed + failed == 0 {
            eprintln!(
                "error: nothing was run: {}",
                match skipped {
                    0 => "no file has a line for a chosen cipher",
                    _ => "every line was skipped",
                }
            );
        }
        Ok(ExitCode::from(u8::from(failed > 0 || passed == 0)))
    }

    /// Responses to the prompts of `--acvp`.
    fn answer_prompts(&self, targets: &Targets) -> Result<ExitCode, String> {
        if self.acvp.len() > 1 && !self.beside {
            return Err("more than one prompt wants --beside".into());
        }
        // All names first, so that a wrong one is known before a long run.
        let prompts: Vec<(&PathBuf, Option<PathBuf>)> = self
            .acvp
            .iter()
            .map(|path| Ok((path, self.beside.then(|| response_beside(path)).transpose()?)))
            .collect::<Result<_, String>>()?;
        for (path, beside) in prompts {
            match (acvp::answer_file(path, targets), beside) {
                (Ok(response), None) => print_out(&response),
                (Ok(response), Some(beside)) => replace(&beside, &response)
                    .map_err(|error| format!("cannot write {}: {error}", beside.display()))?,
                (Err(error), _) if error.is_of_the_prompt() => {
                    return Err(format!("{}: {error}", path.display()));
                }
                (Err(error), _) => {
                    eprintln!("error: {}: {error}", path.display());
                    return Ok(ExitCode::FAILURE);
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn report(&self, targets: &Targets) -> Result<Report, String> {
        // Opened first, so that a wrong path is known before a long run and not after it.
        let json = self.json.as_ref().map(|path| {
            let file = Unfinished::create(path);
            file.map_err(|error| format!("cannot write {}: {error}", path.display()))
        });
        let json = json.transpose()?;
        let limits = Limits {
            max_bytes: self.max_bytes,
            all_chains: self.all_mct,
            all_vectors: self.all_vectors,
            interrupted: Some(&INTERRUPTED),
        };
        catch_interruptions();
        let sources = sources::read(&self.paths);
        let report = with_progress(|progress| run(&sources, targets, &limits, progress));
        print_out(&print::render(&report, io::stdout().is_terminal()));
        if let Some(file) = json {
            let text = serde_json::to_string_pretty(&report).map_err(io::Error::from);
            text.and_then(|text| file.finish(format!("{text}\n").as_bytes()))
                .map_err(|error| format!("cannot write the JSON report: {error}"))?;
        }
        Ok(report)
    }

    fn names(&self) -> Result<Names, String> {
        Ok(Names {
            ciphers: self.ciphers.clone(),
            backends: self.backends.clone(),
            platform: self.platform.map(Platform::from),
            expected: Selection::expected().map_err(|error| error.to_string())?,
        })
    }
}

/// Where the response to a prompt goes.
fn response_beside(prompt: &Path) -> Result<PathBuf, String> {
    let name = prompt.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name.contains("prompt") {
        return Ok(prompt.with_file_name(name.replace("prompt", "response")));
    }
    Err(format!("{}: --beside wants the word `prompt` in the name", prompt.display()))
}

/// Writes to standard output. Whoever closes the pipe has read enough; the exit code still tells.
fn print_out(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

/// The first one ends the run where it is, the second one the process.
fn catch_interruptions() {
    let caught = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            process::exit(INTERRUPTION.into());
        }
    });
    if let Err(error) = caught {
        eprintln!("Ctrl-C ends the run without a report: {error}");
    }
}

/// Runs something that counts cases: a bar on standard error where that is a terminal, and elsewhere a line
/// from time to time.
fn with_progress<T>(work: impl FnOnce(&ProgressBar) -> T) -> T {
    if io::stderr().is_terminal() {
        let style = ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} cases, {eta}");
        let style = style.expect("the template is a good one");
        let target = ProgressDrawTarget::stderr();
        return work(&ProgressBar::with_draw_target(None, target).with_style(style));
    }
    let bar = ProgressBar::hidden();
    thread::scope(|scope| {
        // Dropped when the work is done, which ends the thread at once.
        let (_is_running, ended) = mpsc::channel::<()>();
        let shown = bar.clone();
        scope.spawn(move || {
            while ended.recv_timeout(BETWEEN_LINES) == Err(RecvTimeoutError::Timeout) {
                eprintln!("kat: {} of {} cases", shown.position(), shown.length().unwrap_or(0));
            }
        });
        work(&bar)
    })
}
