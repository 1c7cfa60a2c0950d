//! `lanecrypt seal` and `lanecrypt open`: files that are confidential and authenticated.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use clap::Args;
use lanecrypt::size::parse_bytes;
use lanecrypt_tink::{
    Error, Keyset, Options, Sealed, open_file, open_regular, open_stream, seal_file, seal_stream,
};

use crate::{
    arguments::Machine,
    failure::Failure,
    file::{Input, Output},
    job,
    keysets::Source,
    progress::Progress,
    signals::{cancelled, goes_between_files, remove_when_interrupted},
};

const SEAL_ADVICE: &str = "\
The format is Tink's streaming AEAD: segments of 1 MiB (or as the keyset says), each encrypted and authenticated by
AES-GCM, or by AES-CTR and HMAC. Tink's libraries open it, in any language.

Examples:
  lanecrypt seal --keyset my.keys disk.img disk.sealed
  tar c folder | lanecrypt seal --keyset my.keys - folder.sealed
  lanecrypt seal --keyset my.keys --job job.json --part 3/8 disk.img disk.sealed     see `lanecrypt job`";

const OPEN_ADVICE: &str = "\
A file appears only if all of it is authentic. Standard output receives data as it is authenticated; exit code 3 means
that the rest is not authentic.

Examples:
  lanecrypt open --keyset my.keys disk.sealed disk.img
  lanecrypt open --keyset my.keys --sparse disk.sealed disk.img        leaves holes in place of zeros
  lanecrypt open --keyset my.keys --range 4G..4100M disk.sealed -      reads only this range";

/// Seals a file or stream: encrypts it, so that any later change is detected.
#[derive(Debug, Args)]
#[command(after_help = SEAL_ADVICE)]
pub(crate) struct Seal {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    context: Context,
    /// Job file: seals only one part of the job.
    #[arg(long, value_name = "FILE", requires = "part")]
    job: Option<PathBuf>,
    /// Part to seal, such as 3/8 for the third of eight.
    #[arg(long, value_name = "I/N", requires = "job")]
    part: Option<job::Part>,
    /// File to seal; `-` is standard input.
    #[arg(default_value = "-")]
    input: PathBuf,
    /// File to write; `-`, or no file, is standard output.
    output: Option<PathBuf>,
}

/// Opens a sealed file or stream, or part of a file.
#[derive(Debug, Args)]
#[command(after_help = OPEN_ADVICE)]
pub(crate) struct Open {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    context: Context,
    /// Opens only this range of the plaintext, START..END without END; either may be left out. K, M, G and T
    /// are understood.
    #[arg(long, value_name = "A..B", value_parser = range)]
    range: Option<(u64, Option<u64>)>,
    /// Leaves holes in the output in place of zeros. Both ends must be files, and all of the input is opened.
    #[arg(long, conflicts_with = "range")]
    sparse: bool,
    /// File to open; `-` is standard input.
    #[arg(default_value = "-")]
    input: PathBuf,
    /// File to write; `-`, or no file, is standard output.
    output: Option<PathBuf>,
}

/// What is authenticated beside the plaintext.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Context {
    /// Text authenticated with the file; the same text is needed to open it.
    #[arg(long, value_name = "TEXT")]
    ad: Option<String>,
    /// The same, read from a file.
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
    let is_descriptor = |path: &Path| lanecrypt_tink::Output::descriptor(path).is_some();
    output.filter(|output| !is_special(input) && !is_special(output) && !is_descriptor(output))
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
            let input = Input::open(&self.input)?;
            return with_options(machine, (input.name(), input.length()), &ad, false, |options| {
                seal_file(&keyset, &self.input, output, options).map(drop)
            });
        }
        let (input, mut output) =
            (Input::open(&self.input)?, Output::create(self.output.as_deref())?);
        let (name, bytes) = (input.name().to_owned(), input.length());
        with_options(machine, (&name, bytes), &ad, false, |options| {
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
            let input = Input::open(&self.input)?;
            let read = (input.name(), input.length());
            return with_options(machine, read, &ad, self.sparse, |options| {
                open_file(&keyset, &self.input, output, options).map(drop)
            });
        }
        if self.sparse {
            let text = "--sparse: both ends must be files";
            return Err(Failure::Usage(text.to_owned()));
        }
        let (input, mut output) =
            (Input::open(&self.input)?, Output::create(self.output.as_deref())?);
        let (name, bytes) = (input.name().to_owned(), input.length());
        with_options(machine, (&name, bytes), &ad, false, |options| {
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
        let name = self.input.display().to_string();
        let sealed = Sealed::open(open_regular(&self.input)?, keyset, ad).map_err(about(&name))?;
        let end = end.unwrap_or(sealed.plaintext_bytes().max(start));
        let range = Range { start, end };
        let mut output = Output::create(self.output.as_deref())?;
        with_options(machine, (&name, Some(end - start)), ad, false, |options| {
            sealed.copy_range(range, &mut output, options)
        })?;
        output.commit()
    }
}

/// A failure of sealing or opening, which names the input where that is what is wrong.
pub(crate) fn about(input: &str) -> impl FnOnce(Error) -> Failure {
    move |error| {
        let is_of_input = error.is_not_authentic()
            || matches!(
                error,
                Error::Range { .. } | Error::SourceChanged { .. } | Error::TooLong { .. }
            );
        let failure = Failure::from(error);
        if is_of_input { failure.of_file(input) } else { failure }
    }
}

/// Runs `work` with what the command line says: its threads, and a bar of its progress. The input has a name, and a
/// number of bytes where that is known.
pub(crate) fn with_options(
    machine: &Machine,
    (input, bytes): (&str, Option<u64>),
    associated_data: &[u8],
    sparse: bool,
    work: impl FnOnce(Options<'_>) -> Result<(), Error>,
) -> Result<(), Failure> {
    let progress = Progress::over(machine, bytes);
    let add = |bytes| progress.add(bytes);
    let runner = machine.sealing()?;
    let (runner, cancel) = (&*runner, cancelled());
    let temporary = |path: &Path| remove_when_interrupted(path.to_owned());
    let (progress, temporary) = (&add, &temporary);
    let options = Options { associated_data, runner, progress, cancel, temporary, sparse };
    work(options).map_err(about(input))
}
