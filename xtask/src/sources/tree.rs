//! Copies of the tree, where something is tried that must not change it.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result};

use crate::command::{command, output, root};

/// Files by their paths.
pub(crate) type Contents = BTreeMap<String, Vec<u8>>;

/// The files of a tree.
pub(crate) fn contents(tree: &Path) -> Result<Contents> {
    fn read(tree: &Path, folder: &Path, into: &mut Contents) -> Result<()> {
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.ends_with(".git") {
                continue;
            }
            if path.is_dir() {
                read(tree, &path, into)?;
            } else {
                let name = path.strip_prefix(tree)?.to_string_lossy().into_owned();
                into.insert(name, fs::read(&path)?);
            }
        }
        Ok(())
    }
    let mut files = Contents::new();
    read(tree, tree, &mut files)?;
    Ok(files)
}

/// The paths of the files that git knows of this tree, or would add to it.
pub(crate) fn listed() -> Result<Vec<String>> {
    let list = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    Ok(output(command("git").args(list))?.split_terminator('\0').map(str::to_owned).collect())
}

/// Makes the copy what git knows of this tree, or would add to it, with what `change` makes of a file. A file
/// that is the same already is left alone, so that cargo sees by its time that nothing changed.
pub(crate) fn copy(copy: &Path, change: impl Fn(&str, &mut Vec<u8>)) -> Result<()> {
    fs::create_dir_all(copy)?;
    let mut old = contents(copy)?;
    for path in &listed()? {
        let from = root().join(path);
        // A file that git knows may be gone; records are large, and nothing builds from them.
        if !from.is_file() || path.starts_with("benches/record/") {
            continue;
        }
        let mut bytes = fs::read(&from).with_context(|| path.clone())?;
        change(path, &mut bytes);
        if old.remove(path).is_none_or(|old| old != bytes) {
            let to = copy.join(path);
            fs::create_dir_all(to.parent().context("a file lies in a folder")?)?;
            fs::write(&to, bytes).with_context(|| path.clone())?;
        }
    }
    for path in old.keys() {
        let path = copy.join(path);
        fs::remove_file(&path).with_context(|| path.display().to_string())?;
        let mut folders = path.ancestors().skip(1);
        // Those that are empty now.
        while folders.next().is_some_and(|folder| fs::remove_dir(folder).is_ok()) {}
    }
    Ok(())
}
