//! Measuring on the CPU: one core, by the clock.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use lanecrypt_record::{Figure, Place};

use super::{cases::Case, keyed::Keyed, passes::with_median, verify::verify};

/// Passes that the median is of; odd.
const SAMPLES: u32 = 21;

/// Verifies and measures all cases, each for this many milliseconds.
///
/// # Errors
/// A sentence naming what failed; wrong output is a failure.
pub(crate) fn measure(
    cases: &[Case],
    milliseconds: u64,
    bar: &ProgressBar,
) -> Result<Vec<Figure>, String> {
    let measure = |case| {
        bar.inc(1);
        measured(case, Duration::from_millis(milliseconds))
    };
    cases.iter().map(measure).collect()
}

fn measured(case: &Case, time: Duration) -> Result<Figure, String> {
    let &Case { cipher, key_bytes, contender, work, bytes } = case;
    let first = verify(case)?;
    let figure = Figure {
        backend: contender.id().to_owned(),
        gigahertz: Some(lanecrypt_clock::gigahertz()),
        is_peer: contender.is_peer(),
        ..Keyed::new(cipher, key_bytes).figure(work, Place::Cpu, bytes)
    };
    // Timed once, by its verification: the passes would take that many times as long.
    if first > time {
        return Ok(Figure { seconds: first.as_secs_f64(), samples: 1, ..figure });
    }
    let mut calls = case.calls(time / SAMPLES)?;
    let start = Instant::now();
    while start.elapsed() < time / 4 {
        calls.pass()?;
    }
    let seconds = (0..SAMPLES).map(|_| calls.pass()).collect::<Result<Vec<f64>, String>>()?;
    let fastest_seconds = seconds.iter().copied().min_by(f64::total_cmp);
    Ok(Figure { fastest_seconds, ..with_median(figure, seconds) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::options::Options;

    #[test]
    fn a_case_has_all_passes_or_the_one_that_takes_too_long() {
        let options = ["bench-all", "--cipher", "seed", "--backend", "table32", "--size", "4K"];
        let (cases, _) = Options::parse_from(options).cpu_cases();
        let of = |time| measured(&cases[0], time).expect("it is right");
        let figure = of(Duration::from_millis(5));
        let interval = figure.interval.expect("it is known");
        assert_eq!((figure.samples, figure.bytes), (21, 4096));
        assert!((interval[0]..=interval[1]).contains(&figure.seconds), "{figure:?}");
        assert!(figure.fastest_seconds.is_some_and(|fastest| fastest <= interval[0]), "{figure:?}");
        let figure = of(Duration::ZERO);
        assert_eq!((figure.samples, figure.interval, figure.fastest_seconds), (1, None, None));
    }
}
