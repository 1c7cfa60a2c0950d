//! Copies of the tree, where something is tried that must not change it.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use anyhow::{Context, Result};

use crate::command::{output, root};

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

/// The paths of the files that git knows of a tree, or would add to it.
pub(crate) fn listed(tree: &Path) -> Result<Vec<String>> {
    let list = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    let list = output(Command::new("git").args(list).current_dir(tree))?;
    Ok(list.split_terminator('\0').map(str::to_owned).collect())
}

/// The files that git knows of a tree, or would add to it, without records, which are large, and from which nothing is built.
pub(crate) fn sources(tree: &Path) -> Result<Contents> {
    let mut sources = Contents::new();
    for path in listed(tree)? {
        let file = tree.join(&path);
        // A file that git knows may be gone.
        if file.is_file() && !path.starts_with("benches/record/") {
            let bytes = fs::read(&file).with_context(|| path.clone())?;
            sources.insert(path, bytes);
        }
    }
    Ok(sources)
}

/// Makes the copy what `change` makes of each file of this tree: a file, or none. A file that is the same already is left
/// alone, so that cargo sees by its time that nothing changed.
pub(crate) fn copy(copy: &Path, change: impl Fn(&str, Vec<u8>) -> Option<Vec<u8>>) -> Result<()> {
    fs::create_dir_all(copy)?;
    let mut old = contents(copy)?;
    for (path, bytes) in sources(&root())? {
        let Some(bytes) = change(&path, bytes) else {
            continue;
        };
        let path = &path;
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
