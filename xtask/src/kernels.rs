//! CUDA C++ to PTX and machine code, and the tables of how each kernel is launched and what it takes of
//! several architectures.

mod digests;
pub(crate) mod host;
mod launches;
pub(crate) mod operations;
mod resources;
pub(crate) mod tables;
pub(crate) mod toolchain;
mod unread;

use std::{collections::HashSet, fs};

use anyhow::{Context, Result, bail};
use lanecrypt_cuda::{
    compiler::{Compiler, ON_DEVICE},
    kernels::{MACHINE_CODE_FOR, MODULES, Module, RESOURCES},
};
use rayon::prelude::*;

use crate::{
    command::{command, root, said, target},
    sources::generated::{self, Mode},
};

use resources::Usage;
use toolchain::Toolchain;
use unread::without_unread;

/// Architectures of the resource table: Turing, A100, RTX 30, RTX 40, Hopper, Blackwell.
const ARCHITECTURES: [&str; 6] = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120"];

/// Where the PTX is kept.
const PTX: &str = "kernels/ptx";

/// Where the machine code is kept.
const MACHINE_CODE: &str = "kernels/sm_90";

/// Where the launches are kept.
const LAUNCHES: &str = "kernels/src/launches.rs";

/// The module that every check compiles and assembles, so that the way there is checked, too: the shortest.
const ASSEMBLED: &str = "ghash_tables";

/// Compiles the kernels, or those of one folder. A check compiles those whose sources have changed, assembles those whose
/// PTX has, and always does both with [`ASSEMBLED`]; the others are known by their digests.
pub(crate) fn run(check: bool, folder: Option<&str>) -> Result<()> {
    let toolchain = toolchain::install()?;
    let compiler = Compiler::open(&toolchain.nvrtc)?;
    let mut files = Vec::new();
    let mut launches = Vec::new();
    let mut table = Vec::new();
    let modules = of_folder(MODULES, folder)?;
    let mut lines = digests::lines().unwrap_or_default();
    let known = if check { &lines[..] } else { &[] };
    // Minutes on one core, without what is known.
    let made: Vec<Made> = modules
        .par_iter()
        .map(|module| make(&toolchain, &compiler, module, known))
        .collect::<Result<_>>()?;
    lines.retain(|line| {
        let is_it = |module: &Module| module.name == digests::module_of(line);
        MODULES.iter().any(is_it) && !modules.iter().any(|module| is_it(module))
    });
    for (module, made) in modules.iter().zip(made) {
        lines.push(digests::line(module, &made)?);
        launches.extend(made.launches);
        table.extend(made.usages);
        files.push((format!("{PTX}/{}.ptx", module.name), made.ptx.into_bytes()));
        files.push((format!("{MACHINE_CODE}/{}.cubin", module.name), made.machine_code));
    }
    refuse_new_spills(&table)?;
    // What was recorded of modules that stay as they are.
    let others = MODULES.iter().filter(|module| !modules.contains(module));
    let others: HashSet<&str> = others.flat_map(Module::entry_names).collect();
    let known = resources::from_csv(RESOURCES);
    table.extend(known.into_iter().filter(|usage| others.contains(usage.kernel())));
    let known = fs::read_to_string(root().join(LAUNCHES)).context(LAUNCHES)?;
    launches.extend(launches::rows_of(&known, |kernel| others.contains(kernel)));
    files.push((LAUNCHES.to_owned(), launches::to_rust(launches).into_bytes()));
    files.push(("kernels/resources.csv".to_owned(), resources::to_csv(&table).into_bytes()));
    lines.sort();
    files.push((digests::PATH.to_owned(), (lines.join("\n") + "\n").into_bytes()));
    no_orphans()?;
    generated::ensure(&files, Mode::from_check(check), "cargo xtask kernels")?;
    println!("{} modules, {} rows of resources", modules.len(), table.len());
    Ok(())
}

/// Those of the modules whose sources lie in a folder of kernels/, or all.
///
/// # Errors
/// Where it has none.
pub(crate) fn of_folder<'a>(
    modules: &'a [Module],
    folder: Option<&str>,
) -> Result<Vec<&'a Module>> {
    let is_it = |module: &&Module| {
        let own = module.source.split_once('/').map(|(own, _)| own);
        folder.is_none_or(|folder| own == Some(folder))
    };
    let modules: Vec<_> = modules.iter().filter(is_it).collect();
    if modules.is_empty() {
        bail!("kernels/src/lib.rs has no module of kernels/{}", folder.unwrap_or_default());
    }
    Ok(modules)
}

