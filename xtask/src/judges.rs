//! Programs and Python modules that are not ours, which tests start as judges of files and bytes:
//! installed where that can be done.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use anyhow::Result;

use crate::command::{apt_install, one_line, output, pip_install, target};

/// Programs, and the packages of Debian that have them.
const PROGRAMS: [(&str, &str); 9] = [
    ("curl", "curl"),
    ("cryptsetup", "cryptsetup-bin"),
    ("fusermount3", "fuse3"),
    ("ip", "iproute2"),
    ("nbdcopy", "libnbd-bin"),
    ("nbdkit", "nbdkit"),
    ("openssl", "openssl"),
    ("qemu-img", "qemu-utils"),
    ("qemu-io", "qemu-utils"),
];
/// Packages of PyPI: the newest of November 2026.
const PYTHON: [&str; 11] = [
    "boto3==1.44.5",
    "cryptography==50.0.2",
    "distributed==2026.8.0",
    "hypothesis==6.170.15",
    "moto[server]==5.2.5",
    "numpy==2.4.6",
    "pyarrow==26.0.1",
    "pycryptodomex==3.24.2",
    "pytest==9.2.0",
    "ray==2.60.0",
    "tink==1.16.1",
];

/// Installs what is missing, says what cannot be, and gives the variables with which tests find it. Tests
/// leave out what needs a judge that is not there, and say so; CI makes that a failure.
pub(crate) fn install() -> Result<Vec<(&'static str, OsString)>> {
    install_programs(&PROGRAMS);
    let (folder, installed) = install_modules(&PYTHON, "tink");
    if let Err(error) = installed {
        println!("NOT installed: {}", one_line(&error));
    }
    let before = env::var_os("PYTHONPATH").unwrap_or_default();
    let folders = [folder].into_iter().chain(env::split_paths(&before));
    Ok(vec![("PYTHONPATH", env::join_paths(folders)?)])
}

/// The folder of these packages of PyPI, and whether they could be installed, where the last of them, a module of this
/// name, was not there.
pub(crate) fn install_modules(packages: &[&str], last: &str) -> (PathBuf, Result<()>) {
    let folder = target().join("judges").join(packages.join("-"));
    if folder.join(last).exists() {
        return (folder, Ok(()));
    }
    println!("installing {}", packages.join(" "));
    let installed = output(pip_install(&folder).args(packages)).map(drop);
    (folder, installed)
}

/// Installs what is missing of these programs, of packages of Debian, and gives those that are missing still.
pub(crate) fn install_programs(programs: &[(&'static str, &str)]) -> Vec<&'static str> {
    let missing = || programs.iter().filter(|(program, _)| !is_there(program));
    let packages: Vec<_> = missing().map(|(_, package)| *package).collect();
    if !packages.is_empty()
        && let Err(error) = apt_install(&packages)
    {
        println!("NOT installed: {}", one_line(&error));
    }
    missing().map(|(program, _)| *program).collect()
}

fn is_there(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let administrators = ["/usr/sbin", "/sbin"].map(Into::into);
    let mut folders = env::split_paths(&path).chain(administrators);
    folders.any(|folder| Path::new(&folder).join(program).is_file())
}
