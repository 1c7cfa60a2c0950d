//! The two functions of HIGHT's rounds (CHES 2006), which implementations tabulate.

/// F0.
#[must_use]
pub const fn f0(x: u8) -> u8 {
    x.rotate_left(1) ^ x.rotate_left(2) ^ x.rotate_left(7)
}

/// F1.
#[must_use]
pub const fn f1(x: u8) -> u8 {
    x.rotate_left(3) ^ x.rotate_left(4) ^ x.rotate_left(6)
}
