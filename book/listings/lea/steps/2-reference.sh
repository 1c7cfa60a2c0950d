# 2. Reference
take crates/lea/src/reference.rs crates/lea/tests/forms.rs crates/lea/Cargo.toml
check cargo test -p lanecrypt-lea --test forms
