//! Fuzzing: each target of the package `fuzz` under libFuzzer for a while.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::{
    command::{command, root, run, target},
    tools::FUZZ,
};

/// Fuzzes one target, or each, for so many seconds. What was found stays under the target folder,
/// and the next run goes on from there.
pub(crate) fn run_targets(seconds: u32, name: Option<&str>) -> Result<()> {
    let known = targets()?;
    let chosen: Vec<_> = known.iter().filter(|known| name.is_none_or(|n| n == *known)).collect();
    if chosen.is_empty() {
        bail!("there is no target {:?}; there are {}", name.unwrap_or(""), known.join(", "));
    }
    let cargo_fuzz = FUZZ.path()?;
    for name in chosen {
        let corpus = target().join("fuzz-corpus").join(name);
        fs::create_dir_all(&corpus)?;
        let mut fuzz = command(&cargo_fuzz);
        // The sanitizers need a nightly compiler; the code under test has no unsafe.
        fuzz.args(["fuzz", "run", "--sanitizer", "none", "--features", "libfuzzer", name]);
        fuzz.arg(&corpus).arg(root().join("fuzz/seeds").join(name));
        fuzz.args(["--", "-print_final_stats=1", &format!("-max_total_time={seconds}")]);
        run(&mut fuzz).with_context(|| {
            format!(
                "target {name}: an input that fails is under fuzz/artifacts/{name}; mend, then \
                     keep it as fuzz/seeds/{name}/WHAT-IT-SHOWED"
            )
        })?;
    }
    Ok(())
}

/// The targets: the programs of the package.
fn targets() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("fuzz/targets"))? {
        let path = entry?.path();
        names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}
