# 5. Key schedule and forms
take 'crates/sm4/src/*.rs' crates/sm4/src/sliced crates/sm4/tests crates/sm4/Cargo.toml crates/sm4/README.md
check cargo test -p lanecrypt-sm4
