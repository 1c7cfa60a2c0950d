# 6. Tests, the kernels on this CPU
export LANECRYPT_HOST_KERNELS=$(cargo xtask kernels lea --host)
cargo build --workspace --bin kat
kat=${CARGO_TARGET_DIR:-target}/debug/kat
export LANECRYPT_EXPECT=$($kat --cipher lea --list-required | paste -sd,)
$kat --cipher lea --all-vectors
cargo test --workspace --test conformance -- lea/
