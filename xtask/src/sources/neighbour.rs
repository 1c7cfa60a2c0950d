//! A cipher's files, and its entries in the files that list ciphers: of a new cipher as a copy of one that is like it, and a
//! tree without one.
//!
//! The copy compiles and passes every test, as the cipher that it is. What makes it another is written over it.

use std::{fs, ops::Range, path::Path};

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use crate::{kernels::host::hex, packages::title};

/// Where the files of a cipher lie: a path of one of its files begins like this, or the name follows.
const OWN: [&str; 10] = [
    "crates/NAME/",
    "crates/circuit/data/NAME_",
    "crates/wgpu/wgsl/NAME.",
    "kernels/NAME/",
    "kernels/ptx/NAME_",
    "kernels/sm_90/NAME_",
    "proofs/src/ciphers/NAME.",
    "vectors/NAME_",
    "vectors/big/NAME.",
    "vectors/mct/NAME.",
];

/// Its page, which a copy does not begin with: it says of another cipher what this one is.
const PAGE: &str = "book/src/NAME.md";

/// Files that have an entry for every cipher.
const LISTS: &[&str] = &[
    "Cargo.toml",
    "benches/src/bench/measure/peers/baseline.rs",
    "book/src/SUMMARY.md",
    "crates/circuit/src/targets.rs",
    "crates/circuit/tests/files.rs",
    "crates/circuit/tests/forms.rs",
    "crates/lanecrypt/Cargo.toml",
    "crates/lanecrypt/src/lib.rs",
    "crates/lanecrypt/src/tuning/guess.rs",
    "crates/lanecrypt/tests/device.rs",
    "crates/lanecrypt/tests/rustcrypto.rs",
    "crates/lanecrypt/tests/secrets.rs",
    "crates/reference/src/gf256.rs",
    "crates/reference/src/sbox.rs",
    "crates/reference/tests/derived.rs",
    "crates/wgpu/src/programs.rs",
    "kernels/resources.csv",
    "kernels/operations.csv",
    "kernels/src/batch.rs",
    "kernels/src/launches.rs",
    "kernels/src/lib.rs",
    "kernels/src/programs.rs",
    "ct/tests/residue.rs",
    "proofs/Cargo.toml",
    "proofs/src/ciphers.rs",
    "tests/user-crate/Cargo.toml",
    "tests/user-crate/src/main.rs",
    "vectors/README.md",
    "vectors/SHA256SUMS",
    "xtask/bundle.sh",
    "xtask/src/kernels/tables.rs",
    "xtask/src/sources/codegen.rs",
    "xtask/src/tidy.rs",
    "xtask/src/tidy/words.rs",
    "benches/schema/forms.csv",
];

/// A cipher that is there, as the tree has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'a> {
    pub(crate) name: &'a str,
    /// The names of all that are there.
    pub(crate) ciphers: &'a [String],
}

/// A cipher that is there, and the name of a new one, which is like it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbours<'a> {
    pub(crate) old: Member<'a>,
    pub(crate) new: &'a str,
}

/// What is added to a tree: files by their paths, with their new text.
pub(crate) type Added = Vec<(String, Vec<u8>)>;

