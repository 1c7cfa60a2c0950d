//! The core's clock, for cycles per byte.
#![forbid(unsafe_code)]

use std::{hint::black_box, time::Instant};

/// Passes through the chain, in one of which nothing else interferes.
const TRIES: usize = 9;
/// Steps of a pass: some 50 microseconds.
const STEPS: u32 = 1 << 16;
/// Cycles of a step: an exclusive or and an addition, both of registers, each of which waits for
/// the one before. Either takes one cycle on every x86 and Arm core that we know. A multiplication
/// of 64 bits does not: three on x86, and on Arm it depends on the core.
const STEP_CYCLES: u32 = 2;

/// The clock that this core runs at now, in GHz: the fastest of a few passes through a chain of
/// dependent instructions. Cycle counters of the CPU would not do: they count at a fixed rate.
#[must_use]
pub fn gigahertz() -> f64 {
    let cycles = f64::from(STEPS) * f64::from(STEP_CYCLES);
    cycles / 1e9 / fastest(|x, a, b| (x ^ a).wrapping_add(b))
}

/// Seconds of the fastest of [`TRIES`] passes, of [`STEPS`] dependent steps each.
fn fastest(step: impl Fn(u64, u64, u64) -> u64) -> f64 {
    let pass = |_| {
        // Opaque operands: the compiler can neither join steps nor make them immediates, which
        // some cores add in no time.
        let (a, b) = black_box((0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03));
        let start = Instant::now();
        black_box((0..STEPS).fold(1, |x, _| step(x, a, b)));
        start.elapsed().as_secs_f64()
    };
    (0..TRIES).map(pass).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_one_of_a_cpu() {
        let clock = gigahertz();
        assert!((0.3..8.0).contains(&clock), "{clock} GHz");
    }

    /// A second measure: multiplication and exclusive or take 3 + 1 cycles on x86 of the last
    /// fifteen years.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn multiplications_say_the_same() {
        // The clock may change between the two, so one pair of several that agrees is enough.
        let ratio = |_| {
            let cycles = f64::from(STEPS) * 4.0;
            cycles / 1e9 / fastest(|x, a, b| x.wrapping_mul(a) ^ b) / gigahertz()
        };
        let ratios: Vec<f64> = (0..5).map(ratio).collect();
        assert!(ratios.iter().any(|ratio| (0.95..1.05).contains(ratio)), "{ratios:?}");
    }
}
