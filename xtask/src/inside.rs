//! `lanecrypt.cuh` inside kernels: `cargo xtask inside` compiles the kernels in `book/listings/inside` as a user's would be,
//! and hands them to the program `inside` of `benches/ladder`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;
use lanecrypt_roof::Lanes;

use crate::{
    command::{build_one, command, empty, run, target},
    listings::{self, Listing, Listings},
    sources::header::{self, For},
};

/// Where the kernels are.
const LISTINGS: &str = "book/listings/inside";
/// Those whose blocks take the same each, and the parameters behind the number of blocks, with which they are counted.
const COUNTED: [(&str, [u64; 3]); 3] =
    [("fixed-key", [0; 3]), ("key-a-block", [0, 16, 0]), ("bit-sliced", [0; 3])];

/// Builds the kernels and runs them: on the GPU, or where there is none on this CPU.
pub(crate) fn run_task(on_host: bool, options: &[String]) -> Result<()> {
    let is_help = listings::is_help(options);
    let on_host = listings::is_on_host(on_host, is_help, "kernels");
    if !is_help {
        build(&folder(), on_host)?;
    }
    let mut inside = command(program()?);
    inside.arg(folder()).args(options);
    if on_host && !is_help {
        inside.arg("--host");
    }
    run(&mut inside)
}

/// Checks that every kernel compiles for GPUs, and that it is right on the host.
pub(crate) fn check() -> Result<()> {
    build(&folder(), true)?;
    run(command(build_one("inside")?).arg(folder()).arg("--host"))
}

/// Where the kernels are built.
pub(crate) fn folder() -> PathBuf {
    target().join("inside")
}

/// Builds the runner by itself.
fn program() -> Result<PathBuf> {
    listings::program("inside")
}

/// Builds the kernels and the runner, without its symbols, into one folder.
pub(crate) fn pack() -> Result<()> {
    build(&folder(), false)?;
    listings::pack("inside", &folder())?;
    println!("{}: copy it to the machine and run `./inside .` there", folder().display());
    Ok(())
}

/// Compiles the kernels to PTX alone, in a folder of its own, since another step may build them at the same time.
pub(crate) fn ptx() -> Result<PathBuf> {
    let folder = target().join("inside-ptx");
    build(&folder, false)?;
    Ok(folder)
}

/// Compiles the kernels to PTX, and for this CPU, and writes what is known of them.
fn build(folder: &Path, for_host: bool) -> Result<()> {
    empty(folder.to_owned())?;
    let on_host = folder.join("host");
    fs::create_dir(&on_host)?;
    for (folder, to) in [(folder, For::Device), (&on_host, For::Host)] {
        fs::write(folder.join(header::NAME), header::text(to)?)?;
    }
    let includes_on_host = for_host.then_some(on_host);
    let listings =
        Listings { folder: LISTINGS, includes: folder.to_owned(), includes_on_host, options: &[] };
    let known = listings.compile(&listings.read()?, folder, |listing, ptx| {
        Ok(listing.json(lanes(listing, ptx)?))
    })?;
    fs::write(folder.join("listings.json"), serde_json::to_string_pretty(&known)? + "\n")?;
    Ok(())
}

/// What a block takes of the pipes, by the rule of the ledger.
fn lanes(listing: &Listing, ptx: &str) -> Result<Option<Lanes>> {
    let Some((_, mode)) = COUNTED.iter().find(|(name, _)| *name == listing.name) else {
        return Ok(None);
    };
    listing.lanes(ptx, 0, *mode).map(Some)
}
