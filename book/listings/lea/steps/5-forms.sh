# 5. Word-sliced form
take crates/lea/src/sliced.rs crates/lea/src/backends.rs crates/lea/src/lib.rs
take crates/lea/README.md crates/lea/tests/drop_in.rs
check cargo test -p lanecrypt-lea
