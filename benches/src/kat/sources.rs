//! The vector files: found in folders, read as far as their lines are good.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use lanecrypt_reference::vectors::{FormatError, VectorError, VectorFile};

use super::{report::Failure, sums};

/// Everything that was read.
#[derive(Debug, Default)]
pub struct Sources {
    /// Files with a good header.
    pub files: Vec<Source>,
    /// Paths and files that could not be read at all.
    pub failures: Vec<Failure>,
}

/// A file and the lines of it that are not in the format.
#[derive(Debug)]
pub struct Source {
    /// The file with its good lines.
    pub file: VectorFile,
    /// The others.
    pub faults: Vec<FormatError>,
}

/// Reads files, and all `*.txt` in folders and the folders in them (links to folders are not
/// followed), each folder in the order of its names. A folder's `SHA256SUMS` is checked.
#[must_use]
pub fn read(paths: &[PathBuf]) -> Sources {
    let mut sources = Sources::default();
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        match text_files(path, &mut files) {
            Err(error) => sources.failures.push(Failure::of_file(path, &error.to_string())),
            Ok(()) if files.len() == before => {
                sources.failures.push(Failure::of_file(path, "no *.txt file is in this folder"));
            }
            Ok(()) => sources.failures.extend(sums::check(path, &files[before..])),
        }
    }
    let mut seen = Vec::new();
    for path in files {
        if !seen.contains(&path) {
            read_file(&path, &mut sources);
            seen.push(path);
        }
    }
    sources
}

fn read_file(path: &Path, sources: &mut Sources) {
    match VectorFile::read_lenient(path) {
        Ok((file, faults)) => sources.files.push(Source { file, faults }),
        Err(VectorError::Format(fault)) => sources.failures.push(Failure::of_line(&fault)),
        Err(error) => sources.failures.push(Failure::of_file(path, &error.to_string())),
    }
}

fn text_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            text_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            files.push(path);
        }
    }
    Ok(())
}
