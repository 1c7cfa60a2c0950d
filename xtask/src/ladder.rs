//! The book's ladder: `cargo xtask ladder` compiles the rungs in `book/listings/ladder`, counts what a block takes of the
//! pipes, and hands all to the program `ladder` of `benches/ladder`. The rungs for CPUs are compiled into the program
//! `ladder-cpu` of `benches/ladder-cpu`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use lanecrypt_cuda::compiler::ON_DEVICE;
use lanecrypt_roof::{Lanes, divided};

use crate::{
    command::{build_one, cargo, command, copy, empty, output, root, run, target},
    listings::{self, Listing, Listings},
    sources::generated::{self, Mode},
};

/// Where the listings are.
const LISTINGS: &str = "book/listings/ladder";
/// What was counted, for the book.
const COUNTED_FILE: &str = "book/listings/ladder/counted.csv";
/// Its first line.
const HEADER: &str = "rung,shared,alu,multiplier,all";

/// Builds the rungs and runs them: on the GPU, or where there is none on this CPU.
pub(crate) fn run_task(on_host: bool, options: &[String]) -> Result<()> {
    let folder = folder();
    let is_help = listings::is_help(options);
    let on_host = listings::is_on_host(on_host, is_help, "rungs");
    if !is_help {
        build(&folder, on_host, Mode::Write)?;
    }
    if on_host && options.is_empty() {
        return run_on_host(&folder, &program()?);
    }
    let mut ladder = command(program()?);
    ladder.arg(&folder).args(options);
    if on_host && !is_help {
        ladder.arg("--host");
    }
    run(&mut ladder)
}

/// Checks that every rung compiles for GPUs, and that it is right on the host; that what is wrong is found; and that the rungs
/// for CPUs are right on this one.
pub(crate) fn check() -> Result<()> {
    let folder = folder();
    build(&folder, true, Mode::Check)?;
    run_on_host(&folder, &build_one("ladder")?)?;
    run(command(build_one("ladder-cpu")?).arg("--check"))
}

/// Builds the ladder of CPUs and runs it.
pub(crate) fn on_cpu(options: &[String]) -> Result<()> {
    run(cargo().args(["build", "--quiet", "--release", "--package", "lanecrypt-ladder-cpu"]))?;
    run(command(target().join("release/ladder-cpu")).args(options))
}

/// Runs all rungs on the host, and by itself what is wrong.
fn run_on_host(folder: &Path, ladder: &Path) -> Result<()> {
    run(command(ladder).arg(folder).arg("--host"))?;
    // The shim runs one thread after another, so that its answer may be right.
    match output(command(ladder).arg(folder).args(["--host", "--only", WRONG])) {
        Err(error) if error.to_string().contains(RACE) => {
            println!("{WRONG:<28} has a race, as it must");
            Ok(())
        }
        Err(error) => Err(error.context("the listing with a race ends otherwise")),
        Ok(text) => bail!("the race of {WRONG} is not found:\n{text}"),
    }
}

/// The listing of a mistake.
const WRONG: &str = "wrong-one-state";
/// What `listings/listing.cpp` says of one.
const RACE: &str = "listing: a race";

/// Where the rungs are built, with everything that a machine without Rust needs to run them.
pub(crate) fn folder() -> PathBuf {
    target().join("ladder")
}

/// Builds the runner by itself.
pub(crate) fn program() -> Result<PathBuf> {
    listings::program("ladder")
}

/// Builds the rungs and the runner, without its symbols, into one folder.
pub(crate) fn pack() -> Result<()> {
    let folder = folder();
    build(&folder, false, Mode::Write)?;
    listings::pack("ladder", &folder)?;
    for script in ["ladder/measure.sh", "counters.sh"] {
        let name = Path::new(script).file_name().context("a name")?;
        copy(&root().join("book/listings").join(script), &folder.join(name))?;
    }
    println!(
        "{}: copy it to the machine and run `./ladder .` there, or `sh measure.sh FOLDER`",
        folder.display()
    );
    Ok(())
}

/// Compiles the rungs to PTX, and for this CPU, and writes what is known of them.
pub(crate) fn build(folder: &Path, for_host: bool, mode: Mode) -> Result<()> {
    let listings = listings(for_host);
    empty(folder.to_path_buf())?;
    let known = listings.compile(&listings.read()?, folder, |rung, ptx| {
        let lanes = lanes(rung, ptx)?;
        Ok((json(rung, lanes), counted(rung, lanes)))
    })?;
    let (known, counted): (Vec<_>, Vec<_>) = known.into_iter().unzip();
    let counted = format!("{HEADER}\n{}", counted.concat());
    generated::ensure(
        &[(COUNTED_FILE.to_owned(), counted.into_bytes())],
        mode,
        "cargo xtask ladder",
    )?;
    fs::write(folder.join("rungs.json"), serde_json::to_string_pretty(&known)? + "\n")?;
    Ok(())
}

fn listings(for_host: bool) -> Listings<'static> {
    let includes = root().join(LISTINGS);
    Listings {
        folder: LISTINGS,
        includes_on_host: for_host.then(|| includes.clone()),
        includes,
        options: &[ON_DEVICE],
    }
}

/// A rung's line of what was counted, or none.
fn counted(rung: &Listing, lanes: Option<Lanes>) -> String {
    lanes.map_or_else(String::new, |[shared, alu, multiplier, all]| {
        format!("{},{shared:.2},{alu:.2},{multiplier:.2},{all:.2}\n", rung.name)
    })
}

fn json(rung: &Listing, lanes: Option<Lanes>) -> serde_json::Value {
    let mut json = rung.json(lanes);
    json["keys"] = rung.last_word().into();
    json
}

/// What a block takes of the pipes, by the rule of the ledger; where warps differ, by the best division of the blocks.
fn lanes(rung: &Listing, ptx: &str) -> Result<Option<Lanes>> {
    if rung.name.starts_with("wrong") {
        return Ok(None);
    }
    let of = |thread| rung.lanes(ptx, thread, [0; 3]);
    Ok(Some(divided(of(0)?, of(32)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listing_says_how_it_is_launched() {
        let rungs = listings(false).read().expect("they can be read");
        assert_eq!(rungs.iter().filter(|rung| rung.kernel.starts_with("rung_")).count(), 12);
        for rung in &rungs {
            assert!(
                rung.text.contains(&format!("__launch_bounds__({}", rung.threads)),
                "{}",
                rung.name
            );
            assert!(rung.text.contains(&format!(" {}(", rung.kernel)), "{}", rung.name);
        }
        assert!(rungs.iter().any(|rung| rung.name == WRONG && rung.kernel == "wrong"));
    }
}
