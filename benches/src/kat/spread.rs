//! Shares: which of a cipher's families of the host build runs a line.
//!
//! The host build is an emulator, and a cipher has up to seven families that take the same vectors.
//! So each line runs on one of them, except where that would leave a family without a case of some
//! kind: the lines of a file fall into classes, and every family gets a line of every class.

use std::collections::BTreeMap;

use lanecrypt::Platform;
use lanecrypt_reference::vectors::{Direction, Outcome, VectorFile};
use sha2::{Digest, Sha256};

use super::{
    case::{Case, Line},
    limits::Limits,
    targets::Target,
};

/// Lines of one class that run on families in turns: the line with number `turn` of `turns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    turn: usize,
    turns: usize,
}

impl Share {
    /// Whether the family with this number, from 0, runs the line.
    pub(super) fn is_of(self, family: usize) -> bool {
        family % self.turns == self.turn
    }
}

/// What a family must see one of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Class<'a> {
    /// Special cases have a `# source:` of their own: wraps, stealing, weak keys.
    source: Option<&'a str>,
    /// Or marks in the line, such as `wrap2e64`.
    notes: &'a [String],
    mode: &'a str,
    key_bytes: usize,
    encrypts: Option<bool>,
    is_rejected: bool,
    has_partial_block: bool,
    /// Binary digits of the number of whole blocks.
    size: u32,
}

impl<'a> Class<'a> {
    fn of(case: &Case<'a>, file: &'a VectorFile, block_bytes: usize) -> Self {
        let (key, bytes, direction, notes) = match case.line {
            Line::Vector(v) => (&v.key, v.ct.len() as u64, v.direction, &v.notes[..]),
            Line::Chain(step) => {
                (&step.key, step.input.len() as u64, Some(step.direction), &[][..])
            }
            Line::Message(message) => (&message.key, message.len, None, &[][..]),
        };
        let block_bytes = block_bytes as u64;
        let is_rejected = matches!(case.line, Line::Vector(v) if v.outcome == Outcome::Rejection);
        Self {
            source: file.source_of(case.position),
            notes,
            mode: case.line.mode_name(),
            key_bytes: key.len(),
            encrypts: direction.map(|direction| direction == Direction::Encrypt),
            is_rejected,
            has_partial_block: !bytes.is_multiple_of(block_bytes),
            size: u64::BITS - (bytes / block_bytes).leading_zeros(),
        }
    }
}

/// The share of each case of a file, over the families of the host build among `targets`. Without
/// at least two of them, or where `limits` ask for every vector, there are no shares.
///
/// The lines of a class take turns in the order of a hash of their names, so that neighbours go to
/// different families and a line stays where it is when others are added to other classes.
pub(super) fn shares(
    file: &VectorFile,
    cases: &[Case<'_>],
    targets: &[&Target],
    limits: &Limits,
) -> Vec<Option<Share>> {
    let mut shares = vec![None; cases.len()];
    let families: Vec<_> = targets.iter().filter(|target| takes_shares(target)).collect();
    let [first, _, ..] = families[..] else {
        return shares;
    };
    if limits.all_vectors {
        return shares;
    }
    let mut classes: BTreeMap<Class<'_>, Vec<usize>> = BTreeMap::new();
    for (number, case) in cases.iter().enumerate() {
        // What no family runs must not take a turn.
        if limits.leave_out(case, first).is_none() {
            let class = Class::of(case, file, first.cipher.block_bytes);
            classes.entry(class).or_default().push(number);
        }
    }
    for mut numbers in classes.into_values() {
        numbers.sort_by_cached_key(|&number| Sha256::digest(cases[number].place().0));
        let turns = families.len().min(numbers.len());
        for (i, number) in numbers.into_iter().enumerate() {
            shares[number] = Some(Share { turn: i % turns, turns });
        }
    }
    shares
}

/// Whether this is a family that can run and leaves lines to others.
pub(super) fn takes_shares(target: &Target) -> bool {
    target.backend.platform == Platform::CudaOnHost && target.unavailable.is_none()
}
