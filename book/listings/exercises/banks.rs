//! How many passes a look-up in shared memory takes ("Memories").

// ANCHOR: answer
/// The passes for the words that the lanes of a warp want: as many as the fullest bank has
/// different words.
fn passes(mut words: Vec<u32>) -> usize {
    words.sort_unstable();
    words.dedup();
    let in_bank = |bank| words.iter().filter(|&word| word % 32 == bank).count();
    (0..32).map(in_bank).max().unwrap_or(0)
}

#[test]
fn random_look_ups_take_three_passes_and_copies_one() {
    const WARPS: u16 = 10_000;
    let (mut one_copy, mut copies) = (0, 0);
    let mut state = 1_u64;
    for _ in 0..WARPS {
        let entries: Vec<u32> = (0..32).map(|_| random_byte(&mut state)).collect();
        // Entry x of lane l's copy is word 32x + l.
        let of_copies = entries.iter().zip(0..).map(|(entry, lane)| 32 * entry + lane);
        copies += passes(of_copies.collect());
        one_copy += passes(entries);
    }
    let mean = one_copy as f64 / f64::from(WARPS);
    assert!((3.1..3.2).contains(&mean), "{mean}"); // 32 / 3.15 is 10.2
    assert_eq!(copies, usize::from(WARPS));
}
// ANCHOR_END: answer

/// The next byte of Knuth's MMIX generator.
fn random_byte(state: &mut u64) -> u32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 56) as u32
}
