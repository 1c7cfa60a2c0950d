# 6. Lists
take crates/lea/src/cuda.rs
take crates/lanecrypt/Cargo.toml crates/lanecrypt/src/lib.rs crates/lanecrypt/src/tuning/guess.rs
take 'crates/lanecrypt/tests/*.rs' ct/tests/residue.rs
take Cargo.toml benches/src/bench/measure/peers/baseline.rs
take tests/user-crate/Cargo.toml tests/user-crate/src/main.rs
take xtask/bundle.sh xtask/src/tidy.rs xtask/src/tidy/words.rs
