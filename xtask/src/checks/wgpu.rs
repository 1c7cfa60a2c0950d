//! GPUs that CUDA does not reach: the kernels in WGSL on Mesa's drivers for Vulkan and OpenGL that compute on the CPU.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};

use crate::{
    command::apt_install,
    test::EXPECT,
    test_programs::{self, TestProgram},
};

/// What tells the loader of Vulkan which drivers there are, and that of OpenGL.
const VULKAN: &str = "VK_ICD_FILENAMES";
const OPENGL: &str = "__EGL_VENDOR_LIBRARY_FILENAMES";

/// What has the loaders find drivers that are not there, and so none.
pub(crate) const NO_DRIVERS: [(&str, &str); 2] = [(VULKAN, "none"), (OPENGL, "none")];

/// Where Debian's packages say which drivers there are, and how what they say of Mesa's begins.
const LAVAPIPE: (&str, &str) = ("/usr/share/vulkan/icd.d", "lvp_icd");
const MESA: (&str, &str) = ("/usr/share/glvnd/egl_vendor.d", "50_mesa");

/// Under OpenGL trials run in the main thread. Mesa frees what it keeps for a thread when that ends, and what it keeps for
/// all of them when the process ends: where the two meet, a program aborts after its last line, one time in twenty.
const IN_ONE_THREAD: &[&str] = &["--test-threads=1"];

/// Runs the crate's own tests, those of its engine, and the conformance trials of its backends, by Vulkan and by OpenGL.
/// Each of them fails where there is no device.
pub(crate) fn check() -> Result<()> {
    if described(LAVAPIPE).is_none() || described(MESA).is_none() {
        apt_install(&["mesa-vulkan-drivers", "libegl1", "libegl-mesa0", "libgl1-mesa-dri"])?;
    }
    let lavapipe = described(LAVAPIPE).context("mesa-vulkan-drivers has no lavapipe")?;
    let mesa = described(MESA).context("libegl-mesa0 has no driver for OpenGL")?;
    let programs = test_programs::all()?;
    for (driver, path, options) in [(VULKAN, lavapipe, &[][..]), (OPENGL, mesa, IN_ONE_THREAD)] {
        let mut variables: Vec<_> = NO_DRIVERS.map(|(name, value)| (name, value.into())).into();
        variables.push((driver, path.into()));
        variables.push((EXPECT, "wgpu-bitslice".into()));
        // Mesa's layer that chooses a device looks for a display, and says that there is none.
        variables.push(("NODEVICE_SELECT", "1".into()));
        let run = |options: &[&str], of: fn(&&TestProgram) -> bool| {
            test_programs::run_all(programs.iter().filter(of), options, &variables)
        };
        run(options, |program| ["lanecrypt_wgpu", "wgpu"].contains(&&*program.name))?;
        run(&[options, &["::wgpu-bitslice"]].concat(), |program| program.name == "conformance")?;
    }
    Ok(())
}

/// What describes a driver for its loader.
fn described((folder, start): (&str, &str)) -> Option<PathBuf> {
    let mut entries = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    entries
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start)))
}
