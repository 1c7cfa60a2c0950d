//! Proofs that the bit-sliced forms compute their standards: the program `prove`.

use anyhow::Result;

use crate::command::{build_one, command, run};

/// Proves everything, or all of one cipher.
pub(crate) fn prove(cipher: Option<&str>) -> Result<()> {
    run(command(build_one("prove")?).args(cipher))
}

/// Only checks that the ciphers' plans are what was recorded.
pub(crate) fn plans() -> Result<()> {
    run(command(build_one("prove")?).arg("--plans"))
}
