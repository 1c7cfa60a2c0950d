# 6. Proof
take proofs/src/ciphers/sm4.rs proofs/src/ciphers.rs proofs/Cargo.toml crates/wgpu/src/programs.rs
check cargo xtask codegen
check cargo xtask prove sm4
