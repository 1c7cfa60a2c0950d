//! Welch's test, over all times of two classes and over those below some limits.

/// Classes, 0 or 1, and nanoseconds.
pub(super) type Times = Vec<(u8, f64)>;

/// Shares of the times that are compared, beside all, in thousandths.
const SHARES: [usize; 9] = [100, 200, 350, 500, 650, 800, 900, 970, 995];
/// Times of each class without which a comparison says nothing.
const FEWEST: f64 = 500.0;

/// The comparisons so far.
pub(super) struct Classes(Vec<Comparison>);

impl Classes {
    /// Nothing compared yet; limits are percentiles of these times.
    pub(super) fn with_limits_of(times: &Times) -> Self {
        let mut sorted: Vec<f64> = times.iter().map(|(_, time)| *time).collect();
        sorted.sort_by(f64::total_cmp);
        let limit = |share: usize| sorted[share * (sorted.len() - 1) / 1000];
        let limits = SHARES.map(limit).into_iter().chain([f64::INFINITY]);
        Self(limits.map(|limit| Comparison { limit, classes: [Sum::default(); 2] }).collect())
    }

    /// Compares more.
    pub(super) fn add(&mut self, times: &Times) {
        for &(class, time) in times {
            for comparison in self.0.iter_mut().filter(|comparison| time <= comparison.limit) {
                comparison.classes[usize::from(class)].add(time);
            }
        }
    }

    /// The greatest |t| of all comparisons.
    pub(super) fn greatest(&self) -> f64 {
        self.0.iter().filter_map(Comparison::t).fold(0.0, f64::max)
    }
}

/// Both classes' times up to a limit.
struct Comparison {
    limit: f64,
    classes: [Sum; 2],
}

impl Comparison {
    /// |t|; `None` of too few times.
    fn t(&self) -> Option<f64> {
        let [a, b] = self.classes;
        if a.count < FEWEST || b.count < FEWEST {
            return None;
        }
        let difference = (a.mean - b.mean).abs();
        let spread = (a.variance() / a.count + b.variance() / b.count).sqrt();
        Some(if difference == 0.0 { 0.0 } else { difference / spread })
    }
}

/// Count, mean and squares of distances from it (Welford).
#[derive(Clone, Copy, Default)]
struct Sum {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Sum {
    fn add(&mut self, time: f64) {
        self.count += 1.0;
        let before = time - self.mean;
        self.mean += before / self.count;
        self.squares += before * (time - self.mean);
    }

    fn variance(self) -> f64 {
        self.squares / (self.count - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times that differ by `shift` in the mean, with a spread of about 29.
    fn times(shift: f64) -> Times {
        let noise = |i: u32| f64::from(i.wrapping_mul(2_654_435_769) >> 16 & 0xff) / 2.56;
        (0..20_000).map(|i| ((i & 1) as u8, noise(i) + f64::from(i & 1) * shift)).collect()
    }

    #[test]
    fn a_difference_is_seen_and_none_is_not() {
        let of = |shift: f64| {
            let mut classes = Classes::with_limits_of(&times(shift));
            classes.add(&times(shift));
            classes.greatest()
        };
        assert!(of(0.0) < 4.5, "{}", of(0.0));
        // 28.9 over the root of 5,000 is 0.41: a shift of 10 is 24 times that.
        assert!((20.0..60.0).contains(&of(10.0)), "{}", of(10.0));
    }

    #[test]
    fn sums_are_those_of_the_definition() {
        let mut sum = Sum::default();
        for time in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            sum.add(time);
        }
        assert!((sum.mean - 5.0).abs() < 1e-12 && (sum.variance() - 32.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn few_times_say_nothing() {
        let mut few = times(1000.0);
        few.truncate(900);
        let mut classes = Classes::with_limits_of(&few);
        classes.add(&few);
        assert!(classes.greatest() < 1e-9);
    }
}
