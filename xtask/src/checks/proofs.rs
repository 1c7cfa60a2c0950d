//! Proofs that the bit-sliced forms compute their standards: the program `prove`, which has all plans, and so makes of
//! them what is generated.

use std::{ffi::OsStr, fs};

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
/// what forms take, kernels in WGSL, and the rounds of kernels in CUDA C++.
pub(crate) fn plans(check: bool) -> Result<()> {
    let folder = empty(target().join("plans"))?;
    run(command(build_one("prove")?).arg("--plans").arg(&folder))?;
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let name = path.file_name().and_then(OsStr::to_str).context("a file has a name")?;
        let place = match name.split_once('.') {
            Some((_, "wgsl")) => format!("crates/wgpu/wgsl/{name}"),
            Some((cipher, "cuh")) => format!("kernels/{cipher}/rounds.cuh"),
            _ => format!("benches/schema/{name}"),
        };
        files.push((place, text));
    }
    generated::ensure(&files, Mode::from_check(check), "cargo xtask codegen")
}
