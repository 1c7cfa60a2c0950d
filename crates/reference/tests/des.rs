//! The tables of DES have the properties that the standard gives them.

use lanecrypt_reference::des::{
    E, IP, IP_INVERSE, LEFT_SHIFTS, P, PC1, PC2, S1, S2, S3, S4, S5, S6, S7, S8, SBOXES,
};

/// The entries in ascending order.
fn sorted(entries: &[u8]) -> Vec<u8> {
    let mut entries = entries.to_vec();
    entries.sort_unstable();
    entries
}

#[test]
fn every_row_of_an_s_box_is_a_permutation() {
    for rows in [S1, S2, S3, S4, S5, S6, S7, S8] {
        for row in rows {
            assert_eq!(sorted(&row), (0..16).collect::<Vec<_>>());
        }
    }
}

#[test]
fn the_row_is_the_outer_bits_and_the_column_the_inner() {
    // The example of the standard: S1 of 011011 is 5, from row 01 and column 1101.
    assert_eq!(S1[1][13], 5);
    assert_eq!(SBOXES[0][0b01_1011], 5);
    for (rows, table) in [S1, S2, S3, S4, S5, S6, S7, S8].iter().zip(SBOXES) {
        for (input, output) in table.into_iter().enumerate() {
            let row = 2 * (input >> 5) + (input & 1);
            assert_eq!(output, rows[row][input >> 1 & 0b1111]);
        }
    }
}

/// Design criteria that Coppersmith published in 1994; a wrong digit breaks one of them.
#[test]
fn the_s_boxes_meet_their_design_criteria() {
    for table in SBOXES {
        for (input, output) in table.into_iter().enumerate() {
            let distance = |difference: usize| (output ^ table[input ^ difference]).count_ones();
            assert!((0..6).all(|bit| distance(1 << bit) >= 2));
            assert!(distance(0b00_1100) >= 2);
            assert!((0..4).all(|middle| distance(0b11_0000 | middle << 2) >= 1));
        }
    }
}

#[test]
fn permutations_are_permutations() {
    let all = |count: u8| (1..=count).collect::<Vec<_>>();
    assert_eq!(sorted(&IP), all(64));
    assert_eq!(sorted(&P), all(32));
    for position in 0..64 {
        assert_eq!(usize::from(IP_INVERSE[usize::from(IP[position]) - 1]), position + 1);
    }
    // As the standard prints it.
    assert_eq!(IP_INVERSE[..8], [40, 8, 48, 16, 56, 24, 64, 32]);
}

#[test]
fn selections_take_what_they_should() {
    // The outer bits of each group of four appear twice.
    let twice = |bit: &u8| matches!(bit % 4, 0 | 1);
    let expected: Vec<u8> =
        (1..=32).flat_map(|bit| vec![bit; if twice(&bit) { 2 } else { 1 }]).collect();
    assert_eq!(sorted(&E), expected);
    // No parity bit.
    assert_eq!(sorted(&PC1), (1..=64).filter(|bit| bit % 8 != 0).collect::<Vec<_>>());
    let omitted = [9, 18, 22, 25, 35, 38, 43, 54];
    assert_eq!(sorted(&PC2), (1..=56).filter(|bit| !omitted.contains(bit)).collect::<Vec<_>>());
    // After sixteen rounds C and D are where they were.
    assert_eq!(LEFT_SHIFTS.iter().sum::<u8>(), 28);
}
