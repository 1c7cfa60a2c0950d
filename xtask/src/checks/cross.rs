//! Tests on machines that this one is not: big-endian and NEON under qemu-user, doors on 32 bits, and the
//! portable code under Miri.

use std::{path::Path, process::Command};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use super::narrow;
use crate::{
    command::{apt_install, cargo, cargo_of, command, one_line, output, run, rustup},
    packages,
    test::EXPECT,
};

/// What a run of the task may be narrowed to.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Big-endian, under qemu-user.
    S390x,
    /// NEON and AES instructions of ARMv8, under qemu-user.
    Aarch64,
    /// Doors that take lengths from files, on 32 bits.
    I686,
    /// Undefined behaviour, by an interpreter.
    Miri,
}

/// A Linux target, Debian's cross toolchain for it, and qemu's program for its instructions.
struct Emulated {
    target: &'static str,
    /// The architecture's name in programs and folders.
    name: &'static str,
    /// The architecture's name in packages of libraries.
    debian: &'static str,
}

const S390X: Emulated =
    Emulated { target: "s390x-unknown-linux-gnu", name: "s390x", debian: "s390x" };

const AARCH64: Emulated =
    Emulated { target: "aarch64-unknown-linux-gnu", name: "aarch64", debian: "arm64" };

/// Runs these parts, or all. One for which this machine cannot get the tools is named, and is no
/// failure as long as another one ran.
pub(crate) fn run_parts(parts: &[Part]) -> Result<()> {
    let parts = if parts.is_empty() { Part::value_variants() } else { parts };
    let mut ran = false;
    for part in parts {
        let (name, tools) = match part {
            Part::S390x => (S390X.target, S390X.install()),
            Part::Aarch64 => (AARCH64.target, AARCH64.install()),
            Part::I686 => (narrow::TARGET, narrow::install()),
            Part::Miri => ("Miri", install_miri()),
        };
        if let Err(error) = tools {
            println!("NOT tried: {name}: {}", one_line(&error));
            continue;
        }
        println!("== {name}");
        match part {
            Part::S390x => S390X.test()?,
            Part::Aarch64 => AARCH64.test()?,
            Part::I686 => narrow::test(&narrow::DOORS)?,
            Part::Miri => miri()?,
        }
        ran = true;
    }
    if ran { Ok(()) } else { bail!("no part could be tried") }
}

impl Emulated {
    fn linker(&self) -> String {
        format!("{}-linux-gnu-gcc", self.name)
    }

    fn emulator(&self) -> String {
        format!("qemu-{}", self.name)
    }

    /// Where the target's libraries are, libc foremost.
    fn libraries(&self) -> String {
        format!("/usr/{}-linux-gnu", self.name)
    }

    fn install(&self) -> Result<()> {
        rustup(&["target", "add", self.target])?;
        let starts = |program| command(program).arg("--version").output().is_ok();
        let has_libc = Path::new(&self.libraries()).join("lib/libc.so.6").exists();
        if starts(self.linker()) && starts(self.emulator()) && has_libc {
            return Ok(());
        }
        let compiler = format!("gcc-{}-linux-gnu", self.name);
        let libc = format!("libc6-dev-{}-cross", self.debian);
        apt_install(&[&compiler, &libc, "qemu-user"])
    }

    /// Unit and integration tests of the libraries, and the conformance trials of the CPU's backends:
    /// qemu emulates a CPU that has every instruction, so none may be skipped. Then doors that read files of others.
    fn test(&self) -> Result<()> {
        let mut packages = packages::no_std()?;
        packages.push("lanecrypt".to_owned());
        let features = "lanecrypt/getrandom,lanecrypt/parallel,lanecrypt/zeroize";
        run(self.tests_of(&packages).args(["--features", features]).env(EXPECT, "cpu"))?;
        run(&mut self.tests_of(&narrow::DOORS.map(|name| format!("lanecrypt-{name}"))))
    }

    /// Tests of these packages, without their features.
    fn tests_of(&self, packages: &[String]) -> Command {
        let variable = self.target.replace('-', "_").to_uppercase();
        let runner = format!("{} -L {}", self.emulator(), self.libraries());
        let mut test = cargo();
        test.args(["test", "--quiet", "--no-fail-fast", "--target", self.target])
            .args(["--lib", "--tests", "--no-default-features"])
            .args(packages.iter().flat_map(|package| ["--package", package]))
            .env(format!("CARGO_TARGET_{variable}_LINKER"), self.linker())
            .env(format!("CARGO_TARGET_{variable}_RUNNER"), runner)
            .env("CARGO_PROFILE_DEV_DEBUG", "0"); // the builds are most of the time
        test
    }
}

/// Miri comes with nightly compilers only.
const NIGHTLY: &str = "nightly";

fn install_miri() -> Result<()> {
    rustup(&["component", "add", "--toolchain", NIGHTLY, "miri", "rust-src"])?;
    output(cargo_of(NIGHTLY).args(["miri", "--version"])).map(drop).context("Miri does not start")
}

/// What Miri gets through in minutes: the transposes and operations of lanes, on fewer values than
/// elsewhere, every backend's key schedule, and AES as a user of RustCrypto's crate calls it.
const UNDER_MIRI: [&[&str]; 3] = [
    &["--package", "lanecrypt-slicing", "--lib", "--tests"],
    &[
        "--package",
        "lanecrypt",
        "--no-default-features",
        "--test",
        "conformance",
        "--",
        "bad_input",
    ],
    &["--package", "lanecrypt-aes", "--lib", "--test", "drop_in"],
];

fn miri() -> Result<()> {
    for programs in UNDER_MIRI {
        let mut test = cargo_of(NIGHTLY);
        test.args(["miri", "test", "--quiet"]).args(programs);
        // proptest asks for the working folder, which Miri hides otherwise.
        test.env("MIRIFLAGS", "-Zmiri-disable-isolation").env("PROPTEST_CASES", "1");
        // Of a panic that a test expects, it would take seconds.
        run(test.env("RUST_BACKTRACE", "0"))?;
    }
    Ok(())
}
