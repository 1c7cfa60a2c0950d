//! Everything CI checks besides the tests.

use std::process::Command;

use anyhow::Result;

use crate::{
    checks::{
        browser, ct, dependencies, features, inlining, narrow, older_cpus, portable, proofs,
        publishing, wgpu,
    },
    command::{
        self, build_one, cargo, cargo_of, command, one_line, root, run, rustup, target, workspace,
    },
    inside, kernels, ladder, packages, rates, release,
    sources::{codegen, generated::Mode, port},
    steps::{self, step},
    tidy, user_crate,
};

/// All steps, or those whose names contain one of these: what cargo does, which often waits for one core, and beside it
/// what needs cargo least.
pub(crate) fn run_steps(only: &[String]) -> Result<()> {
    let mut main = vec![
        step("format", format),
        step("tidy", tidy::run),
        step("clippy", clippy),
        step("documentation without warnings", documentation),
        step("no_std", no_std),
        step("portable targets", portable::targets),
        step("sets of features, without warnings", features::check),
        step("inlining", inlining::check),
        step("programs of a user compile", user_crate::check),
        step("bench-all --quick", bench),
        step("book, and its tables are those of the newest record", book),
        step("the ports of the book", || port::run(true, Mode::Check, &[])),
        step("the ladder of the book", ladder::check),
        step("kernels that measure rates", rates::check),
        step("lanecrypt.cuh inside kernels", inside::check),
        step("what the plans make", || proofs::plans(true)),
        step("the page that encrypts, in a browser", browser::check),
    ];
    let mut beside = vec![
        step("kernels in WGSL on a driver for the CPU", wgpu::check),
        step("codegen --check", || codegen::run(true)),
        step("kernels --check", || kernels::run(true, None)),
        step("packages", || publishing::run_task(false)),
        step("licences and SBOMs of what is shipped", release::lists),
        step("licences, sources and duplicates of dependencies", dependencies::check),
        step("the oldest Rust that Cargo.toml allows", oldest_toolchain),
        step("constant time", || ct::run_task(None)),
        step("plans and proofs", || proofs::prove(None)),
        step("a target of 32 bits, built and tested", narrow::check),
        step("tests on older CPUs, under qemu", older_cpus::check),
    ];
    if !only.is_empty() {
        main.retain(|step| step.is_named(only));
        beside.retain(|step| step.is_named(only));
    }
    steps::run_all("ci", &[&main, &beside])
}

fn format() -> Result<()> {
    run(cargo().args(["fmt", "--all", "--check"]))?;
    run(cargo().args(["fmt", "--check"]).current_dir(root().join(user_crate::FOLDER)))
}

fn clippy() -> Result<()> {
    let mut clippy = checking_all("clippy")?;
    run(clippy.args(["--all-targets", "--", "--deny", "warnings"]))
}

/// What is published, as docs.rs builds it, so that what only it compiles is compiled here; and the other libraries, since
/// clippy has checked what all of them together depend on, but not what others select.
fn documentation() -> Result<()> {
    let mut doc = checking_all("doc")?;
    doc.args(["--no-deps", "--lib"]).env("RUSTDOC", root().join("xtask/rustdoc.sh"));
    run(doc.env("RUSTDOCFLAGS", "--deny warnings --cfg docsrs"))
}

/// A task of cargo over all packages with all features.
fn checking_all(task: &str) -> Result<Command> {
    let mut cargo = workspace(task);
    cargo.args(["--quiet", "--features", &packages::features()?]);
    Ok(cargo)
}

/// The libraries that work without the standard library, without their default features.
fn no_std() -> Result<()> {
    for package in packages::no_std()? {
        let options = ["check", "--quiet", "--no-default-features", "--package", &package];
        run(cargo().args(options))?;
    }
    Ok(())
}

/// Packages that draw in an HTTP client, an asynchronous runtime or a GPU's driver layers, which take most of the time to
/// check. What all dependencies say that they need is compared by `dependencies`, and calls of std by clippy.
const NOT_BY_THE_OLDEST: [&str; 3] = ["lanecrypt-objects", "lanecrypt-python", "lanecrypt-wgpu"];

/// Checks what is published with the oldest toolchain that is promised, where rustup can install it, in a folder
/// of its own, so that it waits for no other build.
fn oldest_toolchain() -> Result<()> {
    let oldest = env!("CARGO_PKG_RUST_VERSION");
    let install = ["toolchain", "install", oldest, "--profile", "minimal", "--no-self-update"];
    if let Err(error) = rustup(&install) {
        println!("NOT tried: Rust {oldest} cannot be installed here: {}", one_line(&error));
        return Ok(());
    }
    let mut packages = packages::published()?;
    packages.retain(|package| !NOT_BY_THE_OLDEST.iter().any(|name| package["name"] == *name));
    let mut check = cargo_of(oldest);
    check.args(["check", "--quiet", "--features", &packages::features_without_wgpu(&packages)]);
    run(check.args(packages::selecting(&packages)).env("CARGO_TARGET_DIR", target().join("oldest")))
}

/// The README's first command, in the build that checks and in a hundredth of the time: the record that it writes
/// is of no use.
fn bench() -> Result<()> {
    let record = target().join("ci-record");
    let mut bench = command(build_one("bench-all")?);
    run(bench.args(["--quick", "--milliseconds", "1", "--out"]).arg(record))
}

fn book() -> Result<()> {
    command::book(&["--check-only".as_ref()])?;
    let epub = browser::has_pandoc();
    if !epub {
        println!("NOT built: the book's EPUB, since pandoc is not installed");
    }
    browser::book(epub, false)
}