/// The architectures of the table that have the instructions of a module: those from its own on, or,
/// where the name of its own ends with a letter (`"compute_90a"`), that one alone. Blackwell emulates products of bits:
/// no module that has them runs there (`HashFamily`).
fn architectures(module: &Module) -> Vec<String> {
    let own = module.architecture.replace("compute", "sm");
    if own.ends_with(|end: char| end.is_ascii_lowercase()) {
        return vec![own];
    }
    let number = |name: &str| name.rsplit('_').next().and_then(|digits| digits.parse::<u32>().ok());
    let products_of_bits = module.name.ends_with("_matrices");
    let has_them =
        |name: &&str| number(&own) <= number(name) && !(products_of_bits && *name == "sm_120");
    ARCHITECTURES.into_iter().filter(has_them).map(str::to_owned).collect()
}

/// What is made of a module.
struct Made {
    ptx: String,
    /// For [`lanecrypt_cuda::kernels::MACHINE_CODE_FOR`].
    machine_code: Vec<u8>,
    /// Rows of [`LAUNCHES`].
    launches: Vec<String>,
    usages: Vec<Usage>,
}

fn make(
    toolchain: &Toolchain,
    compiler: &Compiler,
    module: &Module,
    known: &[String],
) -> Result<Made> {
    let kept = digests::kept(module, known)?.filter(|_| module.name != ASSEMBLED);
    let is_compiled = kept.as_ref().is_some_and(|kept| kept.is_compiled);
    let (ptx, launches) = match &kept {
        Some(kept) if is_compiled => (kept.made.ptx.clone(), kept.made.launches.clone()),
        _ => {
            let ptx = compile(compiler, module)?;
            (without_unread(&ptx), launches::parse(&ptx)?)
        }
    };
    let assembled = kept.filter(|kept| kept.is_assembled && kept.made.ptx == ptx);
    let (machine_code, usages) = match assembled {
        Some(kept) => (kept.made.machine_code, kept.made.usages),
        None => assemble(toolchain, module, &ptx)?,
    };
    Ok(Made { ptx, machine_code, launches, usages })
}

fn compile(compiler: &Compiler, module: &Module) -> Result<String> {
    let path = root().join("kernels").join(module.source);
    let source = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let folder = path.parent().context("a source lies in a folder")?;
    Ok(compiler.ptx(&source, module.source, folder, module.architecture, &[ON_DEVICE])?)
}

/// The machine code of a module, and what the assembler reports about every kernel of it, for every
/// architecture that has its instructions.
fn assemble(toolchain: &Toolchain, module: &Module, ptx: &str) -> Result<(Vec<u8>, Vec<Usage>)> {
    let folder = target().join("kernels");
    fs::create_dir_all(&folder)?;
    let input = folder.join(format!("{}.ptx", module.name));
    fs::write(&input, ptx)?;
    let mut usages = Vec::new();
    let mut machine_code = Vec::new();
    let (major, minor) = MACHINE_CODE_FOR;
    for architecture in architectures(module) {
        let cubin = folder.join(format!("{}.{architecture}.cubin", module.name));
        // It speaks on standard error.
        let report = said(
            command(&toolchain.ptxas)
                .args(["--verbose", "--gpu-name", &architecture, "--output-file"])
                .args([&cubin, &input]),
        )?;
        // With the "a" of an architecture's own instructions or without.
        if architecture.trim_end_matches('a') == format!("sm_{major}{minor}") {
            machine_code = fs::read(&cubin)?;
        }
        // Products of a warpgroup that wait for each other: "wgmma.mma_async instructions are serialized".
        if let Some(line) = report.lines().find(|line| line.contains("serialized")) {
            bail!("{}: {line}", module.name);
        }
        let found = resources::parse(&report, &architecture);
        if found.is_empty() {
            bail!("ptxas reported no kernel of {}:\n{report}", module.name);
        }
        usages.extend(found);
    }
    if machine_code.is_empty() {
        bail!("{}: no machine code for compute capability {major}.{minor}", module.name);
    }
    Ok((machine_code, usages))
}

/// A spill that the committed table does not have is an error, whatever else changed.
fn refuse_new_spills(table: &[Usage]) -> Result<()> {
    let known = resources::from_csv(RESOURCES);
    let spills = |usage: &&Usage| {
        let before = known.iter().find(|old| old.is_same_kernel(usage));
        usage.spill_bytes() > before.map_or(0, Usage::spill_bytes)
    };
    let new: Vec<String> = table.iter().filter(spills).map(ToString::to_string).collect();
    if new.is_empty() {
        return Ok(());
    }
    bail!("registers spill that did not before:\n  {}", new.join("\n  "))
}

/// Every file of PTX or machine code belongs to a module.
fn no_orphans() -> Result<()> {
    for (folder, end) in [(PTX, ".ptx"), (MACHINE_CODE, ".cubin")] {
        for entry in fs::read_dir(root().join(folder)).context(folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let stem = name.trim_end_matches(end);
            if !MODULES.iter().any(|module| module.name == stem) {
                bail!("{folder}/{name} belongs to no module of kernels/src/lib.rs");
            }
        }
    }
    Ok(())
}
