//! A transpose of a square of bits ("The lanes of a CPU").

// ANCHOR: answer
/// Exchanges bits `8 i + j` and `8 j + i`.
fn transposed(mut square: u64) -> u64 {
    let steps =
        [(7, 0x00aa_00aa_00aa_00aa_u64), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)];
    for (distance, mask) in steps {
        let differ = (square ^ square >> distance) & mask;
        square ^= differ ^ differ << distance;
    }
    square
}

#[test]
fn each_bit_goes_to_its_place_and_back() {
    for i in 0..8 {
        for j in 0..8 {
            let bit = 1 << (8 * i + j);
            assert_eq!(transposed(bit), 1 << (8 * j + i));
        }
    }
    let square = 0x0123_4567_89ab_cdef;
    assert_eq!(transposed(transposed(square)), square);
}
// ANCHOR_END: answer
