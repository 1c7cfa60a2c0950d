//! The kernels compiled as C++20 for this CPU: a library that tests run them from.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, Result};
use lanecrypt_cuda::kernels::MODULES;

use crate::command::{command, root, run, target};

/// Builds what is out of date and returns the library's path.
pub(crate) fn build() -> Result<PathBuf> {
    let kernels = root().join("kernels");
    let folder = target().join("host-kernels");
    fs::create_dir_all(&folder)?;
    let library = folder.join("liblanecrypt_host_kernels.so");
    let newest = newest(&kernels)?;
    let sources = MODULES.iter().map(|module| module.source).chain(["host/shim.cpp"]);
    let mut objects = Vec::new();
    for source in sources {
        let object = folder.join(source.replace('/', "_")).with_extension("o");
        if modified(&object) < Some(newest) {
            compile(&kernels.join(source), &object)?;
        }
        objects.push(object);
    }
    if modified(&library) < Some(newest) {
        run(command(compiler()).arg("-shared").arg("-o").arg(&library).args(&objects))?;
    }
    Ok(library)
}

fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "g++".into())
}

/// Fortified longjmp refuses to switch stacks, which is what the shim's fibers do. Valgrind names
/// lines by `-g1`.
fn compile(source: &Path, object: &Path) -> Result<()> {
    let flags = "-std=c++20 -O2 -g1 -fPIC -Wall -Wextra -Werror -U_FORTIFY_SOURCE -x c++ -c";
    run(command(compiler()).args(flags.split(' ')).arg(source).arg("-o").arg(object))
        .context("the host build of the kernels needs a C++20 compiler (g++, or $CXX)")
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|metadata| metadata.modified()).ok()
}

/// When a source under `folder` last changed.
fn newest(folder: &Path) -> Result<SystemTime> {
    let mut newest = SystemTime::UNIX_EPOCH;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let time = if path.is_dir() { Some(self::newest(&path)?) } else { modified(&path) };
        newest = newest.max(time.unwrap_or(newest));
    }
    Ok(newest)
}
