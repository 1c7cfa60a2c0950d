//! The interval of a median ("Measuring").

// ANCHOR: answer
/// The chance that the median lies between the `k`-th fastest and the `k`-th slowest of `n` passes.
fn confidence(n: u32, k: u32) -> f64 {
    // The chances that i of n coins fall on one side: C(n, i) / 2^n.
    let (mut chance, mut outside) = (0.5_f64.powf(f64::from(n)), 0.0);
    for i in 0..k {
        outside += chance;
        chance *= f64::from(n - i) / f64::from(i + 1);
    }
    1.0 - 2.0 * outside
}

/// The narrowest interval with 95%, if there is one.
fn rank(n: u32) -> Option<u32> {
    (1..=n / 2).rev().find(|&k| confidence(n, k) >= 0.95)
}

#[test]
fn eleven_passes_give_the_second_and_six_are_enough() {
    assert!((confidence(11, 2) - 0.988).abs() < 0.001);
    assert!((confidence(11, 3) - 0.935).abs() < 0.001);
    assert_eq!(rank(11), Some(2));
    assert_eq!((rank(5), rank(6)), (None, Some(1)));
}
// ANCHOR_END: answer
