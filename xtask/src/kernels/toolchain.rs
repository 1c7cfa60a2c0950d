//! The pinned CUDA compilers, from PyPI wheels: the PTX in the repository is what they give.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::command::{pip_install, run, target};

/// NVRTC 12.1 writes PTX 8.1, the first version with parameters above 4 KiB and the oldest that
/// every driver of the 12.1 series and later loads.
pub(crate) const NVRTC: &str = "nvidia-cuda-nvrtc-cu12==12.1.105";
/// The assembler that knows every architecture from Turing to Blackwell, for the resource table.
pub(crate) const NVCC: &str = "nvidia-cuda-nvcc-cu12==12.8.93";

/// Where the compilers are.
pub(crate) struct Toolchain {
    pub(crate) nvrtc: PathBuf,
    pub(crate) ptxas: PathBuf,
}

/// Installs the wheels into the target folder, once.
pub(crate) fn install() -> Result<Toolchain> {
    let folder = target().join("cuda-tools-12.1-12.8");
    let toolchain = Toolchain {
        nvrtc: folder.join("nvidia/cuda_nvrtc/lib/libnvrtc.so.12"),
        ptxas: folder.join("nvidia/cuda_nvcc/bin/ptxas"),
    };
    if !(toolchain.nvrtc.exists() && toolchain.ptxas.exists()) {
        run(pip_install(&folder).args(["--no-deps", NVRTC, NVCC]))
            .context("installing the CUDA compilers from PyPI needs python3 with pip")?;
    }
    if !(toolchain.nvrtc.exists() && toolchain.ptxas.exists()) {
        bail!("{NVRTC} and {NVCC} did not bring NVRTC and ptxas to {}", folder.display());
    }
    Ok(toolchain)
}
