//! A target of 32 bits, built and tested: `cargo check` passes arithmetic that overflows a `usize` of 32 bits
//! and that a build refuses. What all other tests see as users' builds have it asserts here, too.

use anyhow::{Result, ensure};

use crate::{
    command::{apt_install, cargo, command, one_line, output, run, rustup, setting},
    packages,
};

/// Machines of 64 bits run its programs without an emulator.
const TARGET: &str = "i686-unknown-linux-gnu";

/// What ciphers stand on, modes over them, and the device layer on its model device.
const TESTED: [&str; 5] = ["core", "cuda", "modes", "reference", "slicing"];

/// Builds the facade as users get it, and tests the ciphers and these libraries.
pub(crate) fn check() -> Result<()> {
    if let Err(error) = install() {
        println!("NOT tried: {TARGET}: {}", one_line(&error));
        return Ok(());
    }
    let mut tested = packages::ciphers()?;
    tested.extend(TESTED.map(str::to_owned));
    run(&mut of_target(&["build", "--package", "lanecrypt"], &tested))?;
    let mut test = of_target(&["test", "--no-fail-fast", "--lib", "--tests"], &tested);
    run(test.args(tested.iter().map(|name| format!("--package=lanecrypt-{name}"))))
}

/// A task of cargo for the target, with assertions in these libraries. The builds are most of the time, so that they
/// are optimised little.
fn of_target(arguments: &[&str], asserting: &[String]) -> std::process::Command {
    let mut cargo = cargo();
    cargo.args(arguments).args(["--quiet", "--target", TARGET]);
    cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
    for name in asserting {
        let package = format!("lanecrypt-{name}");
        setting(&mut cargo, &package, "debug-assertions", true);
        setting(&mut cargo, &package, "overflow-checks", true);
    }
    cargo
}

/// The target's libraries, and a C compiler's, with which it links.
fn install() -> Result<()> {
    rustup(&["target", "add", TARGET])?;
    if links().is_ok() {
        return Ok(());
    }
    apt_install(&["gcc-multilib"])?;
    links()
}

/// Checks that the compiler finds what programs of the target begin with.
fn links() -> Result<()> {
    let start = output(command("cc").args(["-m32", "-print-file-name=crt1.o"]))?;
    ensure!(start.contains('/'), "cc -m32 finds no crt1.o");
    Ok(())
}
