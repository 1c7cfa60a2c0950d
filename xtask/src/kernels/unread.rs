//! PTX without the variables that no kernel reads: the compiler leaves every constant of a source in it.

use std::collections::HashSet;

/// `ptx` without them, among them the launches that [`super::launches`] has read before. A variable
/// that only another one names is gone with that one.
pub(crate) fn without_unread(ptx: &str) -> String {
    let mut lines: Vec<&str> = ptx.lines().collect();
    loop {
        let others = lines.iter().filter(|line| variable(line).is_none());
        let initial = lines.iter().filter(|line| variable(line).is_some());
        let read: HashSet<&str> = others
            .flat_map(|line| words(line))
            .chain(
                initial.filter_map(|line| line.split_once('=')).flat_map(|(_, text)| words(text)),
            )
            .collect();
        let before = lines.len();
        let is_read = |line: &&str| variable(line).is_none_or(|name| read.contains(name));
        let kept = lines.iter().copied().filter(is_read).collect();
        lines = kept;
        if lines.len() == before {
            return lines.join("\n") + "\n";
        }
    }
}

/// The name of the variable that a line declares: `.global .align 4 .b8 NAME[1024] = {..};`
fn variable(line: &str) -> Option<&str> {
    let line = line.strip_prefix(".visible ").unwrap_or(line);
    line.strip_prefix(".global ").or_else(|| line.strip_prefix(".const "))?;
    let declared = line.split(['=', '[', ';']).next()?;
    declared.split_whitespace().next_back()
}

/// Everything in a text that may be a name.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_stays() {
        let text = "\
.version 8.1
.global .align 4 .b8 ALONE[12] = {1, 0, 0};
.global .align 4 .u32 ONE = 1;
.visible .const .align 1 .b8 TABLE[256] = {99};
.global .align 8 .u64 POINTS = generic(POINTED);
.global .align 8 .u64 POINTED = 2;
.global .align 8 .u64 USED = generic(REACHED);
.global .align 8 .u64 REACHED;

.visible .entry kernel(
\tmov.u64 %rd1, TABLE;
\tld.global.u64 %rd2, [USED+8];
";
        let kept = without_unread(text);
        let names: Vec<&str> = kept.lines().filter_map(variable).collect();
        assert_eq!(names, ["TABLE", "USED", "REACHED"]);
        assert!(kept.starts_with(".version") && kept.ends_with("+8];\n"));
    }
}
