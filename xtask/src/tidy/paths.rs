//! Files that documents name in back-quotes: each is in the repository, or is the end of the path of one.

use std::path::Path;

/// Documents whose paths are of files that were or that a machine has.
const OTHERS: [&str; 2] = ["CHANGELOG.md", "benches/record/"];
/// The cipher that is added in examples, which nobody has.
const EXAMPLE: &str = "newt";
/// What names of files end with.
const EXTENSIONS: [&str; 13] =
    ["c", "cpp", "cu", "cuh", "h", "json", "md", "py", "rs", "sh", "slp", "toml", "txt"];

/// Paths in a document that no file of `listed`, a path per line, has.
pub(super) fn faults(document: &str, text: &str, listed: &str) -> Vec<String> {
    let is_read = Path::new(document).extension().is_some_and(|end| end == "md")
        && !OTHERS.iter().any(|other| document.starts_with(other));
    if !is_read {
        return Vec::new();
    }
    // Every second piece of a line is in back-quotes.
    let quoted = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let is_there = |path: &str| {
        let ends = |file: &str| file.strip_suffix(path).is_some_and(|before| before.ends_with('/'));
        listed.lines().any(|file| file == path || ends(file))
    };
    quoted
        .filter(|path| is_path(path) && !is_there(path))
        .map(|path| format!("there is no file {path}"))
        .collect()
}

/// Whether it is a path of a file, without placeholders and not one of a user's folder.
fn is_path(quoted: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let extension = quoted.rsplit_once('.').map_or("", |(_, extension)| extension);
    quoted.contains('/')
        && quoted.starts_with(|c: char| c.is_ascii_alphanumeric())
        && quoted.chars().all(is_plain)
        && EXTENSIONS.contains(&extension)
        && !quoted.contains(EXAMPLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_of_files_that_are_there() {
        let listed = "crates/aes/src/lib.rs\nbook/src/a.md\n";
        let text = "`crates/aes/src/lib.rs`, `aes/src/lib.rs`, `es/src/lib.rs`, `crates/<cipher>/src/lib.rs`,\n\
            `crates/newt/a.rs` `cargo xtask a/b`, crates/b.rs, `Engine::a/b`, `./a/b.sh`, `book/src/b.md`";
        let found = faults("book/src/a.md", text, listed);
        assert_eq!(found, ["there is no file es/src/lib.rs", "there is no file book/src/b.md"]);
        assert!(faults("CHANGELOG.md", text, listed).is_empty());
    }
}
