//! Kernels of the book that stand alone: each is compiled to PTX, and as C++ for this CPU with a check for races.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use lanecrypt_cuda::{Device, compiler::Compiler};
use lanecrypt_ptx::{
    count::{Run, load},
    text::Kernel,
};
use lanecrypt_roof::Lanes;
use rayon::prelude::*;
use serde_json::json;

use crate::{
    command::{cargo, command, root, run, target},
    kernels::{host, toolchain},
};

/// What the files that are kernels end with.
const END: &str = ".cu";
/// Where a kernel's name is in a listing.
const ENTRY: &str = "extern \"C\" __global__ void ";
/// What every listing is compiled with for this CPU.
const OWN: &str = "xtask/src/listings";

/// Blocks over which a thread is counted: enough for every warp of the largest thread block to have the same.
const COUNTED: u64 = 1 << 18;

/// Whether listings run on this CPU: where that is asked for, or, but for a question about options, where there is no GPU.
pub(crate) fn is_on_host(asked: bool, is_help: bool, what: &str) -> bool {
    if asked || is_help {
        return asked;
    }
    let Err(error) = Device::count() else { return false };
    println!(
        "no GPU: {error}\nThe {what} run as C++ on this CPU instead: that checks them and says nothing about speed."
    );
    true
}

/// Whether options ask for help, for which nothing is built but the program.
pub(crate) fn is_help(options: &[String]) -> bool {
    options.iter().any(|option| option == "--help" || option == "-h")
}

/// Puts the program, without its symbols, into the folder of what it runs.
pub(crate) fn pack(name: &str, folder: &Path) -> Result<()> {
    run(command("strip").arg("-o").arg(folder.join(name)).arg(program(name)?))
}

/// Builds the programs that run listings as those that measure, and returns this one.
pub(crate) fn program(name: &str) -> Result<PathBuf> {
    run(cargo().args(["build", "--quiet", "--release", "--package", "lanecrypt-ladder"]))?;
    Ok(target().join("release").join(name))
}

/// A listing.
pub(crate) struct Listing {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) kernel: String,
    pub(crate) threads: u32,
    pub(crate) shared_bytes: u32,
    /// The words of its line on the launch.
    launch: Vec<String>,
}

/// Where listings are, and what they include.
pub(crate) struct Listings<'a> {
    /// The folder, from the root.
    pub(crate) folder: &'a str,
    /// The folder of what they include on a GPU.
    pub(crate) includes: PathBuf,
    /// The same for this CPU, where they are compiled for it.
    pub(crate) includes_on_host: Option<PathBuf>,
    /// Options of CUDA's compiler.
    pub(crate) options: &'a [&'a str],
}

impl Listings<'_> {
    /// All of them, in the order of their names.
    pub(crate) fn read(&self) -> Result<Vec<Listing>> {
        let mut listings = Vec::new();
        for entry in
            fs::read_dir(root().join(self.folder)).with_context(|| self.folder.to_owned())?
        {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if let Some(name) = name.strip_suffix(END) {
                let text = fs::read_to_string(&path)?;
                let listing = Listing::read(name, text);
                listings.push(listing.with_context(|| path.display().to_string())?);
            }
        }
        listings.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listings)
    }

    /// Compiles them into `folder`, as `NAME.ptx` and perhaps `NAME.so`, and returns what `made` says of each listing
    /// and its PTX.
    pub(crate) fn compile<T: Send>(
        &self,
        listings: &[Listing],
        folder: &Path,
        made: impl Fn(&Listing, &str) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let toolchain = toolchain::install()?;
        let compiler = Compiler::open(&toolchain.nvrtc)?;
        let one = |listing: &Listing| {
            let (text, name) = (&listing.text, &listing.name);
            let ptx = compiler.ptx(text, name, &self.includes, "compute_75", self.options)?;
            fs::write(folder.join(format!("{name}.ptx")), &ptx)?;
            if let Some(includes) = &self.includes_on_host {
                self.compile_for_host(listing, folder, includes)?;
            }
            made(listing, &ptx).with_context(|| name.clone())
        };
        listings.par_iter().map(one).collect()
    }

    /// Compiles a listing as C++ for this CPU, with the shim and a check for races.
    fn compile_for_host(&self, listing: &Listing, folder: &Path, includes: &Path) -> Result<()> {
        let Listing { name, kernel, .. } = listing;
        let source = folder.join(format!("{name}.cpp"));
        let text: String = listing.text.lines().map(|line| on_host(line) + "\n").collect();
        let text = format!(
            "#include \"listing.hpp\"\n#define {kernel} listing_kernel\n#line 1 \"{}/{name}{END}\"\n{text}#undef \
             {kernel}\n#define LISTING_ENTRY {kernel}\n#include \"listing_end.hpp\"\n",
            self.folder
        );
        fs::write(&source, text)?;
        let shared = format!("-DLISTING_SHARED={}", listing.shared_bytes);
        let object = |part: &str| folder.join(format!("{name}_{part}.o"));
        let compile = |from: &Path, to: &Path, more: &[&str]| {
            let mut compile = command(host::compiler());
            compile
                .args(host::FLAGS.split(' '))
                .args(more)
                .arg(&shared)
                .arg("-Wno-unknown-pragmas");
            compile.arg("-isystem").arg(includes);
            for include in [OWN, "kernels/host"] {
                compile.arg("-I").arg(root().join(include));
            }
            run(compile.arg(from).arg("-o").arg(to))
                .context("the listings need a C++20 compiler for this CPU")
        };
        let objects = [object("listing"), object("runtime"), object("shim")];
        compile(&source, &objects[0], &["-fsanitize=thread"])?;
        compile(&root().join(OWN).join("listing.cpp"), &objects[1], &[])?;
        compile(&root().join("kernels/host/shim.cpp"), &objects[2], &[])?;
        let library = folder.join(format!("{name}.so"));
        run(command(host::compiler()).arg("-shared").arg("-o").arg(&library).args(&objects))?;
        objects.iter().try_for_each(fs::remove_file)?;
        ensure!(library.exists(), "no library of {name}");
        Ok(())
    }
}

