//! The book's ladder: `cargo xtask ladder` compiles the rungs in `book/listings/ladder`, counts what a block takes of the
//! pipes, and hands all to the program `ladder` of `benches/ladder`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use lanecrypt_cuda::{Device, compiler::Compiler};
use lanecrypt_ptx::{
    count::{Run, load},
    text::Kernel,
};
use lanecrypt_roof::{Lanes, divided};
use rayon::prelude::*;
use serde_json::json;

use crate::{
    command::{cargo, command, copy, empty, output, root, run, target},
    kernels::{host, toolchain},
    sources::generated::{self, Mode},
};

/// Where the listings are.
const LISTINGS: &str = "book/listings/ladder";
/// What their files that are kernels end with.
const END: &str = ".cu";
/// Where a kernel's name is in a listing.
const ENTRY: &str = "extern \"C\" __global__ void ";
/// Blocks over which a thread is counted: enough for every warp of the largest thread block to have the same.
const COUNTED: u64 = 1 << 18;

/// What was counted, for the book.
const COUNTED_FILE: &str = "book/listings/ladder/counted.csv";
/// Its first line.
const HEADER: &str = "rung,shared,alu,multiplier,all";

/// A listing.
struct Rung {
    name: String,
    text: String,
    kernel: String,
    threads: u32,
    shared_bytes: u32,
    keys: String,
}

/// Builds the rungs and runs them: on the GPU, or where there is none on this CPU.
pub(crate) fn run_task(on_host: bool, options: &[String]) -> Result<()> {
    let folder = folder();
    let is_help = options.iter().any(|option| option == "--help" || option == "-h");
    let gpu = Device::count();
    let on_host = match gpu {
        Err(error) if !on_host && !is_help => {
            println!(
                "no GPU: {error}\nThe rungs run as C++ on this CPU instead: that checks them and says nothing about speed."
            );
            true
        }
        _ => on_host,
    };
    if !is_help {
        build(&folder, on_host, Mode::Write)?;
    }
    if on_host && options.is_empty() {
        return run_on_host(&folder);
    }
    let mut ladder = command(program()?);
    ladder.arg(&folder).args(options);
    if on_host && !is_help {
        ladder.arg("--host");
    }
    run(&mut ladder)
}

/// Checks that every rung compiles for GPUs, and that it is right on the host; and that what is wrong is found.
pub(crate) fn check() -> Result<()> {
    let folder = folder();
    build(&folder, true, Mode::Check)?;
    run_on_host(&folder)
}

