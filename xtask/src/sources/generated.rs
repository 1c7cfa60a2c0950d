//! Files that are made by a task and committed: written, or compared with what is there.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

use crate::command::root;

/// What to do with generated files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write those that differ.
    Write,
    /// Fail on those that differ.
    Check,
}

impl Mode {
    pub(crate) fn from_check(check: bool) -> Self {
        if check { Self::Check } else { Self::Write }
    }
}

/// Writes or checks files given as (path from the root, contents). `fix` is the command that
/// writes them.
pub(crate) fn ensure(files: &[(String, impl AsRef<[u8]>)], mode: Mode, fix: &str) -> Result<()> {
    let mut stale = Vec::new();
    for (path, contents) in files {
        let contents = contents.as_ref();
        let full = root().join(path);
        let current = fs::read(&full).unwrap_or_default();
        if current == contents {
            continue;
        }
        match mode {
            Mode::Check => stale.push(format!("{path}: {}", first_difference(&current, contents))),
            Mode::Write => {
                write(&full, contents)?;
                println!("wrote {path}");
            }
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    bail!("not what the sources give; run `{fix}`:\n  {}", stale.join("\n  "))
}

/// Replaces a file only when the new one is complete.
fn write(path: &Path, contents: &[u8]) -> Result<()> {
    let unfinished = path.with_extension("unfinished");
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    fs::write(&unfinished, contents).with_context(|| format!("writing {}", path.display()))?;
    fs::rename(&unfinished, path).with_context(|| format!("replacing {}", path.display()))
}

fn first_difference(current: &[u8], expected: &[u8]) -> String {
    if current.is_empty() {
        return "missing".into();
    }
    let (Ok(current), Ok(expected)) = (str::from_utf8(current), str::from_utf8(expected)) else {
        return "other bytes".into();
    };
    let mut lines = current.lines().zip(expected.lines()).enumerate();
    match lines.find(|(_, (current, expected))| current != expected) {
        Some((i, (current, expected))) => {
            format!("line {} is {current:?}, should be {expected:?}", i + 1)
        }
        None => "another number of lines".into(),
    }
}
