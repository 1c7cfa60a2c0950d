//! Shares: which of a cipher's backends runs a line, where not all do.
//!
//! The host build is an emulator, where a message of one block takes as long as a whole thread block, and a cipher
//! has up to seven families that take the same vectors. So the lines of a file fall into classes, and every family
//! gets a line of every class, and no more than one where backends of the CPU run all of them: further
//! ones reach nothing new in a kernel, a launch or a mode. Of messages of files of their own, the longest that it
//! runs, every family gets one of each mode, and of a Monte Carlo chain, which is one block a thousand times, one family
//! runs all. On the CPU
//! every backend runs every line but long messages, of which it gets one of each mode: a longer buffer
//! is more of the same batches, and key sizes are those of the shorter messages. A GPU's families run
//! every line but those that are one launch per block: of Monte Carlo steps each gets one of every class, and a
//! long message in CBC runs on one of them, since the others have CBC in shorter vectors.

use std::collections::{BTreeMap, BTreeSet};

use lanecrypt::{Mode, registry::Platform};
use lanecrypt_reference::vectors::{Direction, Outcome, VectorFile};
use sha2::{Digest, Sha256};

use super::{
    case::{Case, Line},
    limits::{Limits, SHORT_MESSAGE},
    targets::Target,
};

/// Backends that share lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// The families of the host build, which share all lines.
    Families,
    /// Those of the CPU, which share long messages.
    Cpu,
    /// The families of a GPU, which share what is one launch per block.
    Gpu,
}

impl Group {
    /// The group that shares lines with this backend; one that cannot run shares none.
    fn of(target: &Target) -> Option<Self> {
        match target.backend.platform {
            _ if target.unavailable.is_some() => None,
            Platform::CudaOnHost => Some(Self::Families),
            Platform::Cpu => Some(Self::Cpu),
            Platform::Cuda | Platform::Wgpu => Some(Self::Gpu),
        }
    }

    /// What backends of the group must see one of, where they share this line.
    fn class<'a>(
        self,
        case: &Case<'a>,
        file: &'a VectorFile,
        block_bytes: usize,
    ) -> Option<Class<'a>> {
        let is_a_launch_per_block = match case.line {
            Line::Chain(_) => true,
            Line::Message(_) => case.mode() == Mode::Cbc,
            Line::Vector(_) => false,
        };
        match (self, case.line) {
            (Self::Gpu, _) if !is_a_launch_per_block => None,
            (Self::Families, Line::Message(_)) => Some(Class::of_mode(case)),
            (Self::Cpu, Line::Message(message)) if message.len > SHORT_MESSAGE => {
                Some(Class::of_mode(case))
            }
            (Self::Families | Self::Gpu, _) => Some(Class::of(case, file, block_bytes)),
            (Self::Cpu, _) => None,
        }
    }
}

/// The backends that leave a line to others, by their numbers among the cipher's.
pub(super) type Leaving = BTreeSet<usize>;

/// What a backend must see one of.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Lines of a mode are alike, whatever else differs.
    fn of_mode(case: &Case<'a>) -> Self {
        Self { mode: case.line.mode_name(), ..Self::default() }
    }

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

/// Which of `targets` leave each case of a file to others; none where `limits` ask for every vector.
pub(super) fn leaving(
    file: &VectorFile,
    cases: &[Case<'_>],
    targets: &[&Target],
    limits: &Limits,
) -> Vec<Leaving> {
    let mut leaving = vec![Leaving::new(); cases.len()];
    if limits.all_vectors {
        return leaving;
    }
    let is_on_a_cpu = targets.iter().any(|target| Group::of(target) == Some(Group::Cpu));
    for group in [Group::Families, Group::Cpu, Group::Gpu] {
        let is_member = |number: &usize| Group::of(targets[*number]) == Some(group);
        let members: Vec<usize> = (0..targets.len()).filter(is_member).collect();
        let runners = |line: usize| -> Vec<usize> {
            let runs =
                |number: &&usize| limits.leave_out(&cases[line], targets[**number]).is_none();
            members.iter().filter(runs).copied().collect()
        };
        let mut classes: BTreeMap<Class<'_>, Vec<usize>> = BTreeMap::new();
        for (line, case) in cases.iter().enumerate() {
            if let Some(&first) = runners(line).first()
                && let Some(class) = group.class(case, file, targets[first].cipher.block_bytes)
            {
                classes.entry(class).or_default().push(line);
            }
        }
        for lines in classes.into_values() {
            let turns = match (group, cases[lines[0]].line) {
                (Group::Gpu, Line::Message(_)) | (Group::Families, Line::Chain(_)) => Turns::Once,
                (Group::Families, _) if is_on_a_cpu => Turns::OneEach,
                _ => Turns::All,
            };
            take_turns(lines, turns, cases, runners, &mut leaving);
        }
    }
    leaving
}

/// How the lines of a class are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turns {
    /// Each line runs on one backend, and where they are fewer than backends, on several: every backend gets one.
    All,
    /// The same, but a backend runs no more than one of them.
    OneEach,
    /// Each line runs on one backend, however few they are.
    Once,
}

/// The lines of a class, and the backends that run them, take turns, lines in the order of a hash of their
/// names: so neighbours go to different backends, and a line stays where it is when others are added to other
/// classes.
fn take_turns(
    mut lines: Vec<usize>,
    turns: Turns,
    cases: &[Case<'_>],
    runners: impl Fn(usize) -> Vec<usize>,
    leaving: &mut [Leaving],
) {
    let runners = runners(lines[0]); // a class is run by all or none of it
    lines.sort_by_cached_key(|&line| Sha256::digest(cases[line].place().0));
    let in_a_round =
        if turns == Turns::Once { runners.len() } else { runners.len().min(lines.len()) };
    let most = if turns == Turns::OneEach { in_a_round } else { usize::MAX };
    for (i, line) in lines.into_iter().enumerate() {
        let others = runners
            .iter()
            .enumerate()
            .filter(|(j, _)| i >= most || j % in_a_round != i % in_a_round);
        leaving[line].extend(others.map(|(_, number)| number));
    }
}
