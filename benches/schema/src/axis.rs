//! Axes: where values lie, and which of them are written beside.

/// An axis from one place to another, on which equal ratios are equally long, or equal differences.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    values: (f64, f64),
    places: (f64, f64),
    is_logarithmic: bool,
}

impl Axis {
    /// From the one value, at the one place, to the other.
    #[must_use]
    pub fn new(values: (f64, f64), places: (f64, f64), is_logarithmic: bool) -> Self {
        Self { values, places, is_logarithmic }
    }

    /// With room for all values: from one round value to another, or from nothing to a little more than the
    /// largest. None where there are no values.
    pub fn with_room(
        values: impl Iterator<Item = f64>,
        places: (f64, f64),
        is_logarithmic: bool,
    ) -> Option<Self> {
        let (least, most) = range(values);
        if !is_logarithmic {
            return Some(Self::new((least.min(0.0), most.max(0.0) * 1.08), places, false));
        }
        let below = round().rfind(|value| *value <= least);
        let above = round().find(|value| *value >= most && Some(*value) > below);
        Some(Self::new((below?, above?), places, true))
    }

    /// Where a value lies; one beyond the axis is at its end.
    #[must_use]
    pub fn at(&self, value: f64) -> f64 {
        let scale = |value: f64| if self.is_logarithmic { value.log2() } else { value };
        let (from, to) = (scale(self.values.0), scale(self.values.1));
        let part = (scale(value).clamp(from, to) - from) / (to - from);
        self.places.0 + part * (self.places.1 - self.places.0)
    }

    /// Powers of two, at most as many as have room.
    pub fn powers_of_two(&self, most: u32) -> impl Iterator<Item = f64> {
        let (from, to) = (self.values.0.log2().ceil(), self.values.1.log2().floor());
        let step = ((to - from) / f64::from(most - 1)).ceil().max(1.0);
        let all = (0..most).map(move |i| from + f64::from(i) * step);
        all.filter(move |power| *power <= to).map(f64::exp2)
    }

    /// Round values: powers of ten, with their double and fivefold where these are few.
    #[must_use]
    pub fn round_values(&self) -> Vec<f64> {
        let (least, most) = self.values;
        if !self.is_logarithmic {
            let step = 10_f64.powf((most - least).log10().floor());
            let step = if (most - least) / step < 3.0 { step / 2.0 } else { step };
            let first = (least / step).ceil();
            return (0..12).map(|i| (first + f64::from(i)) * step).filter(|v| *v <= most).collect();
        }
        let inside: Vec<f64> = round().filter(|v| (least..=most).contains(v)).collect();
        let is_power = |value: &f64| (value.log10() - value.log10().round()).abs() < 1e-9;
        let powers: Vec<f64> = inside.iter().copied().filter(is_power).collect();
        if powers.len() < 3 { inside } else { powers }
    }
}

/// Powers of ten, their double and fivefold.
fn round() -> impl DoubleEndedIterator<Item = f64> {
    (-6..9).flat_map(|i| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(i)))
}

/// The least and the largest of some values; the other way round where there are none.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(values: &[f64], is_logarithmic: bool) -> Axis {
        let axis = Axis::with_room(values.iter().copied(), (0.0, 100.0), is_logarithmic);
        axis.expect("there are values")
    }

    #[test]
    fn values_and_sizes_are_written_where_there_is_room() {
        let axis = around(&[1.0, 5000.0], true);
        assert_eq!(
            (axis.values, axis.round_values()),
            ((1.0, 5000.0), vec![1.0, 10.0, 100.0, 1000.0])
        );
        // A single value has room too; per cents may be below nothing.
        assert_eq!(around(&[3.0], true).round_values(), [2.0, 5.0]);
        assert_eq!(around(&[5.0], true).round_values(), [5.0, 10.0]);
        let gains = around(&[-10.0, 40.0], false).round_values();
        assert_eq!(gains, [-10.0, 0.0, 10.0, 20.0, 30.0, 40.0]);
        let sizes = Axis::new((16.0, 16.0 * 1024.0 * 1024.0), (0.0, 1.0), true);
        assert!(sizes.powers_of_two(5).eq([4, 9, 14, 19, 24].map(|power| f64::from(1 << power))));
        assert!(Axis::with_room(std::iter::empty(), (0.0, 1.0), true).is_none());
    }

    #[test]
    fn equal_ratios_are_equally_long_and_nothing_lies_outside() {
        let axis = Axis::new((0.1, 10_000.0), (150.0, 50.0), true);
        let at = [0.1, 1.0, 10_000.0, 0.01, 1e9].map(|value| axis.at(value).round());
        assert!(at.into_iter().eq([150.0, 130.0, 50.0, 150.0, 50.0]), "{at:?}");
    }
}