impl Neighbours<'_> {
    /// The files of the new cipher, and those that list ciphers, with its entries.
    ///
    /// # Errors
    /// Where the other cipher is not there, or a list has none of its entries.
    pub(crate) fn added(&self, root: &Path, paths: &[String]) -> Result<Added> {
        let mut added = Added::new();
        for path in paths.iter().filter(|path| self.old.owns(path)) {
            let bytes = fs::read(root.join(path)).with_context(|| path.clone())?;
            added.push((self.renamed(path), self.copied(path, &bytes)));
        }
        ensure!(!added.is_empty(), "there is no cipher {:?} to begin with", self.old.name);
        for &path in LISTS {
            let text = fs::read_to_string(root.join(path)).with_context(|| path.to_owned())?;
            let with_entries = self.with_entries(&text);
            ensure!(with_entries != text, "{path} has no entry of {}", self.old.name);
            added.push((path.to_owned(), with_entries.into_bytes()));
        }
        correct_sums(&mut added);
        Ok(added)
    }

    /// A file of the old cipher as one of the new cipher's. Machine code is made anew: it has names in it whose length
    /// counts.
    fn copied(&self, path: &str, bytes: &[u8]) -> Vec<u8> {
        if Path::new(path).extension().is_some_and(|extension| extension == "cubin") {
            return Vec::new();
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.lines()
            .flat_map(|line| [self.renamed(line), "\n".to_owned()])
            .collect::<String>()
            .into_bytes()
    }

    /// A line with the new name wherever the old one stands as the cipher's.
    fn renamed(&self, line: &str) -> String {
        let mut renamed = String::with_capacity(line.len());
        let mut rest = line;
        while let Some((before, name, after)) = mention(self.old.name, rest, line) {
            renamed.push_str(before);
            renamed.push_str(&match name {
                Name::Upper => self.new.to_uppercase(),
                Name::Title => title(self.new),
                Name::Lower => self.new.to_owned(),
            });
            rest = after;
        }
        renamed + rest
    }

    /// A text that lists ciphers, with an entry of the new one after each of the old one.
    fn with_entries(&self, text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let mut result: Vec<String> = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let Some(entry) = self.old.entry(&lines, at) else {
                result.push(lines[at].to_owned());
                at += 1;
                continue;
            };
            // What was taken for the line before it belongs to it.
            result.truncate(result.len() - (at - entry.start));
            let old = &lines[entry.clone()];
            if let [line] = old
                && let Some(place) = self.old.in_line(line)
            {
                let (before, after) = line.split_at(place.end);
                result.push(format!("{before}, {}{after}", self.renamed(&line[place])));
            } else {
                result.extend(old.iter().map(|&line| line.to_owned()));
                result.extend(is_apart(&lines, &entry).then(String::new));
                result.extend(old.iter().map(|line| self.renamed(line)));
            }
            at = entry.end;
        }
        result.join("\n") + "\n"
    }
}

