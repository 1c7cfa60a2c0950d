//! What is known of a rung before it runs: a line of the table that `cargo xtask ladder` writes beside its code.

use lanecrypt_ladder::Entry;
use serde::{Deserialize, Serialize};

/// How a kernel takes round keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Keys {
    /// By an address, eleven blocks.
    Memory,
    /// Eleven blocks in the parameters.
    Words,
    /// A word for each bit.
    Bits,
    /// Eleven blocks, and those between the first and the last as planes of eight blocks.
    Planes,
}

/// A listing of the ladder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Rung {
    #[serde(flatten)]
    pub(crate) entry: Entry,
    /// How it takes keys.
    pub(crate) keys: Keys,
}

impl Rung {
    /// Whether it is no rung, but the example of a mistake.
    pub(crate) fn is_wrong(&self) -> bool {
        self.entry.name.starts_with("wrong")
    }
}
