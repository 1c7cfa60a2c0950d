//! Tests on CPUs of x86-64 that have fewer instructions than this one, under qemu-user: the types that users name choose
//! by what the CPU has, and keep their promises on each.

use anyhow::{Result, ensure};

use crate::{
    command::{apt_install, command, output, said},
    test_programs,
};

const EMULATOR: &str = "qemu-x86_64";

/// Registers of 128 bits without AES, those of 256 without it, and AES with 128.
const CPUS: [&str; 3] = ["Nehalem", "Haswell,-aes", "Westmere"];

/// Test programs of what chooses, by their names in any package; the last one finds keys on the stack.
const PROGRAMS: [&str; 8] =
    ["drop_in", "forms", "key_streams", "message", "secrets", "self_test", "ways", "residue"];

/// Runs them on each.
pub(crate) fn check() -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        println!("NOT tried: {EMULATOR} runs programs of x86-64 Linux, which this machine is not");
        return Ok(());
    }
    if output(command(EMULATOR).arg("--version")).is_err() {
        apt_install(&["qemu-user"])?;
    }
    let mut programs = test_programs::all()?;
    programs.retain(|program| PROGRAMS.contains(&program.name.as_str()));
    for name in PROGRAMS {
        ensure!(programs.iter().any(|program| program.name == name), "there is no test {name}");
    }
    for cpu in CPUS {
        for program in &programs {
            let mut test = program.started_by(&[EMULATOR, "-cpu", cpu]);
            let said = said(test.arg("--quiet").env("PROPTEST_CASES", "4"))?;
            let lacks =
                said.lines().any(|line| line.contains("doesn't support") && line.contains(".avx2"));
            ensure!(!lacks, "this {EMULATOR} is too old: it has no AVX2");
        }
        println!("{cpu}: {} test programs pass", programs.len());
    }
    Ok(())
}
