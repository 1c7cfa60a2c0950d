//! The build of tests/user-crate: programs that call the ciphers as a user does.

use std::path::PathBuf;

use anyhow::Result;

use crate::command::{cargo, copy, root, run, target};

/// The package's folder.
pub(crate) const FOLDER: &str = "tests/user-crate";

/// Builds one of its programs as a user does, with cargo's own release profile, but for the versions of
/// dependencies, which are the workspace's; and says where it is.
pub(crate) fn built(program: &str, features: &[&str]) -> Result<PathBuf> {
    let folder = root().join(FOLDER);
    copy(&root().join("Cargo.lock"), &folder.join("Cargo.lock"))?;
    let out = target().join("user-crate");
    let mut build = cargo();
    build.args(["build", "--quiet", "--release", "--bin", program, "--features"]);
    build.arg(features.join(",")).arg("--target-dir").arg(&out);
    build.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    run(build.current_dir(folder))?;
    Ok(out.join("release").join(program))
}
