//! Everything CI checks besides the tests, one step after the other.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::{
    codegen,
    command::{self, cargo, cargo_of, command, one_line, root, run, rustup, target, workspace},
    ct, inlining, kernels, packages, port, portable, publishing, tidy,
    tools::{DENY, HACK},
};

type Step = (&'static str, fn() -> Result<()>);

const STEPS: &[Step] = &[
    ("format", format),
    ("tidy", tidy::run),
    ("codegen --check", || codegen::run(true, false, None)),
    ("kernels --check", || kernels::run(true, None)),
    ("the port of LEA", || port::run(true)),
    ("constant time", || ct::run_task(None)),
    ("inlining", inlining::check),
    ("clippy", clippy),
    ("documentation without warnings", documentation),
    ("no_std", no_std),
    ("portable targets", portable::targets),
    ("every set of features, without warnings", features),
    ("the oldest Rust that Cargo.toml allows", oldest_toolchain),
    ("bench-all --quick", bench),
    ("book, and its tables are those of the newest record", book),
    ("packages", || publishing::run_task(false)),
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
    run(cargo().args(["fmt", "--all", "--check"]))?;
    run(cargo().args(["fmt", "--check"]).current_dir(root().join(inlining::USER_CRATE)))
}

fn clippy() -> Result<()> {
    let mut clippy = workspace("clippy");
    clippy.args(["--quiet", "--all-targets", "--features", &packages::features()?]);
    run(clippy.args(["--", "--deny", "warnings"]))
}

fn documentation() -> Result<()> {
    let mut doc = workspace("doc");
    doc.args(["--quiet", "--no-deps", "--features", &packages::features()?]);
    run(doc.env("RUSTDOCFLAGS", "--deny warnings"))
}

/// The libraries that work without the standard library, without their default features.
fn no_std() -> Result<()> {
    for package in packages::no_std()? {
        let options = ["check", "--quiet", "--no-default-features", "--package", &package];
        run(cargo().args(options))?;
    }
    Ok(())
}

/// The library crates under every set of their features: a set that nobody builds breaks unseen.
fn features() -> Result<()> {
    let mut check = command(HACK.path()?);
    check.args(["hack", "check", "--quiet", "--feature-powerset", "--exclude-features", "default"]);
    check.arg("--workspace");
    for program in
        ["lanecrypt-benches", "lanecrypt-book", "lanecrypt-ct", "lanecrypt-fuzz", "xtask"]
    {
        check.args(["--exclude", program]);
    }
    run(check.env("RUSTFLAGS", "--deny warnings"))
}

/// Builds everything with the oldest toolchain that is promised, where rustup can install it.
fn oldest_toolchain() -> Result<()> {
    let oldest = env!("CARGO_PKG_RUST_VERSION");
    let install = ["toolchain", "install", oldest, "--profile", "minimal", "--no-self-update"];
    if let Err(error) = rustup(&install) {
        println!("NOT tried: Rust {oldest} cannot be installed here: {}", one_line(&error));
        return Ok(());
    }
    let check = ["check", "--quiet", "--workspace", "--features", &packages::features()?];
    run(cargo_of(oldest).args(check))
}

/// The README's first command. The record it writes is of no use.
fn bench() -> Result<()> {
    let record = target().join("ci-record");
    run(command(command::built("bench-all", &[])?).args(["--quick", "--out"]).arg(record))
}

fn book() -> Result<()> {
    command::book(&["--check-only"])?;
    command::book(&[])
}

fn dependencies() -> Result<()> {
    // Its advisory database cannot be reached everywhere, so advisories are not checked here.
    let options = ["--log-level", "error", "check", "bans", "licenses", "sources"];
    run(command(DENY.path()?).args(options))
}
