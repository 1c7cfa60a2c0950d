//! The immediates of three-input functions ("S-box circuits").

// ANCHOR: answer
type Function = fn(u8, u8, u8) -> u8;

/// The immediate of an expression: its value over what each operand is on all eight inputs.
fn immediate(expression: Function) -> u8 {
    expression(0xf0, 0xcc, 0xaa)
}

/// What `lut` makes of three bits.
fn lut(immediate: u8, a: u8, b: u8, c: u8) -> u8 {
    immediate >> (4 * a + 2 * b + c) & 1
}

#[test]
fn an_expression_over_three_bytes_is_its_immediate() {
    let expressions: [(Function, u8); 4] = [
        (|a, b, c| a ^ b ^ c, 0x96),
        (|a, b, c| a & b | a & c | b & c, 0xe8),
        (|a, b, c| a & b | !a & c, 0xca),
        (|a, b, _| a & !b, 0x30),
    ];
    for (expression, expected) in expressions {
        assert_eq!(immediate(expression), expected);
        for input in 0..8 {
            let [a, b, c] = [input >> 2 & 1, input >> 1 & 1, input & 1];
            assert_eq!(lut(expected, a, b, c), expression(a, b, c) & 1);
        }
    }
}
// ANCHOR_END: answer
