//! The kernels compiled as C++20 for this CPU: a library that tests run them from.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use lanecrypt_cuda::kernels::{MODULES, Module};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::{
    command::{command, root, run, target},
    kernels::of_folder,
};

/// Valgrind names lines by `-g1`. Products and sums of floating-point numbers are not fused, as in the kernels. A thread's own variables,
/// 40 bytes, lie in its static block, where they are found without a call.
pub(crate) const FLAGS: &str = "-std=c++20 -O3 -g1 -fPIC -fvisibility-inlines-hidden -ffp-contract=off -ftls-model=initial-exec -Wall -Wextra -Werror -x c++ -c";

/// Builds the library, where it is not of these sources, and returns its path.
pub(crate) fn build() -> Result<PathBuf> {
    build_in(&root(), &target().join("host-kernels"), MODULES.iter().collect(), level())
}

/// The same for valgrind, which knows no registers of 512 bits. Optimised little: trials run few blocks, and would gain
/// less time than more would take to compile.
pub(crate) fn build_for_valgrind() -> Result<PathBuf> {
    let folder = target().join("host-kernels-for-valgrind");
    build_in(&root(), &folder, MODULES.iter().collect(), Some("-O1"))
}

/// Builds that of a copy of the tree.
pub(crate) fn build_of_tree(tree: &Path) -> Result<PathBuf> {
    build_in(tree, &target().join("host-kernels-of-copy"), MODULES.iter().collect(), level())
}

/// The library by itself of the kernels of one folder and of what modes need, or that of all.
pub(crate) fn build_of(folder: Option<&str>) -> Result<PathBuf> {
    let Some(name) = folder else {
        return build();
    };
    let mut modules = of_folder(MODULES, Some(name))?;
    for shared in ["modes", "ghash", "batch"] {
        modules.extend(of_folder(MODULES, Some(shared))?);
    }
    build_in(&root(), &target().join("host-kernels").join(name), modules, level())
}

fn build_in(
    tree: &Path,
    folder: &Path,
    modules: Vec<&Module>,
    level: Option<&str>,
) -> Result<PathBuf> {
    let kernels = tree.join("kernels");
    fs::create_dir_all(folder)?;
    let library = folder.join("liblanecrypt_host_kernels.so");
    let fingerprint = fingerprint(&kernels, level)?;
    // Says of which sources the library is; written last.
    let stamp = folder.join("fingerprint");
    if library.exists() && fs::read_to_string(&stamp).is_ok_and(|built| built == fingerprint) {
        return Ok(library);
    }
    let _ = fs::remove_file(&stamp);
    let mut sources: Vec<_> = modules.into_iter().map(|module| module.source).collect();
    sources.push("host/shim.cpp");
    // Half a minute on one core.
    let objects: Vec<_> = sources
        .par_iter()
        .map(|source| {
            let object = folder.join(source.replace('/', "_")).with_extension("o");
            compile(&kernels.join(source), &object, level)?;
            Ok(object)
        })
        .collect::<Result<_>>()?;
    run(command(compiler()).arg("-shared").arg("-o").arg(&library).args(&objects))?;
    fs::write(&stamp, fingerprint)?;
    Ok(library)
}

/// The level of x86-64 that this CPU has: with three-input functions, bit-sliced kernels take two thirds of the
/// time.
#[cfg(target_arch = "x86_64")]
fn level() -> Option<&'static str> {
    let has_512_bits = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    let has_256_bits = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("movbe");
    match (has_256_bits, has_512_bits) {
        (true, true) => Some("-march=x86-64-v4"),
        (true, false) => Some("-march=x86-64-v3"),
        (false, _) => None,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn level() -> Option<&'static str> {
    None
}

/// The C++ compiler.
pub(crate) fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "g++".into())
}

fn compile(source: &Path, object: &Path, level: Option<&str>) -> Result<()> {
    let mut compile = command(compiler());
    compile.args(FLAGS.split(' ')).args(level).arg(source).arg("-o").arg(object);
    run(&mut compile).context("the host build of the kernels needs a C++20 compiler (g++, or $CXX)")
}

/// A digest, in hex, of all that the library is made of: the names and contents of the C++ and CUDA
/// files under `kernels`, the compiler's name and its options. Times of files say nothing: whoever
/// unpacks or checks out an older file moves them back.
pub(crate) fn fingerprint(kernels: &Path, level: Option<&str>) -> Result<String> {
    let mut digest = Sha256::new();
    digest.update(format!("{} {FLAGS} {}\n", compiler(), level.unwrap_or("")));
    let mut files = Vec::new();
    sources(kernels, &mut files)?;
    files.sort();
    for path in files {
        let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
        let name = path.strip_prefix(kernels).unwrap_or(&path).display();
        digest.update(format!("{name} {}\n", bytes.len()));
        digest.update(bytes);
    }
    Ok(hex(&digest.finalize()))
}

/// Two digits a byte, as `sha256sum` prints a digest.
pub(crate) fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            sources(&path, files)?;
        } else if extension.is_some_and(|e| ["cu", "cuh", "cpp", "hpp"].contains(&e)) {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_shows_whatever_the_time_of_the_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let source = folder.path().join("aes").join("table.cu");
        fs::create_dir(folder.path().join("aes")).expect("a folder");
        let write = |text: &str| fs::write(&source, text).expect("a file");
        let of_now = || fingerprint(folder.path(), None).expect("the folder can be read");
        write("int a;");
        let time = fs::metadata(&source).and_then(|file| file.modified()).expect("a time");
        let before = of_now();
        assert_eq!(before, of_now());
        write("int b;");
        let file = fs::File::options().write(true).open(&source).expect("the file is there");
        file.set_modified(time).expect("times can be set");
        let changed = of_now();
        assert_ne!(before, changed);
        // What is no source does not count; a new name does.
        fs::write(folder.path().join("table.ptx"), "x").expect("a file");
        assert_eq!(changed, of_now());
        fs::rename(&source, folder.path().join("aes").join("other.cu")).expect("a new name");
        assert_ne!(changed, of_now());
    }
}