impl Member<'_> {
    /// Whether a file is the cipher's own, its page left aside.
    fn owns(&self, path: &str) -> bool {
        OWN.iter().any(|own| path.starts_with(&own.replace("NAME", self.name)))
    }

    /// What a file of the tree is where this cipher is not: none of its own files, and its entries in no list. The inverse of
    /// [`Neighbours::added`].
    pub(crate) fn removed(&self, path: &str, bytes: Vec<u8>) -> Option<Vec<u8>> {
        if self.owns(path) || path == PAGE.replace("NAME", self.name) {
            return None;
        }
        if !LISTS.contains(&path) {
            return Some(bytes);
        }
        Some(self.without_entries(&String::from_utf8_lossy(&bytes)).into_bytes())
    }

    /// A text that lists ciphers, without the entries of this one.
    fn without_entries(&self, text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let mut result: Vec<String> = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let Some(entry) = self.entry(&lines, at) else {
                result.push(lines[at].to_owned());
                at += 1;
                continue;
            };
            result.truncate(result.len() - (at - entry.start));
            let old = &lines[entry.clone()];
            if let [line] = old
                && self.in_line(line).is_some()
            {
                result.push(self.without_mentions(line));
            } else if is_apart(&lines, &entry) {
                result.pop();
            }
            at = entry.end;
        }
        result.join("\n") + "\n"
    }

    /// A line that lists several ciphers, without this one.
    fn without_mentions(&self, line: &str) -> String {
        let mut line = line.to_owned();
        while let Some(place) = self.in_line(&line) {
            let (before, after) = (&line[..place.start], &line[place.end..]);
            line = match before.strip_suffix(", ") {
                Some(before) => format!("{before}{after}"),
                None => format!("{before}{}", after.trim_start_matches([',', ' '])),
            };
        }
        line
    }

    /// The lines of an entry whose first mention is in line `at`: with its attributes and comments, and to where its
    /// brackets are closed; and further entries that follow it.
    fn entry(&self, lines: &[&str], at: usize) -> Option<Range<usize>> {
        is_named(self.name, lines[at]).then_some(())?;
        if self.in_line(lines[at]).is_some() {
            return Some(at..at + 1);
        }
        let heads = lines[..at].iter().rev().take_while(|line| is_head(line)).count();
        let (mut start, mut end) = (at - heads, at + 1);
        loop {
            let depth = depth(&lines[start..end]);
            if depth == 0 && self.is_between_brackets(lines, start, end) {
                (start, end) = (start - 1, end + 1);
                if !self.goes_on_after_bracket(lines, end) {
                    break;
                }
            } else if depth <= 0 && !is_head(lines[end - 1]) && !self.goes_on(lines, end) {
                break;
            }
            end += 1;
        }
        Some(start..end)
    }

    /// Whether these lines are what a bracket encloses that the line before them opens, without a mention, and the next one
    /// closes.
    fn is_between_brackets(&self, lines: &[&str], start: usize, end: usize) -> bool {
        let opens = |line: &&str| line.ends_with(['(', '{', '[']) && !is_named(self.name, line);
        let closes = |line: &&str| line.trim_start().starts_with([')', '}', ']']);
        lines[..start].last().is_some_and(opens) && lines.get(end).is_some_and(closes)
    }

    /// Whether the next line opens a bracket before its entry's first mention.
    fn goes_on_after_bracket(&self, lines: &[&str], end: usize) -> bool {
        let names = lines.get(end + 1).is_some_and(|line| is_named(self.name, line));
        names && depth(&lines[end..=end]) != 0
    }

    /// Whether the next line is of another entry, or a head of one.
    fn goes_on(&self, lines: &[&str], end: usize) -> bool {
        let next = lines[end..].iter().find(|line| !is_head(line));
        next.is_some_and(|line| is_named(self.name, line))
    }

    /// Where a line that lists several ciphers first has this one; `None` for another line.
    fn in_line(&self, line: &str) -> Option<Range<usize>> {
        let mut others = self.ciphers.iter().filter(|cipher| *cipher != self.name);
        let has_others = others.any(|cipher| is_named(cipher, line));
        if !has_others {
            return None;
        }
        let (before, _, after) = mention(self.name, line, line)?;
        let is_part = |c: char| c.is_alphanumeric() || "_:&\"<>".contains(c);
        let start = before.rfind(|c| !is_part(c)).map_or(0, |at| at + 1);
        let end = line.len() - after.len() + after.find(|c| !is_part(c)).unwrap_or(after.len());
        Some(start..end)
    }
}

/// Whether an empty line is before an entry.
fn is_apart(lines: &[&str], entry: &Range<usize>) -> bool {
    entry.start > 0 && lines[entry.start - 1].is_empty()
}

/// How a name is spelled.
#[derive(Clone, Copy, Debug)]
enum Name {
    /// `SEED`
    Upper,
    /// `Seed`
    Title,
    /// `seed`
    Lower,
}

impl Name {
    /// Whether it stands for the cipher between what is before and after it in a line: `seed` is also a word.
    fn stands(self, before: &str, after: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric();
        if before.ends_with(|c: char| is_word(c) || c == '_' && !before.ends_with("lanecrypt_")) {
            return false;
        }
        match self {
            Self::Upper => !after.starts_with(is_word),
            Self::Title => !after.starts_with(char::is_lowercase),
            Self::Lower => {
                let is_file = after.strip_prefix('.').is_some_and(|end| end.starts_with(is_word));
                let ends =
                    ["::", "\"", "/", "_", "()", "-ecb", "-cbc", "-ctr", "-xts", "-gcm", "-big"];
                let begins = ["\"", "/", "-", "lanecrypt_", "mod ", "=", "fn ", "as "];
                // A line of its own, or the first field of a table.
                let is_alone =
                    before.trim().is_empty() && (after.is_empty() || after.starts_with(','));
                is_alone
                    || is_file
                    || ends.iter().any(|end| after.starts_with(end))
                    || !after.starts_with(is_word)
                        && begins.iter().any(|begin| before.ends_with(begin))
            }
        }
    }
}

