//! GPUs that CUDA does not reach: the kernels in WGSL on lavapipe, a driver for Vulkan that computes on the CPU.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};

use crate::{
    command::{apt_install, built_quickly, cargo, run, target},
    test::EXPECT,
};

/// Where Debian's package says which drivers there are.
const DRIVERS: &str = "/usr/share/vulkan/icd.d";

/// Runs the crate's own tests, those of its engine, and the conformance trials of its backends. Each of them fails
/// where there is no device.
pub(crate) fn check() -> Result<()> {
    if lavapipe().is_none() {
        apt_install(&["mesa-vulkan-drivers"])?;
    }
    let driver = lavapipe().context("mesa-vulkan-drivers has no lavapipe")?;
    // The builds have a folder of their own, so that they wait for no other one.
    // Mesa's layer that chooses a device looks for a display, and says that there is none.
    let test = |arguments: &[&str]| {
        let mut test = cargo();
        test.args(["test", "--quiet"]);
        test.args(arguments);
        run(built_quickly(&mut test)
            .env(EXPECT, "wgpu-bitslice")
            .env("VK_ICD_FILENAMES", &driver)
            .env("NODEVICE_SELECT", "1")
            .env("CARGO_TARGET_DIR", target().join("wgpu")))
    };
    test(&["--package", "lanecrypt-wgpu"])?;
    // Without CUDA's backends, which would be compiled once more for this.
    let facade = ["--package", "lanecrypt", "--no-default-features", "--features", "wgpu"];
    test(&[&facade[..], &["--test", "wgpu"]].concat())?;
    test(&[&facade[..], &["--test", "conformance", "--", "::wgpu-bitslice"]].concat())
}

/// The description of the driver for the loader.
fn lavapipe() -> Option<PathBuf> {
    let mut entries = fs::read_dir(DRIVERS).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    entries.find(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with("lvp_icd"))
    })
}
