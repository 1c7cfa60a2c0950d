//! A target of 32 bits, built and tested: `cargo check` passes arithmetic that overflows a `usize` of 32 bits
//! and that a build refuses.

use anyhow::{Result, ensure};

use crate::{
    command::{apt_install, cargo, command, one_line, optimise, output, run, rustup},
    packages,
};

/// Machines of 64 bits run its programs without an emulator.
const TARGET: &str = "i686-unknown-linux-gnu";

/// What everything else stands on, a cipher with instructions of its own and one without, and the device
/// layer on its model device.
const TESTED: [&str; 6] = ["core", "slicing", "aes", "camellia", "modes", "cuda"];

/// Builds the facade as users get it, and tests these libraries.
pub(crate) fn check() -> Result<()> {
    if let Err(error) = install() {
        println!("NOT tried: {TARGET}: {}", one_line(&error));
        return Ok(());
    }
    run(&mut of_target(&["build", "--package", "lanecrypt"])?)?;
    let mut test = of_target(&["test", "--no-fail-fast", "--lib", "--tests"])?;
    test.args(TESTED.map(|name| format!("--package=lanecrypt-{name}")));
    run(&mut test)
}

/// A task of cargo for the target. The builds are most of the time: what is tested is optimised little, other ciphers not
/// at all.
fn of_target(arguments: &[&str]) -> Result<std::process::Command> {
    let mut cargo = cargo();
    cargo.args(arguments).args(["--quiet", "--target", TARGET]);
    cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
    for cipher in packages::ciphers()? {
        if !TESTED.contains(&cipher.as_str()) {
            optimise(&mut cargo, &cipher, 0);
        }
    }
    Ok(cargo)
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
