//! Passes: how they are taken, and what their times say: their median, and how well it is known.

use std::time::Instant;

use lanecrypt_record::Figure;

/// How sure an interval is.
const CONFIDENCE: f64 = 0.95;

/// The figure with the median of `count` passes over the data. One pass comes before, which loads what is used
/// for the first time: `verify` compares what it made, and nothing is timed where that is wrong. A pass says
/// how many seconds it took.
pub(crate) fn timed<T: ?Sized>(
    figure: Figure,
    count: usize,
    data: &mut T,
    mut pass: impl FnMut(&mut T) -> Result<f64, String>,
    verify: impl FnOnce(&mut T) -> Result<(), String>,
) -> Result<Figure, String> {
    pass(data)?;
    verify(data)?;
    let seconds: Result<Vec<f64>, String> = (0..count).map(|_| pass(data)).collect();
    Ok(with_median(figure, seconds?))
}

/// Seconds of a call.
pub(crate) fn clocked(run: impl FnOnce() -> Result<(), String>) -> Result<f64, String> {
    let start = Instant::now();
    run()?;
    Ok(start.elapsed().as_secs_f64())
}

/// The figure with the median of these passes.
pub(crate) fn with_median(figure: Figure, seconds: Vec<f64>) -> Figure {
    let (samples, interval) = (seconds.len(), interval(&seconds));
    Figure { samples, interval, seconds: median(seconds), ..figure }
}

/// The median of the seconds of an odd number of passes.
pub(crate) fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// Between which seconds the median of all passes lies that there could be, with 95% confidence. Whatever
/// their distribution is, each pass falls below it by the toss of a coin; so it lies between the k-th
/// fastest and the k-th slowest unless fewer than k tosses fell on one side. Of fewer than six passes there
/// is no such interval.
fn interval(seconds: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    // (n choose k) / 2^n, beginning with k = 0.
    let mut probability = 0.5_f64.powf(count as f64);
    let (mut outside, mut known) = (0.0, None);
    for k in 0..count / 2 {
        outside += 2.0 * probability;
        if outside > 1.0 - CONFIDENCE {
            break;
        }
        known = Some([sorted[k], sorted[count - 1 - k]]);
        probability *= (count - k) as f64 / (k + 1) as f64;
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pass_is_verified_and_does_not_count() {
        let pass = |passes: &mut u32| {
            *passes += 1;
            Ok(f64::from(*passes))
        };
        let verify = |passes: &mut u32| if *passes == 1 { Ok(()) } else { Err("late".into()) };
        let figure = timed(Figure::default(), 3, &mut 0, pass, verify).expect("it is right");
        assert_eq!((figure.samples, figure.seconds.round()), (3, 3.0), "the median of 2, 3, 4");
        let wrong = timed(Figure::default(), 3, &mut 0, pass, |_| Err("wrong".into()));
        assert_eq!(wrong.unwrap_err(), "wrong");
    }

    /// Tables of the sign test: of eleven passes the second from either end, of twenty the sixth.
    #[test]
    fn the_interval_is_that_of_the_sign_test() {
        let passes = |count: u32| (1..=count).rev().map(f64::from).collect::<Vec<_>>();
        assert_eq!(interval(&passes(5)), None);
        assert_eq!(interval(&passes(6)), Some([1.0, 6.0]));
        assert_eq!(interval(&passes(11)), Some([2.0, 10.0]));
        assert_eq!(interval(&passes(20)), Some([6.0, 15.0]));
        assert!((median(passes(11)) - 6.0).abs() < 1e-9);
    }
}
