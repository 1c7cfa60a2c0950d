//! Proofs that the bit-sliced forms compute their standards: the program `prove`.

use anyhow::Result;

use crate::{
    command::{build_one, command, output, run},
    sources::generated::{self, Mode},
};

/// Proves everything, or all of one cipher.
pub(crate) fn prove(cipher: Option<&str>) -> Result<()> {
    run(command(build_one("prove")?).args(cipher))
}

/// Where the ledger of what forms take is kept.
const FORMS: &str = "benches/schema/forms.csv";

/// Only checks that the ciphers' plans are what was recorded, and writes the ledger of forms, or checks it.
pub(crate) fn plans(check: bool) -> Result<()> {
    let ledger = output(command(build_one("prove")?).arg("--plans"))?;
    generated::ensure(&[(FORMS.to_owned(), ledger)], Mode::from_check(check), "cargo xtask codegen")
}
