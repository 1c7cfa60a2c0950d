//! Keeps the compiler's and the commit's name in bench-all, for its reports.

use std::process::Command;

fn main() {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let compiler = first_line(Command::new(compiler).arg("--version"));
    let commit = first_line(Command::new("git").args(["describe", "--always", "--dirty"]));
    println!("cargo:rustc-env=LANECRYPT_COMPILER={}", compiler.unwrap_or("unknown".into()));
    println!("cargo:rustc-env=LANECRYPT_COMMIT={}", commit.unwrap_or("unknown".into()));
    println!("cargo:rerun-if-changed=../.git/HEAD");
    println!("cargo:rerun-if-changed=../.git/logs/HEAD");
}

fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned)
}
