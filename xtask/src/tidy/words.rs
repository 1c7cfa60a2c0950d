//! Turns of phrase that readers of our documents stumble over.

/// Documents, and folders whose documents and documentation comments are read. A trailing slash stands for
/// all that is below.
const READ: &[&str] = &[
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "benches/README.md",
    "benches/roof/",
    "benches/schema/",
    "benches/src/",
    "book/src/",
    "book/tool/",
    "kernels/README.md",
    "xtask/README.md",
    "docs/",
    "crates/aes/",
    "crates/aria/",
    "crates/camellia/",
    "crates/circuit/",
    "crates/cli/",
    "crates/core/",
    "crates/cuda/",
    "crates/des/",
    "crates/hight/",
    "crates/lanecrypt/",
    "crates/lea/",
    "crates/luks/",
    "crates/modes/",
    "crates/nbdkit-plugin/",
    "crates/objects/",
    "crates/openssl-provider/",
    "crates/parquet/",
    "crates/python/",
    "crates/reference/",
    "crates/seed/",
    "crates/slicing/",
    "crates/sm4/",
    "crates/tink/",
    "ct/",
    "fuzz/",
    "proofs/",
];

/// Nouns after which "a call", as in "sixteen bytes a call", should be "per call".
const COUNTED: [&str; 40] = [
    "architecture",
    "backend",
    "bank",
    "batch",
    "bit",
    "block",
    "byte",
    "call",
    "cipher",
    "container",
    "core",
    "crate",
    "cycle",
    "device",
    "instruction",
    "job",
    "kernel",
    "key",
    "lane",
    "launch",
    "line",
    "machine",
    "message",
    "mode",
    "output",
    "package",
    "part",
    "piece",
    "process",
    "register",
    "request",
    "round",
    "row",
    "segment",
    "step",
    "thread",
    "unit",
    "warp",
    "word",
    "worker",
];

/// Words that make "a word a block" something else than a rate: "a word of a block", "gives a thread a lane".
const LINKS: [&str; 26] = [
    "and", "as", "at", "be", "but", "by", "for", "from", "give", "gives", "has", "have", "in",
    "is", "like", "not", "of", "on", "or", "so", "than", "that", "to", "when", "where", "with",
];

/// The first turn of phrase in every two lines of a document, or of the documentation in a source file.
pub(super) fn faults(path: &str, text: &str) -> Vec<String> {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_rust = extension == "rs";
    let is_document = extension == "md";
    if !is_read(path) || !(is_rust || is_document) {
        return Vec::new();
    }
    if text.lines().take(3).any(|line| line.contains("do not edit by hand")) {
        return Vec::new();
    }
    let mut is_fenced = false;
    let mut prose = |line: &str| -> Option<String> {
        let line = line.trim();
        let line = if is_rust {
            line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?
        } else {
            line
        };
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        // What is code, or a drawing, is left out.
        let is_prose = !is_fenced && !is_fence;
        is_prose.then(|| line.split('`').step_by(2).collect::<Vec<_>>().join("code"))
    };
    let lines: Vec<_> = text.lines().map(|line| prose(line).unwrap_or_default()).collect();
    let next = lines.iter().skip(1).map(String::as_str).chain([""]);
    let found = lines.iter().zip(next).enumerate().filter_map(|(i, (line, next))| {
        let words: Vec<_> = line.split_whitespace().chain(next.split_whitespace()).collect();
        let own = line.split_whitespace().count();
        (0..own)
            .find_map(|start| stumble(&words[start..]))
            .map(|fault| format!("line {}: {fault}", i + 1))
    });
    found.collect()
}

fn is_read(path: &str) -> bool {
    // Read anew by those who change them.
    let is_left_out =
        path == "crates/core/src/engine.rs" || path.starts_with("crates/core/src/modes");
    let is_readme = path.starts_with("crates/") && path.ends_with("/README.md");
    let is_in = |place: &str| path == place || place.ends_with('/') && path.starts_with(place);
    is_readme || !is_left_out && READ.iter().any(|place| is_in(place))
}

/// What is wrong with the turn of phrase that these words begin with, if anything.
fn stumble(words: &[&str]) -> Option<String> {
    let bare = |at: usize| {
        let word = words.get(at).copied().unwrap_or_default();
        word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
    };
    // A mark of punctuation ends a phrase.
    let goes_on =
        |at: usize| words.get(at).is_some_and(|word| word.ends_with(char::is_alphanumeric));
    if bare(0) == "nobody" {
        return Some("\"nobody\": name the subject, or say what does not happen".to_owned());
    }
    if goes_on(0)
        && bare(0) == "so"
        && bare(1) == "many"
        && !words[..words.len().min(6)].contains(&"that")
    {
        return Some("\"so many\": say how many, or \"this number of\"".to_owned());
    }
    let is_count = ["a", "an", "one", "two", "three", "four", "bytes", "bits", "blocks", "cycles"]
        .contains(&bare(0).as_str())
        || bare(0).chars().all(|c| c.is_ascii_digit()) && !bare(0).is_empty();
    let is_plural = ["bytes", "bits", "blocks", "cycles"].contains(&bare(0).as_str());
    let article = if is_plural { 1 } else { 2 };
    let is_rate = is_count
        && (0..=article).all(goes_on)
        && (is_plural || !LINKS.contains(&bare(1).as_str()))
        && ["a", "an"].contains(&bare(article).as_str())
        && COUNTED.contains(&bare(article + 1).as_str())
        && !(goes_on(article + 1) && LINKS.contains(&bare(article + 2).as_str()));
    is_rate.then(|| {
        let phrase = words[..=article + 1].join(" ");
        format!("\"{phrase}\": say \"per {}\"", bare(article + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_turn_of_phrase_is_found() {
        let fault = |text: &str| faults("docs/a.md", text).join("; ");
        assert!(fault("Runs so many bytes.").contains("so many"));
        assert!(fault("Runs so\nmany bytes.").starts_with("line 1: \"so many\""));
        assert!(fault("Then nobody, ever, waits.").contains("nobody"));
        assert!(fault("One crate a cipher.").contains("say \"per cipher\""));
        assert!(fault("it takes a\nbyte a lane, and").contains("a byte a lane"));
        assert!(fault("With 16 bytes a call it is slow").contains("bytes a call"));
        for fine in [
            "It was so many blocks that it failed.",
            "So it is. Many fail.",
            "a word of a block, a lane for a byte",
            "It is given a key, a message and a tag.",
            "one at a time",
            "ten times a second",
            "`so many` and `nobody`",
            "```\nlane  a block a lane\n```",
            "<!-- Generated, do not edit by hand. -->\nSo many.",
            "A thread gives a lane a piece of memory.",
        ] {
            assert_eq!(fault(fine), "", "{fine}");
        }
    }

    #[test]
    fn documentation_is_read_and_code_is_not() {
        let text = "//! So many.\nlet nobody = 1; // nobody\n    /// Nobody.\n";
        let found = faults("crates/tink/src/a.rs", text);
        assert!(found.len() == 2 && found[1].starts_with("line 3"), "{found:?}");
        assert!(faults("crates/core/src/engine.rs", text).is_empty());
        assert!(faults("crates/tink/src/a.py", text).is_empty());
        assert!(faults("crates/aes/README.md", "So many.").len() == 1);
    }
}
