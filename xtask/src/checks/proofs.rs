//! Proofs that the bit-sliced forms compute their standards: the program `prove`, which has all plans, and so makes of
//! them what is generated.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::{
    command::{build_one, command, empty, run, target},
    sources::generated::{self, Mode},
};

/// Proves everything, or all of one cipher.
pub(crate) fn prove(cipher: Option<&str>) -> Result<()> {
    run(command(build_one("prove")?).args(cipher))
}

/// Checks that the ciphers' plans are what was recorded, and writes what is made of them, or checks that: the ledger of
/// what forms take, and kernels in WGSL.
pub(crate) fn plans(check: bool) -> Result<()> {
    let folder = empty(target().join("plans"))?;
    run(command(build_one("prove")?).arg("--plans").arg(&folder))?;
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let name = path.file_name().map(Path::new).context("a file has a name")?.display();
        let is_kernels = path.extension().is_some_and(|extension| extension == "wgsl");
        let place = if is_kernels { "crates/wgpu/wgsl" } else { "benches/schema" };
        files.push((format!("{place}/{name}"), text));
    }
    generated::ensure(&files, Mode::from_check(check), "cargo xtask codegen")
}
