//! Judges.

fn main() {}
