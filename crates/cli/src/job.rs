//! `lanecrypt job`: a file that many processes, or machines, seal together.

use std::{
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::{Args, Subcommand};
use lanecrypt::size::parse_bytes;
use lanecrypt_tink::{Keyset, Options, job::SealingJob};

use crate::{
    arguments::Machine,
    failure::Failure,
    file::{print_data, print_line},
    keysets::Source,
    seal::{Context, with_options},
    signals::{check, goes_between_files, leaves_a_job},
};

const ADVICE: &str = "\
A job says once what is random in a sealed file; after that each part of it is the same bytes whoever seals it, and
however often. The job has no secret. The source must not change meanwhile: a part is refused then.

  lanecrypt job new --keyset my.keys disk.img disk.sealed > job.json
  lanecrypt seal --keyset my.keys --job job.json --part 1/8 disk.img disk.sealed   on one machine,
  lanecrypt seal --keyset my.keys --job job.json --part 2/8 disk.img disk.sealed   on another, and so on
  lanecrypt job status job.json disk.sealed
  lanecrypt job commit job.json disk.sealed

All machines need the files under the same names on shared storage. After an interruption, start the same part again:
it skips the pieces that are done.";

/// Seals one file with many processes or machines.
#[derive(Debug, Args)]
#[command(after_help = ADVICE)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Begins a job: writes its description to standard output and creates the output that parts are written
    /// to.
    New {
        #[command(flatten)]
        source: Source,
        #[command(flatten)]
        context: Context,
        /// Approximate bytes sealed and recorded as done at a time.
        #[arg(long, value_name = "BYTES", default_value = "64M", value_parser = parse_bytes)]
        part_bytes: u64,
        /// File to seal.
        input: PathBuf,
        /// Path of the sealed file.
        output: PathBuf,
    },
    /// Reports how much of a job is done. The exit code is 1 until all pieces are done.
    Status { job: PathBuf, output: PathBuf },
    /// Completes a job: if all pieces are done, the sealed file takes its name.
    Commit { job: PathBuf, output: PathBuf },
    /// Abandons a job and removes everything written for it.
    Discard { job: PathBuf, output: PathBuf },
}

/// One of several shares of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// From 1.
    number: u64,
    of: u64,
}

impl Part {
    /// Whether it has this piece of a job. Parts take pieces in turn, so that all have about as many.
    fn has(self, piece: u64) -> bool {
        piece % self.of == self.number - 1
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err("the third of eight is written as 3/8".to_owned()),
        }
    }
}

impl Arguments {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match &self.command {
            Command::New { source, context, part_bytes, input, output } => {
                let (keyset, ad) = (source.read()?, context.bytes()?);
                let job = SealingJob::of_file(&keyset, input, &ad, *part_bytes)?;
                let text = job.to_json()?;
                goes_between_files();
                job.create(output)?;
                // Without the job, nothing could go on with its files, or remove them.
                let told = check().and_then(|()| print_data(text.trim_end()));
                told.inspect_err(|_| drop(job.discard(output)))
            }
            Command::Status { job, output } => status(&read(job)?, output),
            Command::Commit { job, output } => Ok(read(job)?.commit(output)?),
            Command::Discard { job, output } => Ok(read(job)?.discard(output)?),
        }
    }
}

fn status(job: &SealingJob, output: &Path) -> Result<(), Failure> {
    let parts = job.parts();
    if job.is_committed(output) {
        return print_line(format_args!("all {parts} pieces are done, and the job is committed"));
    }
    let missing = job.missing_parts(output).count() as u64;
    print_line(format_args!("{} of {parts} pieces are done", parts - missing))?;
    if missing == 0 { Ok(()) } else { Err(Failure::Io(format!("{missing} pieces are missing"))) }
}

fn read(file: &Path) -> Result<SealingJob, Failure> {
    let text = fs::read_to_string(file).map_err(Failure::of(file.display()))?;
    SealingJob::from_json(&text).map_err(|error| Failure::from(error).of_file(file.display()))
}

fn no_output(output: &Path) -> Failure {
    let advice = "the job has no files beside it; name the same output as in `job new`";
    Failure::Io(format!("{}: {advice}", output.display()))
}

/// Seals every n-th piece of a job, but those that are done already.
pub(crate) fn seal_part(
    keyset: &Keyset,
    job: &Path,
    part: Part,
    (input, output): (&Path, &Path),
    machine: &Machine,
) -> Result<(), Failure> {
    goes_between_files();
    leaves_a_job();
    let job = read(job)?;
    if !job.is_created(output) {
        // The other parts may have been done, and the job committed.
        return if job.is_committed(output) { Ok(()) } else { Err(no_output(output)) };
    }
    let pieces: Vec<u64> = job.missing_parts(output).filter(|&piece| part.has(piece)).collect();
    let bytes = job.source().size / job.parts().max(1) * pieces.len() as u64;
    let name = input.display().to_string();
    with_options(machine, (&name, Some(bytes)), &[], false, |options: Options<'_>| {
        pieces
            .iter()
            .try_for_each(|&piece| job.seal_file_part(keyset, piece, input, output, options))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str) -> Part {
        text.parse().expect("a part")
    }

    #[test]
    fn each_piece_is_in_one_part() {
        for of in 1..=5 {
            let parts: Vec<Part> = (1..=of).map(|number| part(&format!("{number}/{of}"))).collect();
            for piece in 0..40 {
                let count = parts.iter().filter(|part| part.has(piece)).count();
                assert_eq!(count, 1, "piece {piece} of {of} parts");
            }
        }
        let pieces: Vec<u64> = (0..9).filter(|&piece| part("2/3").has(piece)).collect();
        assert_eq!(pieces, [1, 4, 7]);
    }

    #[test]
    fn a_part_is_one_of_those_that_there_are() {
        assert_eq!((part("1/1"), part("8/8").number), (Part { number: 1, of: 1 }, 8));
        for text in ["0/3", "4/3", "0/0", "1/0", "3", "-1/3", "a/3", "1/", "1/2/3"] {
            assert!(text.parse::<Part>().is_err(), "{text}");
        }
    }
}
