//! Everything CI checks besides the tests, one step after the other.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::{
    codegen,
    command::{self, cargo, command, output, run},
    ct, kernels, portable, tidy,
};

type Step = (&'static str, fn() -> Result<()>);

const STEPS: &[Step] = &[
    ("format", format),
    ("tidy", tidy::run),
    ("codegen --check", || codegen::run(true, false, None)),
    ("kernels --check", || kernels::run(true)),
    ("constant time", || ct::run_task(None)),
    ("clippy", clippy),
    ("documentation without warnings", documentation),
    ("no_std", no_std),
    ("portable targets", portable::targets),
    ("lowest toolchain", lowest_toolchain),
    ("book, and its tables are those of the newest record", book),
    ("licences, sources and duplicates of dependencies", dependencies),
];

pub(crate) fn run_steps() -> Result<()> {
    for (name, step) in STEPS {
        let start = Instant::now();
        println!("== {name}");
        step().with_context(|| format!("step {name:?}"))?;
        println!("== {name}: passed in {} s", start.elapsed().as_secs());
    }
    Ok(())
}

fn format() -> Result<()> {
    run(cargo().args(["fmt", "--all", "--check"]))
}

fn clippy() -> Result<()> {
    let options = ["clippy", "--quiet", "--workspace", "--all-targets", "--all-features"];
    run(cargo().args(options).args(["--", "--deny", "warnings"]))
}

fn documentation() -> Result<()> {
    let options = ["doc", "--quiet", "--workspace", "--no-deps", "--all-features"];
    run(cargo().args(options).env("RUSTDOCFLAGS", "--deny warnings"))
}

/// The libraries that work without the standard library, without their default features.
fn no_std() -> Result<()> {
    for package in portable::NO_STD {
        let options = ["check", "--quiet", "--no-default-features", "--package", package];
        run(cargo().args(options))?;
    }
    Ok(())
}

/// Builds everything with the lowest stable toolchain that rustup has.
fn lowest_toolchain() -> Result<()> {
    let listed = output(command("rustup").args(["toolchain", "list", "--quiet"]))?;
    let version = |name: &str| {
        let text = output(command("rustc").arg(format!("+{name}")).arg("--version")).ok()?;
        let number = text.split(' ').nth(1)?.to_owned();
        let parts: Option<Vec<u32>> = number.split('.').map(|part| part.parse().ok()).collect();
        Some((parts?, name.to_owned()))
    };
    // Nightly versions do not parse as three numbers, and so are left out.
    let lowest = listed.lines().filter_map(version).min();
    let (number, name) = lowest.context("rustup has no stable toolchain")?;
    println!("{name} ({number:?}); the stated minimum is in Cargo.toml");
    // The cargo that runs this task would pass its own toolchain on.
    let mut check = command("cargo");
    check.env_remove("RUSTUP_TOOLCHAIN").env_remove("RUSTC").env_remove("CARGO");
    run(check.arg(format!("+{name}")).args(["check", "--quiet", "--workspace", "--all-features"]))
}

fn book() -> Result<()> {
    command::book(&["--check-only"])?;
    command::book(&[])
}

fn dependencies() -> Result<()> {
    if command("cargo-deny").arg("--version").output().is_err() {
        run(cargo().args(["install", "--quiet", "--locked", "cargo-deny"]))?;
    }
    // Its advisory database cannot be reached everywhere, so advisories are not checked here.
    run(cargo().args(["deny", "--log-level", "error", "check", "bans", "licenses", "sources"]))
}
