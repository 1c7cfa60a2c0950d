//! Files that are written beside their place: the old one stays until the new one is complete.

use std::{fs, path::Path};

use lanecrypt_record::{Unfinished, replace};

/// Names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("a file").file_name();
    let mut names: Vec<_> =
        entries.map(name).map(|name| name.into_string().expect("ASCII")).collect();
    names.sort();
    names
}

#[test]
fn what_was_there_stays_until_all_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.md");
    replace(&path, "old").expect("a file");
    let begun = Unfinished::create(&path).expect("a file beside it");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "old");
    assert_eq!(names(folder.path()).len(), 2);
    drop(begun);
    assert_eq!(names(folder.path()), ["report.md"], "what is unfinished is removed");
    replace(&path, "new").expect("a file");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "new");
    assert_eq!(names(folder.path()), ["report.md"]);
    assert!(Unfinished::create(&folder.path().join("none/report.md")).is_err());
}

#[cfg(unix)]
#[test]
fn links_stay_links_and_devices_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let [target, link] = ["target", "link"].map(|name| folder.path().join(name));
    fs::write(&target, "old").expect("a file");
    std::os::unix::fs::symlink("target", &link).expect("a link");
    replace(&link, "new").expect("a file");
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    assert_eq!(fs::read_to_string(&target).expect("it is there"), "new");
    replace(Path::new("/dev/null"), "new").expect("a device");
}
