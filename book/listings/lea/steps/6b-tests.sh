# 6. Tests, the kernels on this CPU
cargo fmt -p lanecrypt-lea -p lanecrypt -p lanecrypt-kernels --check
cargo clippy --quiet -p lanecrypt-lea --all-features --all-targets -- --deny warnings
LANECRYPT_HOST_KERNELS=$(cargo xtask kernels lea --host)
export LANECRYPT_HOST_KERNELS
cargo build --workspace --bin kat --test conformance
target=${CARGO_TARGET_DIR:-target}
LANECRYPT_EXPECT=$($target/debug/kat --cipher lea --list-required | paste -sd,)
export LANECRYPT_EXPECT
$target/debug/kat --cipher lea --all-vectors
cargo test --workspace --test conformance -- lea:: | tee $target/trials
# Names that fit no trial would pass: this one must have run.
grep -q 'lea::host-words::ctr_lengths .* ok' $target/trials
