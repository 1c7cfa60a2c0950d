//! The PTX of kernels that call `lanecrypt.cuh`, which are compiled as a user's would be: of the functions that the header
//! says are constant-time, and of others, which must be caught.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use lanecrypt::ConstantTime;

use super::{Analyses, parse, taint};
use crate::report::Row;

/// The kernels, by their files' names, and what the header says of the functions that they call.
const KERNELS: [(&str, ConstantTime); 6] = [
    ("bit-sliced", ConstantTime::Yes),
    ("dpf", ConstantTime::LOOKS_UP),
    ("every-table", ConstantTime::LOOKS_UP),
    ("fixed-key", ConstantTime::LOOKS_UP),
    ("ghash", ConstantTime::Yes),
    ("key-a-block", ConstantTime::LOOKS_UP),
];

/// Their parameters are addresses of data and keys, numbers of blocks and what is to be done: all are public.
const PARAMETERS: &[(i64, i64)] = &[(0, 64)];

/// Every kernel in the folder whose name contains `filter`.
///
/// # Errors
/// A folder that cannot be read; kernels that are in it alone, or here alone; PTX that is not understood.
pub(crate) fn rows(folder: &Path, filter: &str) -> Result<Vec<Row>> {
    let path_of = |name: &str| folder.join(name).with_extension("ptx");
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let is_ptx = path.extension().is_some_and(|end| end == "ptx");
        let is_here = KERNELS.iter().any(|(name, _)| path_of(name) == path);
        ensure!(is_here || !is_ptx, "nothing is said of {}", path.display());
    }
    let named =
        KERNELS.map(|(name, claim)| (path_of(name), format!("lanecrypt.cuh/{name}"), claim));
    let named = named.into_iter().filter(|(_, shown, _)| shown.contains(filter));
    let row = |(path, shown, claim): (PathBuf, String, ConstantTime)| {
        row(&fs::read_to_string(&path).with_context(|| path.display().to_string())?, shown, claim)
    };
    named.map(row).collect()
}

/// The row of a file, all kernels of which are judged together.
fn row(ptx: &str, shown: String, claim: ConstantTime) -> Result<Row> {
    let entries = parse::entries(ptx).with_context(|| shown.clone())?;
    ensure!(!entries.is_empty(), "{shown}: no kernel");
    let mut read = Analyses::default();
    for entry in &entries {
        let found = taint::analyse(entry, PARAMETERS).with_context(|| shown.clone())?.findings;
        read.findings.insert(entry.name.to_owned(), found);
    }
    let names: Vec<_> = entries.iter().map(|entry| entry.name).collect();
    read.row(shown, claim, &names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Verdict;

    /// A kernel that loads by what `source` loads, under a claim.
    fn verdict(source: &str, claim: ConstantTime) -> Verdict {
        let ptx = format!(
            ".visible .entry one(\n\t.param .b8 one_param_0[40]\n)\n{{\n\tld.param.u64 \t%rd1, [one_param_0];\n\t\
             {source}\n\tld.global.u32 \t%r1, [%rd2];\n\tret;\n}}\n"
        );
        row(&ptx, "one".into(), claim).expect("it is understood").verdict
    }

    #[test]
    fn a_look_up_of_what_was_loaded_is_found() {
        let (by_data, by_place) = ("ld.global.u64 \t%rd2, [%rd1];", "add.s64 \t%rd2, %rd1, 16;");
        assert_eq!(verdict(by_data, ConstantTime::LOOKS_UP), Verdict::Trips);
        assert_eq!(verdict(by_place, ConstantTime::Yes), Verdict::Holds);
        assert_eq!(verdict(by_data, ConstantTime::Yes), Verdict::Wrong);
        assert_eq!(verdict(by_place, ConstantTime::LOOKS_UP), Verdict::Wrong);
    }

    #[test]
    fn a_kernel_that_nobody_names_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("other.ptx"), "").expect("a file");
        let error = rows(folder.path(), "").expect_err("it is not named").to_string();
        assert!(error.contains("other.ptx"), "{error}");
    }
}
