//! Which PTX the compiler made of which sources, and what the assembler made of that, as digests: both take minutes, both are
//! pinned, and so a check runs them for what has changed alone.

use std::{
    collections::{BTreeSet, HashSet},
    fs,
    path::Path,
};

use anyhow::{Context, Result};
use lanecrypt_cuda::{
    compiler::ON_DEVICE,
    kernels::{Module, RESOURCES},
};
use sha2::{Digest, Sha256};

use super::{
    LAUNCHES, MACHINE_CODE, Made, PTX,
    host::hex,
    launches, resources,
    toolchain::{NVCC, NVRTC},
};
use crate::command::root;

/// Where the digests are kept, a line for each module.
pub(crate) const PATH: &str = "kernels/digests.csv";

/// The lines that are kept.
pub(crate) fn lines() -> Result<Vec<String>> {
    let text = fs::read_to_string(root().join(PATH)).context(PATH)?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// The module that a line is of.
pub(crate) fn module_of(line: &str) -> &str {
    line.split(',').next().unwrap_or_default()
}

/// The line of a module: its name; what the compiler made of which sources; what the assembler made of that.
pub(crate) fn line(module: &Module, made: &Made) -> Result<String> {
    Ok(format!("{},{},{}", module.name, compiled(module, made)?, assembled(made)))
}

/// A digest of the compiler, what it is given, PTX and launches.
fn compiled(module: &Module, made: &Made) -> Result<String> {
    let mut files = BTreeSet::new();
    included(&root().join("kernels").join(module.source), &mut files)?;
    let texts = [NVRTC, module.architecture, ON_DEVICE, &made.ptx].map(str::to_owned);
    let files = files.into_iter().flat_map(|(name, text)| [name, text]);
    let mut rows = made.launches.clone();
    rows.sort();
    Ok(digest(texts.into_iter().chain(files).chain(rows)))
}

/// A digest of the assembler, PTX, machine code and resources.
fn assembled(made: &Made) -> String {
    let mut rows: Vec<String> = made.usages.iter().map(ToString::to_string).collect();
    rows.sort();
    let (rows, ptx) = (rows.join("\n").into_bytes(), made.ptx.clone().into_bytes());
    digest([NVCC.into(), ptx, made.machine_code.clone(), rows])
}

/// A source and all that it includes: names from the root, and texts.
fn included(path: &Path, files: &mut BTreeSet<(String, String)>) -> Result<()> {
    let path = path.canonicalize().with_context(|| path.display().to_string())?;
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let name = path.strip_prefix(root().canonicalize()?).unwrap_or(&path).display().to_string();
    if !files.insert((name, text.clone())) {
        return Ok(());
    }
    let folder = path.parent().context("a source lies in a folder")?;
    let names = text.lines().filter_map(|line| line.strip_prefix("#include \"")?.split('"').next());
    names.map(|name| folder.join(name)).try_for_each(|path| included(&path, files))
}

fn digest(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.as_ref().len() as u64).to_le_bytes());
        digest.update(part);
    }
    hex(&digest.finalize())
}

/// What is kept of a module, and whether the tools made it.
pub(crate) struct Kept {
    pub(crate) made: Made,
    /// Whether the compiler made the PTX and the launches of these sources.
    pub(crate) is_compiled: bool,
    /// Whether the assembler made the machine code and the resources of this PTX.
    pub(crate) is_assembled: bool,
}

/// What is kept of a module, if it has a line among these.
///
/// # Errors
/// Where its sources cannot be read.
pub(crate) fn kept(module: &Module, lines: &[String]) -> Result<Option<Kept>> {
    let is_its = |line: &&String| module_of(line) == module.name;
    let Some(line) = lines.iter().find(is_its) else { return Ok(None) };
    let made = of_files(module).context("what is kept of it")?;
    let mut digests = line.split(',').skip(1);
    let is_compiled = digests.next() == Some(&compiled(module, &made)?);
    let is_assembled = digests.next() == Some(&assembled(&made));
    Ok(Some(Kept { made, is_compiled, is_assembled }))
}

/// What the files have of a module.
fn of_files(module: &Module) -> Result<Made> {
    let kernels: HashSet<&str> = module.entry_names().collect();
    let is_its = |kernel: &str| kernels.contains(kernel);
    let mut usages = resources::from_csv(RESOURCES);
    usages.retain(|usage| is_its(usage.kernel()));
    Ok(Made {
        ptx: fs::read_to_string(root().join(format!("{PTX}/{}.ptx", module.name)))?,
        machine_code: fs::read(root().join(format!("{MACHINE_CODE}/{}.cubin", module.name)))?,
        launches: launches::rows_of(&fs::read_to_string(root().join(LAUNCHES))?, is_its),
        usages,
    })
}

#[cfg(test)]
mod tests {
    use lanecrypt_cuda::kernels::MODULES;

    use super::*;

    /// A module that includes headers, what is kept of it, and its digests.
    fn kept_module() -> (&'static Module, Made, Vec<String>) {
        let module = MODULES.iter().find(|module| module.name == "des_table").expect("a module");
        let lines = lines().expect("they are committed");
        let line = lines.iter().find(|line| module_of(line) == module.name).expect("its line");
        let digests = line.split(',').skip(1).map(str::to_owned).collect();
        (module, of_files(module).expect("they are committed"), digests)
    }

    #[test]
    fn what_was_changed_is_assembled() {
        let (module, mut made, digests) = kept_module();
        assert_eq!(assembled(&made), digests[1], "`cargo xtask kernels` made it");
        assert!(kept(module, &[]).expect("sources").is_none(), "a module without a line");
        made.machine_code[0] ^= 1;
        assert_ne!(assembled(&made), digests[1], "other machine code");
        made.machine_code[0] ^= 1;
        let usage = made.usages.pop().expect("a kernel");
        assert_ne!(assembled(&made), digests[1], "other resources");
        made.usages.push(usage);
        made.ptx.push('\n');
        assert_ne!(assembled(&made), digests[1], "other PTX");
    }

    #[test]
    fn what_was_changed_is_compiled() {
        let (module, mut made, digests) = kept_module();
        let of = |made: &Made| compiled(module, made).expect("sources");
        assert_eq!(of(&made), digests[0], "`cargo xtask kernels` made it");
        let launch = made.launches.pop().expect("a kernel");
        assert_ne!(of(&made), digests[0], "other launches");
        made.launches.push(launch);
        made.ptx.push('\n');
        assert_ne!(of(&made), digests[0], "other PTX");
        // A header of a header is among the sources.
        let mut files = BTreeSet::new();
        included(&root().join("kernels").join(module.source), &mut files).expect("sources");
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.contains(&"kernels/des/tables.cuh"), "{names:?}");
        assert!(names.contains(&"kernels/common/kernel.cuh"), "{names:?}");
    }
}
