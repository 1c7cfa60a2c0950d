//! What the assembler made of which PTX, as digests: it takes minutes, it is pinned, and so a check runs it for changed
//! PTX alone.

use std::fs;

use anyhow::{Context, Result};
use lanecrypt_cuda::kernels::{Module, RESOURCES};
use sha2::{Digest, Sha256};

use super::{
    MACHINE_CODE,
    host::hex,
    resources::{self, Usage},
    toolchain::NVCC,
};
use crate::command::root;

/// Where the digests are kept, a line for each module.
pub(crate) const PATH: &str = "kernels/assembled.csv";

/// The lines that are kept.
pub(crate) fn lines() -> Result<Vec<String>> {
    let text = fs::read_to_string(root().join(PATH)).context(PATH)?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// The module that a line is of.
pub(crate) fn module_of(line: &str) -> &str {
    line.split(',').next().unwrap_or_default()
}

/// The line of a module: the assembler, its PTX, and what was made of that.
pub(crate) fn line(module: &Module, ptx: &str, machine_code: &[u8], usages: &[Usage]) -> String {
    let mut rows: Vec<String> = usages.iter().map(ToString::to_string).collect();
    rows.sort();
    let rows = rows.join("\n");
    let mut digest = Sha256::new();
    for part in [NVCC.as_bytes(), ptx.as_bytes(), machine_code, rows.as_bytes()] {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    format!("{},{}", module.name, hex(&digest.finalize()))
}

/// The machine code of a module and its rows of resources, as they are kept, if the assembler made them of this PTX.
pub(crate) fn kept(module: &Module, ptx: &str, lines: &[String]) -> Option<(Vec<u8>, Vec<Usage>)> {
    let path = root().join(format!("{MACHINE_CODE}/{}.cubin", module.name));
    let machine_code = fs::read(path).ok()?;
    let mut usages = resources::from_csv(RESOURCES);
    usages.retain(|usage| module.entry_names().any(|name| name == usage.kernel()));
    lines.contains(&line(module, ptx, &machine_code, &usages)).then_some((machine_code, usages))
}

#[cfg(test)]
mod tests {
    use lanecrypt_cuda::kernels::MODULES;

    use super::*;

    #[test]
    fn what_was_changed_is_assembled() {
        let module = &MODULES[0];
        let path = root().join(format!("kernels/ptx/{}.ptx", module.name));
        let ptx = fs::read_to_string(path).expect("it is committed");
        let lines = lines().expect("they are committed");
        let (machine_code, usages) =
            kept(module, &ptx, &lines).expect("`cargo xtask kernels` made it");
        assert!(!machine_code.is_empty() && !usages.is_empty());
        assert!(kept(module, &(ptx.clone() + "\n"), &lines).is_none(), "other PTX");
        assert!(kept(module, &ptx, &[]).is_none(), "PTX that is not known");
        let other = line(module, &ptx, &machine_code[1..], &usages);
        assert!(!lines.contains(&other), "other machine code");
        let other = line(module, &ptx, &machine_code, &usages[1..]);
        assert!(!lines.contains(&other), "other resources");
    }
}
