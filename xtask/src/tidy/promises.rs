//! The table of promises in SECURITY.md: each promise names a test that holds it, and the test is there.

/// Where the table is.
pub(super) const FILE: &str = "SECURITY.md";
/// The heading that it stands under.
const HEADING: &str = "## Promises and their tests";

/// What is wrong with the table in this text. `source` gives the text of a file by its path.
pub(super) fn faults(text: &str, source: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let rows: Vec<_> = rows(text).collect();
    if rows.is_empty() {
        return vec![format!("no table of promises under \"{HEADING}\"")];
    }
    let faults_of = |(promise, tests): (&str, &str)| {
        let tests: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
        if tests.is_empty() {
            return vec![format!("the promise \"{promise}\" has no test")];
        }
        let missing = tests.into_iter().filter(|test| !is_there(test, &source));
        missing.map(|test| format!("the promise \"{promise}\": there is no test {test}")).collect()
    };
    rows.into_iter().flat_map(faults_of).collect()
}

/// Promises with what stands beside each of them.
fn rows(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let section = text.split(HEADING).nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let lines = section.lines().filter(|line| line.starts_with('|')).skip(2); // header and rule
    lines
        .map(|line| line.trim_matches('|').rsplit_once('|').unwrap_or((line, "")))
        .map(|(promise, tests)| (promise.trim(), tests.trim()))
}

/// Whether `path::name` is a function of that file.
fn is_there(test: &str, source: impl Fn(&str) -> Option<String>) -> bool {
    let Some((path, name)) = test.rsplit_once("::") else { return false };
    source(path).is_some_and(|text| text.contains(&format!("fn {name}(")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_without_a_test_is_a_fault() {
        let source = |path: &str| (path == "a.rs").then(|| "fn holds() {}".to_owned());
        let fault = |rows: &str| {
            let table =
                format!("{HEADING}\n\n| promise | test |\n|---|---|\n{rows}\n## Next\n| x | y |");
            faults(&table, source).join("; ")
        };
        assert_eq!(fault("| a \\| b | `a.rs::holds` |"), "");
        assert!(fault("| a | |").contains("no test"));
        assert!(fault("| a | none yet |").contains("no test"));
        assert!(fault("| a |").contains("no test"));
        assert!(fault("| a | `a.rs::held` |").contains("a.rs::held"));
        assert!(fault("| a | `a.rs::hold` |").contains("a.rs::hold"));
        assert!(fault("| a | `b.rs::holds` |").contains("b.rs::holds"));
        assert!(fault("| a | `a.rs::holds`, `holds` |").contains("test holds"));
        assert!(fault("").contains("no table") && faults("", source)[0].contains("no table"));
    }
}
