//! GPUs that CUDA does not reach: the kernels in WGSL on lavapipe, a driver for Vulkan that computes on the CPU.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};

use crate::{
    command::apt_install,
    test::EXPECT,
    test_programs::{self, TestProgram},
};

/// What tells the loader of Vulkan which drivers there are: of one that is not there, none.
pub(crate) const DRIVER: &str = "VK_ICD_FILENAMES";

/// Where Debian's package says which drivers there are.
const DRIVERS: &str = "/usr/share/vulkan/icd.d";

/// Runs the crate's own tests, those of its engine, and the conformance trials of its backends. Each of them fails
/// where there is no device.
pub(crate) fn check() -> Result<()> {
    if lavapipe().is_none() {
        apt_install(&["mesa-vulkan-drivers"])?;
    }
    let driver = lavapipe().context("mesa-vulkan-drivers has no lavapipe")?;
    let variables = vec![
        (EXPECT, "wgpu-bitslice".into()),
        (DRIVER, driver.into()),
        // Mesa's layer that chooses a device looks for a display, and says that there is none.
        ("NODEVICE_SELECT", "1".into()),
    ];
    let programs = test_programs::all()?;
    let run = |options: &[&str], is_meant: fn(&TestProgram) -> bool| {
        let programs = programs.iter().filter(|program| is_meant(program));
        test_programs::run_all(programs, options, &variables)
    };
    run(&[], |program| program.name == "lanecrypt_wgpu" || program.name == "wgpu")?;
    run(&["::wgpu-bitslice"], |program| program.name == "conformance")
}

/// The description of the driver for the loader.
fn lavapipe() -> Option<PathBuf> {
    let mut entries = fs::read_dir(DRIVERS).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    entries.find(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with("lvp_icd"))
    })
}