/// Runs all rungs on the host, and by itself what is wrong.
fn run_on_host(folder: &Path) -> Result<()> {
    let ladder = program()?;
    run(command(&ladder).arg(folder).arg("--host"))?;
    // The shim runs one thread after another, so that its answer may be right.
    match output(command(&ladder).arg(folder).args(["--host", "--only", WRONG])) {
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
/// What `ladder/listing.cpp` says of one.
const RACE: &str = "listing: a race";

/// Where the rungs are built, with everything that a machine without Rust needs to run them.
pub(crate) fn folder() -> PathBuf {
    target().join("ladder")
}

/// Builds the runner by itself.
pub(crate) fn program() -> Result<PathBuf> {
    run(cargo().args(["build", "--quiet", "--release", "--package", "lanecrypt-ladder"]))?;
    Ok(target().join("release/ladder"))
}

/// Builds the rungs and the runner, without its symbols, into one folder.
pub(crate) fn pack() -> Result<()> {
    let folder = folder();
    build(&folder, false, Mode::Write)?;
    run(command("strip").arg("-o").arg(folder.join("ladder")).arg(program()?))?;
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
    let rungs = listings()?;
    empty(folder.to_path_buf())?;
    let toolchain = toolchain::install()?;
    let compiler = Compiler::open(&toolchain.nvrtc)?;
    let known: Vec<(serde_json::Value, String)> = rungs
        .par_iter()
        .map(|rung| {
            let ptx = compiler.ptx(&rung.text, &rung.name, &root().join(LISTINGS), "compute_75")?;
            fs::write(folder.join(format!("{}.ptx", rung.name)), &ptx)?;
            if for_host {
                compile_for_host(rung, folder)?;
            }
            let lanes = lanes(rung, &ptx).with_context(|| rung.name.clone())?;
            Ok((rung.json(lanes), rung.counted(lanes)))
        })
        .collect::<Result<_>>()?;
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

/// All listings, in the order of their names.
fn listings() -> Result<Vec<Rung>> {
    let mut rungs = Vec::new();
    for entry in fs::read_dir(root().join(LISTINGS)).context(LISTINGS)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(name) = name.strip_suffix(END) {
            let text = fs::read_to_string(&path)?;
            rungs.push(Rung::read(name, text).with_context(|| path.display().to_string())?);
        }
    }
    rungs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(rungs)
}

impl Rung {
    /// The second line says how it is launched, "Launch: 256 threads, 0 bytes of dynamic shared memory, keys in memory."
    fn read(name: &str, text: String) -> Result<Self> {
        let launch = text.lines().nth(1).and_then(|line| line.strip_prefix("// Launch: "));
        let words: Vec<&str> =
            launch.context("no line on the launch")?.split([' ', ',', '.']).collect();
        let before = |word: &str| {
            let at = words.iter().position(|other| *other == word)?;
            words[at - 1].parse().ok()
        };
        let (_, rest) = text.split_once(ENTRY).context("no kernel")?;
        // Behind the bounds of its launch.
        let kernel = rest.split_once(") ").and_then(|(_, rest)| rest.split_once('('));
        let (kernel, _) = kernel.context("no name of a kernel")?;
        Ok(Self {
            threads: before("threads").context("no number of threads")?,
            shared_bytes: before("bytes").context("no bytes of shared memory")?,
            keys: words.iter().rev().find(|word| !word.is_empty()).context("no keys")?.to_string(),
            kernel: kernel.to_owned(),
            name: name.to_owned(),
            text,
        })
    }

    /// Its line of what was counted, or none.
    fn counted(&self, lanes: Option<Lanes>) -> String {
        lanes.map_or_else(String::new, |[shared, alu, multiplier, all]| {
            format!("{},{shared:.2},{alu:.2},{multiplier:.2},{all:.2}\n", self.name)
        })
    }

    fn json(&self, lanes: Option<Lanes>) -> serde_json::Value {
        let title = self.text.lines().next().unwrap_or_default().trim_start_matches("// ");
        json!({
            "name": self.name,
            "title": title.split('.').next(),
            "kernel": self.kernel,
            "threads": self.threads,
            "shared_bytes": self.shared_bytes,
            "keys": self.keys,
            "lanes": lanes,
        })
    }
}

/// What a block takes of the pipes, by the rule of the ledger; where warps differ, by the best division of the blocks.
fn lanes(rung: &Rung, ptx: &str) -> Result<Option<Lanes>> {
    if rung.name.starts_with("wrong") {
        return Ok(None);
    }
    let kernel = Kernel::read(ptx, &rung.kernel)?;
    let of = |thread| {
        let run = Run { blocks: COUNTED, block_bytes: 16, mode: [0; 3], count: None };
        let load = load(&kernel, thread, &run)?;
        anyhow::Ok([load.shared, load.alu, load.multiplier, load.all])
    };
    Ok(Some(divided(of(0)?, of(32)?)))
}

/// Compiles a rung as C++ for this CPU, with the shim and a check for races.
fn compile_for_host(rung: &Rung, folder: &Path) -> Result<()> {
    let source = folder.join(format!("{}.cpp", rung.name));
    // Dynamic shared memory is an array of what stands in front.
    let text = rung.text.replace("    extern __shared__ u32 shared[];\n", "\n");
    let own = "xtask/src/ladder";
    let kernel = &rung.kernel;
    let text = format!(
        "#include \"listing.hpp\"\n#define {kernel} listing_kernel\n#line 1 \"{LISTINGS}/{}{END}\"\n{text}#undef {kernel}\n\
         #define LISTING_ENTRY {kernel}\n#include \"listing_end.hpp\"\n",
        rung.name
    );
    fs::write(&source, text)?;
    let shared = format!("-DLISTING_SHARED={}", rung.shared_bytes);
    let object = |name: &str| folder.join(format!("{}_{name}.o", rung.name));
    let compile = |from: &Path, to: &Path, more: &[&str]| {
        let mut compile = command(host::compiler());
        compile.args(host::FLAGS.split(' ')).args(more).arg(&shared).arg("-Wno-unknown-pragmas");
        for include in [own, "kernels/host", LISTINGS] {
            compile.arg("-I").arg(root().join(include));
        }
        run(compile.arg(from).arg("-o").arg(to))
            .context("the rungs need a C++20 compiler for this CPU")
    };
    let objects = [object("listing"), object("runtime"), object("shim")];
    compile(&source, &objects[0], &["-fsanitize=thread"])?;
    compile(&root().join(own).join("listing.cpp"), &objects[1], &[])?;
    compile(&root().join("kernels/host/shim.cpp"), &objects[2], &[])?;
    let library = folder.join(format!("{}.so", rung.name));
    run(command(host::compiler()).arg("-shared").arg("-o").arg(&library).args(&objects))?;
    objects.iter().try_for_each(fs::remove_file)?;
    ensure!(library.exists(), "no library of {}", rung.name);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listing_says_how_it_is_launched() {
        let rungs = listings().expect("they can be read");
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
