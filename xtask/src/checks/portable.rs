//! The libraries that work without the standard library, on targets that are not this machine's.

use anyhow::{Context, Result, ensure};

use crate::{
    command::{cargo, command, one_line, output, run, rustup},
    packages,
};

/// Of 32 bits, without an operating system and with; without atomic exchanges; a kernel that leaves the CPU's registers
/// alone. And whether with features: either set is checked somewhere. `narrow` builds for another target, and the book's
/// page in a browser is built of the second, with features.
const TARGETS: [(&str, bool); 4] = [
    ("thumbv7em-none-eabi", true),
    ("wasm32-unknown-unknown", false),
    ("thumbv6m-none-eabi", false),
    ("x86_64-unknown-none", false),
];

/// Architectures that `cpufeatures` compiles for; elsewhere it is a `compile_error!`.
const DETECTS_FEATURES: [&str; 4] = ["x86", "x86_64", "aarch64", "loongarch64"];

/// Checks every library for every target whose libraries can be had, and for all of them what they
/// depend on.
pub(crate) fn targets() -> Result<()> {
    let packages = packages::no_std()?;
    for (target, with_features) in TARGETS {
        dependencies(target, &packages)?;
        match rustup(&["target", "add", target]) {
            Ok(()) => check(target, with_features, &packages)?,
            Err(error) => {
                println!("{target}: dependencies right, not checked: {}", one_line(&error));
            }
        }
    }
    Ok(())
}

/// Type-checks the libraries, without features or with those that need no standard library.
fn check(target: &str, with_features: bool, packages: &[String]) -> Result<()> {
    let features = ["alloc", "zeroize"];
    let is_cipher = |package: &str| {
        !["slicing", "reference", "kernels"].iter().any(|name| package.ends_with(name))
    };
    let mut check = cargo();
    check.args(["check", "--quiet", "--target", target, "--no-default-features"]);
    for package in packages {
        check.args(["--package", package]);
        if with_features && is_cipher(package) {
            check.args(features.map(|feature| format!("--features={package}/{feature}")));
        }
    }
    run(&mut check)?;
    println!("{target}: {} libraries checked", packages.len());
    Ok(())
}

/// Fails where a library would draw in a crate that does not compile for the target. This needs no
/// libraries of the target.
fn dependencies(target: &str, packages: &[String]) -> Result<()> {
    let cfg = output(command("rustc").args(["--print", "cfg", "--target", target]))?;
    let architecture = cfg.lines().find_map(|line| line.strip_prefix("target_arch="));
    let architecture = architecture.context("rustc names no architecture")?.trim_matches('"');
    for package in packages {
        let options = ["--no-default-features", "--edges", "normal", "--prefix", "none"];
        let mut tree = cargo();
        tree.args(["tree", "--quiet", "--target", target, "--package", package]).args(options);
        let tree = output(&mut tree)?;
        let detects = tree.lines().any(|line| line.starts_with("cpufeatures "));
        ensure!(
            !detects || DETECTS_FEATURES.contains(&architecture),
            "{package} depends on cpufeatures for {target}, where that does not compile"
        );
    }
    Ok(())
}
