//! The table of what each check found, beside what each backend claims.

use std::fmt;

use comfy_table::{Table, presets::ASCII_MARKDOWN};
use lanecrypt::ConstantTime;

/// What comes of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It claims to be constant-time, and nothing was found.
    Holds,
    /// It claims nothing, and the check does find something: it is not blind.
    Trips,
    /// It claims nothing, and its times show nothing here.
    Unseen,
    /// It was not checked, for the reason in the row.
    NotHere,
    /// It claims one thing, and the check found the other, or did not come to an end.
    Wrong,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::Trips => "trips, as it should",
            Self::Unseen => "nothing claimed, nothing seen",
            Self::NotHere => "not checked",
            Self::Wrong => "WRONG",
        })
    }
}

/// A backend, and what a check found.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) claim: ConstantTime,
    /// The check.
    pub(crate) how: &'static str,
    /// What it found, in one line.
    pub(crate) found: String,
    pub(crate) verdict: Verdict,
    /// More lines of it, where the verdict is [`Verdict::Wrong`].
    pub(crate) details: Vec<String>,
}

/// Prints all rows, then the sums, then the details of what is wrong.
pub(crate) fn print(rows: &[Row]) {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header([
        "backend",
        "constant-time",
        "check",
        "found",
        "verdict",
    ]);
    for row in rows {
        let claim = if row.claim == ConstantTime::Yes { "yes" } else { "no" };
        let verdict = row.verdict.to_string();
        table.add_row([&row.name, claim, row.how, &row.found, &verdict]);
    }
    println!("{table}");
    let verdicts =
        [Verdict::Holds, Verdict::Trips, Verdict::Unseen, Verdict::NotHere, Verdict::Wrong];
    let sums = verdicts.map(|verdict| format!("{verdict}: {}", count(rows, verdict)));
    println!("{}", sums.join("; "));
    for row in rows.iter().filter(|row| row.verdict == Verdict::Wrong) {
        println!("\n{} ({}): {}\n    {}", row.name, row.how, row.found, row.details.join("\n    "));
    }
}

/// How many rows have this verdict.
pub(crate) fn count(rows: &[Row], verdict: Verdict) -> usize {
    rows.iter().filter(|row| row.verdict == verdict).count()
}