/// The first place of `rest`, the end of a line, where a cipher is named, and how.
fn mention<'r>(cipher: &str, rest: &'r str, line: &str) -> Option<(&'r str, Name, &'r str)> {
    let spellings = [
        (cipher.to_uppercase(), Name::Upper),
        (title(cipher), Name::Title),
        (cipher.to_owned(), Name::Lower),
    ];
    let offset = line.len() - rest.len();
    let places = spellings.iter().flat_map(|(spelling, name)| {
        rest.match_indices(spelling.as_str()).map(move |(at, text)| (at, at + text.len(), *name))
    });
    let stands = |&(at, end, name): &(usize, usize, Name)| {
        name.stands(&line[..offset + at], &line[offset + end..])
    };
    let (at, end, name) = places.filter(stands).min_by_key(|(at, ..)| *at)?;
    Some((&rest[..at], name, &rest[end..]))
}

/// Whether a line is of a cipher's entry. What a manifest says of another's crate is not.
fn is_named(cipher: &str, line: &str) -> bool {
    let is_of_others = line.contains(" # ") && !line.starts_with("lanecrypt-");
    !is_of_others && mention(cipher, line, line).is_some()
}

/// Whether a line is an attribute or a comment of what follows.
fn is_head(line: &str) -> bool {
    ["#[", "///", "//!"].iter().any(|head| line.trim_start().starts_with(head))
}

/// Brackets that lines open, less those that they close.
fn depth(lines: &[&str]) -> i32 {
    let brackets = lines.iter().flat_map(|line| line.chars());
    brackets.fold(0, |depth, c| depth + i32::from("([{".contains(c)) - i32::from(")]}".contains(c)))
}

