//! The formula: clocks of a multiprocessor for what a block takes of its pipes.

/// The pipes, and how many lanes a clock cycle each has on a multiprocessor. Compute capabilities 8.0 to 9.0 have the same
/// rates (CUDA C++ Programming Guide, "Arithmetic Instructions").
pub const PIPES: [(&str, f64); 4] =
    [("shared memory", 32.0), ("ALU", 64.0), ("multiplier", 64.0), ("all instructions", 128.0)];

/// What a block takes of each of [`PIPES`], in lanes.
pub type Lanes = [f64; 4];

/// Clocks of a multiprocessor for which these lanes keep each pipe busy.
#[must_use]
pub fn busy(lanes: &Lanes) -> Lanes {
    core::array::from_fn(|i| lanes[i] / PIPES[i].1)
}

/// Clocks of a multiprocessor for which the fullest pipe is busy.
#[must_use]
pub fn clocks(lanes: &Lanes) -> f64 {
    busy(lanes).into_iter().fold(0.0, f64::max)
}

/// The name of the fullest pipe.
#[must_use]
pub fn binds(lanes: &Lanes) -> &'static str {
    let pipes = busy(lanes).into_iter().zip(PIPES);
    pipes.max_by(|a, b| a.0.total_cmp(&b.0)).map_or("", |(_, (name, _))| name)
}

/// The roof: a block of this many bits, on multiprocessors that together have this number of clocks (10^9) in a second.
#[must_use]
pub fn gbit_per_second(block_bits: f64, lanes: &Lanes, gigaclocks: f64) -> f64 {
    block_bits / clocks(lanes) * gigaclocks
}

/// Lanes a block where such a part of the blocks goes to each of two sorts of warps that the fullest pipe is busy for
/// the shortest time. That time is convex in the part, and least at an end or where two pipes are equally full.
#[must_use]
pub fn divided(first: Lanes, second: Lanes) -> Lanes {
    let mix = |part: f64| -> Lanes {
        core::array::from_fn(|i| part * first[i] + (1.0 - part) * second[i])
    };
    let [a, b] = [busy(&first), busy(&second)];
    let pairs = (0..4).flat_map(|i| (0..i).map(move |j| (i, j)));
    let crossings = pairs.map(|(i, j)| (b[j] - b[i]) / (a[i] - a[j] - b[i] + b[j]));
    let parts = crossings.filter(|part| (0.0..=1.0).contains(part)).chain([0.0, 1.0]);
    let mixed = parts.map(mix).min_by(|a, b| clocks(a).total_cmp(&clocks(b)));
    mixed.unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sorts_of_warps_share_blocks() {
        let half = divided([64.0, 0.0, 0.0, 0.0], [0.0, 128.0, 0.0, 0.0]);
        assert_eq!(half.map(|lanes| lanes.round() as i32), [32, 64, 0, 0]);
        let first = divided([32.0, 0.0, 0.0, 0.0], [32.0, 128.0, 0.0, 0.0]);
        assert!((clocks(&first) - 1.0).abs() < 1e-9, "{first:?}");
    }

    #[test]
    fn the_fullest_pipe_binds() {
        let lanes = [168.0, 200.0, 160.0, 418.0];
        assert_eq!((binds(&lanes), clocks(&lanes)), ("shared memory", 5.25));
        assert_eq!(binds(&[168.0, 400.0, 160.0, 700.0]), "ALU");
    }
}
