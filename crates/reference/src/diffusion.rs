//! Linear layers on bytes, typed as the standards print them: which bytes each byte is the sum of.

/// ARIA's diffusion layer A (RFC 5794, section 2.4.3): the bytes whose sum is byte `i`, both
/// counted from 0. An involution.
pub const ARIA_A: [[u8; 7]; 16] = [
    [3, 4, 6, 8, 9, 13, 14],
    [2, 5, 7, 8, 9, 12, 15],
    [1, 4, 6, 10, 11, 12, 15],
    [0, 5, 7, 10, 11, 13, 14],
    [0, 2, 5, 8, 11, 14, 15],
    [1, 3, 4, 9, 10, 14, 15],
    [0, 2, 7, 9, 10, 12, 13],
    [1, 3, 6, 8, 11, 12, 13],
    [0, 1, 4, 7, 10, 13, 15],
    [0, 1, 5, 6, 11, 12, 14],
    [2, 3, 5, 6, 8, 13, 15],
    [2, 3, 4, 7, 9, 12, 14],
    [1, 2, 6, 7, 9, 11, 12],
    [0, 3, 6, 7, 8, 10, 13],
    [0, 3, 4, 5, 9, 11, 14],
    [1, 2, 4, 5, 8, 10, 15],
];

/// Camellia's P, the last step of F (RFC 3713, section 2.4.1): the bytes t1 to t8 whose sum is byte
/// y1 to y8, counted from 1 as the RFC does.
pub const CAMELLIA_P: [&[u8]; 8] = [
    &[1, 3, 4, 6, 7, 8],
    &[1, 2, 4, 5, 7, 8],
    &[1, 2, 3, 5, 6, 8],
    &[2, 3, 4, 5, 6, 7],
    &[1, 2, 6, 7, 8],
    &[2, 3, 5, 7, 8],
    &[3, 4, 5, 6, 8],
    &[1, 4, 5, 6, 7],
];
