//! `lanecrypt seal` and `lanecrypt open`: files that nobody reads or changes unseen.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use clap::Args;
use lanecrypt::size::parse_bytes;
use lanecrypt_tink::{
    Keyset, Options, Sealed, open_file, open_regular, open_stream, seal_file, seal_stream,
};

use crate::{
    arguments::Machine,
    failure::Failure,
    file::{Input, Output},
    job,
    keysets::Source,
    progress::Progress,
    signals::{cancelled, goes_between_files},
};

const SEAL_ADVICE: &str = "\
The format is Tink's streaming AEAD: segments of 1 MiB (or as the keyset says), each encrypted and authenticated by
AES-GCM, or by AES-CTR and HMAC. Tink's libraries open it, in any language.

Examples:
  lanecrypt seal --keyset my.keys disk.img disk.sealed
  tar c folder | lanecrypt seal --keyset my.keys - folder.sealed
  lanecrypt seal --keyset my.keys --job job.json --part 3/8 disk.img disk.sealed     see `lanecrypt job`";

const OPEN_ADVICE: &str = "\
A file is there when all of it was found authentic; to standard output goes what is authentic so far, and the exit
code says whether that was all: 3 if not.

Examples:
  lanecrypt open --keyset my.keys disk.sealed disk.img
  lanecrypt open --keyset my.keys --sparse disk.sealed disk.img        holes where there are only zeros
  lanecrypt open --keyset my.keys --range 4G..4100M disk.sealed -      reads nothing else";

/// Seals a file or a stream: encrypts it, and makes every change of it noticed.
#[derive(Debug, Args)]
#[command(after_help = SEAL_ADVICE)]
pub(crate) struct Seal {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    context: Context,
    /// A job, of which only a part is sealed now.
    #[arg(long, value_name = "FILE", requires = "part")]
    job: Option<PathBuf>,
    /// Which part: the third of eight is 3/8.
    #[arg(long, value_name = "I/N", requires = "job")]
    part: Option<job::Part>,
    /// What is sealed; `-` is standard input.
    #[arg(default_value = "-")]
    input: PathBuf,
    /// What is written; `-` is standard output, and so it is where no file is named.
    output: Option<PathBuf>,
}

/// Opens a sealed file or stream, or a part of a file.
#[derive(Debug, Args)]
#[command(after_help = OPEN_ADVICE)]
pub(crate) struct Open {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    context: Context,
    /// Only these bytes of the plaintext: from the first to before the second, with K, M, G, T; either may
    /// be left out.
    #[arg(long, value_name = "A..B", value_parser = range)]
    range: Option<(u64, Option<u64>)>,
    /// Leaves holes in the output where there is nothing but zeros.
    #[arg(long)]
    sparse: bool,
    /// What is opened; `-` is standard input.
    #[arg(default_value = "-")]
    input: PathBuf,
    /// What is written; `-` is standard output, and so it is where no file is named.
    output: Option<PathBuf>,
}

/// What is authenticated beside the plaintext.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Context {
    /// A text that is authenticated with the file: who opens it must give the same.
    #[arg(long, value_name = "TEXT")]
    ad: Option<String>,
    /// The same from a file.
    #[arg(long, value_name = "FILE")]
    ad_file: Option<PathBuf>,
}

impl Context {
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, Failure> {
        match (&self.ad, &self.ad_file) {
            (Some(text), _) => Ok(text.clone().into_bytes()),
            (None, Some(file)) => std::fs::read(file).map_err(Failure::of(file.display())),
            (None, None) => Ok(Vec::new()),
        }
    }
}

fn range(text: &str) -> Result<(u64, Option<u64>), String> {
    let (start, end) = text.split_once("..").ok_or("a range is written as 0..100 or 4G..")?;
    let start = if start.is_empty() { 0 } else { parse_bytes(start)? };
    let end = if end.is_empty() { None } else { Some(parse_bytes(end)?) };
    if end.is_some_and(|end| end < start) {
        return Err("it ends before it begins".to_owned());
    }
    Ok((start, end))
}

