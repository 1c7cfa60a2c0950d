//! How the pages on the papers judge their claims: a table of counts.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::generated;

/// The folder of these pages.
const FOLDER: &str = "papers";
/// What comes before a verdict, which is bold.
const MARK: &str = "Verdict: **";
/// Every verdict that there is.
const VERDICTS: [&str; 5] =
    ["holds", "holds in part", "reversed", "not applicable", "not measured"];

/// The table, with a row for each page and their sum.
///
/// # Errors
/// Where a page cannot be read, has no title, or has another verdict.
pub(crate) fn table(source: &Path) -> Result<String> {
    let mut pages = Vec::new();
    let folder = source.join(FOLDER);
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        pages.push((path, text));
    }
    Ok(generated("the pages on the papers", &of_pages(&pages)?))
}

fn of_pages(pages: &[(PathBuf, String)]) -> Result<String> {
    let mut rows = Vec::new();
    let mut sum = [0; VERDICTS.len()];
    for (path, text) in pages {
        let name = path.display();
        let (title, _) = text.split_once('\n').unwrap_or((text, ""));
        let title = title.strip_prefix("# ").with_context(|| format!("{name} has no title"))?;
        let counts = counts(text).with_context(|| name.to_string())?;
        for (sum, count) in sum.iter_mut().zip(counts) {
            *sum += count;
        }
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        rows.push(row(&format!("[{title}]({FOLDER}/{file})"), counts));
    }
    rows.sort_unstable();
    let heads = VERDICTS.join(" | ");
    let mut table = format!("\n| | {heads} |\n|---|{}\n", "---|".repeat(VERDICTS.len()));
    for row in rows.into_iter().chain([row("all", sum)]) {
        let _ = writeln!(table, "{row}");
    }
    Ok(table)
}

fn row(name: &str, counts: [usize; VERDICTS.len()]) -> String {
    format!("| {name} | {} |", counts.map(|count| count.to_string()).join(" | "))
}

/// How often each verdict is given.
fn counts(text: &str) -> Result<[usize; VERDICTS.len()]> {
    // A line may end within a verdict.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut counts = [0; VERDICTS.len()];
    for given in text.split(MARK).skip(1) {
        let given = given.split("**").next().unwrap_or_default();
        let place = VERDICTS.iter().position(|verdict| *verdict == given);
        counts[place.with_context(|| format!("`{given}` is no verdict"))?] += 1;
    }
    let given: usize = counts.iter().sum();
    ensure!(text.matches("erdict").count() == given, "a verdict that is not bold");
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(texts: [&str; 2]) -> Result<String> {
        let pages = [("src/papers/b.md", texts[0]), ("src/papers/a.md", texts[1])];
        of_pages(&pages.map(|(path, text)| (PathBuf::from(path), text.to_owned())))
    }

    #[test]
    fn verdicts_are_counted_by_page() {
        let b = "# P2: B\n\nVerdict: **holds**. Verdict: **holds\nin part**: so.\n";
        let a = "# P1: A\n\nHere. Verdict:\n**holds**.\n";
        let heads = "| | holds | holds in part | reversed | not applicable | not measured |\n\
                     |---|---|---|---|---|---|\n";
        let rows = "| [P1: A](papers/a.md) | 1 | 0 | 0 | 0 | 0 |\n\
                    | [P2: B](papers/b.md) | 1 | 1 | 0 | 0 | 0 |\n| all | 2 | 1 | 0 | 0 | 0 |\n";
        assert_eq!(table([b, a]).expect("a table"), format!("\n{heads}{rows}"));
        for wrong in ["# P1\n\nVerdict: **perhaps**.\n", "# P1\n\nVerdict: holds.\n", "P1\n"] {
            assert!(table([b, wrong]).is_err(), "{wrong}");
        }
    }
}
