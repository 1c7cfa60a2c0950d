//! What is made of the record in `tests/example`, which has a bit of everything: files and the screen, byte for
//! byte. `bench-all --report benches/tests/example --out FOLDER` makes them anew.

use std::{fs, path::Path};

use lanecrypt_record::Record;

use super::{runs::Runs, summary, write};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/example");

/// The example, as a run.
pub(crate) fn runs() -> Runs {
    Runs::read(&[EXAMPLE.into()]).expect("it is a record")
}

/// The example.
pub(crate) fn record() -> Record {
    runs().merged()
}

#[test]
fn files_and_screen_of_the_example_are_as_they_were() {
    let made = tempfile::tempdir().expect("a folder");
    let record = record();
    write::files(&record, made.path()).expect("they are written");
    fs::write(made.path().join("screen.txt"), summary::screen(&record)).expect("a file");
    let mut compared = 0;
    for entry in fs::read_dir(EXAMPLE).expect("a folder").filter_map(Result::ok) {
        let name = entry.file_name().into_string().expect("a name");
        if name == "report.json" {
            continue;
        }
        let read = |path: &Path| fs::read_to_string(path).expect("a text");
        let (found, expected) = (read(&made.path().join(&name)), read(&entry.path()));
        for (i, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
            assert_eq!(found, expected, "{name}, line {}", i + 1);
        }
        assert_eq!(found.len(), expected.len(), "{name}");
        compared += 1;
    }
    assert_eq!(compared, 5);
}

/// As wide as a terminal is that people measure in, and not as high.
#[test]
fn the_screen_is_one_screen() {
    let screen = summary::screen(&record());
    assert!(screen.lines().count() < 30, "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 132), "{screen}");
}

#[test]
fn of_nothing_nothing_is_made() {
    let record = Record::default();
    assert!(super::sections::of(&record).is_empty());
    assert!(summary::section(&record).is_none() && summary::gpu_sentence(&record).is_none());
}
