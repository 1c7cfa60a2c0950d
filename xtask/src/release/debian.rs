//! A source package for Debian: made, built and checked by Debian's tools, and what it gives tried in a folder of its own.

mod copyright;
mod source;
mod vendored;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    command::{command, empty, one_line, output, run, target},
    judges,
};

/// The packages of the workspace that its packages are built of.
const PACKAGES: [&str; 3] =
    ["lanecrypt-cli", "lanecrypt-nbdkit-plugin", "lanecrypt-openssl-provider"];

/// Programs of Debian, and the packages that have them.
const TOOLS: [(&str, &str); 3] =
    [("dpkg-buildpackage", "dpkg-dev"), ("dh", "debhelper"), ("lintian", "lintian")];

/// Makes the source package, and where Debian's tools are there, builds it, checks it and runs what comes of it.
pub(super) fn check() -> Result<()> {
    let folder = empty(target().join("debian"))?;
    let tree = source::make(&folder)?;
    let missing = judges::install_programs(&TOOLS);
    if !missing.is_empty() {
        println!("NOT built, NOT checked, NOT tried: there is no {}", missing.join(", no "));
        return Ok(());
    }
    build(&tree)?;
    for file in with_end(&folder, "")? {
        println!("{}, {} bytes", file.display(), fs::metadata(&file)?.len());
    }
    check_rules(&folder)?;
    try_installed(&folder)
}

/// Builds source and binary packages, signing none.
fn build(tree: &Path) -> Result<()> {
    let mut words = without_network();
    words.extend(["dpkg-buildpackage", "-us", "-uc"]);
    let wanted = command("dpkg-checkbuilddeps").current_dir(tree).output()?;
    let unmet = String::from_utf8_lossy(&wanted.stderr);
    if !wanted.status.success() {
        ensure!(!unmet.contains("debhelper"), "{unmet}");
        println!("NOT with Debian's Rust, but with this machine's: {}", unmet.trim());
        words.push("-d");
    }
    // Debian's tools set another HOME, in which rustup finds no compiler.
    let compiler = output(command("rustc").args(["--print", "sysroot"]))?;
    let mut folders = vec![Path::new(compiler.trim()).join("bin")];
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut build = command(words[0]);
    build.args(&words[1..]).current_dir(tree).env("PATH", std::env::join_paths(folders)?);
    for variable in ["CARGO_ENCODED_RUSTFLAGS", "RUSTC", "RUSTUP_TOOLCHAIN"] {
        build.env_remove(variable);
    }
    run(&mut build)
}

/// What starts a program that finds no network, where this machine lets us do that.
fn without_network() -> Vec<&'static str> {
    let words = ["unshare", "--map-root-user", "--net"];
    match output(command(words[0]).args(&words[1..]).arg("true")) {
        Ok(_) => words.to_vec(),
        Err(error) => {
            println!("cargo alone keeps from the network: {}", one_line(&error));
            Vec::new()
        }
    }
}

/// Debian's own check of its rules: warnings fail, too.
fn check_rules(folder: &Path) -> Result<()> {
    let changes = with_end(folder, ".changes")?;
    let mut lintian = command("lintian");
    lintian.args(["--allow-root", "--info", "--tag-display-limit", "0"]);
    // The bug that announces a package to Debian has a number when a person uploads it: docs/releasing.md asks for it.
    lintian.args(["--suppress-tags", "initial-upload-closes-no-bugs"]);
    run(lintian.args(["--fail-on", "error,warning"]).args(changes))
}

/// Unpacks the packages into a root of their own and runs what is in them.
fn try_installed(folder: &Path) -> Result<()> {
    let root = empty(folder.join("root"))?;
    let packages = with_end(folder, ".deb")?;
    let packages = packages.iter().filter(|path| !path.to_string_lossy().contains("-dbgsym_"));
    for package in packages {
        run(command("dpkg-deb").arg("-x").arg(package).arg(&root))?;
    }
    run(command(root.join("usr/bin/lanecrypt")).arg("self-test"))?;
    let triplet = output(command("dpkg-architecture").arg("-qDEB_HOST_MULTIARCH"))?;
    let libraries = root.join("usr/lib").join(triplet.trim());
    let mut openssl = command("openssl");
    // OpenSSL looks for a provider where the options before it say.
    openssl.args(["list", "-providers", "-provider-path"]).arg(libraries.join("ossl-modules"));
    openssl.args(["-provider", "default", "-provider", "lanecrypt"]);
    try_with("openssl", || {
        let said = output(&mut openssl)?;
        println!("{}", said.trim_end());
        let ours = said.split("lanecrypt").nth(1).context("OpenSSL does not list it")?;
        ensure!(ours.contains("status: active"), "OpenSSL has it, but does not use it");
        Ok(())
    })?;
    try_with("nbdkit", || {
        let plugin = libraries.join("nbdkit/plugins/nbdkit-lanecrypt-luks-plugin.so");
        let said = output(command("nbdkit").arg(plugin).arg("--dump-plugin"))?;
        ensure!(said.contains("name=lanecrypt-luks"), "nbdkit says {said}");
        println!("nbdkit loads the plugin");
        Ok(())
    })
}

/// Does `work` where this program is there, and says where it is not.
fn try_with(program: &'static str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let missing = judges::install_programs(&[(program, program)]);
    if missing.is_empty() {
        return work();
    }
    println!("NOT tried: there is no {program}");
    Ok(())
}

/// The files of a folder whose names end so, in order.
fn with_end(folder: &Path, end: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_file() && path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    found.sort_unstable();
    Ok(found)
}
