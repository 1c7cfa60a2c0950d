//! The reader of vector files over any text.

use lanecrypt_reference::vectors::{Lines, VectorFile};

/// The reader takes any text: it gives lines or typed errors, the strict reading agrees with the
/// lenient one, and what is kept of a file fits together.
///
/// # Panics
/// Where that does not hold.
pub fn vectors(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let Ok((file, faults)) = VectorFile::parse_lenient("fuzz.txt", &text) else {
        assert!(
            VectorFile::parse("fuzz.txt", &text).is_err(),
            "strict takes what lenient does not"
        );
        return;
    };
    match VectorFile::parse("fuzz.txt", &text) {
        Ok(strict) => {
            assert!(faults.is_empty(), "strict passes over {faults:?}");
            assert_eq!(strict, file);
            assert_eq!(file.header.stated, file.lines.len());
        }
        Err(error) => {
            let first = faults.first().expect("strict refuses what lenient has no fault with");
            assert_eq!(error.to_string(), first.to_string());
        }
    }
    let numbers = numbers(&file.lines);
    assert!(numbers.is_sorted_by(|a, b| a < b), "line numbers {numbers:?}");
    assert!(numbers.iter().all(|&number| (2..=text.lines().count()).contains(&number)));
    for fault in &faults {
        assert!((1..=text.lines().count().max(1)).contains(&fault.line), "{fault}");
        assert!(fault.to_string().len() < 1000, "an error text repeats the input");
    }
    let mut end = 0;
    for group in &file.sources {
        assert_eq!(end.max(group.lines.start), group.lines.start, "groups overlap");
        assert!(group.lines.start <= group.lines.end);
        end = group.lines.end;
        for index in group.lines.clone() {
            assert_eq!(file.source_of(index), Some(&group.source[..]));
        }
    }
    assert!(end <= file.lines.len());
    assert_eq!(file.source_of(file.lines.len()), None);
    assert!(file.modes().len() <= file.lines.len());
}

/// Where the lines stand in the file.
fn numbers(lines: &Lines) -> Vec<usize> {
    match lines {
        Lines::Vectors(lines) => lines.iter().map(|line| line.line).collect(),
        Lines::MonteCarlo(lines) => lines.iter().map(|line| line.line).collect(),
        Lines::Big(lines) => lines.iter().map(|line| line.line).collect(),
        _ => Vec::new(),
    }
}
