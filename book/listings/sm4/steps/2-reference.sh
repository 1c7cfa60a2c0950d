# 2. Reference
take crates/reference/src/gf256.rs crates/reference/src/sbox.rs crates/reference/tests/derived.rs
take crates/sm4/src/reference.rs
check cargo test -p lanecrypt-reference
