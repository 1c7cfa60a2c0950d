//! The registry is whole: every cipher that a crate describes is in it. That every kernel module is
//! run by some backend is a trial of conformance.rs, which has the kernels.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use lanecrypt::{CIPHERS, Platform};

/// The Rust files under a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry can be read").path());
    let of = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    paths.flat_map(of).filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

/// The code of every crate's `src`, without comments, so also without examples.
fn code() -> Vec<(PathBuf, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/ has this one");
    let folders = fs::read_dir(crates).expect("crates/ can be read");
    let folders = folders.map(|entry| entry.expect("an entry can be read").path().join("src"));
    let without_comments = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        (path, lines.collect::<Vec<_>>().join("\n"))
    };
    folders.flat_map(|folder| sources(&folder)).map(without_comments).collect()
}

/// The names of the ciphers that a file describes to others; what is not public is of tests.
fn described_in(text: &str) -> impl Iterator<Item = &str> {
    text.split("\npub static ").skip(1).filter_map(|text| {
        let (_, description) =
            text.split(';').next()?.split_once(": CipherDescription = CipherDescription {")?;
        description.split('"').nth(1)
    })
}

#[test]
fn every_description_is_registered() {
    let mut described = BTreeSet::new();
    for (path, text) in code() {
        for name in described_in(&text) {
            assert!(
                described.insert(name.to_owned()),
                "{}: a second cipher {name:?}",
                path.display()
            );
        }
    }
    let registered: BTreeSet<_> = CIPHERS.iter().map(|cipher| cipher.name.to_owned()).collect();
    assert_eq!(registered.len(), CIPHERS.len(), "a cipher is registered twice");
    assert_eq!(described, registered);
}

/// What loads a library by a name from the environment is in nobody's build but the tests'.
#[test]
fn host_kernels_are_registered_under_their_feature_only() {
    let mut backends = CIPHERS.iter().flat_map(|cipher| cipher.backends);
    let is_there = backends.any(|backend| backend.platform == Platform::CudaOnHost);
    assert_eq!(is_there, cfg!(feature = "host-kernels"));
}

#[test]
fn names_are_found_by_lists() {
    for cipher in CIPHERS {
        let is_good = |name: &str| {
            let of_a_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            !name.is_empty() && name.chars().all(of_a_name)
        };
        assert!(is_good(cipher.name), "{:?}", cipher.name);
        let ids: BTreeSet<_> = cipher.backends.iter().map(|backend| backend.id).collect();
        assert_eq!(ids.len(), cipher.backends.len(), "an id of {} is there twice", cipher.name);
        assert!(ids.iter().all(|id| is_good(id)), "{ids:?}");
        assert_eq!(cipher.backends[0].id, "reference");
    }
}
