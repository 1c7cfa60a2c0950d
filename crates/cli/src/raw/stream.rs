//! The modes that take a stream piece by piece: all but GCM.

use lanecrypt::{
    BackendChoice, ChainedMode, Ctr, Direction,
    io::{ChainedStream, Ecb, StreamMode, XtsUnits},
    padding, xts_halves_are_equal,
};
use zeroize::Zeroize;

use super::{Arguments, RawMode, key::Keyed};
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
    let usual = if machine.backend == BackendChoice::Cpu { ON_CPU } else { ON_GPU };
    let pieces = (mode.unit_bytes(), usual);
    let padding = Padding::of(arguments);
    let (from, to) = (input.name().to_owned(), output.name().to_owned());
    pump((input, &from), (output, &to), pieces, |piece, is_last| {
        let bytes = piece.len() as u64;
        if is_last {
            padding.before(piece)?;
        }
        mode.apply(piece)?;
        if is_last {
            padding.after(piece)?;
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
    let direction = if arguments.decrypt { Direction::Decrypt } else { Direction::Encrypt };
    let engine = || machine.backend.engine(arguments.cipher.cipher.name, key);
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
    let unit = usize::try_from(arguments.unit).unwrap_or(usize::MAX);
    let xts = machine.backend.xts(arguments.cipher.cipher.name, key)?;
    Ok(Box::new(XtsUnits::new(xts, direction, unit, arguments.first_unit)?))
}

/// PKCS #7 padding to whole blocks of this number of bytes, in modes that have it.
struct Padding {
    block: Option<usize>,
    decrypt: bool,
}

impl Padding {
    fn of(arguments: &Arguments) -> Self {
        let has = matches!(arguments.mode, RawMode::Ecb | RawMode::Cbc) && !arguments.no_padding;
        let block = has.then_some(arguments.cipher.cipher.block_bytes);
        Self { block, decrypt: arguments.decrypt }
    }

    /// Pads the end of what is encrypted; checks that there is an end of what is decrypted.
    fn before(&self, piece: &mut Vec<u8>) -> Result<(), Failure> {
        match self.block {
            Some(block) if !self.decrypt => {
                let used = piece.len() % block;
                let start = piece.len() - used;
                piece.resize(start + block, 0);
                padding::add(&mut piece[start..], used);
            }
            Some(_) if piece.is_empty() => return Err(wrong_padding()),
            _ => {}
        }
        Ok(())
    }

    /// Takes the padding off the end of what was decrypted.
    fn after(&self, piece: &mut Vec<u8>) -> Result<(), Failure> {
        let Some(block) = self.block.filter(|_| self.decrypt) else { return Ok(()) };
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
