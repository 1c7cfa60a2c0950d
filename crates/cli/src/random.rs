//! `lanecrypt random`: random bytes and numbers from AES's key stream, as much as is asked for.

use std::{io, path::PathBuf};

use clap::{Args, ValueEnum};
use lanecrypt::{
    random::{Draw, Generator, RandomError},
    size::parse_bytes,
};

use crate::{arguments::Machine, failure::Failure, file::Output, progress::Progress, pump::pump};

const ADVICE: &str = "\
Without --seed the key is drawn from the system's entropy: nobody can foresee the bytes, or repeat them. With --seed
everyone can. They are then those of `lanecrypt::random` in Rust and of `lanecrypt.random` in Python, on any machine:
for tests and simulations, not for keys.

Examples:
  lanecrypt random 100G noise.bin                      as fast as the disk takes it
  lanecrypt random 1G --seed 7 data.bin                 the same file everywhere
  lanecrypt random 1M --seed 7 --from 512M part.bin     a part of that file
  lanecrypt random 8M --seed 7 --as normals64 n.bin     a million numbers for numpy.fromfile
  lanecrypt random 1T --seed 7 | dieharder -a -g 200    tests of statistics";

/// Bytes that are drawn at once.
const PIECE: usize = 16 << 20;

/// Writes random bytes, or numbers in the order of bytes of this machine. They are made on the CPU.
#[derive(Debug, Args)]
#[command(after_help = ADVICE)]
pub(crate) struct Arguments {
    /// How many bytes, such as 4096, 64K or 4G.
    #[arg(value_name = "BYTES", value_parser = parse_bytes)]
    bytes: u64,
    /// File to write; `-`, or no file, is standard output.
    output: Option<PathBuf>,
    /// Makes the same bytes for the same number.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Number of a stream of this seed; no two meet.
    #[arg(long, value_name = "N", requires = "seed", default_value_t = 0)]
    stream: u64,
    /// Starts at this byte of the stream.
    #[arg(long, value_name = "BYTE", requires = "seed", default_value = "0", value_parser = parse_bytes)]
    from: u64,
    /// What is drawn.
    #[arg(long = "as", value_name = "WHAT", default_value = "bytes")]
    what: What,
}

/// What can be drawn.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Bytes, and so whole numbers of any length.
    Bytes,
    /// Numbers in [0, 1) of 32 bits (float).
    Units32,
    /// Numbers in [0, 1) of 64 bits (double).
    Units64,
    /// Normal numbers of 32 bits (float).
    Normals32,
    /// Normal numbers of 64 bits (double).
    Normals64,
}

impl From<What> for Draw {
    fn from(what: What) -> Self {
        match what {
            What::Bytes => Self::Bytes,
            What::Units32 => Self::Units32,
            What::Units64 => Self::Units64,
            What::Normals32 => Self::Normals32,
            What::Normals64 => Self::Normals64,
        }
    }
}

impl Arguments {
    pub(crate) fn run(&self, machine: &Machine) -> Result<(), Failure> {
        let draw = Draw::from(self.what);
        self.check(draw)?;
        let mut random = match self.seed {
            None => Generator::from_system()?,
            Some(seed) => Generator::from_seed(seed).stream(self.stream)?,
        };
        random.seek(self.from);
        let mut output = Output::create(self.output.as_deref())?;
        let name = output.name().to_owned();
        let progress = Progress::over(machine, Some(self.bytes));
        // Room alone is read, which the draw fills.
        let room = (io::Read::take(io::repeat(0), self.bytes), "zeros");
        let number = draw.number_bytes();
        pump(room, (&mut output, &name), (number, PIECE), |piece, _| {
            random.draw(draw, piece)?;
            progress.add(piece.len() as u64);
            Ok(())
        })?;
        output.commit()
    }

    /// What the generator would refuse in the middle of the output is refused before it.
    fn check(&self, draw: Draw) -> Result<(), Failure> {
        let number = draw.number_bytes() as u64;
        if let Some((option, given)) = [("BYTES", self.bytes), ("--from", self.from)]
            .into_iter()
            .find(|(_, given)| !given.is_multiple_of(number))
        {
            let text = format!("{option}: {given} bytes; a number has {number}");
            return Err(Failure::Usage(text));
        }
        if self.from.checked_add(self.bytes).is_none() {
            let length = usize::try_from(self.bytes).unwrap_or(usize::MAX);
            return Err(RandomError::End { place: self.from, length }.into());
        }
        Ok(())
    }
}

impl From<RandomError> for Failure {
    fn from(error: RandomError) -> Self {
        match error {
            RandomError::Entropy(_) => Self::Io(error.to_string()),
            RandomError::Engine(error) => error.into(),
            error => Self::Usage(error.to_string()),
        }
    }
}
