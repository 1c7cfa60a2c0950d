//! A target of 32 bits, built and tested: `cargo check` passes arithmetic that overflows a `usize` of 32 bits
//! and that a build refuses. What all other tests see as users' builds have it asserts here, too.

use anyhow::{Result, ensure};

use crate::command::{
    apt_install, built_quickly, cargo, command, one_line, output, run, rustup, setting, target,
};

/// Machines of 64 bits run its programs without an emulator.
pub(crate) const TARGET: &str = "i686-unknown-linux-gnu";

/// What ciphers stand on, modes over them, the device layer on its model device, and a cipher of either block size: what
/// the other ciphers have of their own are rounds, which know nothing of addresses.
const TESTED: [&str; 7] = ["aes", "core", "cuda", "des", "modes", "reference", "slicing"];

/// Doors that take lengths from files, which `cargo xtask cross` tests: what they stand on takes minutes to build.
pub(crate) const DOORS: [&str; 4] = ["luks", "objects", "parquet", "tink"];

/// Tests the libraries that every change is tested with. The facade with all ciphers is built for 32 bits as the module of
/// the book's page in a browser.
pub(crate) fn check() -> Result<()> {
    if let Err(error) = install() {
        println!("NOT tried: {TARGET}: {}", one_line(&error));
        return Ok(());
    }
    test(&TESTED)
}

/// Tests these libraries.
pub(crate) fn test(packages: &[&str]) -> Result<()> {
    let mut test = cargo();
    test.args(["test", "--no-fail-fast", "--lib", "--tests", "--quiet", "--target", TARGET]);
    built_quickly(&mut test);
    for package in packages.iter().map(|name| format!("lanecrypt-{name}")) {
        setting(&mut test, &package, "debug-assertions", true);
        setting(&mut test, &package, "overflow-checks", true);
        test.arg(format!("--package={package}"));
    }
    // A folder of its own, so that it waits for no other build, nor they for it.
    run(test.env("CARGO_TARGET_DIR", target().join("narrow")))
}

/// The target's libraries, and a C compiler's, with which it links.
pub(crate) fn install() -> Result<()> {
    rustup(&["target", "add", TARGET])?;
    if links().is_ok() {
        return Ok(());
    }
    // The package `gcc-multilib`, without a version, is refused beside compilers for other machines, which
    // `cargo xtask cross` needs.
    let version = output(command("cc").arg("-dumpversion"))?;
    let version = version.trim().split('.').next().unwrap_or_default();
    apt_install(&[&format!("gcc-{version}-multilib")])?;
    links()
}

/// Checks that the compiler finds what programs of the target begin with.
fn links() -> Result<()> {
    let start = output(command("cc").args(["-m32", "-print-file-name=crt1.o"]))?;
    ensure!(start.contains('/'), "cc -m32 finds no crt1.o");
    Ok(())
}
