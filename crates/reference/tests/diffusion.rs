//! The linear layers against what their designers prove of them.

use lanecrypt_reference::diffusion::{ARIA_A, CAMELLIA_P};

/// A mask of the summed bytes per row, byte 0 the lowest bit.
fn masks(rows: impl IntoIterator<Item = impl Iterator<Item = u8>>) -> Vec<u32> {
    rows.into_iter().map(|row| row.fold(0, |mask, byte| mask | 1 << byte)).collect()
}

fn image(rows: &[u32], vector: u32) -> u32 {
    (0..).zip(rows).fold(0, |sum, (i, row)| sum | ((row & vector).count_ones() & 1) << i)
}

/// The least number of bytes in which two inputs and their images differ, over bytes that differ
/// alike.
fn branch_number(rows: &[u32]) -> u32 {
    let weight = |vector: u32| vector.count_ones() + image(rows, vector).count_ones();
    (1..1 << rows.len()).map(weight).min().unwrap_or(0)
}

#[test]
fn aria_a_is_an_involution_of_branch_number_8() {
    let rows = masks(ARIA_A.map(IntoIterator::into_iter));
    assert!((0..16).all(|i| image(&rows, image(&rows, 1 << i)) == 1 << i));
    assert_eq!(branch_number(&rows), 8);
}

#[test]
fn camellia_p_is_one_to_one_and_of_branch_number_5() {
    let rows = masks(CAMELLIA_P.map(|row| row.iter().map(|byte| byte - 1)));
    assert!((1..256).all(|vector| image(&rows, vector) != 0));
    assert_eq!(branch_number(&rows), 5);
}
