//! `SHA256SUMS` of a folder: whether its files are still those that were checked in.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use super::report::Failure;

/// The name of the list, in the format of sha256sum.
const NAME: &str = "SHA256SUMS";

/// What differs between the list of `folder` and its files, of which `read` will be read; nothing
/// where the folder has no list.
pub(super) fn check(folder: &Path, read: &[PathBuf]) -> Vec<Failure> {
    let list = folder.join(NAME);
    if !list.exists() {
        return Vec::new();
    }
    let text = match fs::read_to_string(&list) {
        Ok(text) => text,
        Err(error) => return vec![Failure::of_file(&list, &error.to_string())],
    };
    let mut failures = Vec::new();
    let mut listed = Vec::new();
    for line in text.lines() {
        // sha256sum writes two spaces, or a space and a star.
        let Some((digest, name)) = line.split_once([' ']) else {
            failures.push(Failure::of_file(&list, &format!("{line:?} is no digest and name")));
            continue;
        };
        let path = folder.join(name.trim_start_matches([' ', '*']));
        failures.extend(fault(&path, digest).map(|what| Failure::of_file(&path, &what)));
        listed.push(path);
    }
    let unlisted = read.iter().filter(|path| !listed.contains(path));
    failures
        .extend(unlisted.map(|path| Failure::of_file(path, &format!("{NAME} does not list it"))));
    failures
}

/// What is wrong with a file that has this digest, in hex, by the list.
fn fault(path: &Path, digest: &str) -> Option<String> {
    match fs::read(path) {
        Err(error) => Some(error.to_string()),
        Ok(bytes) if hex::encode(Sha256::digest(&bytes)) == digest => None,
        Ok(_) => Some(format!("its SHA-256 is not the one in {NAME}")),
    }
}
