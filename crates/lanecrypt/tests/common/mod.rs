//! What the trials share: which backends must run, how one that cannot is shown, and test data.

mod engine_blocks;

use std::{fmt::Display, sync::Arc};

use lanecrypt::registry::Selection;
use libtest_mimic::{Failed, Trial};

pub(crate) use engine_blocks::EngineBlocks;

/// The result of a trial.
pub(crate) type Outcome = Result<(), Failed>;
/// Something that holds for a case.
pub(crate) type Property<Case> = fn(&Case) -> Outcome;

/// The backends that `LANECRYPT_EXPECT` lists: one that cannot run fails. Ends the process where
/// the variable is no list of backends.
pub(crate) fn expected() -> Selection {
    Selection::expected().unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(2)
    })
}

/// A trial a property. Where the case is unavailable they are ignored, with the reason on standard
/// error, or fail if it was expected to run.
pub(crate) fn trials<Case: Send + Sync + 'static>(
    name: &str,
    unavailable: Option<&dyn Display>,
    is_expected: bool,
    case: Case,
    properties: &[(&str, Property<Case>)],
) -> Vec<Trial> {
    if let Some(reason) = unavailable {
        eprintln!("{name} cannot run here: {reason}");
    }
    let case = Arc::new(case);
    let trial = |&(property, check): &(&str, Property<Case>)| {
        let title = format!("{name}::{property}");
        if let Some(reason) = unavailable {
            let reason = format!("LANECRYPT_EXPECT names it, but {reason}");
            return Trial::test(title, move || Err(reason.into())).with_ignored_flag(!is_expected);
        }
        let case = case.clone();
        Trial::test(title, move || check(&case))
    };
    properties.iter().map(trial).collect()
}

/// Reproducible random bytes (splitmix64).
pub(crate) fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut data = vec![0; length];
    lanecrypt_reference::vectors::PlaintextStream::new(seed).fill(&mut data);
    data
}
