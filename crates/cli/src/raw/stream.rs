//! The modes that take a stream piece by piece: all but GCM.

use lanecrypt::{
    BackendChoice, ChainedMode, Ctr, Direction, Error, Mode,
    io::{ChainedStream, Ecb, StreamMode, XtsUnits},
    padding, xts_halves_are_equal,
};
use zeroize::Zeroize;

use super::{Arguments, RawMode, UNIT, key::Keyed};
use crate::{
    arguments::Machine,
    failure::Failure,
    file::{Input, Output},
    progress::Progress,
    pump::pump,
};

/// Most bytes of a piece on the CPU: enough for all its threads, and not much for its caches.
const ON_CPU: usize = 4 << 20;
/// The same where a GPU may take it.
const ON_GPU: usize = 64 << 20;

pub(super) fn run(
    arguments: &Arguments,
    machine: &Machine,
    keyed: &Keyed,
    input: &mut Input,
    output: &mut Output,
    progress: &Progress,
) -> Result<(), Failure> {
    let mut mode = mode(arguments, machine, keyed)?;
    let usual = if machine.backend() == BackendChoice::Cpu { ON_CPU } else { ON_GPU };
    let pieces = (mode.unit_bytes(), usual);
    let ends = Ends::of(arguments);
    let (from, to) = (input.name().to_owned(), output.name().to_owned());
    let mut message_bytes = 0;
    pump((input, &from), (output, &to), pieces, |piece, is_last| {
        let bytes = piece.len() as u64;
        message_bytes += bytes;
        if is_last {
            ends.before(piece, message_bytes).map_err(|failure| failure.of_file(&from))?;
        }
        mode.apply(piece)?;
        if is_last {
            ends.after(piece).map_err(|failure| failure.of_file(&from))?;
        }
        progress.add(bytes);
        Ok(())
    })
}

fn mode(
    arguments: &Arguments,
    machine: &Machine,
    Keyed { key, iv }: &Keyed,
) -> Result<Box<dyn StreamMode>, Failure> {
    let direction = direction(arguments);
    let engine = || machine.backend().engine(arguments.cipher.cipher.name, key);
    let chained = |mode| -> Result<Box<dyn StreamMode>, Failure> {
        Ok(Box::new(ChainedStream::new(engine()?, mode, iv)?))
    };
    match arguments.mode {
        RawMode::Ecb => Ok(Box::new(Ecb::new(engine()?, direction))),
        RawMode::Ctr => Ok(Box::new(Ctr::new(engine()?, iv)?)),
        RawMode::Cbc => chained(ChainedMode::Cbc(direction)),
        RawMode::Cfb => chained(ChainedMode::Cfb(direction)),
        RawMode::Ofb => chained(ChainedMode::Ofb),
        RawMode::Xts | RawMode::Gcm => xts(arguments, machine, key, direction),
    }
}

fn xts(
    arguments: &Arguments,
    machine: &Machine,
    key: &[u8],
    direction: Direction,
) -> Result<Box<dyn StreamMode>, Failure> {
    if xts_halves_are_equal(key) {
        return Err(Failure::Usage("the two keys of XTS must not be equal".to_owned()));
    }
    let unit = usize::try_from(arguments.unit.unwrap_or(UNIT)).unwrap_or(usize::MAX);
    let first = arguments.first_unit.unwrap_or(0);
    let xts = machine.backend().xts(arguments.cipher.cipher.name, key)?;
    Ok(Box::new(XtsUnits::new(xts, direction, unit, first)?))
}

fn direction(arguments: &Arguments) -> Direction {
    if arguments.decrypt { Direction::Decrypt } else { Direction::Encrypt }
}

/// How messages in ECB and CBC end: with whole blocks, by PKCS #7 padding or, without it, by themselves.
enum Ends {
    /// In modes that take any length.
    Anywhere,
    WithPadding {
        block: usize,
        direction: Direction,
    },
    WithBlocks {
        block: usize,
        mode: Mode,
    },
}

impl Ends {
    fn of(arguments: &Arguments) -> Self {
        let block = arguments.cipher.cipher.block_bytes;
        let mode = match arguments.mode {
            RawMode::Ecb => Mode::Ecb,
            RawMode::Cbc => Mode::Cbc,
            _ => return Self::Anywhere,
        };
        if arguments.no_padding {
            Self::WithBlocks { block, mode }
        } else {
            Self::WithPadding { block, direction: direction(arguments) }
        }
    }

    /// Pads the end of what is encrypted; checks that there is a whole end of what is decrypted.
    fn before(&self, piece: &mut Vec<u8>, message_bytes: u64) -> Result<(), Failure> {
        match *self {
            Self::WithPadding { block, direction: Direction::Encrypt } => {
                let used = piece.len() % block;
                let start = piece.len() - used;
                piece.resize(start + block, 0);
                padding::add(&mut piece[start..], used);
                Ok(())
            }
            Self::WithPadding { block, .. }
                if piece.is_empty() || !piece.len().is_multiple_of(block) =>
            {
                Err(wrong_padding())
            }
            Self::WithBlocks { block, mode } if !piece.len().is_multiple_of(block) => {
                let given = usize::try_from(message_bytes).unwrap_or(usize::MAX);
                Err(Error::NotWholeBlocks { mode, given, block }.into())
            }
            _ => Ok(()),
        }
    }

    /// Takes the padding off the end of what was decrypted.
    fn after(&self, piece: &mut Vec<u8>) -> Result<(), Failure> {
        let Self::WithPadding { block, direction: Direction::Decrypt } = *self else {
            return Ok(());
        };
        let start = piece.len().saturating_sub(block);
        let Some(used) = padding::remove(&piece[start..]) else {
            piece.zeroize();
            return Err(wrong_padding());
        };
        piece.truncate(start + used);
        Ok(())
    }
}

fn wrong_padding() -> Failure {
    Failure::NotAuthentic("the padding is wrong: another key, or not all of the message".to_owned())
}
