//! What is known of a rung before it runs: a line of the table that `cargo xtask ladder` writes beside its code.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use lanecrypt_roof::Lanes;
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

/// A listing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Rung {
    /// The name of its file, without the end.
    pub(crate) name: String,
    /// Its first line, up to the first full stop.
    pub(crate) title: String,
    /// The kernel in it.
    pub(crate) kernel: String,
    /// Threads of a thread block.
    pub(crate) threads: u32,
    /// Bytes of dynamic shared memory.
    pub(crate) shared_bytes: u32,
    /// How it takes keys.
    pub(crate) keys: Keys,
    /// What a block takes of each pipe, counted from its PTX; none of one that is wrong.
    pub(crate) lanes: Option<Lanes>,
}

impl Rung {
    /// Whether it is no rung, but the example of a mistake.
    pub(crate) fn is_wrong(&self) -> bool {
        self.name.starts_with("wrong")
    }
}

/// All of a folder.
pub(crate) fn read(folder: &Path) -> Result<Vec<Rung>> {
    let path = folder.join("rungs.json");
    let text = fs::read_to_string(&path)
        .with_context(|| format!("{}: `cargo xtask ladder` writes it", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}