/// The output, if both ends are files, which can be read and written at any place.
fn between_files<'a>(input: &Path, output: Option<&'a Path>) -> Option<&'a Path> {
    let is_special = |path: &Path| {
        path.as_os_str() == "-" || path.metadata().is_ok_and(|about| !about.is_file())
    };
    output.filter(|output| !is_special(input) && !is_special(output))
}

impl Seal {
    pub(crate) fn run(&self, machine: &Machine) -> Result<(), Failure> {
        let keyset = self.source.read()?;
        let ad = self.context.bytes()?;
        if let (Some(file), Some(part)) = (&self.job, self.part) {
            if !ad.is_empty() {
                let text = "--ad belongs to `lanecrypt job new`: the job has it";
                return Err(Failure::Usage(text.to_owned()));
            }
            let Some(output) = self.output.as_deref() else {
                let text = "--job: name the input and the output of the job";
                return Err(Failure::Usage(text.to_owned()));
            };
            return job::seal_part(&keyset, file, part, (&self.input, output), machine);
        }
        if let Some(output) = between_files(&self.input, self.output.as_deref()) {
            goes_between_files();
            let bytes = Input::open(&self.input)?.length();
            return with_options(machine, bytes, &ad, false, |options| {
                seal_file(&keyset, &self.input, output, options).map(drop)
            });
        }
        let (input, mut output) =
            (Input::open(&self.input)?, Output::create(self.output.as_deref())?);
        with_options(machine, input.length(), &ad, false, |options| {
            seal_stream(&keyset, input, &mut output, options).map(drop)
        })?;
        output.commit()
    }
}

impl Open {
    pub(crate) fn run(&self, machine: &Machine) -> Result<(), Failure> {
        let keyset = self.source.read()?;
        let ad = self.context.bytes()?;
        if let Some(range) = self.range {
            return self.run_range(&keyset, &ad, range, machine);
        }
        if let Some(output) = between_files(&self.input, self.output.as_deref()) {
            goes_between_files();
            let bytes = Input::open(&self.input)?.length();
            return with_options(machine, bytes, &ad, self.sparse, |options| {
                open_file(&keyset, &self.input, output, options).map(drop)
            });
        }
        if self.sparse {
            let text = "--sparse: both ends must be files";
            return Err(Failure::Usage(text.to_owned()));
        }
        let (input, mut output) =
            (Input::open(&self.input)?, Output::create(self.output.as_deref())?);
        with_options(machine, input.length(), &ad, false, |options| {
            open_stream(&keyset, input, &mut output, options).map(drop)
        })?;
        output.commit()
    }

    fn run_range(
        &self,
        keyset: &Keyset,
        ad: &[u8],
        (start, end): (u64, Option<u64>),
        machine: &Machine,
    ) -> Result<(), Failure> {
        if self.input.as_os_str() == "-" {
            let text = "--range: standard input cannot be read at any place; name a file";
            return Err(Failure::Usage(text.to_owned()));
        }
        let sealed = Sealed::open(open_regular(&self.input)?, keyset, ad)?;
        let range = Range { start, end: end.unwrap_or(sealed.plaintext_bytes()) };
        let mut output = Output::create(self.output.as_deref())?;
        let bytes = range.end.checked_sub(range.start);
        with_options(machine, bytes, ad, false, |options| {
            sealed.copy_range(range, &mut output, options)
        })?;
        output.commit()
    }
}

/// Runs `work` with what the command line says: its threads, and a bar of its progress.
pub(crate) fn with_options(
    machine: &Machine,
    bytes: Option<u64>,
    associated_data: &[u8],
    sparse: bool,
    work: impl FnOnce(Options<'_>) -> Result<(), lanecrypt_tink::Error>,
) -> Result<(), Failure> {
    let progress = Progress::over(machine, bytes);
    let add = |bytes| progress.add(bytes);
    let backend = machine.sealing()?;
    let (backend, cancel) = (&*backend, cancelled());
    let options = Options { associated_data, backend, progress: &add, cancel, sparse };
    Ok(work(options)?)
}
