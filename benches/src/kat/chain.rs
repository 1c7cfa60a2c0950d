//! A step of a Monte Carlo chain: thousands of single blocks, each made from the one before.

use lanecrypt::{Direction, Error, Mode, registry::Backend};
use lanecrypt_reference::{
    monte_carlo::monte_carlo,
    vectors::{Direction as Published, MonteCarlo},
};

use super::{
    difference::{Difference, first_difference},
    keyed::{Beside, Keyed},
};

/// What differs. A step has one direction.
pub(super) fn check(step: &MonteCarlo, backend: &Backend) -> Vec<Difference> {
    let direction = match step.direction {
        Published::Encrypt => Direction::Encrypt,
        Published::Decrypt => Direction::Decrypt,
    };
    let what = difference(step, direction, backend);
    what.map(|what| Difference::new(Some(direction), what)).into_iter().collect()
}

fn difference(step: &MonteCarlo, direction: Direction, backend: &Backend) -> Option<String> {
    let block = match Keyed::new(backend, Mode::Ecb, &step.key, Beside::default()) {
        Ok(block) => block,
        Err(error) => return Some(format!("cannot be keyed: {error}")),
    };
    let mut first_error: Result<(), Error> = Ok(());
    let end = monte_carlo(step, |data| {
        if first_error.is_ok() {
            first_error = block.apply(direction, data.into());
        }
    });
    if let Err(error) = first_error {
        return Some(error.to_string());
    }
    match end {
        Err(error) => Some(error.to_string()),
        Ok(end) => first_difference(&step.output, &end.output, 0)
            .map(|what| format!("last output: {what}"))
            .or_else(|| {
                let what = first_difference(&step.previous, &end.previous, 0)?;
                Some(format!("output before the last: {what}"))
            }),
    }
}