/// A line of a listing as C++: dynamic shared memory is an array that stands in front of all.
fn on_host(line: &str) -> String {
    let declared = line.trim_start().strip_prefix("extern __shared__ ");
    let kind = declared.and_then(|declared| declared.strip_suffix(" shared[];"));
    kind.map_or(line.to_owned(), |kind| {
        let kind = kind.trim_start_matches("__align__(16) ");
        format!("    {kind} *const shared = reinterpret_cast<{kind} *>(listing::dynamic_memory);")
    })
}

impl Listing {
    /// The second line says how it is launched, "Launch: 256 threads, 0 bytes of dynamic shared memory, keys in memory."
    fn read(name: &str, text: String) -> Result<Self> {
        let launch = text.lines().nth(1).and_then(|line| line.strip_prefix("// Launch: "));
        let words = launch.context("no line on the launch")?.split([' ', ',', '.']);
        let launch: Vec<String> =
            words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let (_, rest) = text.split_once(ENTRY).context("no kernel")?;
        // Behind the bounds of its launch.
        let kernel = rest.split_once(") ").and_then(|(_, rest)| rest.split_once('('));
        let (kernel, _) = kernel.context("no name of a kernel")?;
        Ok(Self {
            threads: before(&launch, "threads")?,
            shared_bytes: before(&launch, "bytes")?,
            launch,
            kernel: kernel.to_owned(),
            name: name.to_owned(),
            text,
        })
    }

    /// What a block takes of the pipes in this thread, by the rule of the ledger; `mode` is what the parameters have behind
    /// the number of blocks.
    pub(crate) fn lanes(&self, ptx: &str, thread: u32, mode: [u64; 3]) -> Result<Lanes> {
        self.lanes_of(ptx, thread, (COUNTED, mode))
    }

    /// The same over this number of blocks.
    pub(crate) fn lanes_of(
        &self,
        ptx: &str,
        thread: u32,
        (blocks, mode): (u64, [u64; 3]),
    ) -> Result<Lanes> {
        let kernel = Kernel::read(ptx, &self.kernel)?;
        let run = Run { blocks, block_bytes: 16, mode, count: None };
        let load = load(&kernel, thread, &run)?;
        Ok([load.shared, load.alu, load.multiplier, load.all])
    }

    /// What the program that runs it is told.
    pub(crate) fn json(&self, lanes: Option<Lanes>) -> serde_json::Value {
        json!({
            "name": self.name,
            "title": self.title(),
            "kernel": self.kernel,
            "threads": self.threads,
            "shared_bytes": self.shared_bytes,
            "lanes": lanes,
        })
    }

    /// The number in front of a word in its line on the launch.
    pub(crate) fn number_of(&self, word: &str) -> Result<u32> {
        before(&self.launch, word)
    }

    /// The last word of its line on the launch.
    pub(crate) fn last_word(&self) -> &str {
        self.launch.last().map_or("", String::as_str)
    }

    /// Its first line, up to the first full stop.
    pub(crate) fn title(&self) -> &str {
        let line = self.text.lines().next().unwrap_or_default().trim_start_matches("// ");
        line.split('.').next().unwrap_or_default()
    }
}

/// The number in front of a word.
fn before(words: &[String], word: &str) -> Result<u32> {
    let at = words.iter().position(|other| other == word).and_then(|at| at.checked_sub(1));
    let number = at.and_then(|at| words[at].parse().ok());
    number.with_context(|| format!("no number of {word} in the line on the launch"))
}
