//! The module under OpenSSL.
fn main() {}