/// The digests of vectors that were copied are those of their new text.
fn correct_sums(added: &mut Added) {
    let of_vectors = |(path, bytes): &(String, Vec<u8>)| {
        Some((path.strip_prefix("vectors/")?.to_owned(), hex(&Sha256::digest(bytes))))
    };
    let digests: Vec<_> = added.iter().filter_map(of_vectors).collect();
    let sums = added.iter_mut().find(|(path, _)| path == "vectors/SHA256SUMS");
    if let Some((_, text)) = sums {
        let lines = String::from_utf8_lossy(text).into_owned();
        let corrected = lines.lines().map(|line| {
            let name = line.split("  ").nth(1).unwrap_or_default();
            let digest = digests.iter().find(|(path, _)| path == name);
            digest.map_or_else(|| format!("{line}\n"), |(_, digest)| format!("{digest}  {name}\n"))
        });
        *text = corrected.collect::<String>().into_bytes();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::{command::root, packages, sources::tree};

    /// Lines outside of its own files that were typed for SM4.
    const MOST_BY_HAND: usize = 78;

    fn neighbours<'a>(old: &'a str, new: &'a str) -> Neighbours<'a> {
        static CIPHERS: LazyLock<Vec<String>> =
            LazyLock::new(|| packages::ciphers().expect("there are crates"));
        Neighbours { old: Member { name: old, ciphers: &CIPHERS }, new }
    }

    fn added() -> Vec<(String, String)> {
        let paths = tree::listed(&root()).expect("git lists files");
        let added = neighbours("seed", "newt").added(&root(), &paths).expect("SEED is there");
        added
            .into_iter()
            .map(|(path, text)| (path, String::from_utf8_lossy(&text).into_owned()))
            .collect()
    }

    #[test]
    fn every_list_has_an_entry_for_each_of_the_other_cipher() {
        let (newt, added) = (neighbours("seed", "newt"), added());
        for &path in LISTS {
            let old = fs::read_to_string(root().join(path)).expect(path);
            let (_, new) = added.iter().find(|(added, _)| added == path).expect(path);
            let lines_of =
                |cipher, text: &str| text.lines().filter(|line| is_named(cipher, line)).count();
            assert_eq!(lines_of("newt", new), lines_of("seed", &old), "{path}");
            assert_eq!(
                depth(&new.lines().collect::<Vec<_>>()),
                depth(&old.lines().collect::<Vec<_>>()),
                "{path}"
            );
            // Nothing but lists in a line was changed.
            let mut lines = new.lines();
            for line in old.lines().filter(|line| newt.old.in_line(line).is_none()) {
                assert!(lines.any(|new| new == line), "{path} lost {line:?}");
            }
        }
    }

    #[test]
    fn what_was_added_is_removed() {
        let newt = Member { name: "newt", ..neighbours("seed", "newt").old };
        for (path, text) in added() {
            let removed = newt.removed(&path, text.into_bytes());
            let removed = removed.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let before = LISTS.contains(&path.as_str());
            let before = before.then(|| fs::read_to_string(root().join(&path)).expect("a list"));
            assert!(removed == before, "{path}");
        }
    }

    #[test]
    fn no_list_names_a_cipher_that_was_removed() {
        // Those of the book's ports.
        for name in ["lea", "sm4"] {
            let member = Member { name, ..neighbours("seed", "newt").old };
            for &path in LISTS {
                let text = fs::read(root().join(path)).expect(path);
                let text = member.removed(path, text).expect("a list is nobody's own");
                let text = String::from_utf8_lossy(&text).into_owned();
                let left: Vec<_> = text.lines().filter(|line| is_named(name, line)).collect();
                assert!(left.is_empty(), "{path} names {name}: {left:?}");
            }
        }
    }

    #[test]
    fn files_are_renamed_and_seeds_of_generators_are_not() {
        let added = added();
        let text = |path: &str| {
            let found = added.iter().find(|(added, _)| added == path);
            found.unwrap_or_else(|| panic!("{path} was not made")).1.as_str()
        };
        assert!(
            text("crates/newt/src/lib.rs")
                .contains("pub type Newt128 = Cipher<Fastest<CpuForms>>;")
        );
        assert!(
            text("kernels/newt/table.cu")
                .contains("TABLE_KERNEL(newt_table_shared_ecb, SHARED, NewtParameters")
        );
        assert!(text("kernels/sm_90/newt_table.cubin").is_empty());
        assert!(text("vectors/newt_ecb.txt").starts_with("# bcv1 cipher=newt mode=ecb"));
        assert!(added.iter().all(|(path, _)| !path.contains("seed")));
        for (path, text) in &added {
            assert!(!text.contains("newt: u64") && !text.contains("length, newt"), "{path}");
        }
    }

    /// SM4 was SEED at first. What was written by hand outside of its own files is what the tool could not know: its names
    /// in doors, other crates to compare with, an S-box of its own.
    #[test]
    fn a_port_touches_its_own_files_and_few_lines() {
        let from_seed = neighbours("seed", "sm4");
        let is_counted = |path: &&String| {
            let is_own = OWN.iter().any(|own| path.starts_with(&own.replace("NAME", "sm4")));
            let written = [
                "Cargo.lock",
                "benches/ladder-cpu/", // the book's
                "benches/record/",
                "benches/roof/",
                "benches/schema/",
                "book/",
                "crates/cuda/src/device/experience/built_in.rs",
                "crates/lanecrypt/src/self_test/answers.rs",
                "kernels/ptx/",
                "kernels/src/launches.rs",
                "vectors/",
                "xtask/src/sources/neighbour.rs",
            ];
            let is_written = written.iter().any(|place| path.starts_with(place));
            let is_text = ["md", "csv"].iter().any(|end| path.rsplit('.').next() == Some(end));
            !(is_own || is_written || is_text)
        };
        let mut by_hand = Vec::new();
        for path in tree::listed(&root()).expect("git lists files").iter().filter(is_counted) {
            let Ok(text) = fs::read_to_string(root().join(path)) else {
                continue; // no text
            };
            let made: Vec<String> = if LISTS.contains(&path.as_str()) {
                text.lines()
                    .filter(|line| is_named("seed", line))
                    .map(|line| from_seed.renamed(line))
                    .collect()
            } else {
                Vec::new()
            };
            let named = text.lines().filter(|line| is_named("sm4", line));
            let new = named.filter(|line| !made.iter().any(|made| made == line));
            by_hand.extend(new.map(|line| format!("{path}: {}", line.trim())));
        }
        let count = by_hand.len();
        assert!(count > 0 && count <= MOST_BY_HAND, "{count} lines:\n{}", by_hand.join("\n"));
    }

    #[test]
    fn a_cipher_that_is_not_there_is_refused() {
        let unknown = neighbours("rot13", "newt");
        assert!(unknown.added(&root(), &["Cargo.toml".to_owned()]).is_err());
    }
}
