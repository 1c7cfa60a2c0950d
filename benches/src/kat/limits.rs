//! What is left out because it would take too long, and why.

use std::sync::atomic::{AtomicBool, Ordering};

use lanecrypt::{Mode, registry::Platform};

use super::{
    case::{Case, Line},
    targets::Target,
};

/// The default of `--max-bytes`: 64 MiB.
const MAX_BYTES: u64 = 64 << 20;
/// Longest message where a device, its emulator or the reference would be slow: 1 MiB and a few
/// bytes.
pub(super) const SHORT_MESSAGE: u64 = (1 << 20) + 64;
/// Blocks of a batch, beyond which most of the time of CBC encryption is for lanes that hold nothing.
const NARROW: usize = 8;
/// Lines of a Monte Carlo file that the emulator runs.
const CHAINS: usize = 2;

/// What to leave out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The longest message that was asked for; by default 64 MiB, and less where that would take long.
    pub max_bytes: Option<u64>,
    /// Whether the emulator runs every line of Monte Carlo files too.
    pub all_chains: bool,
    /// Whether every backend runs every line, instead of its share: of all lines on the host build, of long
    /// messages on the CPU, of Monte Carlo steps and messages in CBC on a GPU.
    pub all_vectors: bool,
    /// Once this is true, cases that have not begun are left out.
    pub interrupted: Option<&'static AtomicBool>,
}

impl Limits {
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Why this case is left out on this backend, if it is.
    pub(super) fn leave_out(&self, case: &Case<'_>, target: &Target) -> Option<String> {
        let platform = target.backend.platform;
        match case.line {
            Line::Vector(_) => None,
            Line::Chain(_) => {
                let is_slow = platform == Platform::CudaOnHost && !self.all_chains;
                (is_slow && case.position >= CHAINS).then(|| {
                    format!(
                        "a chain is a launch a block, too slow on an emulator, so only the first \
                         {CHAINS} of a file run; --all-mct runs all"
                    )
                })
            }
            Line::Message(message) => self.too_long(message.len, case.mode(), target),
        }
    }

    fn too_long(&self, length: u64, mode: Mode, target: &Target) -> Option<String> {
        let max = self.max_bytes.unwrap_or(MAX_BYTES);
        if length > max {
            return Some(format!("longer than --max-bytes, {max}"));
        }
        if self.max_bytes.is_some() {
            return None;
        }
        match (target.backend.platform, mode) {
            (Platform::CudaOnHost, _) if length > SHORT_MESSAGE => Some(format!(
                "longer than the {SHORT_MESSAGE} bytes of an emulator; --max-bytes N runs it"
            )),
            (Platform::Wgpu, Mode::Cbc) if length > SHORT_MESSAGE => Some(format!(
                "longer than {SHORT_MESSAGE} bytes, and CBC encrypts a block a launch; --max-bytes \
                 N runs it"
            )),
            (Platform::Cpu, Mode::Cbc)
                if length > SHORT_MESSAGE && target.backend.lanes > NARROW =>
            {
                Some(format!(
                    "longer than {SHORT_MESSAGE} bytes, and CBC encrypts a block at a time, which \
                     takes a whole batch here; --max-bytes N runs it"
                ))
            }
            (Platform::Cpu, _) if target.backend.id == "reference" && length > SHORT_MESSAGE => {
                Some(format!(
                    "longer than the {SHORT_MESSAGE} bytes of the reference, which is slow; \
                     --max-bytes N runs it"
                ))
            }
            _ => None,
        }
    }
}
