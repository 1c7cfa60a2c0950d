//! What times of several passes say: their median, and how well it is known.

use lanecrypt_record::Figure;

/// How sure an interval is.
const CONFIDENCE: f64 = 0.95;

/// The figure with the median of these passes.
pub(crate) fn timed(figure: Figure, seconds: Vec<f64>) -> Figure {
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
