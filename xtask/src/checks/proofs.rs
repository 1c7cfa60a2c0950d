//! Proofs that the bit-sliced forms compute their standards: the program `prove`, which has all plans, and so makes of
//! them what is generated.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::command::{build_one, command, empty, run, target};

/// Proves everything, or all of one cipher.
pub(crate) fn prove(cipher: Option<&str>) -> Result<()> {
    run(command(build_one("prove")?).args(cipher))
}

/// Only checks that the ciphers' plans are what was recorded.
pub(crate) fn plans() -> Result<()> {
    run(command(build_one("prove")?).arg("--plans"))
}

/// The kernels in WGSL that the plans make: paths from the root, and texts.
pub(crate) fn wgsl() -> Result<Vec<(String, String)>> {
    let folder = empty(target().join("wgsl"))?;
    run(command(build_one("prove")?).arg("--wgsl").arg(&folder))?;
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let name = path.file_name().map(Path::new).context("a file has a name")?;
        files.push((format!("crates/wgpu/wgsl/{}", name.display()), text));
    }
    Ok(files)
}
